//! Probes directories: does what a user does, and measures how long each step takes. The text is what an exporter would print.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use jobstats_client::program::duration;
use xxhash_rust::xxh3::xxh3_64;

use crate::frame::Reading;
use crate::read::error::ReadError;
use crate::read::options::{Identity, size};
use crate::read::parameters::Parameters;
use crate::read::sources::{Source, Way};
use crate::system::message::report;

pub use attempt::Attempt;
use fault::UNUSABLE;
use text::exposition;
use turns::{Outcome, Turns};
use worker::Worker;

mod attempt;
mod fault;
#[cfg(test)]
mod tests;
mod text;
mod turns;
mod worker;

/// The name of the source in messages and of files.
const NAME: &str = "probe";

/// The source of the database that takes the text.
const SOURCE: &str = "openmetrics";

/// The largest file. Larger ones would show nothing more.
const MOST_BYTES: u64 = 16 << 20;

/// The largest text in bytes, when compressed. It has some hundred bytes for each directory.
const MOST_TEXT: u64 = 16 << 20;

/// The most bytes of a directory or a target, so that the database takes both as labels.
const LONGEST: usize = 450;

/// An error in the configuration of a probe.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The options do not fit together.
    #[error("{0}")]
    Options(String),
    /// Directories cannot be used.
    #[error("{0}")]
    Unusable(String),
}

/// The options of the probe.
#[derive(Debug, Clone, Args)]
pub struct ProbeOptions {
    /// Directories to probe, owned by the user of this command; TARGET stores their files, such as scratch-OST0003
    #[arg(value_name = "[TARGET=]DIRECTORY", required = true, value_parser = place)]
    pub directories: Vec<Place>,
    /// Time between probes; they start at multiples of it plus an offset derived from the server's name
    #[arg(long, value_parser = duration::parse, default_value = "1m")]
    pub interval: Duration,
    /// Time limit for each directory, at most half the interval
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "20s")]
    pub timeout: Duration,
    /// Size of the file that is written and read in each directory
    #[arg(long, value_parser = size, default_value = "1MiB")]
    pub size: u64,
    /// Bandwidth of the slowest target, in bytes per second; at most 1 % of it is used
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "100MB")]
    pub bandwidth: u64,
}

/// A directory, and the target that has its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    target: Option<String>,
    directory: PathBuf,
}

/// Parses `[TARGET=]DIRECTORY`.
fn place(text: &str) -> Result<Place, &'static str> {
    let (target, path) = match text.split_once('=') {
        Some((target, path)) if !target.contains('/') => (Some(target), path),
        _ => (None, text),
    };
    let is_name = |name: &str| !name.is_empty() && !name.contains(['"', '\\']);
    if !target.is_none_or(is_name) || text.len() > LONGEST || text.contains(char::is_control) {
        return Err("is not a directory with an optional target");
    }
    if !path.starts_with('/') {
        return Err("the directory must be an absolute path");
    }
    Ok(Place {
        target: target.map(str::to_owned),
        // Without redundant slashes.
        directory: Path::new(path).components().collect(),
    })
}

impl ProbeOptions {
    fn check(&self) -> Result<(), ProbeError> {
        let wrong = |why| Err(ProbeError::Options(why));
        let (interval, timeout) = (self.interval, self.timeout);
        if timeout > interval / 2 {
            return wrong(format!(
                "--timeout {timeout:?} is over half of --interval {interval:?}"
            ));
        }
        let share = self.bandwidth as f64 / 100.0 * interval.as_secs_f64();
        // The file is written and read.
        let most = MOST_BYTES.min((share / 2.0) as u64);
        if self.size > most {
            return wrong(format!(
                "--size {} exceeds {most} bytes, the smaller of 1 % of --bandwidth {} per {interval:?} and {MOST_BYTES}",
                self.size, self.bandwidth
            ));
        }
        for (index, Place { directory, .. }) in self.directories.iter().enumerate() {
            if self.directories[..index]
                .iter()
                .any(|it| it.directory == *directory)
            {
                return wrong(format!("{} is given twice", directory.display()));
            }
        }
        Ok(())
    }

    /// Returns the source of the probe, after a look at each directory.
    pub fn source(&self, identity: &Identity) -> Result<Source, ProbeError> {
        self.check()?;
        let probe = Probe {
            options: self.clone(),
            program: PathBuf::from(worker::PROGRAM),
            lock: lock(identity),
            turns: Mutex::new(Turns::new(self.directories.len(), self.timeout)),
        };
        probe.look()?;
        Ok(Source {
            server_name: identity.server_name(),
            name: NAME.to_owned(),
            source: SOURCE.to_owned(),
            way: Way::Probe(Arc::new(probe)),
            interval: self.interval,
            timeout: self.interval,
            most: MOST_TEXT,
            parameters: Parameters::default(),
        })
    }
}

/// Returns the path of the lock of whoever probes from this machine.
pub fn lock(identity: &Identity) -> PathBuf {
    identity.lock().with_added_extension(NAME)
}

/// Probes all directories. The text has the duration of each step, and failures.
pub fn read(source: &Source, probe: &Probe) -> Result<Reading, ReadError> {
    let start = Instant::now();
    let mut recorder = source.recorder();
    let text = probe.round();
    recorder.push(text.as_bytes(), start.elapsed())?;
    Ok(recorder.finish()?)
}

/// Directories that are probed again and again.
#[derive(Debug)]
pub struct Probe {
    options: ProbeOptions,
    program: PathBuf,
    /// The beginning of the path of a lock for each directory.
    lock: PathBuf,
    turns: Mutex<Turns>,
}

impl Probe {
    /// Fails if a directory cannot be used. A directory that hangs may recover later.
    fn look(&self) -> Result<(), ProbeError> {
        let outcomes = self.turn(0);
        let faults = self.faults(&outcomes);
        let unusable: Vec<_> = faults
            .filter_map(|(reason, said)| (reason == UNUSABLE).then_some(said))
            .collect();
        match unusable.is_empty() {
            true => Ok(()),
            false => Err(ProbeError::Unusable(unusable.join("\n"))),
        }
    }

    /// Probes each directory, reports what failed, and returns the text.
    pub fn round(&self) -> String {
        let outcomes = self.turn(self.options.size);
        self.faults(&outcomes).for_each(|(_, said)| report(said));
        exposition(self.options.directories.iter().zip(&outcomes))
    }

    fn faults<'a>(
        &'a self,
        outcomes: &'a [Outcome],
    ) -> impl Iterator<Item = (&'static str, String)> + 'a {
        let probes = self.options.directories.iter().zip(outcomes);
        probes.filter_map(|(place, outcome)| {
            let fault = outcome.fault.as_ref()?;
            Some((
                fault.reason,
                format!("{}: {}", place.directory.display(), fault.message),
            ))
        })
    }

    /// Probes each directory in a thread, which waits for a process that cannot be ended.
    fn turn(&self, size: u64) -> Vec<Outcome> {
        let workers = self
            .options
            .directories
            .iter()
            .map(|Place { directory, .. }| {
                let key = xxh3_64(directory.as_os_str().as_encoded_bytes());
                Worker {
                    program: self.program.clone(),
                    directory: directory.clone(),
                    size,
                    limit: self.options.timeout,
                    lock: self.lock.with_added_extension(format!("{key:016x}")),
                }
            });
        let workers: Arc<[_]> = workers.collect();
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.round(move |index, steps| workers[index].probe(&steps))
    }
}
