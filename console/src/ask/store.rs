//! Connections to a store, permission checks, and questions with the notices of their answers.

mod check;

use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use jobstats_client::answers::{Question, statement};
use jobstats_client::database::settings::SettingsError;
use jobstats_client::{Connector, Kind, Notice, Options, ask};
use postgres::Client;

use crate::values::when::Clock;
use check::require;

/// The name of this program for the database.
const PROGRAM: &str = "jobstats-console";

/// The time limit of connecting.
const CONNECT: Duration = Duration::from_secs(10);

/// The statement that begins a transaction which reads, and whose answers are all of one moment.
pub const BEGIN: &str = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// An error of the connection or of a question, or why the store cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Client(#[from] jobstats_client::Error),
    #[error(
        "the extension jobstats does not exist in database {0}: check its name, or run CREATE EXTENSION jobstats"
    )]
    NoExtension(String),
    #[error("the store does not exist in database {0}: its owner must run SELECT jobstats_setup()")]
    NoStore(String),
    #[error(
        "the role {0} may not read the store: its owner must run SELECT jobstats_grant_reader('{0}'), or jobstats_grant_own('{0}', …) for \
         some users' jobs"
    )]
    Denied(String),
    #[error("jobstats.on_behalf_of does not name a user that this role may query for")]
    ForbiddenUser,
    #[error("the query exceeded its time limit")]
    Late,
    /// An error for a limited reader, who writes no SQL.
    #[error("{message}")]
    Limited { kind: Kind, message: String },
    #[error("no user with the number {0} in the store")]
    UnknownUser(u32),
    #[error(
        "the role is not limited to the user it serves: the store's owner must create one with CREATE ROLE and SELECT jobstats_grant_proxy()"
    )]
    NoProxy,
    #[error(
        "the store has version {0}, this program version {version}: install the same version here, or in the database, then run ALTER \
         EXTENSION jobstats UPDATE and SELECT jobstats_setup()",
        version = env!("CARGO_PKG_VERSION")
    )]
    Version(String),
}

impl From<postgres::Error> for Error {
    fn from(error: postgres::Error) -> Self {
        Self::Client(error.into())
    }
}

impl Error {
    /// Returns the kind of the error.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Client(error) => error.kind(),
            Self::Limited { kind, .. } => *kind,
            Self::NoExtension(_) | Self::NoStore(_) | Self::Version(_) | Self::NoProxy => {
                Kind::Setup
            }
            Self::Denied(_) | Self::ForbiddenUser | Self::UnknownUser(_) => Kind::Denied,
            Self::Late => Kind::Slow,
        }
    }
}

/// Returns true if neither these options nor the environment name a database.
pub fn is_nowhere(options: &Options) -> bool {
    matches!(options.settings(PROGRAM), Err(SettingsError::Nowhere))
}

/// Returns a connector for the store of these options, without connecting.
pub fn connector(options: &Options) -> Result<Connector, Error> {
    let settings = options.settings(PROGRAM);
    let settings = settings.map_err(jobstats_client::Error::from)?;
    Ok(Connector::new(settings, CONNECT)?)
}

/// Connects, makes the settings of the session by these statements, and looks whether there is a store that the role may read. Returns
/// the users that a limited reader can read, too.
pub fn connect(
    connector: &Connector,
    settings: &str,
    note: impl Fn(Notice) + Send + Sync + 'static,
) -> Result<(Client, Option<Vec<i64>>), Error> {
    let mut client = connector.client_that_notes(note)?;
    client.batch_execute(&format!("SET TIME ZONE 'UTC'; {settings}"))?;
    let own = require(&mut client)?;
    Ok((client, own))
}

