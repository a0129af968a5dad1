//! Why a store has nothing to show.

use jobstats_client::Kind;
use jobstats_core::instant::Micros;

use crate::ask::store;
use crate::values::when::moment;

/// An error of the connection, of the store, or of a question.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot be asked.
    #[error(transparent)]
    Store(#[from] store::Error),
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

impl From<jobstats_client::Error> for Error {
    fn from(error: jobstats_client::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Error {
    /// Returns the kind of the error; `None` if there is just nothing to show.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Store(error) => Some(error.kind()),
            Self::Empty | Self::OutOfScope | Self::Before { .. } => None,
        }
    }

    /// Returns true if a later attempt may succeed without a change of the settings.
    pub fn is_passing(&self) -> bool {
        self.kind()
            .is_none_or(|kind| kind.is_passing() || matches!(kind, Kind::Silent | Kind::Slow))
    }
}
