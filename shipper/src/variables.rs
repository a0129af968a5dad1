//! Variables from the environment and from a file that only its owner can read.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// The one variable of our own.
pub const URL: &str = "JOBSTATS_DATABASE_URL";

/// It and those of libpq that are used.
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

/// What is wrong with the file. No line of it is repeated: it may be a secret.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not there, or closed.
    #[error("{}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Others can read or write it.
    #[error("{} is open to others than its owner, and may hold a password; chmod 600 it", .0.display())]
    Open(PathBuf),
    /// A line is no assignment.
    #[error("{} line {line}: expected NAME=VALUE with a NAME of {}", path.display(), KNOWN.join(", "))]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from one.
        line: usize,
    },
}

/// The values of the variables that are known and set.
#[derive(Debug, Default)]
pub struct Variables(HashMap<&'static str, String>);

impl Variables {
    /// What the environment says goes before what the file says.
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

    /// The value, if the variable is set.
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

/// A line as systemd's EnvironmentFile has it, so that one file serves both.
fn assignment(line: &str) -> Option<(&'static str, String)> {
    let (name, value) = line.split_once('=')?;
    let name = KNOWN.into_iter().find(|known| *known == name.trim())?;
    let value = value.trim();
    let bare = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    Some((name, bare.unwrap_or(value).to_owned()))
}
