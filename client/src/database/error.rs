//! The error of connecting and asking.

use std::time::Duration;

use crate::database::failure::{Kind, message, plain_message};
use crate::database::settings::SettingsError;
use crate::database::tls::TlsError;

/// An error that prevents a connection or an answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The settings do not describe a connection.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The database, or the connection to it, failed.
    #[error("{}", message(.0))]
    Database(#[from] tokio_postgres::Error),
    /// No connection was made.
    #[error("cannot connect to {to}: {}", short(.cause))]
    Connect {
        /// The hosts, the database and the user.
        to: String,
        /// The failure of the last host.
        cause: Box<Error>,
    },
    /// The database did not accept the connection in time.
    #[error("the database did not accept the connection within {0:?}")]
    ConnectTimeout(Duration),
}

impl Error {
    /// Returns the message for people without SQL.
    pub fn plain(&self) -> String {
        let found = match self {
            Self::Database(error) => error.as_db_error(),
            _ => None,
        };
        found.map_or_else(|| self.to_string(), plain_message)
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Settings(_) | Self::Tls(_) => Kind::Setup,
            Self::Connect { cause, .. } => cause.kind().of_connecting(),
            Self::ConnectTimeout(_) => Kind::Silent,
            Self::Database(error) => Kind::of(error),
        }
    }
}

/// Formats the failure of a connection without the beginning that every such message has.
fn short(cause: &Error) -> String {
    let message = cause.to_string();
    let rest = message.strip_prefix("error connecting to server: ");
    rest.map_or_else(|| message.clone(), str::to_owned)
}
