//! Sends a reading to `jobstats.feed`, one target per transaction.

use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::io::{self, Cursor};
use std::pin::pin;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures_util::SinkExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{self, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::{AsyncMessage, Client, Connection, IsolationLevel};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connection::Settings;
use crate::message::report;
use crate::reading::{Reading, Target};
use crate::row::Row;
use crate::tls;

#[cfg(test)]
mod tests;

/// The statement that stores a row. COPY streams, so memory does not grow with the text; the trigger on the view sees
/// an ordinary row.
const COPY: &str = r#"COPY jobstats.feed (cluster, server, "time", body_zstd, duration, shipper) FROM STDIN (FORMAT binary)"#;

/// The size of a piece of text that is sent at once.
const PIECE: usize = 64 << 10;

/// The number of tries per target. The last try starts 1.5 seconds plus the duration of the earlier tries after the
/// first.
const ATTEMPTS: u32 = 5;

/// The backoff after the first try, doubled after each further try.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The time that the client waits for a statement beyond the server's own timeout, because the server's message is
/// better.
const GRACE: Duration = Duration::from_secs(5);

/// An error that kept a target from being stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] tls::Error),
    /// The database, or the connection to it, failed.
    #[error("{}", say(.0))]
    Database(#[from] tokio_postgres::Error),
    /// The database did not accept the connection in time.
    #[error("the database did not let us in within {0:?}")]
    ConnectTimeout(Duration),
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
#[derive(Debug, thiserror::Error)]
#[error("{unsent} of {targets} targets were not stored")]
pub struct Unsent {
    /// The number of targets that were not stored.
    unsent: usize,
    /// The number of all targets.
    targets: usize,
    /// The kind of the first failure.
    pub kind: Kind,
}

/// The kind of an error, which decides about retries and the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A conflict with another session; a retry may succeed.
    Conflict,
    /// The connection broke or was not made; a retry may succeed.
    Lost,
    /// The database does not answer.
    Silent,
    /// The statement took too long, this time or always with this text.
    Slow,
    /// The database refused this text.
    Refused,
    /// The database denied access.
    Denied,
    /// The settings are wrong, or there is no store to write to.
    Setup,
    /// This machine has a problem.
    Local,
}

impl Kind {
    /// Returns true if an immediate retry of the target may succeed.
    fn is_passing(self) -> bool {
        matches!(self, Self::Conflict | Self::Lost)
    }

    /// Returns true if the error concerns one target only, so that other targets may still be stored.
    fn is_of_one_target(self) -> bool {
        matches!(self, Self::Conflict | Self::Slow | Self::Refused)
    }
}

impl Error {
    /// Returns the kind of the error.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Tls(_) => Kind::Setup,
            Self::ConnectTimeout(_) | Self::StatementTimeout(_) => Kind::Silent,
            Self::Io(_) => Kind::Local,
            Self::TooLarge(_) => Kind::Refused,
            Self::Database(error) => error
                .code()
                .map_or_else(|| kind_of_client(error), kind_of_server),
        }
    }
}

/// Returns the kind of an error that the server reported.
fn kind_of_server(state: &SqlState) -> Kind {
    match (state.code(), state.code().get(..2).unwrap_or_default()) {
        ("40001" | "40P01", _) => Kind::Conflict,
        ("57014", _) => Kind::Slow,
        // These are shutdown, startup, too many connections and connection trouble.
        ("57P01" | "57P02" | "57P03" | "53300", _) | (_, "08") => Kind::Lost,
        ("42501", _) | (_, "28") => Kind::Denied,
        // These are a missing database, schema, relation or column, and a store without its extension.
        ("3D000" | "3F000" | "42P01" | "42703" | "55000", _) => Kind::Setup,
        _ => Kind::Refused,
    }
}

/// Returns the kind of an error of the client library: a broken connection, or a certificate or setting that cannot be
/// used.
fn kind_of_client(error: &tokio_postgres::Error) -> Kind {
    let Some(source) = std::error::Error::source(error) else {
        return Kind::Lost;
    };
    match source.downcast_ref::<io::Error>() {
        Some(error)
            if !error
                .get_ref()
                .is_some_and(|inner| inner.is::<rustls::Error>()) =>
        {
            Kind::Lost
        }
        _ => Kind::Setup,
    }
}

/// Formats the server's message with its SQLSTATE and hint. Its DETAIL is left out, because it may repeat what was
/// sent.
fn say(error: &tokio_postgres::Error) -> String {
    let mut said = error.as_db_error().map_or_else(|| error.to_string(), quote);
    let source = std::error::Error::source(error).filter(|_| error.as_db_error().is_none());
    if let Some(source) = source {
        let _ = write!(said, ": {source}");
    }
    said
}

