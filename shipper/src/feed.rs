//! Sends a reading to the store, one target per transaction, on whatever way there is to the store.

use std::io;
use std::time::{Duration, Instant};

use jobstats_client::spool::Text;
use jobstats_client::{Kind, Retry};

use crate::message::report;
use crate::reading::Reading;

mod database;

pub use database::Database;

/// The number of texts in series that may fail after they waited, for example for a lock. The next one would wait for the
/// same reason, and every wait takes up to the time limit of a statement.
const MOST_WAITS: usize = 2;

/// An error that kept a target from being stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database, or the connection to it, failed.
    #[error(transparent)]
    Client(#[from] jobstats_client::Error),
    /// The database did not answer in time.
    #[error("the database did not answer within {0:?}")]
    StatementTimeout(Duration),
    /// The temporary file or another system resource failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The value is too large for a field of PostgreSQL.
    #[error("{0} bytes when compressed are more than PostgreSQL takes")]
    TooLarge(u64),
}

/// Some or all targets were not stored. Each failure has been reported already.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("{unsent} of {targets} targets were not stored")]
pub struct Unsent {
    /// The number of targets that were not stored.
    unsent: usize,
    /// The number of all targets.
    targets: usize,
    /// The kind of the first failure.
    pub kind: Kind,
}

/// The state of the texts of a reading so far.
#[derive(Debug, Default)]
pub struct Progress {
    states: Vec<State>,
    /// The kind of the first failure of the last attempt.
    failure: Option<Kind>,
}

/// The answer of the database to a text that it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The text is stored.
    Stored,
    /// The text is in `jobstats.rejects`.
    Rejected,
}

/// The state of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The text is still to be sent.
    Waiting,
    /// The database has stored the text.
    Stored,
    /// The database has put the text into `jobstats.rejects`.
    Rejected,
    /// The database will always refuse the text.
    Refused,
}

impl Progress {
    /// Starts with a reading of which nothing was sent.
    pub fn new(reading: &Reading) -> Self {
        Self {
            states: vec![State::Waiting; reading.texts.len()],
            failure: None,
        }
    }

    /// Returns true if no text is left to be sent.
    pub fn is_over(&self) -> bool {
        !self.states.contains(&State::Waiting)
    }

    /// Returns true if the database refused a text for good.
    pub fn has_refused(&self) -> bool {
        self.states.contains(&State::Refused)
    }

    /// Returns an error if a text was not stored, in this attempt or in an earlier one.
    pub fn result(&self) -> Result<(), Unsent> {
        let stored = self.states.iter().filter(|state| **state == State::Stored);
        let (targets, stored) = (self.states.len(), stored.count());
        let is_over = self.is_over() && stored < targets;
        let refused = (is_over || self.has_refused()).then_some(Kind::Refused);
        self.failure.or(refused).map_or(Ok(()), |kind| {
            Err(Unsent {
                unsent: targets - stored,
                targets,
                kind,
            })
        })
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Client(error.into())
    }
}

impl Error {
    /// Returns the kind of the error.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Client(error) => error.kind(),
            Self::StatementTimeout(_) => Kind::Silent,
            Self::Io(_) => Kind::Local,
            Self::TooLarge(_) => Kind::Refused,
        }
    }

    /// Returns true if the server let the statement wait before it failed.
    fn is_wait(&self) -> bool {
        matches!(self.kind(), Kind::Conflict | Kind::Slow)
    }

    /// Returns true if the error concerns one target only, so that other targets may still be stored.
    fn is_of_one_target(&self) -> bool {
        use Kind::{Conflict, Failed, Internal, Refused, Slow};
        matches!(self.kind(), Conflict | Slow | Refused | Failed | Internal)
    }
}

/// The time limits of the database.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// The limit for connecting, per host.
    pub connect: Duration,
    /// The limit for storing one target.
    pub statement: Duration,
}

/// The sender's names, which are identical in every row.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The name of the cluster, or an empty string.
    pub cluster: String,
    /// The name of the server.
    pub server: String,
}

/// A way to the store.
pub trait Transport: Send {
    /// Gets ready for the texts of a reading.
    fn prepare(&mut self);

    /// Tries once to store a text. A text that was stored although the answer got lost is not stored twice, because the
    /// same text at the same time changes nothing.
    fn store(&mut self, sender: &Sender, reading: &Reading, text: &Text) -> Result<Answer, Error>;

    /// Closes connections, so that the next text uses a new one.
    fn close(&mut self);
}

/// A writer to `jobstats.feed`.
pub struct Feed {
    transport: Box<dyn Transport>,
    /// The time after which a text is not tried again at once.
    limit: Duration,
    verbose: bool,
}

impl Feed {
    /// Takes the way to the store; connects to nothing yet.
    pub fn new(transport: Box<dyn Transport>, timeouts: Timeouts, verbose: bool) -> Self {
        Self {
            transport,
            limit: timeouts.statement,
            verbose,
        }
    }

    /// Sends every text that is still waiting, reports each that could not be stored, and notes what became of it.
    pub fn send(&mut self, sender: &Sender, reading: &Reading, progress: &mut Progress) {
        self.transport.prepare();
        progress.failure = None;
        let mut waited = 0;
        for (text, state) in reading.texts.iter().zip(&mut progress.states) {
            if *state != State::Waiting {
                continue;
            }
            match self.send_text(sender, reading, text) {
                Ok(Answer::Stored) => {
                    *state = State::Stored;
                    waited = 0;
                    self.report_sent(text);
                }
                Ok(Answer::Rejected) => *state = State::Rejected,
                Err(error) => {
                    report(format_args!("{}: {error}", text.shown_name()));
                    progress.failure = progress.failure.or(Some(error.kind()));
                    if error.kind().is_of_data() {
                        *state = State::Refused;
                    }
                    waited += usize::from(error.is_wait());
                    if !error.is_of_one_target() || waited == MOST_WAITS {
                        break;
                    }
                }
            }
        }
        // The server may be the wrong one by now, for example a primary that has become a standby.
        if progress.failure.is_some() {
            self.transport.close();
        }
    }

    fn report_sent(&self, text: &Text) {
        if self.verbose {
            report(format_args!(
                "{}: {} bytes sent as {}",
                text.shown_name(),
                text.bytes,
                text.packed_bytes()
            ));
        }
    }

    /// Tries until the text is stored or a retry would not help.
    fn send_text(
        &mut self,
        sender: &Sender,
        reading: &Reading,
        text: &Text,
    ) -> Result<Answer, Error> {
        let start = Instant::now();
        let limit = self.limit;
        Retry::default().run(
            // Attempts that wait for a lock each time would take five times as long.
            |error: &Error| error.kind().is_passing() && start.elapsed() < limit,
            || self.transport.store(sender, reading, text),
        )
    }
}
