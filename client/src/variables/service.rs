//! Service files of libpq: sections of `key=value` lines, each with the settings of a connection.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::Error;

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
pub fn read(name: &str, files: &[PathBuf]) -> Result<Vec<(&'static str, String)>, Error> {
    for path in files {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == ErrorKind::NotFound => continue,
            Err(cause) => {
                return Err(Error::Unreadable {
                    path: path.clone(),
                    cause,
                });
            }
        };
        if let Some(variables) = section(&text, name, path)? {
            return Ok(variables);
        }
    }
    Err(Error::NoService(name.to_owned()))
}

/// Returns the variables of a section, or `None` if the file has no such section.
fn section(
    text: &str,
    name: &str,
    path: &Path,
) -> Result<Option<Vec<(&'static str, String)>>, Error> {
    let header = format!("[{name}]");
    let mut lines = text.lines().map(str::trim).enumerate();
    if !lines.any(|(_, line)| line == header) {
        return Ok(None);
    }
    lines
        .take_while(|(_, line)| !line.starts_with('['))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(index, line)| {
            setting(line).ok_or(Error::ServiceLine {
                path: path.to_owned(),
                line: index + 1,
                keys: KEYS.map(|(key, _)| key).join(", "),
            })
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

fn setting(line: &str) -> Option<(&'static str, String)> {
    let (key, value) = line.split_once('=')?;
    let (_, variable) = KEYS.into_iter().find(|(known, _)| *known == key.trim())?;
    Some((variable, value.trim().to_owned()))
}
