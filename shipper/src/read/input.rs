//! Reads text that was printed elsewhere, from a file or a pipe.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::frame::{Reading, Recorder};
use crate::system::pump::{Source, Stream, pump};

/// An error that prevents a reading.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("{}: {cause}", path.display())]
    Unreadable {
        /// The name of the file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// The pipe or the temporary file failed.
    #[error("the reading failed: {0}")]
    Io(#[from] io::Error),
    /// The input did not end within the time limit.
    #[error("the input did not end within {0:?}; it is dropped")]
    TimedOut(Duration),
    /// The input is not what lctl prints, or was printed without names.
    #[error(
        "no line of the input begins a target, such as mdt.scratch-MDT0000.job_stats=; print the text with \
         lctl get_param '*.*.job_cleanup_interval' '*.*.job_stats', and without the option -n"
    )]
    NoTarget,
    /// The input is empty, most likely because the program that should write it failed.
    #[error("the input is empty")]
    Empty,
}

/// Text that was printed elsewhere.
#[derive(Debug, Clone)]
pub struct Saved {
    /// The path of the file, or `-` for stdin.
    pub path: PathBuf,
    /// The source of the text.
    pub source: String,
    /// The time at which the text was read. `None` means now.
    pub time: Option<Timestamp>,
    /// The time limit of the reading.
    pub timeout: Duration,
    /// The largest reading in bytes, when compressed.
    pub most: u64,
}

impl Saved {
    /// Reads the text to its end.
    pub fn read(&self) -> Result<Reading, Error> {
        let start = Instant::now();
        let mut recorder = Recorder::of(&self.source, self.most);
        let source = open(&self.path)?;
        let sink = Box::new(|text: &[u8]| recorder.push(text, start.elapsed()));
        if !pump(vec![Stream { source, sink }], start + self.timeout)? {
            return Err(Error::TimedOut(self.timeout));
        }
        let mut reading = recorder.finish()?;
        if reading.texts.is_empty() {
            return Err(Error::Empty);
        }
        // The database would reject all of it.
        if !reading.has_target() {
            return Err(Error::NoTarget);
        }
        if let Some(time) = self.time {
            reading.made_at(time);
        }
        Ok(reading)
    }
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
