//! Why a store cannot be read.

use jobstats_client::Kind;
use jobstats_core::instant::Micros;

use crate::ask::store::{self, Unreadable};
use crate::values::when::moment;

/// An error of the connection, of the store, or of a question.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The settings, the connection or an answer failed.
    #[error(transparent)]
    Client(#[from] jobstats_client::Error),
    /// The store cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// No target was ever observed.
    #[error("no target has been observed yet; jobstats-shipper sends readings")]
    Empty,
    /// The patterns match no target.
    #[error("no target is of such a cluster and file system; jobstats.targets has all")]
    OutOfScope,
    /// Nothing is kept of the moment, or no target was observed then.
    #[error("nothing is kept of that time; observations begin {}", moment(*first, "%F %T UTC"))]
    Before {
        /// The time of the first observation.
        first: Micros,
    },
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Client(error) => Self::Client(error),
            store::Error::Unreadable(error) => Self::Unreadable(error),
        }
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Client(error.into())
    }
}

impl Error {
    /// Returns the kind of the error; `None` if there is just nothing to show.
    pub fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Client(error) => error.kind(),
            Self::Unreadable(error) => error.kind(),
            Self::Empty | Self::OutOfScope | Self::Before { .. } => return None,
        })
    }

    /// Returns true if a later attempt may succeed without a change of the settings.
    pub fn is_passing(&self) -> bool {
        self.kind()
            .is_none_or(|kind| kind.is_passing() || matches!(kind, Kind::Silent | Kind::Slow))
    }
}
