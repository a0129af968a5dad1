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
    /// It goes on too long.
    #[error("the input had not ended after {0:?}; it is dropped")]
    TimedOut(Duration),
    /// Most likely what was to write it has failed.
    #[error("the input is empty")]
    Empty,
}

/// Reads it to its end.
pub fn read(path: &Path, limit: Duration) -> Result<Reading, Error> {
    let unreadable = |cause| Error::Unreadable {
        path: path.to_owned(),
        cause,
    };
    let start = Instant::now();
    let source: Box<dyn Source> = if path == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(unreadable)?)
    };
    let mut recorder = Recorder::start().map_err(unreadable)?;
    let sink = Box::new(|text: &[u8]| recorder.push(text, start.elapsed()));
    if !pump(vec![Stream { source, sink }], start + limit).map_err(unreadable)? {
        return Err(Error::TimedOut(limit));
    }
    let reading = recorder.finish().map_err(unreadable)?;
    if reading.targets.is_empty() {
        Err(Error::Empty)
    } else {
        Ok(reading)
    }
}
