//! Database connections, with TLS according to the settings.

use std::fmt;
use std::future::poll_fn;
use std::sync::mpsc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::{DbError, Severity};
use tokio_postgres::{AsyncMessage, Client, Config, Connection};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::error::Error;
use crate::database::failure::{plain_message, server_message};
use crate::database::settings::{self, Settings};
use crate::database::tls;

#[cfg(test)]
mod tests;

/// The time that a session may take to close.
const CLOSING: Duration = Duration::from_secs(5);

/// The default TCP limits after which a silent peer counts as dead, a minute each.
pub mod keepalive {
    use std::time::Duration;

    /// The time without traffic after which the first probe is sent.
    pub const IDLE: Duration = Duration::from_secs(30);
    /// The time between probes.
    pub const INTERVAL: Duration = Duration::from_secs(10);
    /// The number of probes without an answer.
    pub const RETRIES: u32 = 3;
    /// The longest time that sent data may stay unacknowledged.
    pub const UNACKNOWLEDGED: Duration = Duration::from_secs(60);
}

/// The idle time of the client library before the first probe, which makes a broken connection last for hours.
const LIBRARY_IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// Fills in the limits of TCP that the settings leave open.
fn keep_alive(config: &mut Config) {
    if config.get_keepalives_idle() == LIBRARY_IDLE {
        config.keepalives_idle(keepalive::IDLE);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(keepalive::INTERVAL);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(keepalive::RETRIES);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(keepalive::UNACKNOWLEDGED);
    }
}

/// Makes connections from settings. It holds no connection itself, and threads can share it.
#[derive(Clone)]
pub struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    connect_timeout: Duration,
}

impl Connector {
    /// Prepares TLS without connecting. The time limit is per host.
    pub fn new(settings: Settings, connect_timeout: Duration) -> Result<Self, Error> {
        let Settings {
            mut config,
            sslmode,
            ca_file,
            identity,
            ..
        } = settings;
        let tls = tls::client_config(sslmode, ca_file.as_deref(), identity.as_ref())?;
        keep_alive(&mut config);
        config
            .ssl_mode(sslmode.into())
            .connect_timeout(connect_timeout);
        Ok(Self {
            config,
            tls: MakeRustlsConnect::new(tls),
            connect_timeout,
        })
    }

    /// Opens a blocking connection. It has a runtime and must not be used inside another one. The time limit covers connecting, not
    /// authentication.
    pub fn client(&self) -> Result<postgres::Client, Error> {
        self.client_that_notes(|_| ())
    }

    /// Makes such a connection, and calls a function with each warning and notice of the server.
    pub fn client_that_notes(
        &self,
        note: impl Fn(Notice) + Send + Sync + 'static,
    ) -> Result<postgres::Client, Error> {
        let mut config = postgres::Config::from(self.config.clone());
        config.notice_callback(move |notice| {
            if let Some(notice) = Notice::of(&notice) {
                note(notice);
            }
        });
        let connected = config.connect(self.tls.clone());
        connected.map_err(|error| self.unconnected(error.into()))
    }

    /// Opens a session in the tokio runtime of the caller. The time limit covers authentication too.
    pub async fn session(&self) -> Result<Session, Error> {
        let hosts = u32::try_from(self.hosts().len()).unwrap_or(u32::MAX);
        let limit = self.connect_timeout.saturating_mul(hosts.max(1));
        let connected = timeout(limit, self.config.connect(self.tls.clone())).await;
        let (client, connection) = match connected {
            Err(_) => return Err(self.unconnected(Error::ConnectTimeout(limit))),
            Ok(connected) => connected.map_err(|error| self.unconnected(error.into()))?,
        };
        let (sink, notices) = mpsc::channel();
        Ok(Session {
            client,
            driver: tokio::spawn(drive(connection, sink)),
            notices,
        })
    }

    fn unconnected(&self, cause: Error) -> Error {
        Error::Connect {
            to: self.to_string(),
            cause: Box::new(cause),
        }
    }

    /// Returns the hosts with their ports, as pairs. A Unix socket is the directory in which it is.
    pub fn hosts(&self) -> Vec<(String, u16)> {
        settings::hosts(&self.config)
    }
}

/// Names the hosts, the database and the user: `db1:5432,db2:5432/jobstats as shipper`.
impl fmt::Display for Connector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.hosts().into_iter();
        let hosts: Vec<String> = hosts.map(|(host, port)| format!("{host}:{port}")).collect();
        let user = self.config.get_user();
        let database = self.config.get_dbname().or(user).unwrap_or_default();
        write!(formatter, "{}/{database}", hosts.join(","))?;
        user.map_or(Ok(()), |user| write!(formatter, " as {user}"))
    }
}

/// A connection and the task that moves its bytes. Errors of the task surface where the client is used.
pub struct Session {
    /// The client of the connection.
    pub client: Client,
    driver: JoinHandle<Result<(), tokio_postgres::Error>>,
    notices: mpsc::Receiver<Notice>,
}

/// A notice of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// True for a WARNING, false for a NOTICE or INFO.
    pub is_warning: bool,
    /// The message, with its SQLSTATE and hint.
    pub message: String,
    /// The message for people without SQL.
    pub plain: String,
}

impl Notice {
    /// Returns the message if it is one for people, and not for logs.
    fn of(notice: &DbError) -> Option<Self> {
        let is_warning = match notice.parsed_severity()? {
            Severity::Warning => true,
            Severity::Notice | Severity::Info => false,
            _ => return None,
        };
        Some(Self {
            is_warning,
            message: server_message(notice),
            plain: plain_message(notice),
        })
    }
}

impl Session {
    /// Returns the server's warnings and notices since the last call.
    pub fn notices(&self) -> impl Iterator<Item = Notice> {
        self.notices.try_iter()
    }

    /// Closes the session properly; otherwise the server would log that the client just went away.
    pub async fn close(self) {
        drop(self.client);
        // Do not wait long for a server that does not answer.
        let _ = timeout(CLOSING, self.driver).await;
    }
}

/// Moves the bytes of a connection and passes on the server's warnings and notices.
async fn drive<S, T>(
    mut connection: Connection<S, T>,
    notices: mpsc::Sender<Notice>,
) -> Result<(), tokio_postgres::Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        let AsyncMessage::Notice(notice) = message? else {
            continue;
        };
        if let Some(notice) = Notice::of(&notice) {
            // The receiver that would report the message may be gone.
            let _ = notices.send(notice);
        }
    }
    Ok(())
}
