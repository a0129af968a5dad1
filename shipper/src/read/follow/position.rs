//! The position up to which a file was read.
//!
//! A position is recognized by the bytes before it, not by the file's name or number: a file keeps neither when it is
//! rotated, and a copy of it or a file on another day's mount of a network file system has others.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use jobstats_client::files::file::if_there;
use jobstats_client::files::own_file;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::file_name;

/// The number of bytes before a position that identify it.
const BEFORE: u64 = 4096;

/// The position up to which a file was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The name of the file, without its directory.
    pub file: String,
    /// The number of bytes that were read.
    pub offset: u64,
    /// The XXH3 checksum of the last bytes before the position.
    before: u64,
}

impl Position {
    /// Returns the start of a file, which every file has, or a position that is not compared.
    pub fn new(path: &Path, offset: u64) -> Self {
        Self {
            file: file_name(path),
            offset,
            before: xxh3_64(&[]),
        }
    }

    pub fn at(file: &File, path: &Path, offset: u64) -> io::Result<Self> {
        Ok(Self {
            before: before(file, offset)?,
            ..Self::new(path, offset)
        })
    }

    /// Returns true if the file has, before this position, the bytes that the file that was read had there.
    pub fn is_in(&self, file: &File) -> io::Result<bool> {
        match before(file, self.offset) {
            Ok(before) => Ok(before == self.before),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads a position; `None` if the file does not exist yet.
    ///
    /// # Errors
    ///
    /// `InvalidData` if the file is damaged, and other kinds if it cannot be read.
    pub fn load(place: &Path) -> io::Result<Option<Self>> {
        let damaged = |cause| io::Error::new(io::ErrorKind::InvalidData, cause);
        let json = if_there(fs::read(place))?;
        let position = json.map(|json| serde_json::from_slice(&json));
        position.transpose().map_err(damaged)
    }

    /// Replaces the position. After a crash, either this one or the one before is there.
    pub fn save(&self, place: &Path) -> io::Result<()> {
        let mut json = serde_json::to_vec(self)?;
        json.push(b'\n');
        // The spool removes leftovers of this name.
        own_file::replace(place, ".new-", &json, true)
    }
}

fn before(file: &File, offset: u64) -> io::Result<u64> {
    let length = offset.min(BEFORE);
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, offset - length)?;
    Ok(xxh3_64(&bytes))
}
