//! The directory: files are put in, listed in order, removed, set aside and dropped.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::Builder;

use crate::files::file::if_there;
use crate::files::own_file;
use crate::files::trust;
use crate::spool::file::{Index, SpoolError, write};
use crate::spool::losses::{self, Losses};

#[cfg(test)]
mod tests;

/// The directory of rejected files.
pub const REJECTED: &str = "rejected";

/// The file with the number of the last reading, for when no file is left.
const COUNTER: &str = "sequence";

/// The end of the name of a file that waits or is set aside.
const SUFFIX: &str = ".zst";

/// The end of the name of a damaged file.
const DAMAGED: &str = ".damaged";

/// The beginning of the name of a file that is being written.
const TEMPORARY: &str = ".new-";

/// The time after which a file that is still being written is a leftover of a crash.
const LEFTOVER: Duration = Duration::from_secs(3600);

/// The longest gap between two files that counts for the age of the earlier one.
const LONGEST_GAP: Duration = Duration::from_secs(24 * 3600);

/// A directory of readings.
#[derive(Debug, Clone)]
pub struct Directory {
    path: PathBuf,
}

/// A file in the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The number of the reading.
    pub sequence: u64,
    /// The source of the reading.
    pub source: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The time at which the file was written.
    pub written: SystemTime,
}

/// The limits of a directory.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest size of all files in bytes.
    pub bytes: u64,
    /// The longest retention of a file.
    pub age: Duration,
}

/// The readings that the limits dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DroppedCounts {
    /// The number of readings that waited.
    pub waiting: u64,
    /// The number of readings that were set aside.
    pub rejected: u64,
}

impl Directory {
    /// Opens the directory, and creates it if it is not there. Only its owner may read it, because texts name users.
    /// Files that a crash left half-written are removed.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be created or read, or if others than root and the user of this process can write to it or put another
    /// one in its place: their files would be sent, and moved about with the rights of this process.
    pub fn open(path: &Path) -> io::Result<Self> {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path.join(REJECTED));
        if let Err(error) = made
            && !(is_read_only(&error) && path.is_dir())
        {
            return Err(error);
        }
        trust::directory(path).map_err(io::Error::other)?;
        let directory = Self {
            path: path.to_owned(),
        };
        // A leftover that cannot be removed only takes some space.
        let _ = directory.remove_leftovers();
        // Create the file of counts before the disk is full. On a full disk, scrapes can still be sent.
        let _ = directory.count(Losses::default());
        Ok(directory)
    }

    /// Refers to a directory without checking that it exists.
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the files that wait, in the order of their numbers.
    pub fn waiting(&self) -> io::Result<Vec<Entry>> {
        list(&self.path)
    }

    /// Returns the files that are set aside, damaged ones among them, in the order of their numbers.
    pub fn rejected(&self) -> io::Result<Vec<Entry>> {
        Ok(if_there(list(&self.path.join(REJECTED)))?.unwrap_or_default())
    }

    /// Writes a reading, gives it the next number, and returns that number. When this function returns, the reading
    /// survives a crash.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written, and removes it then.
    pub fn put(&self, mut index: Index, data: &mut impl Read) -> Result<u64, SpoolError> {
        if !is_source(&index.source) {
            return Err(SpoolError::Source(index.source));
        }
        let directory = File::open(&self.path)?;
        // Two writers would give two readings one number.
        directory.lock()?;
        index.sequence = self.next_sequence()?;
        let mut file = Builder::new().prefix(TEMPORARY).tempfile_in(&self.path)?;
        write(&index, data, file.as_file_mut())?;
        file.as_file().sync_all()?;
        let name = format!("{:016}.{}{SUFFIX}", index.sequence, index.source);
        file.persist_noclobber(self.path.join(name))
            .map_err(|failed| failed.error)?;
        directory.sync_all()?;
        Ok(index.sequence)
    }

    /// Removes a file that was sent. A file that is already gone is no error, because a limit may have dropped it.
    pub fn remove(&self, entry: &Entry) -> io::Result<()> {
        unless_gone(fs::remove_file(&entry.path)).map(|_| ())
    }

    /// Rejects a file. A missing file is no error.
    pub fn set_aside(&self, entry: &Entry) -> io::Result<()> {
        self.move_aside(entry, "")
    }

    /// Rejects a damaged file and marks its name.
    pub fn set_aside_damaged(&self, entry: &Entry) -> io::Result<()> {
        self.move_aside(entry, DAMAGED)
    }

    /// Moves a rejected file back to the files to send. Returns false if it is damaged or missing.
    pub fn requeue(&self, entry: &Entry) -> io::Result<bool> {
        let name = entry.path.file_name().unwrap_or_default();
        if name.as_encoded_bytes().ends_with(DAMAGED.as_bytes()) {
            return Ok(false);
        }
        unless_gone(fs::rename(&entry.path, self.path.join(name)))
    }

    /// Drops files over the limits: all that are too old, then rejected files, then waiting ones, oldest first. Between two files, or
    /// from the last one to now, a file ages by at most a day: a clock that jumps ahead by years must not drop everything.
    pub fn enforce(&self, limits: Limits, now: SystemTime) -> io::Result<DroppedCounts> {
        let (rejected, waiting) = (self.rejected()?, self.waiting()?);
        let all = rejected.iter().chain(&waiting);
        let mut bytes: u64 = all.map(|entry| entry.bytes).sum();
        let mut drop_from = |entries: &[Entry], ages: Vec<Duration>| {
            let mut count = 0;
            for (entry, age) in entries.iter().zip(ages) {
                if age <= limits.age && bytes <= limits.bytes {
                    continue;
                }
                if unless_gone(fs::remove_file(&entry.path))? {
                    count += 1;
                }
                bytes -= entry.bytes;
            }
            io::Result::Ok(count)
        };
        Ok(DroppedCounts {
            rejected: drop_from(&rejected, ages(&rejected, now, Duration::MAX))?,
            waiting: drop_from(&waiting, ages(&waiting, now, LONGEST_GAP))?,
        })
    }

    /// Counts readings that were lost or set aside.
    pub fn count(&self, losses: Losses) -> io::Result<()> {
        Losses::add(&self.path.join(losses::FILE), losses)
    }

    /// Adds the counts of another file to the counts of this directory.
    pub fn take_counts_over(&self, file: &Path) -> io::Result<()> {
        Losses::take_over(&self.path.join(losses::FILE), file)
    }

    /// Returns true if the directory is on a read-only file system.
    pub fn is_read_only(&self) -> bool {
        own_file::existing(&self.path.join(losses::FILE)).is_err_and(|error| is_read_only(&error))
    }

    fn move_aside(&self, entry: &Entry, mark: &str) -> io::Result<()> {
        let name = entry.path.file_name().unwrap_or_default();
        let mut name = name.to_owned();
        name.push(mark);
        let to = self.path.join(REJECTED).join(name);
        unless_gone(fs::rename(&entry.path, to)).map(|_| ())
    }

    /// Takes the next number, which is larger than the number of any file, even after a crash.
    fn next_sequence(&self) -> io::Result<u64> {
        let file = own_file::open(&self.path.join(COUNTER))?;
        let counted = io::read_to_string(&file).unwrap_or_default();
        let listed = [self.waiting()?.pop(), self.rejected()?.pop()];
        let listed = listed.into_iter().flatten().map(|entry| entry.sequence);
        let last = listed.chain(counted.trim().parse().ok()).max();
        let next = last.unwrap_or_default() + 1;
        // A file of fixed size is overwritten in place, so that it is never empty.
        file.write_all_at(format!("{next:020}\n").as_bytes(), 0)?;
        Ok(next)
    }

    fn remove_leftovers(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let is_old = |written: SystemTime| written.elapsed().is_ok_and(|age| age > LEFTOVER);
            let written = entry.metadata().and_then(|file| file.modified());
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(TEMPORARY) && written.is_ok_and(is_old) {
                unless_gone(fs::remove_file(entry.path()))?;
            }
        }
        Ok(())
    }
}

