//! Answers a question within the caller's permissions.

use std::sync::Arc;
use std::time::Duration;

use jobstats_client::{Options, program::exit};
use serde_json::json;
use tokio::task::spawn_blocking;

use super::pages;
use super::question::{Kind, Question, Route};
use super::subordinates::Subordinates;
use super::turns::{Limits, Permit, Turns};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::report::form::{Form, Screen, written};
use crate::report::{self, Scope};
use crate::subject::chosen::{chosen, known};
use crate::subject::{job, user};
use crate::values::when::{self, Clock};

/// The default width of text.
const WIDTH: u16 = 80;

/// The message for root.
const ROOT: &str = "root has no work of its own: ask as a user, or ask the database";

/// The message for a user with too many requests.
pub const WAITING: &str = "too many questions wait for their turn";

/// The message for a number that a user has taken in a container.
const SUBORDINATE: &str =
    "this number is one of those that users may take in containers (/etc/subuid)";

/// The answer that a client gets.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit code of a command that prints it.
    pub code: u8,
    pub content_type: &'static str,
    pub body: String,
}

impl Answer {
    fn new(form: Form, body: String) -> Self {
        let content_type = match form {
            Form::Json => "application/json",
            Form::Html => "text/html; charset=utf-8",
            Form::Text => "text/plain; charset=utf-8",
        };
        Self {
            code: 0,
            content_type,
            body,
        }
    }

    /// Returns a refusal, as a page if a page was requested.
    pub fn refusal(code: u8, message: &str, form: Form) -> Self {
        let page = (form == Form::Html).then(|| pages::refusal(message).ok());
        let answer = match page.flatten() {
            Some(page) => Self::new(Form::Html, page),
            None => {
                let refusal = json!({ "code": code, "message": message });
                Self::new(Form::Json, refusal.to_string())
            }
        };
        Self { code, ..answer }
    }

    /// Returns the page that a user begins with.
    fn index(uid: u32) -> Self {
        match pages::index(uid) {
            Ok(page) => Self::new(Form::Html, page),
            Err(error) => Self::refusal(exit::SYSTEM, &error.to_string(), Form::Html),
        }
    }

    /// Returns the status of HTTP.
    pub const fn status(&self) -> u16 {
        match self.code {
            0 => 200,
            exit::USAGE => 400,
            exit::DENIED => 403,
            exit::NOTHING => 404,
            exit::UNREACHABLE | exit::LATER => 503,
            _ => 500,
        }
    }
}

/// Answers questions, some at once.
pub struct Service {
    database: Options,
    turns: Turns,
    subordinates: Subordinates,
    time: Duration,
    /// The clock of questions that name no zone.
    clock: Clock,
}

impl Service {
    /// Creates a service for this database. Fails without a database.
    pub fn new(database: Options, limits: Limits, clock: Clock) -> Result<Self, Error> {
        crate::ask::store::connector(&database)?;
        Ok(Self {
            database,
            turns: Turns::new(limits),
            subordinates: Subordinates::of_machine(),
            time: limits.time,
            clock,
        })
    }

    /// Takes a connection of a user; `None` if the user has too many. All numbers of containers together are one user.
    pub fn connection(&self, uid: u32) -> Option<Permit> {
        let uid = match self.subordinates.has(uid) {
            true => u32::MAX,
            false => uid,
        };
        self.turns.connection(uid)
    }

    /// Answers a request. `connection` is held until the database has answered, even if the client has left.
    pub async fn answer(
        self: &Arc<Self>,
        uid: u32,
        asked: Route,
        connection: Arc<Permit>,
    ) -> Answer {
        let (question, refused) = match asked {
            Route::Index => return Answer::index(uid),
            Route::Question(question) => (question, Form::Json),
            Route::Page(question) => (question, Form::Html),
            Route::Unreadable(problem) => {
                return Answer::refusal(exit::USAGE, &problem, Form::Json);
            }
            Route::Nothing => {
                let message = "there is nothing at this address";
                return Answer::refusal(exit::NOTHING, message, Form::Json);
            }
        };
        let form = question.words.form;
        let refusal = |code, message: &str| Answer::refusal(code, message, refused);
        if uid == 0 {
            return refusal(exit::DENIED, ROOT);
        }
        if self.subordinates.has(uid) {
            return refusal(exit::DENIED, SUBORDINATE);
        }
        let Some(turn) = self.turns.turn(uid).await else {
            return refusal(exit::LATER, WAITING);
        };
        let service = Arc::clone(self);
        let answered = spawn_blocking(move || {
            let answered = service.ask(uid, &question);
            drop((turn, connection));
            answered
        });
        match answered.await {
            Ok(Ok(body)) => Answer::new(form, body),
            Ok(Err(error)) => refusal(error.code(), &error.to_string()),
            Err(_) => refusal(exit::SYSTEM, "the question could not be answered"),
        }
    }

    fn ask(&self, uid: u32, question: &Question) -> Result<String, Error> {
        let words = &question.words;
        let zone = words.zone.as_deref().map(when::zone).transpose();
        let zone = zone.map_err(Error::Usage)?;
        let clock = zone.unwrap_or_else(|| self.clock.clone());
        let (from, to) = (words.from.as_deref(), words.to.as_deref());
        let mut store = Store::open_for(&self.database, uid, self.time, &clock)?;
        let (name, scheduler) = (&words.name, words.scheduler.as_deref());
        let window = || when::window(from, to, &clock).map_err(Error::Usage);
        let span = || {
            let span = when::span(from.unwrap_or("24h"), to.unwrap_or("now"), &clock);
            span.map_err(Error::Usage)
        };
        let subject = match question.kind {
            Kind::Job => chosen(&mut store, name, scheduler, window()?, &clock)?,
            Kind::Done => {
                let is_done = job::is_done(&mut store, name, window()?, scheduler)?;
                return Ok(json!({ "done": is_done }).to_string());
            }
            Kind::User => {
                let asked = user::ask(&mut store, name, span()?)?;
                known("user", name, asked)?
            }
            Kind::Report | Kind::Events => {
                let filesystem = Some(name.as_str()).filter(|name| !name.is_empty());
                let cluster = words.cluster.as_deref();
                let scope = Scope::of_user(uid, filesystem, cluster, span()?, clock);
                let page = match question.kind {
                    Kind::Events => report::events::page(&mut store, &scope)?,
                    _ => report::own(&mut store, scope)?,
                };
                return Ok(page.document()?);
            }
        };
        let screen = Screen {
            cells: words.width.unwrap_or(WIDTH).into(),
            is_coloured: words.coloured,
        };
        written(&mut store, &subject, words.form, screen, &clock)
    }
}
