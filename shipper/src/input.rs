//! Text that lctl printed elsewhere: a file or a pipe.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::pump::{Source, Stream, pump};
use crate::reading::{Reading, Recorder};

/// Why there is no reading.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file.
    #[error("{}: {cause}", path.display())]
    Unreadable {
        /// Its name.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The pipe or the temporary file.
    #[error("the reading failed: {0}")]
    Io(#[from] io::Error),
    /// It goes on too long.
    #[error("the input had not ended after {0:?}; it is dropped")]
    TimedOut(Duration),
    /// Most likely what was to write it has failed.
    #[error("the input is empty")]
    Empty,
}

/// Reads it to its end.
pub fn read(path: &Path, limit: Duration) -> Result<Reading, Error> {
    let start = Instant::now();
    let mut recorder = Recorder::start()?;
    let source = open(path)?;
    let sink = Box::new(|text: &[u8]| recorder.push(text, start.elapsed()));
    if !pump(vec![Stream { source, sink }], start + limit)? {
        return Err(Error::TimedOut(limit));
    }
    let reading = recorder.finish()?;
    if reading.targets.is_empty() {
        return Err(Error::Empty);
    }
    Ok(reading)
}

fn open(path: &Path) -> Result<Box<dyn Source>, Error> {
    if path == "-" {
        return Ok(Box::new(io::stdin()));
    }
    let unreadable = |cause| Error::Unreadable {
        path: path.to_owned(),
        cause,
    };
    Ok(Box::new(File::open(path).map_err(unreadable)?))
}
