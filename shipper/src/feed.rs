//! Sends a reading to `jobstats.feed`, one target per transaction.

use std::future::Future;
use std::io::{self, Cursor};
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::SinkExt;
use jobstats_client::connection::KEEPALIVE;
use jobstats_client::spool::Text;
use jobstats_client::{Connector, Kind, Notice, Retry, Session, Settings};
use tokio::runtime::{self, Runtime};
use tokio::time::timeout;
use tokio_postgres::{Client, IsolationLevel, Transaction};

use crate::message::{info, notice, report, warn};
use crate::notify;
use crate::reading::Reading;
use crate::row::Row;
use crate::state::{Event, StateFile};

/// The statement that stores a row. COPY streams, so memory does not grow with the text; the trigger on the view sees
/// an ordinary row.
const COPY: &str = r#"COPY jobstats.feed (cluster, server, "time", body_zstd, duration, shipper) FROM STDIN (FORMAT binary)"#;

/// The size of a piece of text that is sent at once.
const PIECE: usize = 64 << 10;

/// The time that the client waits for a statement beyond the server's own timeout, because the server's message is
/// better.
const GRACE: Duration = Duration::from_secs(5);

/// The beginning of the warning about texts that the database put into `jobstats.rejects`.
const REJECTED: &str = "jobstats rejected ";

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
    /// The first message of the last attempt that says why a text was not stored.
    message: Option<String>,
    /// The numbers of texts that were stored and rejected before the last attempt.
    before: (u64, u64),
}

/// The answer of the database to a text that it took.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
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
            failure: None,
            message: None,
            before: (0, 0),
        }
    }

    /// Begins an attempt.
    fn begin(&mut self) {
        self.failure = None;
        self.message = None;
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

/// A writer to `jobstats.feed`.
pub struct Feed {
    connector: Connector,
    timeouts: Timeouts,
    state: StateFile,
    runtime: Runtime,
    /// The session, kept from one reading to the next so that the database need not read again what it has just stored.
    session: Option<Session>,
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.close();
    }
}

impl Feed {
    /// Prepares TLS and the runtime; connects to nothing yet.
    pub fn new(settings: Settings, timeouts: Timeouts, state: StateFile) -> Result<Self, Error> {
        let connector = Connector::new(settings.for_writing(), timeouts.connect)?;
        let runtime = runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        Ok(Self {
            connector,
            timeouts,
            state,
            runtime,
            session: None,
        })
    }

