//! Counts the readings that were lost or set aside, in a file of the spool's directory.

use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::own_file;

#[cfg(test)]
mod tests;

/// The name of the file.
pub(super) const FILE: &str = "losses";

/// The numbers of readings that never reached the database as a whole, since the spool was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses {
    /// Readings that waited and were dropped by a limit of size or age.
    pub limits: u64,
    /// Readings that were dropped because they could neither be written to the spool nor sent at once.
    pub room: u64,
    /// Readings that were set aside because the database refused a text for good.
    pub refused: u64,
    /// Readings that were set aside because their file was damaged.
    pub damaged: u64,
}

impl Losses {
    /// Reads the counts of a directory. A file that is missing or damaged counts as zeros.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub fn read(directory: &Path) -> io::Result<Self> {
        Self::read_file(&directory.join(FILE))
    }

    /// Reads counts that are kept elsewhere while the directory cannot be written.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub fn read_file(file: &Path) -> io::Result<Self> {
        match own_file::read(file) {
            Ok(file) => Self::read_from(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Creates the file if it is not there, so that it can be overwritten when the disk is full.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub(super) fn prepare(directory: &Path) -> io::Result<()> {
        Self::add(&directory.join(FILE), Self::default())
    }

    /// Adds to the counts of a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or written.
    pub fn add(file: &Path, more: Self) -> io::Result<()> {
        let file = own_file::open(file)?;
        // The reader and the sender may be two processes.
        file.lock()?;
        let sum = Self::read_from(&file)?.plus(more);
        // The size is always the same, so that a full disk has room for the new counts.
        file.write_all_at(sum.lines().as_bytes(), 0)
    }

    /// Adds the counts of a file to those of another one, and sets them to zero.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read or written.
    pub(super) fn take_over(file: &Path, from: &Path) -> io::Result<()> {
        let from = match own_file::existing(from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            from => from?,
        };
        from.lock()?;
        Self::add(file, Self::read_from(&from)?)?;
        from.set_len(0)
    }

    fn read_from(mut file: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let count = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            let found = lines.find(|(found, _)| *found == name);
            found.map_or(0, |(_, count)| count.trim().parse().unwrap_or(0))
        };
        Ok(Self {
            limits: count("limits"),
            room: count("room"),
            refused: count("refused"),
            damaged: count("damaged"),
        })
    }

    /// Returns the sum of both counts.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            limits: self.limits.saturating_add(more.limits),
            room: self.room.saturating_add(more.room),
            refused: self.refused.saturating_add(more.refused),
            damaged: self.damaged.saturating_add(more.damaged),
        }
    }

    fn lines(self) -> String {
        let Self {
            limits,
            room,
            refused,
            damaged,
        } = self;
        format!(
            "limits  {limits:020}\nroom    {room:020}\nrefused {refused:020}\ndamaged {damaged:020}\n"
        )
    }
}
