//! Follows a file that grows, or a directory with a file for each day, and puts the lines that were appended into the spool.
//!
//! The [`Position`] up to which the text is in the spool is in a file next to it. It is written after the text, so a crash in between
//! repeats some lines and loses no line.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use jobstats_client::FileError;
use memchr::memrchr;

use crate::frame::Reading;
use crate::read::error::ReadError;
use crate::read::sources::Source;
use crate::spool::Spool;
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
const DAMAGED: &str = "is damaged: re-reading the file, or the newest file of the directory, from its beginning; repeated lines change no data";

/// Puts the whole lines that were appended since the last call into the spool. Returns the number of readings.
pub fn ship(source: &Source, path: &Path, spool: &Spool) -> Result<u64, ReadError> {
    let mut readings = 0;
    let place = spool.path().join(format!("{}.position", source.name));
    let broken = |cause| ReadError::Position(FileError::at(&place)(cause));
    let (last, damage) = match Position::load(&place) {
        // Stopping here would stop the source for ever. A repeated line changes nothing.
        Err(cause) if cause.kind() == io::ErrorKind::InvalidData => {
            (None, Some(format!("{} {DAMAGED}", place.display())))
        }
        loaded => (loaded.map_err(broken)?, None),
    };
    let found = generations(path, last.as_ref()).map_err(FileError::at(path))?;
    if let (Some(lost), Some(first)) = (damage.or(found.lost), found.files.first()) {
        warn(format_args!("{}: {lost}", source.name));
        // The message appears once, even if there is nothing to read yet.
        Position::new(&first.path, 0).save(&place).map_err(broken)?;
    }
    for generation in found.files {
        let path = &generation.path;
        let mut offset = generation.start;
        while let Some((reading, end)) =
            read(source, &generation, offset).map_err(FileError::at(path))?
        {
            notify::beat();
            if !reading.index.texts.is_empty() {
                spool.try_put(&reading)?;
                readings += 1;
            }
            offset = end;
            let position = Position::at(&generation.file, path, end);
            let saved = position.and_then(|position| position.save(&place));
            saved.map_err(broken)?;
        }
    }
    Ok(readings)
}

/// Reads from `start` on. Returns the reading and its end in the file, or `None` without new text.
fn read(
    source: &Source,
    generation: &Generation,
    start: u64,
) -> io::Result<Option<(Reading, u64)>> {
    let size = generation.file.metadata()?.len();
    let end = end_of_lines(&generation.file, start, size, generation.is_growing)?;
    if end <= start {
        return Ok(None);
    }
    let begun = Instant::now();
    let mut recorder = source.recorder();
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