    /// Sends every text that is still waiting, reports each that could not be stored, and notes what became of it.
    pub fn send(&mut self, sender: &Sender, reading: &Reading, progress: &mut Progress) {
        self.leave_unless_there();
        progress.begin();
        let mut waited = 0;
        for (text, state) in reading.texts.iter().zip(&mut progress.states) {
            if *state != State::Waiting {
                continue;
            }
            match self.send_text(sender, reading, text) {
                Ok(Answer::Stored) => {
                    *state = State::Stored;
                    waited = 0;
                    info(format_args!(
                        "{}: {} bytes sent as {}",
                        text.shown_name(),
                        text.bytes,
                        text.packed_bytes()
                    ));
                }
                Ok(Answer::Rejected(warning)) => {
                    *state = State::Rejected;
                    progress.message.get_or_insert(warning);
                }
                Err(error) => {
                    let message = self.describe(text, &error);
                    report(format_args!("{message}"));
                    progress.message.get_or_insert(message);
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
            self.close();
        }
    }

    /// Tries until the text is stored or a retry would not help. A target that was stored although the answer got
    /// lost is not stored twice, because the same text at the same time changes nothing.
    fn send_text(
        &mut self,
        sender: &Sender,
        reading: &Reading,
        text: &Text,
    ) -> Result<Answer, Error> {
        let start = Instant::now();
        let limit = self.timeouts.statement;
        Retry::default().run(
            // Attempts that wait for a lock each time would take five times as long.
            |error: &Error| error.kind().is_passing() && start.elapsed() < limit,
            || {
                notify::beat();
                self.try_text(sender, reading, text)
            },
        )
    }

    /// Tries once. The session is kept unless it broke.
    fn try_text(
        &mut self,
        sender: &Sender,
        reading: &Reading,
        text: &Text,
    ) -> Result<Answer, Error> {
        let row = Row::new(sender, text)?;
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.runtime.block_on(self.connector.session())?,
        };
        let limit = self.timeouts.statement;
        let copying = copy(&mut session.client, limit, &row, reading, text);
        let late = Error::StatementTimeout(limit);
        let tried = self
            .runtime
            .block_on(within(limit.saturating_add(GRACE), copying, late));
        let mut answer = Answer::Stored;
        for said in session.notices() {
            let message = format!("{}: {}", text.shown_name(), said.message);
            if !said.is_warning {
                if self.state.is_news(text.shown_name(), &said.message) {
                    notice(format_args!("{message}"));
                }
                continue;
            }
            warn(format_args!("{message}"));
            if is_rejection(&said) {
                answer = Answer::Rejected(message);
            }
        }
        if tried.as_ref().err().is_none_or(Error::is_of_one_target) {
            self.session = Some(session);
        }
        tried.map(|()| answer)
    }

    /// Formats a failure. What concerns the connection names the database, and everything else the target.
    fn describe(&self, text: &Text, error: &Error) -> String {
        match (error, error.kind()) {
            (Error::Client(jobstats_client::Error::Connect { .. }), _) => error.to_string(),
            (_, Kind::Lost | Kind::Silent) => {
                format!("{}: {error}, at {}", self.connector, text.shown_name())
            }
            _ => format!("{}: {error}", text.shown_name()),
        }
    }

    /// Closes the session if it does not answer, for example because the server was restarted or a firewall forgot the
    /// connection. A reading that found this out with its first target would wait too long.
    fn leave_unless_there(&mut self) {
        let limit = self.timeouts.connect;
        let answers = self.session.as_ref().map(|session| {
            let nothing = async { Ok(session.client.batch_execute("").await?) };
            let late = Error::StatementTimeout(limit);
            self.runtime.block_on(within(limit, nothing, late))
        });
        if let Some(Err(_)) = answers {
            self.close();
        }
    }

    /// Closes the session, if there is one.
    fn close(&mut self) {
        if let Some(session) = self.session.take() {
            self.runtime.block_on(session.close());
        }
    }
}

/// Returns true if the database says that it has put the text into `jobstats.rejects`.
pub fn is_rejection(notice: &Notice) -> bool {
    notice.is_warning && notice.message.starts_with(REJECTED)
}

async fn within<T>(
    limit: Duration,
    what: impl Future<Output = Result<T, Error>>,
    late: Error,
) -> Result<T, Error> {
    timeout(limit, what).await.unwrap_or(Err(late))
}

/// Returns the statement that limits how long the server lets this transaction wait. If the connection dies silently, the
/// server ends the session, between statements by the idle limit and inside COPY by the limits of TCP: otherwise the
/// session would keep the lock of the target, and later readings could not be stored. `SET LOCAL` also works through a
/// pooler of transactions.
fn limits(statement: Duration) -> String {
    let milliseconds = |limit: Duration| limit.as_millis().min(i32::MAX.unsigned_abs().into());
    format!(
        "SET LOCAL statement_timeout = {};
         SET LOCAL idle_in_transaction_session_timeout = {};
         SET LOCAL tcp_keepalives_idle = {};
         SET LOCAL tcp_keepalives_interval = {};
         SET LOCAL tcp_keepalives_count = {};
         SET LOCAL tcp_user_timeout = {}",
        milliseconds(statement),
        milliseconds(statement.saturating_add(GRACE)),
        KEEPALIVE.idle.as_secs(),
        KEEPALIVE.interval.as_secs(),
        KEEPALIVE.retries,
        milliseconds(KEEPALIVE.unacknowledged),
    )
}

async fn copy(
    client: &mut Client,
    limit: Duration,
    row: &Row,
    reading: &Reading,
    text: &Text,
) -> Result<(), Error> {
    let transaction = begin(client, limit).await?;
    fill(&transaction, row, reading, text).await?;
    transaction.commit().await?;
    Ok(())
}

/// Stores a text in a transaction that is rolled back, to see whether the database would take it.
///
/// # Errors
///
/// Fails as the delivery would.
pub async fn rehearse(
    client: &mut Client,
    limit: Duration,
    sender: &Sender,
    reading: &Reading,
    text: &Text,
) -> Result<(), Error> {
    let row = Row::new(sender, text)?;
    let filled = async {
        let transaction = begin(client, limit).await?;
        fill(&transaction, &row, reading, text).await?;
        transaction.rollback().await?;
        Ok(())
    };
    let late = Error::StatementTimeout(limit);
    within(limit.saturating_add(GRACE), filled, late).await
}

async fn begin(client: &mut Client, limit: Duration) -> Result<Transaction<'_>, Error> {
    // The isolation level is set whatever the database's default is: the feed must see what others committed while it
    // waited.
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::ReadCommitted)
        .start()
        .await?;
    transaction.batch_execute(&limits(limit)).await?;
    Ok(transaction)
}

/// Sends a row to the feed.
async fn fill(
    transaction: &Transaction<'_>,
    row: &Row,
    reading: &Reading,
    text: &Text,
) -> Result<(), Error> {
    let mut sink = pin!(transaction.copy_in::<_, Cursor<Vec<u8>>>(COPY).await?);
    sink.send(Cursor::new(row.head().to_vec())).await?;
    for piece in reading.pieces(text, PIECE) {
        sink.send(Cursor::new(piece?)).await?;
    }
    sink.send(Cursor::new(row.tail().to_vec())).await?;
    sink.finish().await?;
    Ok(())
}
