//! Sends a reading to the store, one target per transaction, on whatever way there is to the store.

use std::io;
use std::time::{Duration, Instant};

use jobstats_client::database::retry::retry;
use jobstats_client::database::settings::SettingsError;
use jobstats_client::spool::Text;
use jobstats_client::{Kind, Settings};

use crate::frame::{LCTL, Reading};
use crate::state::{Event, StateFile};
use crate::system::message::{info, report};
use crate::system::notify;

mod database;
pub mod http;
mod row;
#[cfg(test)]
mod tests;

pub use database::{Database, is_rejection};
pub use http::{Http, HttpSettings};
use http::{HttpError, HttpOptions, Refusal};

/// The number of texts in series that may fail after they waited, for example for a lock. The next one would wait for the
/// same reason, and every wait takes up to the time limit of a statement.
const MOST_WAITS: usize = 2;

/// The reason, in the database's warning, for rejecting a text with an impossible time.
const CLOCK: &str = " clock";

/// An error that kept a target from being stored.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    #[error(transparent)]
    Client(#[from] jobstats_client::Error),
    #[error("the database did not answer within {0:?}")]
    StatementTimeout(Duration),
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The temporary file or another system resource failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0} compressed bytes exceed the limit of PostgreSQL")]
    TooLarge(u64),
}

/// Some or all texts were not stored. Each failure has been reported already.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("{unsent} of {texts} {of} were not stored")]
pub struct Unsent {
    unsent: u64,
    texts: u64,
    /// The word for the texts: those from lctl are targets.
    of: &'static str,
    /// The kind of the first failure.
    pub kind: Kind,
    /// The retry delay that the other side requests.
    pub retry_after: Option<Duration>,
}

/// The state of the texts of a reading so far.
#[derive(Debug, Default)]
pub struct Progress {
    states: Vec<TextState>,
    of: &'static str,
    /// The number of texts that have a target. They are the first ones.
    targets: usize,
    /// The kind of the first failure of the last attempt.
    failure: Option<Kind>,
    /// The retry delay that the other side requests.
    retry_after: Option<Duration>,
    /// The first message of the last attempt that explains why a text was not stored.
    message: Option<String>,
    /// The numbers of texts that were stored and rejected before the last attempt.
    before: (u64, u64),
    /// Set if the database rejected a text for its time.
    pub is_untimely: bool,
}

/// The answer of the database to a text that it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Stored,
    /// The text is in `jobstats.rejects`, for the reason in this warning.
    Rejected(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextState {
    Waiting,
    Stored,
    /// The database has put the text into `jobstats.rejects`.
    Rejected,
    /// The database will always refuse the text.
    Refused,
}

impl Progress {
    /// Starts with a reading that has not been sent.
    pub fn new(reading: &Reading) -> Self {
        Self {
            states: vec![TextState::Waiting; reading.index.texts.len()],
            targets: reading.targets() as usize,
            of: match reading.index.source.as_str() {
                LCTL => "targets",
                _ => "texts",
            },
            ..Self::default()
        }
    }

    fn begin(&mut self) {
        (self.failure, self.retry_after, self.message) = (None, None, None);
        self.before = self.counts();
    }

    /// Returns the numbers of texts of targets that were stored and rejected so far.
    fn counts(&self) -> (u64, u64) {
        (
            self.count(TextState::Stored),
            self.count(TextState::Rejected),
        )
    }

    fn count(&self, wanted: TextState) -> u64 {
        let states = self.states.iter().take(self.targets);
        states.filter(|state| **state == wanted).count() as u64
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
        let waiting = states.filter(|(_, state)| **state == TextState::Waiting);
        waiting.map(|(index, _)| index).collect()
    }

    /// Notes that the database took these texts.
    fn succeed(&mut self, texts: &[usize], answer: Answer) {
        let state = match answer {
            Answer::Stored => TextState::Stored,
            Answer::Rejected(warning) => {
                self.is_untimely |= warning.contains(CLOCK);
                self.message.get_or_insert(warning);
                TextState::Rejected
            }
        };
        for text in texts {
            self.states[*text] = state;
        }
    }

    fn fail(&mut self, texts: &[usize], error: &SendError, message: String) {
        self.message.get_or_insert(message);
        self.failure = self.failure.or(Some(error.kind()));
        let retry_after = error.answer().and_then(|answer| answer.retry_after);
        self.retry_after = self.retry_after.max(retry_after);
        if error.is_refusal() {
            for text in texts {
                self.states[*text] = TextState::Refused;
            }
        }
    }

    /// Returns true if no text is left to be sent.
    pub fn is_over(&self) -> bool {
        !self.states.contains(&TextState::Waiting)
    }

    /// Returns an error if a text was not stored, in this attempt or in an earlier one.
    pub fn result(&self) -> Result<(), Unsent> {
        let is_unsent = |state: &&TextState| **state != TextState::Stored;
        let unsent = |texts| self.states.iter().take(texts).filter(is_unsent).count() as u64;
        let all = self.states.len();
        // A text without a target is of interest only if all targets were stored.
        let (texts, of) = match unsent(self.targets) {
            0 => (all, "texts"),
            _ => (self.targets, self.of),
        };
        let is_over = self.is_over() && unsent(all) > 0;
        let refused =
            (is_over || self.states.contains(&TextState::Refused)).then_some(Kind::Refused);
        self.failure.or(refused).map_or(Ok(()), |kind| {
            Err(Unsent {
                unsent: unsent(texts),
                texts: texts as u64,
                of,
                kind,
                retry_after: self.retry_after,
            })
        })
    }
}

impl From<tokio_postgres::Error> for SendError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Client(error.into())
    }
}

