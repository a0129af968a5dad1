//! The error of a command that asks a store.

use std::io;
use std::path::PathBuf;

use jobstats_client::exit;

use crate::ask::config;
use crate::ask::store;
use crate::values::text;

/// An error of a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// Several schedulers have a job of this number.
    #[error("several schedulers have a job {job}, choose one:{}", text::listed(.candidates))]
    Several {
        /// The job, as it was asked for.
        job: String,
        /// The candidates, each with the option that chooses it.
        candidates: Vec<String>,
    },
    /// The store knows nothing of it.
    #[error("nothing is known of {kind} {name}{}", text::listed(.notes))]
    Unknown {
        /// The kind of what was asked for.
        kind: &'static str,
        /// The name, as it was asked for.
        name: String,
        /// The notes of the store.
        notes: Vec<String>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The profile cannot be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The output cannot be written.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
    /// A file cannot be written.
    #[error("{}: {cause}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// A page cannot be formatted.
    #[error("cannot format the page: {0}")]
    Page(#[from] askama::Error),
}

impl Error {
    /// Returns the exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Several { .. } => exit::USAGE,
            Self::Unknown { .. } => exit::NOTHING,
            Self::Store(error) => exit::code(error.kind()),
            Self::Config(_) => exit::SETUP,
            Self::Output(_) | Self::File { .. } | Self::Page(_) => exit::SYSTEM,
        }
    }

    /// Returns true if whoever reads the output has seen enough.
    pub fn is_enough(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
