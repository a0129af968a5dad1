//! Answers a question within the caller's permissions.

use std::sync::Arc;

use jobstats_client::{Options, program::exit};
use serde_json::json;
use tokio::task::spawn_blocking;

use super::inquiry;
use super::question::{Question, Route};
use super::subordinates::Subordinates;
use super::turns::{Limits, Permit, Turns};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::report::Form;
use crate::show::document::Page;
use crate::values::when::{self, Clock};

/// The message for root.
const ROOT: &str = "root has no jobs: run this as a user, or query the database";

/// The message for a user with too many requests.
pub const WAITING: &str = "too many requests are queued";

/// The message for a number that a user has taken in a container.
const SUBORDINATE: &str = "this uid is a subordinate uid for containers (/etc/subuid)";

/// The message for users of a service whose store or role is not set up.
const NOT_SET_UP: &str = "the service is not set up: see its log for the reason";

/// The answer that a client gets.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit code of a command that prints it.
    pub code: u8,
    pub form: Form,
    pub body: String,
}

impl Answer {
    /// Returns a refusal, as a page if a page was requested.
    pub fn refusal(error: &Error, is_page: bool) -> Self {
        let (code, message) = (error.code(), error.to_string());
        let refusal = json!({ "code": code, "message": message });
        let title = "No data".to_owned();
        let page = is_page.then(|| Page {
            title: title.clone(),
            kind: "Lustre",
            heading: title,
            lead: message,
            ..Page::default()
        });
        let (form, body) = match page.and_then(|page| page.document().ok()) {
            Some(page) => (Form::Html, page),
            None => (Form::Json, refusal.to_string()),
        };
        Self { code, form, body }
    }

    /// Returns the type of the body for HTTP.
    pub const fn content_type(&self) -> &'static str {
        match self.form {
            Form::Json => "application/json",
            Form::Html => "text/html; charset=utf-8",
            Form::Text => "text/plain; charset=utf-8",
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
        Route { question, is_page }: Route,
        connection: Arc<Permit>,
    ) -> Answer {
        let form = question.words.form;
        match self.in_turn(uid, question, connection).await {
            Ok(body) => Answer {
                code: 0,
                form,
                body,
            },
            // What an admin must do is no answer to users.
            Err(error) if error.code() == exit::SETUP => {
                eprintln!("jobstats-console: {error}");
                Answer::refusal(&Error::other(exit::SETUP, NOT_SET_UP), is_page)
            }
            Err(error) => Answer::refusal(&error, is_page),
        }
    }

    async fn in_turn(
        self: &Arc<Self>,
        uid: u32,
        question: Question,
        connection: Arc<Permit>,
    ) -> Result<String, Error> {
        if uid == 0 {
            return Err(Error::other(exit::DENIED, ROOT));
        }
        if self.subordinates.has(uid) {
            return Err(Error::other(exit::DENIED, SUBORDINATE));
        }
        let turn = self.turns.turn(uid).await;
        let turn = turn.ok_or_else(|| Error::other(exit::LATER, WAITING))?;
        let service = Arc::clone(self);
        let answered = spawn_blocking(move || {
            let answered = service.ask(uid, &question);
            drop((turn, connection));
            answered
        });
        let lost = |_| Err(Error::other(exit::SYSTEM, "the request failed"));
        answered.await.unwrap_or_else(lost)
    }

    fn ask(&self, uid: u32, question: &Question) -> Result<String, Error> {
        let zone = question.words.zone.as_deref().map(when::zone).transpose();
        let zone = zone.map_err(Error::Usage)?;
        let clock = zone.unwrap_or_else(|| self.clock.clone());
        inquiry::answer(question, &clock, || {
            Ok(Store::open_for(
                &self.database,
                uid,
                self.turns.limits.time,
                &clock,
            )?)
        })
    }
}
