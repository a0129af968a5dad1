//! A small file that has the last readings and deliveries, for `status` and for systemd.
//!
//! The file is in the spool, or next to the lock without a spool. Each change replaces the complete file under a lock, because the reader
//! and the sender may be two processes. The file is not synced: after a crash of the machine the counts may be some seconds old, or start
//! over.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::{FileError, files::own_file};
use serde::{Deserialize, Serialize};

use crate::system::message::{moment, warn};
use crate::system::notify;

#[cfg(test)]
mod tests;

/// The name of the file in a spool.
pub const NAME: &str = "status.json";

/// The time after which a notice of the database is shown again.
const REPEATED: SignedDuration = SignedDuration::from_hours(24);

/// The largest number of notices that are remembered.
const MOST_NOTICES: usize = 1000;

/// The largest size of the file, with all notices.
const MOST_BYTES: u64 = 4 << 20;

/// The longest message that is kept, in bytes.
const LONGEST_MESSAGE: usize = 1000;

/// The record of readings and deliveries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub version: String,
    /// The time since which events are counted.
    pub since: Timestamp,
    pub sources: BTreeMap<String, Readings>,
    pub deliveries: Deliveries,
    /// The time at which a reading was lost or set aside last.
    pub lost: Option<Timestamp>,
    /// The notices of the database that were shown, and when.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notices: BTreeMap<String, Timestamp>,
}

/// The readings of a source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Readings {
    /// The interval of `run` in seconds; `None` if `once` reads.
    pub interval_seconds: Option<f64>,
    /// The last reading that succeeded.
    pub last: Option<Work>,
    /// The failures since then.
    pub failure: Option<Failure>,
    pub succeeded: u64,
    pub failed: u64,
}

/// The deliveries of the readings of all sources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Deliveries {
    /// The last delivery that stored every target.
    pub last: Option<Work>,
    /// The failures since then.
    pub failure: Option<Failure>,
    pub stored_targets: u64,
    /// The number of targets that the database put into `jobstats.rejects`.
    pub rejected_targets: u64,
}

/// A reading or a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The time at which it ended.
    pub time: Timestamp,
    pub targets: u64,
}

impl Work {
    fn line(&self, who: &str, did: &str) -> String {
        let time = moment(self.time);
        format!("{who}: {} targets {did} at {time}", self.targets)
    }
}

/// Failures in series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub since: Timestamp,
    pub time: Timestamp,
    pub times: u64,
    pub message: String,
}

/// Something that the shipper did, or that happened to it.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// `run` begins to read a source at this interval, or `once` reads it.
    Started(&'a str, Option<Duration>),
    /// A source was read, with this number of targets.
    Read(&'a str, u64),
    /// A source could not be read, for this reason.
    Unread(&'a str, String),
    /// The database stored this number of targets, without failure.
    Delivered(u64),
    /// Something failed, but the database may have stored or rejected some targets.
    Undelivered {
        stored: u64,
        rejected: u64,
        message: String,
    },
    /// A reading was dropped or set aside. The spool counts why.
    Lost,
}

impl State {
    /// Takes an event over.
    pub fn apply(&mut self, event: Event<'_>, now: Timestamp) {
        let deliveries = &mut self.deliveries;
        match event {
            Event::Started(source, interval) => {
                let interval = interval.map(|interval| interval.as_secs_f64());
                self.source(source).interval_seconds = interval;
            }
            Event::Read(source, targets) => {
                let readings = self.source(source);
                readings.succeeded += 1;
                readings.last = Some(Work { time: now, targets });
                readings.failure = None;
            }
            Event::Unread(source, message) => {
                let readings = self.source(source);
                readings.failed += 1;
                fail(&mut readings.failure, message, now);
            }
            Event::Delivered(targets) => {
                deliveries.stored_targets += targets;
                deliveries.last = Some(Work { time: now, targets });
                deliveries.failure = None;
            }
            Event::Undelivered {
                stored,
                rejected,
                message,
            } => {
                deliveries.stored_targets += stored;
                deliveries.rejected_targets += rejected;
                fail(&mut deliveries.failure, message, now);
            }
            Event::Lost => self.lost = Some(now),
        }
    }

    /// Returns the last readings and the last delivery, in one line.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        for (source, readings) in &self.sources {
            match (&readings.failure, readings.last) {
                (Some(failure), _) => parts.push(format!("{source}: {}", failure.message)),
                (None, Some(last)) => parts.push(last.line(source, "read")),
                (None, None) => {}
            }
        }
        match (&self.deliveries.failure, self.deliveries.last) {
            (Some(failure), _) => parts.push(failure.message.clone()),
            (None, Some(last)) => parts.push(last.line("database", "stored")),
            (None, None) => {}
        }
        parts.join("; ")
    }

    fn source(&mut self, name: &str) -> &mut Readings {
        self.sources.entry(name.to_owned()).or_default()
    }

    /// Returns true if a notice was not shown within a day, and remembers it. Numbers in it make no difference, because
    /// a notice that counts something would otherwise be a new one each time.
    fn is_news(&mut self, target: &str, notice: &str, now: Timestamp) -> bool {
        let is_recent = |shown: &Timestamp| now.duration_since(*shown).abs() < REPEATED;
        self.notices.retain(|_, shown| is_recent(shown));
        let without_numbers = notice.split(|c: char| c.is_ascii_digit());
        let words: Vec<&str> = without_numbers.filter(|part| !part.is_empty()).collect();
        let mut key = format!("{target}: {}", words.join("#"));
        truncate(&mut key);
        if self.notices.contains_key(&key) {
            return false;
        }
        if self.notices.len() < MOST_NOTICES {
            self.notices.insert(key, now);
        }
        true
    }
}