/// A connection that only reads. All answers of it are of one moment.
pub struct Store {
    client: Client,
    notes: Receiver<Notice>,
    /// The users that the role can read, if it is limited.
    own: Option<Vec<i64>>,
    /// The end of the time for all questions.
    deadline: Option<Instant>,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<A> {
    /// The rows.
    pub rows: Vec<A>,
    /// The notices and warnings of the store.
    pub notes: Vec<String>,
    /// The statement that answers the same in psql.
    pub statement: String,
}

/// The result of a question.
pub type Answered<A> = Result<Answer<A>, Error>;

impl Store {
    /// Connects, and begins a transaction that reads, in the time zone of a clock.
    pub fn open(options: &Options, clock: &Clock) -> Result<Self, Error> {
        Self::begin(options, clock, "")
    }

    /// Connects, and begins a transaction limited to a user's usage and to this total time. Fails if the role can read more.
    pub fn open_for(
        options: &Options,
        uid: u32,
        time: Duration,
        clock: &Clock,
    ) -> Result<Self, Error> {
        let settings = format!("SET LOCAL jobstats.on_behalf_of = 'uid:{uid}'");
        let store = match Self::begin(options, clock, &settings) {
            Err(Error::ForbiddenUser) => return Err(Error::UnknownUser(uid)),
            Err(Error::Denied(_)) => return Err(Error::NoProxy),
            store => store?,
        };
        match store.own.as_deref() {
            Some([own]) if *own == i64::from(uid) => Ok(Self {
                deadline: Some(Instant::now() + time),
                ..store
            }),
            _ => Err(Error::NoProxy),
        }
    }

    fn begin(options: &Options, clock: &Clock, settings: &str) -> Result<Self, Error> {
        // Texts, days and comparisons are of the reader's zone.
        let zone = match (clock.zone.iana_name(), clock.name()) {
            (Some(_), name) => format!("'{name}'"),
            (None, offset) => format!("INTERVAL '{offset}' HOUR TO MINUTE"),
        };
        let settings = format!("SET TIME ZONE {zone}; {BEGIN}; {settings}");
        let (sender, notes) = mpsc::channel();
        let (client, own) = connect(&connector(options)?, &settings, move |notice| {
            // The receiver lives as long as the client.
            let _ = sender.send(notice);
        })?;
        Ok(Self {
            client,
            notes,
            own,
            deadline: None,
        })
    }

    /// Returns the users that the role can read; `None` if it can read all.
    pub fn own(&self) -> Option<&[i64]> {
        self.own.as_deref()
    }

    /// Returns the number of a user of a service, who has no role.
    pub fn served(&self) -> Option<u32> {
        let own = self.own()?.first().filter(|_| self.deadline.is_some())?;
        u32::try_from(*own).ok()
    }

    /// Runs a question.
    pub fn ask<Q: Question>(&mut self, question: &Q) -> Result<Answer<Q::Answer>, Error> {
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Late);
            }
            let limit = format!("SET LOCAL statement_timeout = {}", left.as_millis().max(1));
            self.client.batch_execute(&limit)?;
        }
        let rows = ask(&mut self.client, question);
        let rows = rows.map_err(|error| match self.own {
            Some(_) => Error::Limited {
                kind: error.kind(),
                message: error.plain(),
            },
            None => error.into(),
        })?;
        let notes = self.notes.try_iter().map(|notice| match self.own {
            Some(_) => notice.plain,
            None => notice.message,
        });
        Ok(Answer {
            rows,
            notes: notes.collect(),
            statement: statement(question, &[]),
        })
    }

    /// Runs an optional question, whose error becomes a note.
    pub fn try_ask<Q: Question>(&mut self, question: &Q) -> Result<Answer<Q::Answer>, Error> {
        self.client.batch_execute("SAVEPOINT question")?;
        self.ask(question).or_else(|error| {
            self.client
                .batch_execute("ROLLBACK TO SAVEPOINT question")?;
            Ok(Answer {
                rows: Vec::new(),
                notes: vec![error.to_string()],
                statement: statement(question, &[]),
            })
        })
    }
}
