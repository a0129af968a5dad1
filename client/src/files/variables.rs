//! Variables from the environment, from a file that only its owner can read, and from a service of libpq.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::files::file::{FileError, if_there};
use crate::files::trust::{self, CREDENTIALS, TrustError};

mod service;
#[cfg(test)]
mod tests;

pub(crate) use service::variable as of_key;

/// The only variable of our own.
pub const URL: &str = "JOBSTATS_DATABASE_URL";

/// The environment variables in use: jobstats' and libpq's.
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

/// An error in the file. No message repeats a line, because the line may hold a secret.
#[derive(Debug, thiserror::Error)]
pub enum VariablesError {
    /// The file cannot be read, or others have access to it, who could lend themselves the rights of this user.
    #[error(transparent)]
    File(#[from] TrustError),
    /// A line is no assignment of a known variable, or no setting of a service that is supported.
    #[error("{} line {line}: expected {expected}", path.display())]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
        /// The form of a line, with the names that are known.
        expected: String,
    },
    /// No service file has the service.
    #[error(
        "definition of service {0:?} not found in PGSERVICEFILE, ~/.pg_service.conf or PGSYSCONFDIR"
    )]
    NoService(String),
}

impl From<FileError> for VariablesError {
    fn from(error: FileError) -> Self {
        Self::File(error.into())
    }
}

/// The values of the known variables that are set.
#[derive(Debug, Clone, Default)]
pub struct Variables(HashMap<&'static str, String>);

impl Variables {
    /// Reads the variables. The environment wins over systemd's credentials of the same names, and those win over the file.
    pub fn new(
        environment: impl Fn(&str) -> Option<String>,
        file: Option<&Path>,
    ) -> Result<Self, VariablesError> {
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
    pub fn with_service(&self, name: Option<&str>) -> Result<Self, VariablesError> {
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
    pub fn password_file(&self) -> Result<Option<String>, VariablesError> {
        match self.get("PGPASSFILE") {
            Some(path) => Ok(Some(trust::secret(Path::new(path))?)),
            None => Ok(self
                .in_home(".pgpass")
                .and_then(|path| trust::secret(&path).ok())),
        }
    }

    fn in_home(&self, file: &str) -> Option<PathBuf> {
        Some(Path::new(self.get(HOME)?).join(file))
    }

    /// Returns the value of a variable, or `None` if it is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Reads the variables that are credentials of systemd: files of their names.
fn credentials(directory: &Path) -> Result<HashMap<&'static str, String>, FileError> {
    let mut values = HashMap::new();
    for name in KNOWN {
        let path = directory.join(name);
        let text = if_there(fs::read_to_string(&path)).map_err(FileError::at(&path))?;
        values.extend(text.map(|text| (name, text.trim_end_matches(['\n', '\r']).to_owned())));
    }
    Ok(values)
}

fn read(path: &Path) -> Result<HashMap<&'static str, String>, VariablesError> {
    let text = trust::secret(path)?;
    let expected = || format!("NAME=VALUE with a NAME of {}", KNOWN.join(", "));
    settings(path, text.lines().enumerate(), assignment, expected).collect()
}

/// Reads numbered lines of a file with `parse`. Blank lines and comments are skipped.
fn settings<'a, T>(
    path: &Path,
    lines: impl Iterator<Item = (usize, &'a str)>,
    parse: fn(&str) -> Option<T>,
    expected: impl Fn() -> String,
) -> impl Iterator<Item = Result<T, VariablesError>> {
    let lines = lines.map(|(index, line)| (index, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(move |(index, line)| {
        parse(line).ok_or_else(|| VariablesError::Line {
            path: path.to_owned(),
            line: index + 1,
            expected: expected(),
        })
    })
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
