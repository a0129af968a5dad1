//! Variables from the environment, from a file that only its owner can read, and from a service of libpq.

use std::collections::HashMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::trust;

mod service;
#[cfg(test)]
mod tests;

/// The only variable of our own.
pub const URL: &str = "JOBSTATS_DATABASE_URL";

/// The variables that are used: our own and those of libpq.
const KNOWN: [&str; 16] = [
    URL,
    "PGHOST",
    "PGPORT",
    "PGUSER",
    "PGPASSWORD",
    "PGPASSFILE",
    "PGDATABASE",
    "PGOPTIONS",
    "PGAPPNAME",
    "PGSSLMODE",
    "PGSSLROOTCERT",
    "PGSSLCERT",
    "PGSSLKEY",
    "PGSERVICE",
    "PGSERVICEFILE",
    "PGSYSCONFDIR",
];

/// The directory of the user's own files, which only the environment can name.
const HOME: &str = "HOME";

/// The directory of the credentials that systemd gives to a service, which only the environment can name.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

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
    #[error("{} is open to others than its owner, and may hold a secret; chmod 600 it", .0.display())]
    Open(PathBuf),
    /// The file belongs to another user, who could choose what is done with the rights of this one.
    #[error(transparent)]
    Foreign(#[from] trust::Error),
    /// A line is no assignment of a known variable.
    #[error("{} line {line}: expected NAME=VALUE with a NAME of {}", path.display(), KNOWN.join(", "))]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
    },
    /// No service file has the service.
    #[error(
        "there is no service {0:?}: PGSERVICEFILE, ~/.pg_service.conf and PGSYSCONFDIR name the files"
    )]
    NoService(String),
    /// A line of a service is no setting that is supported.
    #[error("{} line {line}: expected KEY=VALUE with a KEY of {keys}", path.display())]
    ServiceLine {
        /// The path of the file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
        /// The keys that are supported.
        keys: String,
    },
}

/// The values of the known variables that are set.
#[derive(Debug, Clone, Default)]
pub struct Variables(HashMap<&'static str, String>);

impl Variables {
    /// Reads the variables. The environment wins over systemd's credentials of the same names, and those win over the file.
    pub fn new(
        environment: impl Fn(&str) -> Option<String>,
        file: Option<&Path>,
    ) -> Result<Self, Error> {
        let mut values = file.map_or(Ok(HashMap::new()), read)?;
        if let Some(directory) = environment(CREDENTIALS) {
            values.extend(credentials(Path::new(&directory))?);
        }
        values.retain(|_, value| !value.is_empty());
        for name in KNOWN.into_iter().chain([HOME]) {
            if let Some(value) = environment(name).filter(|value| !value.is_empty()) {
                values.insert(name, value);
            }
        }
        Ok(Self(values))
    }

    /// Adds the settings of a service, which win over the environment as in libpq. `PGSERVICE` names the service if
    /// `name` does not.
    ///
    /// # Errors
    ///
    /// Fails if the service does not exist, or has a setting that is not supported.
    pub fn with_service(&self, name: Option<&str>) -> Result<Self, Error> {
        let mut variables = self.clone();
        if let Some(name) = name.or(self.get("PGSERVICE")) {
            variables
                .0
                .extend(service::read(name, &self.service_files())?);
        }
        Ok(variables)
    }

    /// Returns the paths of the user's and the system's service file.
    fn service_files(&self) -> Vec<PathBuf> {
        let own = self.get("PGSERVICEFILE").map(PathBuf::from);
        let own = own.or_else(|| self.in_home(".pg_service.conf"));
        let system = self.get("PGSYSCONFDIR");
        own.into_iter()
            .chain(system.map(|directory| Path::new(directory).join("pg_service.conf")))
            .collect()
    }

    /// Returns the text of the password file: `PGPASSFILE`, which must be usable, or `~/.pgpass`, which is ignored
    /// otherwise.
    ///
    /// # Errors
    ///
    /// Fails if the file that `PGPASSFILE` names cannot be read, or is open to others than its owner.
    pub fn password_file(&self) -> Result<Option<String>, Error> {
        match self.get("PGPASSFILE") {
            Some(path) => read_private(Path::new(path)).map(Some),
            None => Ok(self
                .in_home(".pgpass")
                .and_then(|path| read_private(&path).ok())),
        }
    }

    fn in_home(&self, file: &str) -> Option<PathBuf> {
        Some(Path::new(self.get(HOME)?).join(file))
    }

    /// Returns the value of a variable, or `None` if the variable is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Reads the variables that are credentials of systemd: files of their names.
fn credentials(directory: &Path) -> Result<HashMap<&'static str, String>, Error> {
    let mut values = HashMap::new();
    for name in KNOWN {
        let path = directory.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => {
                values.insert(name, text.trim_end_matches(['\n', '\r']).to_owned());
            }
            Err(cause) if cause.kind() == ErrorKind::NotFound => {}
            Err(cause) => return Err(Error::Unreadable { path, cause }),
        }
    }
    Ok(values)
}

/// Returns true if systemd gave the file to this service. It opens such a file to the user of the service by an access
/// control list, which the mode shows as access for the group.
fn is_credential(path: &Path) -> bool {
    env::var_os(CREDENTIALS).is_some_and(|directory| path.starts_with(directory))
}

/// Reads a file that may hold a password, and that therefore only its owner may read or write.
///
/// # Errors
///
/// Fails if the file cannot be read, is open to others than its owner, or belongs to another user than root and that of this process.
pub fn read_private(path: &Path) -> Result<String, Error> {
    let unreadable = |cause| Error::Unreadable {
        path: path.to_owned(),
        cause,
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !is_credential(path) {
        if metadata.mode() & 0o077 != 0 {
            return Err(Error::Open(path.to_owned()));
        }
        trust::owner(path, &metadata)?;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

fn read(path: &Path) -> Result<HashMap<&'static str, String>, Error> {
    let text = read_private(path)?;
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
