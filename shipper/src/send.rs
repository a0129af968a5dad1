//! Sends a reading to the store, one target per transaction, on whatever way there is to the store.

use std::io;
use std::time::{Duration, Instant};

use jobstats_client::spool::Text;
use jobstats_client::{Kind, Retry};

use crate::frame::{LCTL, Reading, Sender};
use crate::state::Event;
use crate::system::message::{info, report};
use crate::system::notify;

mod database;
pub mod http;
pub mod rehearsal;
mod row;

pub use database::{Database, is_rejection, rehearse};
pub use http::Http;
use http::Refusal;

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
    /// PostgREST, or the connection to it, failed.
    #[error(transparent)]
    Http(#[from] http::Error),
    /// The temporary file or another system resource failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The value is too large for a field of PostgreSQL.
    #[error("{0} bytes when compressed are more than PostgreSQL takes")]
    TooLarge(u64),
}

/// Some or all texts were not stored. Each failure has been reported already.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("{unsent} of {texts} {of} were not stored")]
pub struct Unsent {
    /// The number of texts that were not stored.
    unsent: usize,
    /// The number of all texts.
    texts: usize,
    /// The word for the texts: those of lctl are of targets.
    of: &'static str,
    /// The kind of the first failure.
    pub kind: Kind,
    /// The time for which the other side wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// The state of the texts of a reading so far.
#[derive(Debug, Default)]
pub struct Progress {
    states: Vec<State>,
    /// The word for the texts.
    of: &'static str,
    /// The kind of the first failure of the last attempt.
    failure: Option<Kind>,
    /// The time for which the other side wants to be left alone.
    retry_after: Option<Duration>,
    /// The first message of the last attempt that says why a text was not stored.
    message: Option<String>,
    /// The numbers of texts that were stored and rejected before the last attempt.
    before: (u64, u64),
}

/// The answer of the database to a text that it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The text is stored.
    Stored,
    /// The text is in `jobstats.rejects`, for the reason in this warning.
    Rejected(String),
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
            of: if reading.source == LCTL {
                "targets"
            } else {
                "texts"
            },
            failure: None,
            retry_after: None,
            message: None,
            before: (0, 0),
        }
    }

    /// Begins an attempt.
    fn begin(&mut self) {
        (self.failure, self.retry_after, self.message) = (None, None, None);
        self.before = self.counts();
    }

    /// Returns the numbers of texts that were stored and rejected so far.
    fn counts(&self) -> (u64, u64) {
        let count = |wanted| {
            let states = self.states.iter();
            states.filter(|state| **state == wanted).count() as u64
        };
        (count(State::Stored), count(State::Rejected))
    }

    /// Returns the event of the last attempt.
    pub fn event(&self) -> Event<'static> {
        let (stored, rejected) = self.counts();
        let stored = stored - self.before.0;
        match self.result() {
            Ok(()) => Event::Delivered(stored),
            Err(unsent) => Event::Undelivered {
                stored,
                rejected: rejected - self.before.1,
                message: self.message.clone().unwrap_or_else(|| unsent.to_string()),
            },
        }
    }

    /// Returns the indices of the texts that are still to be sent.
    fn waiting(&self) -> Vec<usize> {
        let states = self.states.iter().enumerate();
        let waiting = states.filter(|(_, state)| **state == State::Waiting);
        waiting.map(|(index, _)| index).collect()
    }

    /// Notes that the database took these texts.
    fn succeed(&mut self, texts: &[usize], answer: Answer) {
        let state = match answer {
            Answer::Stored => State::Stored,
            Answer::Rejected(warning) => {
                self.message.get_or_insert(warning);
                State::Rejected
            }
        };
        for text in texts {
            self.states[*text] = state;
        }
    }

    /// Notes a failure of these texts.
    fn fail(&mut self, texts: &[usize], error: &Error, message: String) {
        self.message.get_or_insert(message);
        self.failure = self.failure.or(Some(error.kind()));
        self.retry_after = self.retry_after.max(error.retry_after());
        if error.is_refusal() {
            for text in texts {
                self.states[*text] = State::Refused;
            }
        }
    }

    /// Returns true if no text is left to be sent.
    pub fn is_over(&self) -> bool {
        !self.states.contains(&State::Waiting)
    }

    /// Returns true if the database refused a text for good.
    fn has_refused(&self) -> bool {
        self.states.contains(&State::Refused)
    }

    /// Returns an error if a text was not stored, in this attempt or in an earlier one.
    pub fn result(&self) -> Result<(), Unsent> {
        let stored = self.states.iter().filter(|state| **state == State::Stored);
        let (texts, stored) = (self.states.len(), stored.count());
        let is_over = self.is_over() && stored < texts;
        let refused = (is_over || self.has_refused()).then_some(Kind::Refused);
        self.failure.or(refused).map_or(Ok(()), |kind| {
            Err(Unsent {
                unsent: texts - stored,
                texts,
                of: self.of,
                kind,
                retry_after: self.retry_after,
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
            Self::Http(error) => error.kind(),
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
        let is_too_large = self.answer().is_some_and(Refusal::is_too_large);
        is_too_large || matches!(self.kind(), Conflict | Slow | Refused | Failed | Internal)
    }

    /// Returns true if some texts of a request with several may be stored one by one.
    fn may_be_of_one_text(&self) -> bool {
        let is_of_size = matches!(self, Self::Http(error) if error.may_be_of_size());
        is_of_size || self.is_of_one_target()
    }

    /// Returns true if an attempt at once may succeed.
    fn is_passing(&self) -> bool {
        self.kind().is_passing() && !self.answer().is_some_and(Refusal::asks_to_wait)
    }

    /// Returns true if the database will always refuse the text.
    fn is_refusal(&self) -> bool {
        self.answer()
            .map_or(self.kind() == Kind::Refused, Refusal::is_of_text)
    }

    /// Returns the time for which the other side wants to be left alone.
    fn retry_after(&self) -> Option<Duration> {
        self.answer().and_then(|answer| answer.retry_after)
    }

    /// Returns the answer of PostgREST or of a proxy, if the error is one.
    fn answer(&self) -> Option<&Refusal> {
        match self {
            Self::Http(error) => error.refusal(),
            _ => None,
        }
    }
}

/// The time limits of the store.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// The limit for connecting, per host.
    pub connect: Duration,
    /// The limit for storing one target, or for a request from the name of its host to its answer.
    pub statement: Duration,
}

/// A way to the store: a connection to PostgreSQL, or PostgREST.
pub trait Transport: Send {
    /// Gets ready for the texts of a reading.
    fn prepare(&mut self);

    /// Returns how many of these texts, from the first on, may be stored in one transaction.
    fn together(&self, _texts: &[&Text]) -> usize {
        1
    }

    /// Tries once to store texts in one transaction. What was stored although the answer got lost is not stored twice,
    /// because the same text at the same time changes nothing.
    fn store(
        &mut self,
        sender: &Sender,
        reading: &Reading,
        texts: &[&Text],
    ) -> Result<Answer, Error>;

    /// Returns the name of the store for messages.
    fn name(&self) -> String;

    /// Closes connections, so that the next text uses a new one.
    fn close(&mut self);
}

/// A writer to `jobstats.feed`.
pub struct Feed {
    transport: Box<dyn Transport>,
    /// The time after which a text is not tried again at once.
    limit: Duration,
}

impl Feed {
    /// Takes the way to the store; connects to nothing yet.
    pub fn new(transport: Box<dyn Transport>, timeouts: Timeouts) -> Self {
        Self {
            transport,
            limit: timeouts.statement,
        }
    }

    /// Sends every text that is still waiting, reports each that could not be stored, and notes what became of it.
    pub fn send(&mut self, sender: &Sender, reading: &Reading, progress: &mut Progress) {
        self.transport.prepare();
        progress.begin();
        let waiting = progress.waiting();
        let mut rest = waiting.as_slice();
        // The number of texts that failed together and are sent one by one.
        let mut alone: usize = 0;
        let mut waited = 0;
        while !rest.is_empty() {
            let texts: Vec<_> = rest.iter().map(|index| &reading.texts[*index]).collect();
            let count = if alone > 0 { 1 } else { self.together(&texts) };
            alone = alone.saturating_sub(1);
            let (now, later) = rest.split_at(count);
            let texts = &texts[..count];
            match self.send_texts(sender, reading, texts) {
                Ok(answer) => {
                    if answer == Answer::Stored {
                        report_sent(texts);
                    }
                    progress.succeed(now, answer);
                    waited = 0;
                }
                Err(error) if count > 1 && error.may_be_of_one_text() => {
                    alone = count;
                    continue;
                }
                Err(error) => {
                    let message = self.describe(texts, &error);
                    report(format_args!("{message}"));
                    progress.fail(now, &error, message);
                    waited += usize::from(error.is_wait());
                    if !error.is_of_one_target() || waited == MOST_WAITS {
                        break;
                    }
                }
            }
            rest = later;
        }
        // The server may be the wrong one by now, for example a primary that has become a standby.
        if progress.failure.is_some() {
            self.transport.close();
        }
    }

    fn together(&self, texts: &[&Text]) -> usize {
        self.transport.together(texts).clamp(1, texts.len())
    }

    /// Formats a failure. What concerns the connection names the store, and everything else the target.
    fn describe(&self, texts: &[&Text], error: &Error) -> String {
        let names = shown_names(texts);
        match (error, error.kind()) {
            (Error::Client(jobstats_client::Error::Connect { .. }), _) => error.to_string(),
            (_, Kind::Lost | Kind::Silent) => {
                format!("{}: {error}, at {names}", self.transport.name())
            }
            _ => format!("{names}: {error}"),
        }
    }

    /// Tries until the texts are stored or a retry would not help.
    fn send_texts(
        &mut self,
        sender: &Sender,
        reading: &Reading,
        texts: &[&Text],
    ) -> Result<Answer, Error> {
        let start = Instant::now();
        let limit = self.limit;
        Retry::default().run(
            // Attempts that wait for a lock each time would take five times as long.
            |error: &Error| error.is_passing() && start.elapsed() < limit,
            || {
                notify::beat();
                self.transport.store(sender, reading, texts)
            },
        )
    }
}

/// Returns the names of texts for messages.
fn shown_names(texts: &[&Text]) -> String {
    let first = texts.first().map_or("", |text| text.shown_name());
    match texts.len() {
        0 | 1 => first.to_owned(),
        count => format!("{first} and {} more", count - 1),
    }
}

fn report_sent(texts: &[&Text]) {
    for text in texts {
        info(format_args!(
            "{}: {} bytes sent as {}",
            text.shown_name(),
            text.bytes,
            text.packed_bytes()
        ));
    }
}