fn quote(said: &DbError) -> String {
    let hint = said.hint().map(|hint| format!(" (hint: {hint})"));
    format!(
        "{} (SQLSTATE {}){}",
        said.message(),
        said.code().code(),
        hint.unwrap_or_default()
    )
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
    settings: Settings,
    tls: MakeRustlsConnect,
    timeouts: Timeouts,
    sender: Sender,
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
    pub fn new(mut settings: Settings, timeouts: Timeouts, sender: Sender) -> Result<Self, Error> {
        let tls = MakeRustlsConnect::new(tls::client_config(
            settings.sslmode,
            settings.ca_file.as_deref(),
        )?);
        let runtime = runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        settings
            .config
            .ssl_mode(settings.sslmode.into())
            .connect_timeout(timeouts.connect);
        Ok(Self {
            settings,
            tls,
            timeouts,
            sender,
            runtime,
            session: None,
        })
    }

    /// Sends every target and reports each that could not be stored.
    pub fn send(&mut self, reading: &Reading, verbose: bool) -> Result<(), Unsent> {
        self.leave_unless_there();
        let (mut first, mut sent) = (None, 0);
        for target in &reading.targets {
            let name = target.shown_name();
            match self.send_target(reading, target) {
                Ok(()) => {
                    sent += 1;
                    if verbose {
                        report(format_args!(
                            "{name}: {} bytes sent as {}",
                            target.text_bytes,
                            target.packed_bytes()
                        ));
                    }
                }
                Err(error) => {
                    report(format_args!("{name}: {error}"));
                    first = first.or(Some(error.kind()));
                    if !error.kind().is_of_one_target() {
                        break;
                    }
                }
            }
        }
        // The server may be the wrong one by now, for example a primary that has become a standby.
        if first.is_some() {
            self.close();
        }
        let targets = reading.targets.len();
        first.map_or(Ok(()), |kind| {
            Err(Unsent {
                unsent: targets - sent,
                targets,
                kind,
            })
        })
    }

    /// Tries until the target is stored or a retry would not help. A target that was stored although the answer got
    /// lost is not stored twice, because the same text at the same time changes nothing.
    fn send_target(&mut self, reading: &Reading, target: &Target) -> Result<(), Error> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match self.try_target(reading, target) {
                Err(error) if error.kind().is_passing() => {
                    thread::sleep(pause);
                    pause *= 2;
                }
                ended => return ended,
            }
        }
        self.try_target(reading, target)
    }

    /// Tries once. The session is kept unless it broke.
    fn try_target(&mut self, reading: &Reading, target: &Target) -> Result<(), Error> {
        let row = Row::new(&self.sender, target)?;
        let mut session = self.session.take().map_or_else(|| self.connect(), Ok)?;
        let limit = self.timeouts.statement;
        let copying = copy(&mut session.client, limit, &row, reading, target);
        let late = Error::StatementTimeout(limit);
        let tried = self
            .runtime
            .block_on(within(limit.saturating_add(GRACE), copying, late));
        for warning in session.warnings.try_iter() {
            report(format_args!("{}: {warning}", target.shown_name()));
        }
        if tried
            .as_ref()
            .err()
            .is_none_or(|error| error.kind().is_of_one_target())
        {
            self.session = Some(session);
        }
        tried
    }

    fn connect(&self) -> Result<Session, Error> {
        let config = &self.settings.config;
        let hosts = config
            .get_hosts()
            .len()
            .max(config.get_hostaddrs().len())
            .max(1);
        let limit = self
            .timeouts
            .connect
            .saturating_mul(u32::try_from(hosts).unwrap_or(u32::MAX));
        let connecting = async { Ok(config.connect(self.tls.clone()).await?) };
        self.runtime.block_on(async {
            let (client, connection) =
                within(limit, connecting, Error::ConnectTimeout(limit)).await?;
            let (sink, warnings) = mpsc::channel();
            Ok(Session {
                client,
                driver: tokio::spawn(drive(connection, sink)),
                warnings,
            })
        })
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

    /// Closes the session properly; otherwise the server would log that the client just went away.
    fn close(&mut self) {
        if let Some(Session { client, driver, .. }) = self.session.take() {
            drop(client);
            let _ = self
                .runtime
                .block_on(async { timeout(GRACE, driver).await });
        }
    }
}

/// A connection and the task that moves its bytes. Errors of the task surface where the client is used.
struct Session {
    client: Client,
    driver: JoinHandle<Result<(), tokio_postgres::Error>>,
    /// The warnings of the server that were not reported yet.
    warnings: mpsc::Receiver<String>,
}

/// Moves the bytes of a connection and passes on the server's warnings.
async fn drive<S, T>(
    mut connection: Connection<S, T>,
    warnings: mpsc::Sender<String>,
) -> Result<(), tokio_postgres::Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notice(notice) = message?
            && notice.parsed_severity() == Some(Severity::Warning)
        {
            // The receiver that would report the warning may be gone.
            let _ = warnings.send(quote(&notice));
        }
    }
    Ok(())
}

async fn within<T>(
    limit: Duration,
    what: impl Future<Output = Result<T, Error>>,
    late: Error,
) -> Result<T, Error> {
    timeout(limit, what).await.unwrap_or(Err(late))
}

async fn copy(
    client: &mut Client,
    limit: Duration,
    row: &Row,
    reading: &Reading,
    target: &Target,
) -> Result<(), Error> {
    // The isolation level is set whatever the database's default is: the feed must see what others committed while it
    // waited.
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::ReadCommitted)
        .start()
        .await?;
    let most = i32::MAX.unsigned_abs().into();
    transaction
        .batch_execute(&format!(
            "SET LOCAL statement_timeout = {}",
            limit.as_millis().min(most)
        ))
        .await?;
    let mut sink = pin!(transaction.copy_in::<_, Cursor<Vec<u8>>>(COPY).await?);
    sink.send(Cursor::new(row.head().to_vec())).await?;
    for piece in reading.pieces(target, PIECE) {
        sink.send(Cursor::new(piece?)).await?;
    }
    sink.send(Cursor::new(row.tail().to_vec())).await?;
    sink.finish().await?;
    transaction.commit().await?;
    Ok(())
}
