//! Counts the readings that were lost or set aside, in a file of the spool's directory.

use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::Serialize;

use crate::files::file::if_there;
use crate::files::own_file;

#[cfg(test)]
mod tests;

/// The name of the file.
pub(super) const FILE: &str = "losses";

/// The numbers of readings that never reached the database as a whole, since the spool was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Losses {
    /// Readings that waited and were dropped by a limit of size or age.
    #[serde(rename = "dropped_by_limits")]
    pub limits: u64,
    /// Readings that were dropped because they could neither be written to the spool nor sent at once.
    #[serde(rename = "dropped_for_lack_of_room")]
    pub room: u64,
    /// Readings that were set aside because the database refused a text for good.
    pub refused: u64,
    /// Readings that were set aside because their file was damaged.
    pub damaged: u64,
}

impl Losses {
    /// Reads the counts of a directory. A file that is missing or damaged counts as zeros.
    pub fn read(directory: &Path) -> io::Result<Self> {
        Self::read_file(&directory.join(FILE))
    }

    /// Reads counts that are kept elsewhere while the directory cannot be written.
    pub fn read_file(file: &Path) -> io::Result<Self> {
        if_there(own_file::read(file))?.map_or(Ok(Self::default()), Self::read_from)
    }

    /// Adds to the counts of a file, which is made if it is not there.
    pub fn add(file: &Path, more: Self) -> io::Result<()> {
        let file = own_file::open(file)?;
        // The reader and the sender may be two processes.
        file.lock()?;
        let sum = Self::read_from(&file)?.plus(more);
        // The size is always the same, so that a full disk has room for the new counts.
        file.write_all_at(sum.lines().as_bytes(), 0)
    }

    /// Moves the counts of a file to another one.
    pub(super) fn take_over(file: &Path, from: &Path) -> io::Result<()> {
        let Some(from) = if_there(own_file::existing(from))? else {
            return Ok(());
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
        format!(
            "limits  {:020}\nroom    {:020}\nrefused {:020}\ndamaged {:020}\n",
            self.limits, self.room, self.refused, self.damaged
        )
    }
}
