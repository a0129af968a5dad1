//! Connections to the database, over TLS where the settings ask for it.

use std::future::poll_fn;
use std::sync::mpsc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Config, Connection};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Error;
use crate::failure::server_message;
use crate::settings::Settings;
use crate::tls;

#[cfg(test)]
mod tests;

/// The time that a session may take to close.
const CLOSING: Duration = Duration::from_secs(5);

/// The limits of TCP after which a connection whose other end is silent counts as broken.
#[derive(Debug, Clone, Copy)]
pub struct Keepalive {
    /// The time without traffic after which the first probe is sent.
    pub idle: Duration,
    /// The time between probes.
    pub interval: Duration,
    /// The number of probes without an answer.
    pub retries: u32,
    /// The time for which sent data may stay without acknowledgement.
    pub unacknowledged: Duration,
}

/// The limits of this end of a connection, unless the settings say otherwise: a minute each.
pub const KEEPALIVE: Keepalive = Keepalive {
    idle: Duration::from_secs(30),
    interval: Duration::from_secs(10),
    retries: 3,
    unacknowledged: Duration::from_secs(60),
};

/// The idle time of the client library before the first probe, which makes a broken connection last for hours.
const LIBRARY_IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// Fills in the limits of TCP that the settings leave open.
fn keep_alive(config: &mut Config) {
    if config.get_keepalives_idle() == LIBRARY_IDLE {
        config.keepalives_idle(KEEPALIVE.idle);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(KEEPALIVE.interval);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(KEEPALIVE.retries);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(KEEPALIVE.unacknowledged);
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
    /// Prepares TLS; connects to nothing yet. The time limit is per host.
    ///
    /// # Errors
    ///
    /// Fails if the trusted certificates cannot be read.
    pub fn new(settings: Settings, connect_timeout: Duration) -> Result<Self, Error> {
        let Settings {
            mut config,
            sslmode,
            ca_file,
            ..
        } = settings;
        let tls = tls::client_config(sslmode, ca_file.as_deref())?;
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

    /// Makes a connection that blocks the thread while it waits. Each such client has a runtime of its own, and must
    /// not be used inside another. The time limit covers connecting, not authentication.
    ///
    /// # Errors
    ///
    /// Fails if no host accepts the connection.
    pub fn client(&self) -> Result<postgres::Client, Error> {
        Ok(postgres::Config::from(self.config.clone()).connect(self.tls.clone())?)
    }

    /// Makes such a connection, and calls a function with each warning of the server, which has its SQLSTATE and hint.
    ///
    /// # Errors
    ///
    /// Fails if no host accepts the connection.
    pub fn client_that_warns(
        &self,
        warn: impl Fn(String) + Send + Sync + 'static,
    ) -> Result<postgres::Client, Error> {
        let mut config = postgres::Config::from(self.config.clone());
        config.notice_callback(move |notice| {
            if notice.parsed_severity() == Some(Severity::Warning) {
                warn(server_message(&notice));
            }
        });
        Ok(config.connect(self.tls.clone())?)
    }

    /// Opens a session in the tokio runtime of the caller. The time limit covers authentication too.
    ///
    /// # Errors
    ///
    /// Fails if no host accepts the connection in time.
    pub async fn session(&self) -> Result<Session, Error> {
        let hosts = self.config.get_hosts().len();
        let hosts = hosts.max(self.config.get_hostaddrs().len()).max(1);
        let limit = self
            .connect_timeout
            .saturating_mul(u32::try_from(hosts).unwrap_or(u32::MAX));
        let (client, connection) = timeout(limit, self.config.connect(self.tls.clone()))
            .await
            .map_err(|_| Error::ConnectTimeout(limit))??;
        let (sink, warnings) = mpsc::channel();
        Ok(Session {
            client,
            driver: tokio::spawn(drive(connection, sink)),
            warnings,
        })
    }
}

/// A connection and the task that moves its bytes. Errors of the task surface where the client is used.
pub struct Session {
    /// The client of the connection.
    pub client: Client,
    driver: JoinHandle<Result<(), tokio_postgres::Error>>,
    warnings: mpsc::Receiver<String>,
}

impl Session {
    /// Returns the server's warnings since the last call, each with its SQLSTATE and hint.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.warnings.try_iter()
    }

    /// Closes the session properly; otherwise the server would log that the client just went away.
    pub async fn close(self) {
        drop(self.client);
        // A server that does not answer keeps nobody waiting for long.
        let _ = timeout(CLOSING, self.driver).await;
    }
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
            let _ = warnings.send(server_message(&notice));
        }
    }
    Ok(())
}
