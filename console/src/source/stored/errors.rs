//! Why a store cannot be read.

use jobstats_client::Kind;
use jobstats_core::instant::Micros;

use crate::page::moment;

/// An error of the connection, of the store, or of a question.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The settings, the connection or an answer failed.
    #[error(transparent)]
    Client(#[from] jobstats_client::Error),
    /// The database has no extension.
    #[error(
        "the database {0} has no extension jobstats: is it the right one? CREATE EXTENSION jobstats adds it"
    )]
    NoExtension(String),
    /// The extension has no store yet.
    #[error("the database {0} has no store yet: its owner makes one by SELECT jobstats_setup()")]
    NoStore(String),
    /// The role may not read the store.
    #[error(
        "the role {0} may not read the store: its owner allows that by SELECT jobstats_grant_reader('{0}')"
    )]
    Denied(String),
    /// The store is of a version that the console cannot read.
    #[error(
        "the store is of version {0}, and this program reads {oldest} and later: the owner of the store runs ALTER EXTENSION \
         jobstats UPDATE, and SELECT jobstats_setup()", oldest = super::session::OLDEST
    )]
    Old(String),
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
            Self::NoExtension(_) | Self::NoStore(_) | Self::Old(_) => Kind::Setup,
            Self::Denied(_) => Kind::Denied,
            Self::Empty | Self::OutOfScope | Self::Before { .. } => return None,
        })
    }

    /// Returns true if a later attempt may succeed without a change of the settings.
    pub fn is_passing(&self) -> bool {
        self.kind()
            .is_none_or(|kind| kind.is_passing() || matches!(kind, Kind::Silent | Kind::Slow))
    }
}