impl SendError {
    pub fn kind(&self) -> Kind {
        match self {
            Self::Client(error) => error.kind(),
            Self::StatementTimeout(_) => Kind::Silent,
            Self::Http(error) => error.kind(),
            Self::Io(_) => Kind::Local,
            Self::TooLarge(_) => Kind::Refused,
        }
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
    fn prepare(&mut self) {}

    /// Returns how many of these texts, from the first on, may be stored in one transaction.
    fn together(&self, _texts: &[&Text]) -> usize {
        1
    }

    /// Tries once to store texts in one transaction. If the answer is lost, sending them again is safe, because the same text at the same
    /// time changes nothing.
    fn store(&mut self, reading: &Reading, texts: &[&Text]) -> Result<Answer, SendError>;

    fn name(&self) -> String;

    /// Closes connections, so that the next text uses a new one.
    fn close(&mut self);
}

/// The settings of the way to the store.
pub enum Store {
    Database(Box<Settings>),
    Http(HttpSettings),
}

impl Store {
    /// Reads the settings of the database, which shows this name, unless the command line names a URL of PostgREST.
    pub fn new(
        http: HttpOptions,
        database: &jobstats_client::Options,
        name: &str,
    ) -> Result<Self, SettingsError> {
        match http.settings(database) {
            Some(settings) => Ok(Self::Http(settings)),
            None => Ok(Self::Database(Box::new(database.settings(name)?))),
        }
    }

    pub fn feed(&self, timeouts: Timeouts, state: &StateFile) -> Result<Feed, SendError> {
        let transport: Box<dyn Transport> = match self {
            Self::Database(settings) => {
                let settings = Settings::clone(settings);
                Box::new(Database::new(settings, timeouts, state.clone())?)
            }
            Self::Http(settings) => Box::new(Http::new(settings.clone(), timeouts)?),
        };
        Ok(Feed::new(transport, timeouts))
    }
}

/// A writer to `jobstats.feed`.
pub struct Feed {
    transport: Box<dyn Transport>,
    /// The time after which a text is not tried again at once.
    limit: Duration,
}

impl Feed {
    /// Prepares the transport, without connecting.
    pub fn new(transport: Box<dyn Transport>, timeouts: Timeouts) -> Self {
        Self {
            transport,
            limit: timeouts.statement,
        }
    }

    /// Sends every text that is still waiting, reports each that could not be stored, and notes the outcome.
    pub fn send(&mut self, reading: &Reading, progress: &mut Progress) {
        self.transport.prepare();
        progress.begin();
        let waiting = progress.waiting();
        let mut rest = waiting.as_slice();
        // The number of texts that failed together and are sent one by one.
        let mut alone: usize = 0;
        let mut waited = 0;
        while !rest.is_empty() {
            let texts: Vec<_> = rest
                .iter()
                .map(|index| &reading.index.texts[*index])
                .collect();
            let count = match alone {
                0 => self.transport.together(&texts).clamp(1, texts.len()),
                _ => 1,
            };
            alone = alone.saturating_sub(1);
            let (now, later) = rest.split_at(count);
            let texts = &texts[..count];
            match self.send_texts(reading, texts) {
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
                    report(&message);
                    progress.fail(now, &error, message);
                    waited += usize::from(matches!(error.kind(), Kind::Conflict | Kind::Slow));
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

    /// Formats a failure. What concerns the connection names the store, and everything else the target.
    fn describe(&self, texts: &[&Text], error: &SendError) -> String {
        let names = shown_names(texts);
        match (error, error.kind()) {
            (SendError::Client(jobstats_client::Error::Connect { .. }), _) => error.to_string(),
            (_, Kind::Lost | Kind::Silent) => {
                format!("{}: {error}, at {names}", self.transport.name())
            }
            _ => format!("{names}: {error}"),
        }
    }

    /// Tries until the texts are stored or a retry would not help.
    fn send_texts(&mut self, reading: &Reading, texts: &[&Text]) -> Result<Answer, SendError> {
        let (start, limit) = (Instant::now(), self.limit);
        // Attempts that wait for a lock each time would take five times as long.
        let is_passing = |error: &SendError| error.is_passing() && start.elapsed() < limit;
        retry(is_passing, || {
            notify::beat();
            self.transport.store(reading, texts)
        })
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
        let (name, bytes, packed) = (text.shown_name(), text.bytes, text.packed_bytes());
        info(format_args!("{name}: {bytes} bytes sent as {packed}"));
    }
}
