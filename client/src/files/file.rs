//! Errors of the file system that name the path, and answers about paths that every reader of files needs.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// An error of the file system at a path.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub struct FileError {
    /// The path.
    pub path: PathBuf,
    /// The error of the system.
    pub cause: io::Error,
}

impl FileError {
    /// Returns a function that adds this path to errors of the system.
    pub fn at(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self {
            path: path.clone(),
            cause,
        }
    }
}

/// Returns `None` if the file or directory does not exist.
pub fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the directory of a file, `.` for a bare name.
pub fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}