fn fail(failure: &mut Option<Failure>, mut message: String, now: Timestamp) {
    truncate(&mut message);
    let before = failure.take();
    *failure = Some(Failure {
        since: before.as_ref().map_or(now, |before| before.since),
        time: now,
        times: before.map_or(1, |before| before.times + 1),
        message,
    });
}

fn truncate(message: &mut String) {
    message.truncate(message.floor_char_boundary(LONGEST_MESSAGE));
}

/// The file of a state. It is created by the first event.
#[derive(Debug, Clone)]
pub struct StateFile {
    pub path: PathBuf,
}

impl StateFile {
    /// Names the file in a spool, or next to a lock without a spool.
    pub fn beside(spool: Option<&Path>, lock: &Path) -> Self {
        let alone = || lock.with_extension("status.json");
        let path = spool.map_or_else(alone, |spool| spool.join(NAME));
        Self { path }
    }

    pub fn load(&self) -> io::Result<State> {
        // In a directory where everybody may create files, the file could be somebody else's pipe or link.
        let file = own_file::read(&self.path)?;
        let mut json = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut json)?;
        Ok(serde_json::from_slice(&json)?)
    }

    /// Takes an event over. A failure is reported once: the event itself matters more.
    pub fn note(&self, event: Event<'_>) {
        self.change(|state, now| state.apply(event, now));
    }

    /// Returns true if a notice of the database about this target was not shown within a day, and remembers it.
    pub fn is_news(&self, target: &str, notice: &str) -> bool {
        let mut is_news = true;
        self.change(|state, now| is_news = state.is_news(target, notice, now));
        is_news
    }

    fn change(&self, change: impl FnOnce(&mut State, Timestamp)) {
        static REPORTED: AtomicBool = AtomicBool::new(false);
        if let Err(error) = self.try_change(change)
            && !REPORTED.swap(true, Ordering::Relaxed)
        {
            warn(FileError::at(&self.path)(error));
        }
    }

    fn try_change(&self, change: impl FnOnce(&mut State, Timestamp)) -> io::Result<()> {
        let _lock = self.lock()?;
        let now = Timestamp::now();
        // A crash may have left an empty file.
        let mut state = self.load().unwrap_or_else(|_| State {
            since: now,
            ..State::default()
        });
        env!("CARGO_PKG_VERSION").clone_into(&mut state.version);
        change(&mut state, now);
        let json = serde_json::to_vec_pretty(&state)?;
        own_file::replace(&self.path, ".status-", &json, false)?;
        notify::status(&state.line());
        Ok(())
    }

    fn lock(&self) -> io::Result<File> {
        let file = own_file::open(&self.path.with_added_extension("lock"))?;
        file.lock()?;
        Ok(file)
    }
}
