//! Reasons why a store has no data.

use jiff::Zoned;
use jobstats_client::{Kind, program::exit};

use crate::ask::{error, store};

/// An error of the connection, of the store, or of a question.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("no target has been observed yet; jobstats-shipper sends readings")]
    Empty,
    #[error("no target is of such a cluster and file system; jobstats.targets has all")]
    OutOfScope,
    #[error("nothing is kept of that time; observations begin {}", first.strftime("%F %T %Z"))]
    Before { first: Zoned },
}

impl Error {
    /// Returns the kind of the error; `None` if there is no data.
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

impl From<Error> for error::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            Error::Empty | Error::OutOfScope | Error::Before { .. } => {
                Self::other(exit::NOTHING, error)
            }
        }
    }
}
