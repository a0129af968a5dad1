//! Reads text that was printed elsewhere, from a file or a pipe.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Instant;

use jiff::Timestamp;
use jobstats_client::FileError;
use jobstats_client::program::process::{Source as Pipe, Stream, pump};

use crate::frame::Reading;
use crate::read::error::ReadError;
use crate::read::sources::Source;

/// Reads a file, or stdin (`-`), to its end. The text was read at this time, or now.
pub fn read(source: &Source, path: &Path, time: Option<Timestamp>) -> Result<Reading, ReadError> {
    let start = Instant::now();
    let mut recorder = source.recorder();
    let input = Stream {
        source: open(path).map_err(ReadError::NoInput)?,
        sink: Box::new(|text: &[u8]| recorder.push(text, start.elapsed())),
        has_end: true,
    };
    if !pump(vec![input], start + source.timeout)? {
        return Err(ReadError::InputTimedOut(source.timeout));
    }
    let mut reading = recorder.finish()?;
    if reading.index.texts.is_empty() {
        return Err(ReadError::EmptyInput);
    }
    // The database would reject all of it.
    if reading.targets() == 0 {
        return Err(ReadError::InputWithoutTarget);
    }
    if let Some(time) = time {
        reading.made_at(time);
    }
    Ok(reading)
}

fn open(path: &Path) -> Result<Box<dyn Pipe>, FileError> {
    if path == "-" {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path).map_err(FileError::at(path))?))
}
