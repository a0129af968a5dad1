//! Follows a file that grows, or a directory with a file for each day, and puts what was appended into the spool.
//!
//! The [`Position`] up to which the text is in the spool is a file beside it. It is written after the text, so a crash
//! in between repeats some lines and loses none.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jobstats_client::spool;
use memchr::memrchr;

use crate::frame::{Reading, Recorder, Sender};
use crate::keep::backlog::Backlog;
use crate::system::message::warn;
use crate::system::notify;

mod generation;
mod position;
#[cfg(test)]
mod tests;

use generation::{Generation, generations};
use position::Position;

/// The most text of a reading. The database takes no text of more than a few hundred megabytes at once.
const MOST_TEXT: u64 = 16 << 20;

/// The size of a piece that is read at once.
const PIECE: usize = 64 << 10;

/// The message about a position that cannot be read.
const DAMAGED: &str = "is damaged: the file is read again from its beginning, or the newest file of a directory, and what was sent before \
                       changes nothing";

/// An error that prevents a reading. The text is read again at the next attempt.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: {cause}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// The position cannot be read or written.
    #[error("the position {}: {cause}", path.display())]
    Position {
        /// The path of the position.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// The reading cannot be compressed.
    #[error("the reading failed: {0}")]
    Io(#[from] io::Error),
    /// The reading cannot be written to the spool.
    #[error("the reading cannot be written to the spool: {0}; it is tried again")]
    Spool(#[from] spool::Error),
}

/// A file that grows, or a directory of such files, and the source of its text.
#[derive(Debug, Clone)]
pub struct Follow {
    /// The name in messages, and of the position.
    pub name: String,
    /// The source of the text.
    pub source: String,
    /// The file or directory.
    pub path: PathBuf,
    /// The largest reading in bytes, when compressed.
    pub most: u64,
}

impl Follow {
    /// Puts the whole lines that were appended since the last call into the spool. Returns the number of readings.
    pub fn ship(&self, backlog: &Backlog, sender: &Sender) -> Result<u64, Error> {
        let mut readings = 0;
        let place = backlog.path().join(format!("{}.position", self.name));
        let broken = |cause| Error::Position {
            path: place.clone(),
            cause,
        };
        let (last, damage) = match Position::load(&place) {
            // A source that stopped here would stop for ever. A repeated line changes nothing.
            Err(cause) if cause.kind() == io::ErrorKind::InvalidData => {
                (None, Some(format!("{} {DAMAGED}", place.display())))
            }
            loaded => (loaded.map_err(broken)?, None),
        };
        let unreadable = |cause| Error::Unreadable {
            path: self.path.clone(),
            cause,
        };
        let found = generations(&self.path, last.as_ref()).map_err(unreadable)?;
        if let (Some(lost), Some(first)) = (damage.or(found.lost), found.files.first()) {
            warn(format_args!("{}: {lost}", self.name));
            // The message comes once, also if there is nothing to read yet.
            Position::new(&first.path, 0).save(&place).map_err(broken)?;
        }
        for generation in found.files {
            let path = &generation.path;
            let mut position = Position::new(path, generation.start);
            while let Some((reading, end)) =
                self.read(&generation, position.offset)
                    .map_err(|cause| Error::Unreadable {
                        path: path.clone(),
                        cause,
                    })?
            {
                notify::beat();
                if !reading.texts.is_empty() {
                    backlog.try_keep(&reading, sender)?;
                    readings += 1;
                }
                position = Position::at(&generation.file, path, end).map_err(broken)?;
                position.save(&place).map_err(broken)?;
            }
        }
        Ok(readings)
    }

    /// Reads from `start` on, and returns the reading and its end in the file. Returns `None` if there is nothing to read.
    fn read(&self, generation: &Generation, start: u64) -> io::Result<Option<(Reading, u64)>> {
        let size = generation.file.metadata()?.len();
        let end = end_of_lines(&generation.file, start, size, generation.is_growing)?;
        if end <= start {
            return Ok(None);
        }
        let begun = Instant::now();
        let mut recorder = Recorder::of(&self.source, self.most);
        let mut piece = vec![0; PIECE];
        let mut at = start;
        while at < end {
            let length = PIECE.min((end - at) as usize);
            generation.file.read_exact_at(&mut piece[..length], at)?;
            recorder.push(&piece[..length], begun.elapsed())?;
            at += length as u64;
        }
        Ok(Some((recorder.finish()?, end)))
    }
}

/// Returns the end of the last whole line of the next reading. In a file that does not grow any more, the last line needs
/// no end; a line that is longer than a reading is cut.
fn end_of_lines(file: &File, start: u64, size: u64, is_growing: bool) -> io::Result<u64> {
    let limit = size.min(start + MOST_TEXT);
    if !is_growing && limit == size {
        return Ok(size);
    }
    let mut end = limit;
    let mut piece = vec![0; PIECE];
    while end > start {
        let length = PIECE.min((end - start) as usize);
        let from = end - length as u64;
        file.read_exact_at(&mut piece[..length], from)?;
        if let Some(newline) = memrchr(b'\n', &piece[..length]) {
            return Ok(from + newline as u64 + 1);
        }
        end = from;
    }
    Ok(if limit < size { limit } else { start })
}

/// Returns the name of a file without its directory.
fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Returns the metadata of a path, or `None` if there is nothing.
fn metadata(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
