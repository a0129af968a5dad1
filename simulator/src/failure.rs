//! Describes why a command failed.

use std::fmt::Display;
use std::io;
use std::path::Path;

use thiserror::Error;

/// The reason why a command failed.
#[derive(Debug, Error)]
pub enum Failure {
    /// The database could not be reached, or refused a statement.
    #[error("database: {0}")]
    Database(#[from] jobstats_client::Error),
    /// Output could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// Output of tables could not be written.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// An argument, a file or the clock cannot be used.
    #[error("{0}")]
    Unusable(String),
}

impl Failure {
    /// Describes a problem of a file.
    pub fn file(path: &Path, problem: impl Display) -> Self {
        Self::Unusable(format!("{}: {problem}", path.display()))
    }

    /// Returns true if the reader of the output closed the pipe, which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        let error = match self {
            Self::Output(error) => error,
            Self::Csv(error) => match error.kind() {
                csv::ErrorKind::Io(error) => error,
                _ => return false,
            },
            _ => return false,
        };
        error.kind() == io::ErrorKind::BrokenPipe
    }
}

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Self {
        Self::Database(error.into())
    }
}

impl From<String> for Failure {
    fn from(problem: String) -> Self {
        Self::Unusable(problem)
    }
}
