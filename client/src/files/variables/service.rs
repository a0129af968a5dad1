//! Service files of libpq: sections of `key=value` lines, each with the settings of a connection.

use std::fs;
use std::path::{Path, PathBuf};

use super::{VariablesError, settings};
use crate::files::file::{FileError, if_there};

#[cfg(test)]
mod tests;

/// The keys of a section, with the variables that have the same meaning. Other keys of libpq are refused, because a
/// program that ignored them might trust a server that it should not.
const KEYS: [(&str, &str); 11] = [
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("dbname", "PGDATABASE"),
    ("options", "PGOPTIONS"),
    ("application_name", "PGAPPNAME"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
];

/// Returns the variables of a service from the first file that has its section. A file that does not exist is skipped.
pub fn read(name: &str, files: &[PathBuf]) -> Result<Vec<(&'static str, String)>, VariablesError> {
    for path in files {
        let text = if_there(fs::read_to_string(path)).map_err(FileError::at(path))?;
        if let Some(text) = text
            && let Some(variables) = section(&text, name, path)?
        {
            return Ok(variables);
        }
    }
    Err(VariablesError::NoService(name.to_owned()))
}

/// Returns the variables of a section, or `None` if the file has no such section.
fn section(
    text: &str,
    name: &str,
    path: &Path,
) -> Result<Option<Vec<(&'static str, String)>>, VariablesError> {
    let header = format!("[{name}]");
    let mut lines = text.lines().map(str::trim).enumerate();
    if !lines.any(|(_, line)| line == header) {
        return Ok(None);
    }
    let lines = lines.take_while(|(_, line)| !line.starts_with('['));
    let expected = || {
        format!(
            "KEY=VALUE with a KEY of {}",
            KEYS.map(|(key, _)| key).join(", ")
        )
    };
    settings(path, lines, setting, expected)
        .collect::<Result<_, _>>()
        .map(Some)
}

fn setting(line: &str) -> Option<(&'static str, String)> {
    let (key, value) = line.split_once('=')?;
    Some((variable(key.trim())?, value.trim().to_owned()))
}

/// Returns the variable that has the meaning of a key.
pub fn variable(key: &str) -> Option<&'static str> {
    let found = KEYS.into_iter().find(|(known, _)| *known == key);
    found.map(|(_, variable)| variable)
}
