//! The sources that are read: lctl alone, one of the command line, or those of a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jobstats_client::command_file;
use jobstats_client::duration::Length;
use serde::Deserialize;

use crate::frame::{LCTL, Reading};
use crate::read::follow::{self, Follow};
use crate::read::input::{self, Saved};
use crate::read::lctl::{self, Lctl};
use crate::read::options::{self, Input, Origin, Reader};
use crate::read::script::{self, Script};
use crate::system::lock::Lock;

#[cfg(test)]
mod tests;

/// An error in the file of sources.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read, or others can write to it. Its commands would run with the rights of the reader.
    #[error(transparent)]
    File(#[from] command_file::Error),
    /// The file is not TOML, or has a key that does not exist or a value of another kind.
    #[error("{}: {cause}", path.display())]
    Format {
        /// The path of the file.
        path: PathBuf,
        /// The error with its place in the file.
        cause: Box<toml::de::Error>,
    },
    /// A section has no text to read, two of them, or a key that does not fit.
    #[error("{} [{section}]: {cause}", path.display())]
    Section {
        /// The path of the file.
        path: PathBuf,
        /// The name of the section.
        section: String,
        /// The mistake.
        cause: &'static str,
    },
    /// The file has no section.
    #[error("{} has no section; [lctl] reads job_stats", .0.display())]
    Nothing(PathBuf),
}

/// A source of texts, and how often it is read.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name in messages and of files. Different sources of a file may have the same name in the database.
    pub name: String,
    /// The way to the text.
    pub way: Way,
    /// The time between readings.
    pub interval: Duration,
}

/// The way to the text of a source.
#[derive(Debug, Clone)]
pub enum Way {
    /// Call lctl.
    Lctl(Lctl),
    /// Read text that was printed elsewhere.
    Saved(Saved),
    /// Run a command of the shell.
    Script(Script),
    /// Follow a file that grows.
    Follow(Follow),
}

/// An error that prevents a reading.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// lctl failed.
    #[error(transparent)]
    Lctl(#[from] lctl::Error),
    /// The input failed.
    #[error(transparent)]
    Input(#[from] input::Error),
    /// The command of a source failed.
    #[error("{0}: {1}")]
    Script(String, #[source] script::Error),
    /// The file of a source cannot be read.
    #[error("{0}: {1}")]
    Follow(String, #[source] follow::Error),
}

/// A section of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    source: Option<Name>,
    command: Option<String>,
    follow: Option<PathBuf>,
    covers: Option<Length>,
    interval: Option<Length>,
    timeout: Option<Length>,
}

/// The name of a source in the database.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        options::source(&text).map(Self)
    }
}

impl Source {
    /// Returns true for `job_stats`.
    pub fn is_lctl(&self) -> bool {
        self.name == LCTL
    }

    /// Returns the time limit of a reading. A file that is followed has none, but it is read in small pieces.
    pub fn timeout(&self) -> Duration {
        match &self.way {
            Way::Lctl(lctl) => lctl.timeout,
            Way::Saved(saved) => saved.timeout,
            Way::Script(script) => script.timeout,
            Way::Follow(_) => Duration::ZERO,
        }
    }

    /// Reads the text. Returns `None` for a file that is followed, which goes into the spool by itself.
    pub fn read(&self, lock: &Lock) -> Result<Option<Reading>, ReadError> {
        match &self.way {
            Way::Lctl(lctl) => Ok(Some(lctl.read(Some(lock))?)),
            Way::Saved(saved) => Ok(Some(saved.read()?)),
            Way::Script(script) => script
                .read(lock)
                .map(Some)
                .map_err(|error| ReadError::Script(self.name.clone(), error)),
            Way::Follow(_) => Ok(None),
        }
    }
}

/// Returns the sources that the command line names, each with its interval or this one.
pub fn sources(
    reader: &Reader,
    origin: &Origin,
    input: Option<&Input>,
    interval: Duration,
) -> Result<Vec<Source>, Error> {
    if let Some(path) = &origin.sources {
        return from_file(path, reader, interval);
    }
    let name = origin.source.as_deref().unwrap_or(LCTL);
    let saved = input.and_then(|input| input.saved(name, reader.lctl_timeout, reader.max_reading));
    if let Some(saved) = saved {
        let way = Way::Saved(saved);
        let name = name.to_owned();
        return Ok(vec![Source {
            name,
            way,
            interval,
        }]);
    }
    let section = Section {
        command: origin.command.clone(),
        follow: origin.follow.clone(),
        covers: origin.covers.map(Length),
        ..Section::default()
    };
    // The parser of the command line has refused what would not fit together.
    Ok(section.source(name, reader, interval).into_iter().collect())
}

fn from_file(path: &Path, reader: &Reader, interval: Duration) -> Result<Vec<Source>, Error> {
    let text = command_file::read(path)?;
    let sections: BTreeMap<String, Section> =
        toml::from_str(&text).map_err(|cause| Error::Format {
            path: path.to_owned(),
            cause: Box::new(cause),
        })?;
    if sections.is_empty() {
        return Err(Error::Nothing(path.to_owned()));
    }
    let sources = sections.into_iter().map(|(name, section)| {
        options::source(&name)
            .map_err(|_| "the name of a section has letters, digits, - and _ only")
            .and_then(|name| section.source(&name, reader, interval))
            .map_err(|cause| Error::Section {
                path: path.to_owned(),
                section: name,
                cause,
            })
    });
    sources.collect()
}

impl Section {
    fn source(
        self,
        name: &str,
        reader: &Reader,
        interval: Duration,
    ) -> Result<Source, &'static str> {
        let source = self.source.map_or(name.to_owned(), |Name(source)| source);
        let timeout = self
            .timeout
            .map_or(reader.lctl_timeout, |Length(timeout)| timeout);
        let most = reader.max_reading;
        if self.covers.is_some() && self.command.is_none() {
            return Err("covers needs a command");
        }
        let way = match (self.command, self.follow) {
            (Some(_), Some(_)) => return Err("command and follow exclude each other"),
            (Some(command), None) => Way::Script(Script {
                name: name.to_owned(),
                source,
                command,
                covers: self.covers.map(|Length(covers)| covers),
                timeout,
                most,
            }),
            (None, Some(path)) => Way::Follow(Follow {
                name: name.to_owned(),
                source,
                path,
                most,
            }),
            (None, None) if source == LCTL => Way::Lctl(Lctl {
                timeout,
                ..reader.lctl()
            }),
            (None, None) => return Err("a source other than lctl needs command or follow"),
        };
        Ok(Source {
            name: name.to_owned(),
            way,
            interval: self.interval.map_or(interval, |Length(interval)| interval),
        })
    }
}
