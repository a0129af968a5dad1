//! Answers a question within the caller's permissions.

use std::sync::Arc;
use std::time::Duration;

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
const ROOT: &str = "root has no work of its own: ask as a user, or ask the database";

/// The message for a user with too many requests.
pub const WAITING: &str = "too many questions wait for their turn";

/// The message for a number that a user has taken in a container.
const SUBORDINATE: &str =
    "this number is one of those that users may take in containers (/etc/subuid)";

/// The message for users of a service whose store or role is not set up.
const NOT_SET_UP: &str = "the service is not set up yet: its log has the reason";

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
        let title = || "Nothing to show".to_owned();
        let page = || Page {
            title: title(),
            kind: "Lustre",
            heading: title(),
            lead: message.to_owned(),
            ..Page::default()
        };
        let page = (form == Form::Html).then(|| page().document().ok());
        let answer = match page.flatten() {
            Some(page) => Self::new(Form::Html, page),
            None => {
                let refusal = json!({ "code": code, "message": message });
                Self::new(Form::Json, refusal.to_string())
            }
        };
        Self { code, ..answer }
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
            // What an admin must do is no answer to users.
            Ok(Err(error)) if error.code() == exit::SETUP => {
                eprintln!("jobstats-console: {error}");
                refusal(exit::SETUP, NOT_SET_UP)
            }
            Ok(Err(error)) => refusal(error.code(), &error.to_string()),
            Err(_) => refusal(exit::SYSTEM, "the question could not be answered"),
        }
    }

    fn ask(&self, uid: u32, question: &Question) -> Result<String, Error> {
        let zone = question.words.zone.as_deref().map(when::zone).transpose();
        let zone = zone.map_err(Error::Usage)?;
        let clock = zone.unwrap_or_else(|| self.clock.clone());
        inquiry::answer(question, &clock, || {
            Ok(Store::open_for(&self.database, uid, self.time, &clock)?)
        })
    }
}
