//! The sources to read: lctl alone, one source of the command line, or those in a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jobstats_client::files::trust::{self, TrustError};
use jobstats_client::program::duration::Length;
use jobstats_client::program::process::Process;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::frame::{LCTL, Reading, Recorder, ServerName};
use crate::read::error::ReadError;
use crate::read::options::{self, Input, Origin, Reader};
use crate::read::parameters::Parameters;
use crate::read::probe::{self, Probe};
use crate::read::{input, lctl, script};
use crate::system::lock::Lock;
use crate::system::process;

#[cfg(test)]
mod tests;

/// An error in the file of sources.
#[derive(Debug, thiserror::Error)]
pub enum SourcesError {
    /// The file cannot be read, or others can write to it. Its commands would run with the rights of the reader.
    #[error(transparent)]
    File(#[from] TrustError),
    /// The file is not TOML, or has a key that does not exist or a value of another kind.
    #[error("{}: {cause}", path.display())]
    Format {
        path: PathBuf,
        cause: Box<toml::de::Error>,
    },
    /// A section has no text to read, two of them, or a key that does not fit.
    #[error("{} [{section}]: {cause}", path.display())]
    Section {
        path: PathBuf,
        section: String,
        cause: &'static str,
    },
    #[error("{} has no section; [lctl] reads job_stats", .0.display())]
    Nothing(PathBuf),
}

/// A source of texts, and how often it is read.
#[derive(Debug, Clone)]
pub struct Source {
    pub server_name: ServerName,
    /// The name in messages and of files.
    pub name: String,
    /// The name in the database, which different sources of a file may share.
    pub source: String,
    pub way: Way,
    /// The time between readings.
    pub interval: Duration,
    /// The time limit of a reading. A followed file needs no limit, because it is read in small pieces.
    pub timeout: Duration,
    /// The largest reading in bytes, when compressed.
    pub most: u64,
    /// The parameters to read in addition to `job_stats`.
    pub parameters: Parameters,
}

/// The way to the text of a source.
#[derive(Debug, Clone)]
pub enum Way {
    /// Call lctl at this path.
    Lctl(PathBuf),
    /// Read text that was printed elsewhere, in a file or on stdin (`-`), at this time or now.
    Saved(PathBuf, Option<Timestamp>),
    /// Run a command of the shell, whose text has everything from this time before its start on.
    Script(String, Option<Duration>),
    /// Probe directories.
    Probe(Arc<Probe>),
    /// Follow a file that grows, or a directory of such files.
    Follow(PathBuf),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    #[serde(default, deserialize_with = "name")]
    source: Option<String>,
    command: Option<String>,
    follow: Option<PathBuf>,
    covers: Option<Length>,
    interval: Option<Length>,
    timeout: Option<Length>,
}

/// Reads the name of a source in the database.
fn name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let name = options::source(&String::deserialize(from)?);
    name.map(Some).map_err(D::Error::custom)
}

impl Source {
    /// Returns the source of `job_stats`: text from elsewhere if there is some, and otherwise lctl.
    pub fn of_job_stats(reader: &Reader, input: Option<&Input>, interval: Duration) -> Self {
        let saved = input.and_then(|it| Some(Way::Saved(it.input.clone()?, it.time)));
        Self {
            server_name: reader.identity.server_name(),
            name: LCTL.to_owned(),
            source: LCTL.to_owned(),
            way: saved.unwrap_or_else(|| Way::Lctl(reader.lctl.clone())),
            interval,
            timeout: reader.lctl_timeout,
            most: reader.max_reading,
            parameters: reader.parameters.clone(),
        }
    }

    /// Returns true for `job_stats`.
    pub fn is_lctl(&self) -> bool {
        self.name == LCTL
    }

    /// Reads the text. Returns `None` for a file that is followed, which goes into the spool by itself.
    pub fn read(&self, lock: Option<&Lock>) -> Result<Option<Reading>, ReadError> {
        match &self.way {
            Way::Lctl(path) => lctl::read(self, path, &self.parameters.patterns(lock), lock),
            Way::Saved(path, time) => input::read(self, path, *time),
            Way::Script(command, covers) => {
                script::read(self, command, *covers, lock).map_err(ReadError::of_source(&self.name))
            }
            Way::Probe(probe) => probe::read(self, probe),
            Way::Follow(_) => return Ok(None),
        }
        .map(Some)
    }

    /// Starts to record a reading.
    pub(super) fn recorder(&self) -> Recorder {
        Recorder::of(&self.server_name, &self.source, self.most)
    }

    /// Records the output of a program to its end. Returns the exit status and the messages.
    pub(super) fn finish(
        &self,
        process: Process,
        program: &'static str,
        recorder: &mut Recorder,
    ) -> Result<(ExitStatus, Vec<String>), ReadError> {
        let timeout = self.timeout;
        let name = match self.way {
            Way::Lctl(_) => LCTL,
            _ => &self.name,
        };
        let sink = |text: &[u8], at| recorder.push(text, at);
        let (status, said) = process::finish(process, name, timeout, sink)?;
        match status {
            Some(status) => Ok((status, said)),
            None => Err(ReadError::TimedOut {
                program,
                timeout,
                said,
            }),
        }
    }
}

/// Returns the sources that the command line names, each with its interval or this one.
pub fn sources(
    reader: &Reader,
    origin: &Origin,
    input: Option<&Input>,
    interval: Duration,
) -> Result<Vec<Source>, SourcesError> {
    if let Some(path) = &origin.sources {
        return from_file(path, reader, interval);
    }
    let name = origin.source.as_deref().unwrap_or(LCTL);
    let source = Source::of_job_stats(reader, input, interval);
    if let Way::Saved(..) = source.way {
        return Ok(vec![Source {
            name: name.to_owned(),
            source: name.to_owned(),
            ..source
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

fn from_file(
    path: &Path,
    reader: &Reader,
    interval: Duration,
) -> Result<Vec<Source>, SourcesError> {
    let text = trust::commands(path)?;
    let sections: BTreeMap<String, Section> =
        toml::from_str(&text).map_err(|cause| SourcesError::Format {
            path: path.to_owned(),
            cause: Box::new(cause),
        })?;
    if sections.is_empty() {
        return Err(SourcesError::Nothing(path.to_owned()));
    }
    let sources = sections.into_iter().map(|(name, section)| {
        options::source(&name)
            .map_err(|_| "a section name may have only letters, digits, - and _")
            .and_then(|name| section.source(&name, reader, interval))
            .map_err(|cause| SourcesError::Section {
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
        if self.covers.is_some() && self.command.is_none() {
            return Err("covers needs a command");
        }
        let mut source = Source::of_job_stats(reader, None, interval);
        source.name = name.to_owned();
        source.source = self.source.unwrap_or(name.to_owned());
        source.timeout = self.timeout.map_or(source.timeout, |it| it.0);
        source.interval = self.interval.map_or(interval, |it| it.0);
        source.way = match (self.command, self.follow) {
            (Some(_), Some(_)) => return Err("command and follow are mutually exclusive"),
            (Some(command), None) => Way::Script(command, self.covers.map(|it| it.0)),
            (None, Some(path)) => {
                source.timeout = Duration::ZERO;
                Way::Follow(path)
            }
            (None, None) if source.source == LCTL => source.way,
            (None, None) => return Err("a source other than lctl needs command or follow"),
        };
        Ok(source)
    }
}
