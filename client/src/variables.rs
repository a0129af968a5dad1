//! Variables from the environment and from a file that only its owner can read.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// The only variable of our own.
pub const URL: &str = "JOBSTATS_DATABASE_URL";

/// The variables that are used: our own and those of libpq.
const KNOWN: [&str; 10] = [
    URL,
    "PGHOST",
    "PGPORT",
    "PGUSER",
    "PGPASSWORD",
    "PGDATABASE",
    "PGOPTIONS",
    "PGAPPNAME",
    "PGSSLMODE",
    "PGSSLROOTCERT",
];

/// An error in the file. No message repeats a line, because the line may hold a secret.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file does not exist or cannot be read.
    #[error("{}: {cause}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// Users other than the owner can read or write the file.
    #[error("{} is open to others than its owner, and may hold a password; chmod 600 it", .0.display())]
    Open(PathBuf),
    /// A line is no assignment of a known variable.
    #[error("{} line {line}: expected NAME=VALUE with a NAME of {}", path.display(), KNOWN.join(", "))]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
    },
}

/// The values of the known variables that are set.
#[derive(Debug, Default)]
pub struct Variables(HashMap<&'static str, String>);

impl Variables {
    /// Reads the variables; the environment wins over the file.
    pub fn new(
        environment: impl Fn(&str) -> Option<String>,
        file: Option<&Path>,
    ) -> Result<Self, Error> {
        let mut values = file.map_or(Ok(HashMap::new()), read)?;
        values.retain(|_, value| !value.is_empty());
        for name in KNOWN {
            if let Some(value) = environment(name).filter(|value| !value.is_empty()) {
                values.insert(name, value);
            }
        }
        Ok(Self(values))
    }

    /// Returns the value of a variable, or `None` if the variable is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

fn read(path: &Path) -> Result<HashMap<&'static str, String>, Error> {
    let unreadable = |cause| Error::Unreadable {
        path: path.to_owned(),
        cause,
    };
    let mut file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.mode() & 0o077 != 0 {
        return Err(Error::Open(path.to_owned()));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unreadable)?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim().starts_with('#'));
    lines
        .map(|(index, line)| {
            assignment(line).ok_or(Error::Line {
                path: path.to_owned(),
                line: index + 1,
            })
        })
        .collect()
}

/// Parses a line in the format of systemd's EnvironmentFile, so that one file serves both.
fn assignment(line: &str) -> Option<(&'static str, String)> {
    let (name, value) = line.split_once('=')?;
    let name = KNOWN.into_iter().find(|known| *known == name.trim())?;
    let value = value.trim();
    let bare = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    Some((name, bare.unwrap_or(value).to_owned()))
}
