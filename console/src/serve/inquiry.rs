//! Answers questions: for commands, and for users of a service.

use jobstats_client::answers::Window;
use serde_json::json;

use super::question::{Kind, Question, Words};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::report::{self, Form, Scope, event_list};
use crate::show::document::Page;
use crate::show::text::Screen;
use crate::subject::chosen::chosen;
use crate::subject::{job, jobs, meanwhile, target, user};
use crate::values::when::{self, Clock, Span};

/// The default width of text.
const WIDTH: u16 = 80;

/// Answers a question. The store is opened after the window was read.
pub fn answer(
    question: &Question,
    clock: &Clock,
    open: impl FnOnce() -> Result<Store, Error>,
) -> Result<String, Error> {
    let inquiry = Inquiry {
        kind: question.kind,
        words: &question.words,
        window: window(question, clock)?,
        clock,
    };
    let store = &mut open()?;
    match question.kind {
        Kind::Job | Kind::User | Kind::Target => inquiry.subject(store),
        Kind::Done => inquiry.end(store),
        Kind::Index | Kind::Jobs => inquiry.jobs(store),
        Kind::Events if question.words.form != Form::Html => inquiry.events(store),
        Kind::Compare | Kind::Report | Kind::Events => {
            let page = inquiry.page(store)?;
            report::written(store, page, question.words.form, inquiry.screen())
        }
    }
}

/// Returns the window of a question. That of a job may lack ends.
fn window(question: &Question, clock: &Clock) -> Result<Window, Error> {
    let words = &question.words;
    let (mut from, mut to) = (words.from.as_deref(), words.to.as_deref());
    let start = match question.kind {
        Kind::Job | Kind::Done | Kind::Compare => None,
        Kind::Index | Kind::Jobs => Some("30d"),
        Kind::User | Kind::Target | Kind::Report | Kind::Events => Some("24h"),
    };
    if start.is_some() {
        (from, to) = (from.or(start), to.or(Some("now")));
    }
    when::window(from, to, clock).map_err(Error::Usage)
}

/// Returns the number of the only user that the role can read.
fn oneself(store: &Store) -> Result<String, Error> {
    let sees = match store.own() {
        Some([uid]) => return Ok(uid.to_string()),
        Some([]) => "accounts, but no user",
        Some(_) => "several users",
        None => "all users",
    };
    Err(Error::Usage(format!(
        "your role may see {sees}: give one, as in jobstats-console user ada"
    )))
}

/// A question with its window and its clock.
struct Inquiry<'q> {
    kind: Kind,
    words: &'q Words,
    window: Window,
    clock: &'q Clock,
}

impl Inquiry<'_> {
    fn span(&self) -> Span {
        let Window { since, until } = self.window;
        (since.unwrap_or_default(), until.unwrap_or_default())
    }

    fn screen(&self) -> Screen {
        Screen {
            cells: self.words.width.unwrap_or(WIDTH).into(),
            is_coloured: self.words.coloured,
        }
    }

    fn scheduler(&self) -> Option<&str> {
        self.words.scheduler.as_deref()
    }

    /// Returns the names that are given with commas.
    fn names(&self) -> Vec<String> {
        let names = self.words.name.split(',').filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    }

    fn subject(&self, store: &mut Store) -> Result<String, Error> {
        let name = match (self.kind, self.words.name.as_str()) {
            (Kind::User, "") => &oneself(store)?,
            (_, name) => name,
        };
        let subject = match self.kind {
            Kind::User => user::ask(store, name, self.span())?,
            Kind::Target => target::ask(store, name, self.span())?,
            _ => {
                let scheduler = self.scheduler();
                let (mut subject, job) = chosen(store, name, scheduler, self.window, self.clock)?;
                meanwhile::add(store, &mut subject, &job)?;
                subject
            }
        };
        let (form, screen) = (self.words.form, self.screen());
        report::subject::written(store, &subject, form, screen, self.clock)
    }

    fn end(&self, store: &mut Store) -> Result<String, Error> {
        let is_done = job::is_done(store, &self.words.name, self.window, self.scheduler())?;
        Ok(json!({ "done": is_done }).to_string())
    }

    fn jobs(&self, store: &mut Store) -> Result<String, Error> {
        let words = self.words;
        let wanted = jobs::Wanted {
            user: Some(words.name.clone()).filter(|name| !name.is_empty()),
            account: words.account.clone(),
            n: words.n.unwrap_or(jobs::DEFAULT),
        };
        if wanted.n > jobs::MOST {
            let message = format!("at most {} jobs are listed", jobs::MOST);
            return Err(Error::Usage(message));
        }
        let list = jobs::ask(store, &wanted, self.span())?;
        match self.kind {
            Kind::Index => report::jobs::index(&list, &oneself(store)?, self.clock),
            _ => report::jobs::written(store, &list, words.form, self.screen(), self.clock),
        }
    }

    fn events(&self, store: &mut Store) -> Result<String, Error> {
        let wanted = event_list::Wanted {
            event: self.words.event,
            all: self.words.all,
            filesystems: self.names(),
            is_json: self.words.form == Form::Json,
        };
        event_list::written(store, &wanted, self.span(), self.clock)
    }

    /// Makes the page of jobs to compare, or of a file system. A user of a service gets a report of the user's own I/O.
    fn page(&self, store: &mut Store) -> Result<Page, Error> {
        if self.kind == Kind::Compare {
            return report::compare::page(store, &self.names(), self.scheduler(), self.clock);
        }
        let name = &self.words.name;
        let filesystem = Some(name.as_str()).filter(|name| !name.is_empty());
        let cluster = self.words.cluster.as_deref();
        let (window, clock) = (self.span(), self.clock.clone());
        let Some(uid) = store.served() else {
            let scope = Scope::find(store, filesystem, cluster, window, clock)?;
            return report::filesystem(store, scope);
        };
        let scope = Scope::of_user(uid, filesystem, cluster, window, clock);
        match self.kind {
            Kind::Events => report::events::page(store, &scope),
            _ => report::own(store, scope),
        }
    }
}
