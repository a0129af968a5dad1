//! The files with unread text: the rest of a rotated file, and all later ones.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jobstats_client::files::file::{directory_of, if_there};

use super::file_name;
use super::position::Position;

/// The length of the name of a day's file, such as `20260131`.
const DAY: usize = 8;

/// The message about a file that is gone with text that was not read.
const LOST: &str =
    "the file was replaced, and no rotated file continues it; reading it from its beginning";

#[derive(Debug)]
pub struct Generation {
    pub path: PathBuf,
    pub file: File,
    /// The number of bytes that were read before.
    pub start: u64,
    /// True if the last line may be continued, because no later file has text.
    pub is_growing: bool,
}

/// The files to be read, in their order.
#[derive(Debug, Default)]
pub struct Generations {
    pub files: Vec<Generation>,
    /// A message about text that cannot be found any more.
    pub lost: Option<String>,
}

/// Finds the files that have text after a position. `path` is a file, or a directory with a file for each day.
pub fn generations(path: &Path, last: Option<&Position>) -> io::Result<Generations> {
    let is_directory = if_there(fs::metadata(path))?.is_some_and(|found| found.is_dir());
    let mut found = match is_directory {
        true => days(path, last)?,
        false => rotated(path, last)?,
    };
    let mut is_growing = true;
    for generation in found.files.iter_mut().rev() {
        generation.is_growing = is_growing;
        is_growing &= generation.file.metadata()?.len() == 0;
    }
    Ok(found)
}

impl Generation {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            start: 0,
            is_growing: true,
        })
    }
}

/// Finds the day's file of the position and later ones. Without a position, only the newest is read.
fn days(path: &Path, last: Option<&Position>) -> io::Result<Generations> {
    let mut names: Vec<String> = names(path)?
        .filter(|name| name.len() == DAY && name.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    names.sort();
    let Some(newest) = names.last() else {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "it has no file named after a day, such as 20260131",
        ));
    };
    let first = last.map_or(newest, |last| &last.file);
    let mut found = Generations::default();
    for name in names.iter().filter(|name| *name >= first) {
        let mut generation = Generation::open(&path.join(name))?;
        if let Some(last) = last.filter(|last| last.file == *name) {
            if last.is_in(&generation.file)? {
                generation.start = last.offset;
            } else {
                found.lost = Some(format!("{name} has changed and is read from its beginning"));
            }
        }
        found.files.push(generation);
    }
    Ok(found)
}

/// Finds the file of the position, which may have been rotated, and all later ones.
fn rotated(path: &Path, last: Option<&Position>) -> io::Result<Generations> {
    let mut current = match Generation::open(path) {
        Ok(current) => Some(current),
        // It may have been moved away, and the new one is not there yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound && last.is_some() => None,
        Err(error) => return Err(error),
    };
    let mut found = Generations::default();
    if let Some(last) = last {
        match &mut current {
            Some(current) if last.is_in(&current.file)? => current.start = last.offset,
            _ => {
                found.files = earlier(path, last)?;
                if found.files.is_empty() {
                    found.lost = Some(LOST.to_owned());
                }
            }
        }
    }
    found.files.extend(current);
    if found.files.is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(found)
}

/// Finds the file of the position among rotated files. Returns it with all later ones.
fn earlier(path: &Path, last: &Position) -> io::Result<Vec<Generation>> {
    let (directory, name) = (directory_of(path), file_name(path));
    let mut files = Vec::new();
    for rotated in names(directory)?.filter(|other| is_rotated(other, &name)) {
        let path = directory.join(rotated);
        if let Some(file) = if_there(fs::metadata(&path))?.filter(fs::Metadata::is_file) {
            files.push((file.modified()?, path));
        }
    }
    files.sort();
    let mut found = Vec::new();
    for (_, path) in files {
        let mut generation = Generation::open(&path)?;
        if found.is_empty() {
            if !last.is_in(&generation.file)? {
                continue;
            }
            generation.start = last.offset;
        }
        found.push(generation);
    }
    Ok(found)
}

/// Returns true for a name that a rotated file gets, such as `accounting.1` or `accounting-20260131`. Compressed files
/// cannot be continued.
fn is_rotated(name: &str, of: &str) -> bool {
    let suffix = name
        .strip_prefix(of)
        .and_then(|rest| rest.strip_prefix(['.', '-']));
    let is_number = |byte: u8| byte.is_ascii_digit() || byte == b'-';
    suffix.is_some_and(|suffix| !suffix.is_empty() && suffix.bytes().all(is_number))
}

fn names(directory: &Path) -> io::Result<impl Iterator<Item = String>> {
    let entries = fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>()?;
    let names = entries.into_iter().map(|entry| entry.file_name());
    Ok(names.map(|name| name.to_string_lossy().into_owned()))
}