/// Returns the ages of files. A gap between two files counts at most `longest_gap`. A file from the future is new.
fn ages(entries: &[Entry], now: SystemTime, longest_gap: Duration) -> Vec<Duration> {
    let between =
        |earlier: SystemTime, later: SystemTime| later.duration_since(earlier).unwrap_or_default();
    let (mut later, mut counted) = (now, Duration::ZERO);
    let mut ages: Vec<Duration> = entries
        .iter()
        .rev()
        .map(|entry| {
            counted = counted.saturating_add(between(entry.written, later).min(longest_gap));
            later = entry.written;
            counted.min(between(entry.written, now))
        })
        .collect();
    ages.reverse();
    ages
}

/// Returns whether the file was there.
fn unless_gone(result: io::Result<()>) -> io::Result<bool> {
    Ok(if_there(result)?.is_some())
}

fn is_read_only(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ReadOnlyFilesystem
}

/// Returns true for the name of a source, which is a part of file names.
pub fn is_source(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !name.is_empty() && name.bytes().all(is_allowed)
}

/// Returns the readings in a directory, in the order of their numbers. Files of other names are ignored.
fn list(path: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for found in fs::read_dir(path)? {
        let path = found?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some((sequence, source)) = parts(&name) else {
            continue;
        };
        let source = source.to_owned();
        let Some(file) = if_there(fs::metadata(&path))? else {
            continue;
        };
        entries.push(Entry {
            sequence,
            source,
            bytes: file.len(),
            written: file.modified()?,
            path,
        });
    }
    entries.sort_by_key(|entry| entry.sequence);
    Ok(entries)
}

/// Splits the name of a file into number and source.
fn parts(name: &str) -> Option<(u64, &str)> {
    let name = name.strip_suffix(DAMAGED).unwrap_or(name);
    let (sequence, source) = name.strip_suffix(SUFFIX)?.split_once('.')?;
    Some((sequence.parse().ok()?, source))
}
