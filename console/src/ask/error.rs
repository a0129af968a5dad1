//! The error of a command.

use std::io;
use std::path::PathBuf;

use jobstats_client::{FileError, files::trust::TrustError, program::exit};

use crate::ask::store;
use crate::values::text;

/// An error of a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot format the page: {0}")]
    Page(#[from] askama::Error),
    #[error("no service at {}: {reason}", socket.display())]
    Away { socket: PathBuf, reason: String },
    /// Any other error, with its exit code; also the refusal of a service, which names the code.
    #[error("{message}")]
    Other { code: u8, message: String },
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Error {
    /// Returns an error with this exit code.
    pub fn other(code: u8, message: impl ToString) -> Self {
        let message = message.to_string();
        Self::Other { code, message }
    }

    /// Returns the error for a job, a user or another kind of subject without data.
    pub fn unknown(kind: &str, name: &str, notes: &[String]) -> Self {
        let notes = text::listed(notes);
        let message = format!("no data for {kind} {name}{notes}");
        Self::other(exit::NOTHING, message)
    }

    /// Returns the exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => exit::USAGE,
            Self::Store(error) => exit::code(error.kind()),
            Self::Trust(_) => exit::SETUP,
            Self::Output(_) | Self::File(_) | Self::Page(_) => exit::SYSTEM,
            Self::Away { .. } => exit::UNREACHABLE,
            Self::Other { code, .. } => *code,
        }
    }

    /// Returns true if whoever reads the output has seen enough.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
