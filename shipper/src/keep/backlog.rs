//! Readings that wait in a spool, and how they are sent.
//!
//! A reading is on disk before it is sent, and deleted when the database has stored each of its texts, or when what the
//! database refuses for good is set aside. After a crash, a reading is sent again as a whole: the same text with the same
//! time changes nothing. Readings of a source are sent in their order, and one that cannot be sent keeps later ones of its
//! source waiting, but not those of another source.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use jobstats_client::spool::{
    self, Directory, Dropped, Entry, Limits, Losses, REJECTED, SpoolFile,
};
use jobstats_client::{Backoff, Kind};

use crate::frame::{Reading, Sender};
use crate::send::{Feed, Progress, Unsent};
use crate::state::{Event, StateFile};
use crate::system::lock::{self, Lock};
use crate::system::message::{self, report, warn};

#[cfg(test)]
mod tests;

/// The lock of the sender, in the spool.
const LOCK: &str = "sending.lock";

/// The number of readings of each source that are sent before the directory is looked at again.
const TURNS: u32 = 20;

/// An error that keeps readings waiting, or lost one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory cannot be used.
    #[error("the spool {}: {cause}", path.display())]
    Directory {
        /// The path of the directory.
        path: PathBuf,
        /// The error of the file system.
        cause: io::Error,
    },
    /// The lock of the sender cannot be used.
    #[error(transparent)]
    Lock(#[from] lock::Error),
    /// Texts were not stored.
    #[error(transparent)]
    Unsent(#[from] Unsent),
    /// A file was damaged.
    #[error("1 damaged reading was set aside")]
    Damaged,
    /// A reading could neither be written to the spool nor sent.
    #[error(
        "1 reading was dropped, because it could neither be written to the spool nor be sent at once"
    )]
    Dropped,
}

/// A spool with its limits.
#[derive(Debug, Clone)]
pub struct Backlog {
    directory: Directory,
    limits: Limits,
    state: StateFile,
    /// The file that counts losses while the directory is on a read-only file system.
    spare: PathBuf,
}

/// The right to send what waits, until this value is dropped. On a read-only file system nothing can be taken out of the spool, so it
/// needs no lock.
pub struct Turn {
    _lock: Option<Lock>,
}

/// Returns the file beside a lock that counts losses while the spool cannot be written.
pub fn spare(lock: &Path) -> PathBuf {
    lock.with_extension("losses")
}

impl Backlog {
    /// Opens the directory. `spare` counts losses while the directory cannot be written.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be created or read.
    pub fn open(
        path: PathBuf,
        limits: Limits,
        state: StateFile,
        spare: PathBuf,
    ) -> Result<Self, Error> {
        let directory = match Directory::open(&path) {
            Ok(directory) => directory,
            Err(cause) => return Err(Error::Directory { path, cause }),
        };
        // If this fails, the counts stay where they are.
        let _ = directory.take_counts_over(&spare);
        Ok(Self {
            directory,
            limits,
            state,
            spare,
        })
    }

    /// Returns true if nothing can be put into the spool or taken out.
    pub fn is_read_only(&self) -> bool {
        self.directory.is_read_only()
    }

    /// Writes a reading to the disk. Gives it back if that fails, so that it can be sent at once.
    pub fn keep(&self, reading: Reading, sender: &Sender) -> Option<Reading> {
        match self.try_keep(&reading, sender) {
            Ok(_) => None,
            Err(error) => {
                let when = match self.is_read_only() {
                    true => "at once, and those that wait stay there",
                    false => "after those that wait",
                };
                warn(format_args!(
                    "the reading cannot be written to {}: {error}; it is sent {when}",
                    self.directory.path().display()
                ));
                Some(reading)
            }
        }
    }

    /// Writes a reading to the disk, and returns its number.
    pub fn try_keep(&self, reading: &Reading, sender: &Sender) -> Result<u64, spool::Error> {
        let bytes = reading.packed_bytes();
        if bytes > self.limits.bytes {
            return Err(io::Error::other("it is larger than --spool-size").into());
        }
        let sequence = reading.put(&self.directory, sender)?;
        self.enforce();
        Ok(sequence)
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Drops what the limits do not allow, and reports it.
    fn enforce(&self) {
        let path = self.directory.path().display();
        let dropped = match self.directory.enforce(self.limits, SystemTime::now()) {
            Ok(dropped) => dropped,
            Err(error) => return report(format_args!("the limits of {path}: {error}")),
        };
        let Dropped { waiting, rejected } = dropped;
        if dropped != Dropped::default() {
            self.count(Losses {
                limits: waiting,
                ..Losses::default()
            });
            report(format_args!(
                "readings were dropped from {path}, {waiting} that waited and {rejected} that were set aside: they were older than \
                 --spool-age, or all together larger than --spool-size"
            ));
        }
    }

    /// Counts a reading that could neither be written to the spool nor sent, and returns the error to report.
    pub fn dropped(&self) -> Error {
        self.count(Losses {
            room: 1,
            ..Losses::default()
        });
        Error::Dropped
    }

    /// Adds to the counts of lost readings. A failure is only reported: the readings are lost in any case.
    fn count(&self, losses: Losses) {
        self.state.note(Event::Lost);
        let counted = self.directory.count(losses);
        if let Err(error) = counted.or_else(|_| Losses::add(&self.spare, losses)) {
            let path = self.directory.path().display();
            report(format_args!("the counts of losses in {path}: {error}"));
        }
    }

    /// Takes the lock of the sender. Returns `None` if another instance is sending.
    pub fn turn(&self) -> Result<Option<Turn>, Error> {
        if self.is_read_only() {
            return Ok(Some(Turn { _lock: None }));
        }
        match Lock::take(&self.directory.path().join(LOCK)) {
            Ok(lock) => Ok(Some(Turn { _lock: Some(lock) })),
            Err(lock::Error::Taken(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the readings that wait, in the order of their numbers.
    pub fn waiting(&self) -> Result<Vec<Entry>, Error> {
        self.directory.waiting().map_err(|cause| self.broken(cause))
    }

    fn broken(&self, cause: io::Error) -> Error {
        Error::Directory {
            path: self.directory.path().to_owned(),
            cause,
        }
    }
}

/// Sends readings again and again, and pauses after failures.
pub struct Courier {
    backlog: Backlog,
    feed: Feed,
    backoff: Backoff,
    /// The failures that keep readings waiting, by source. The source of a reading that is not in the spool is empty.
    holds: HashMap<String, Hold>,
}

/// The failures of a source in series.
#[derive(Debug)]
struct Hold {
    failures: u32,
    until: Instant,
    /// The reading that failed, and which of its texts were stored nevertheless.
    partly: Option<(u64, Progress)>,
}

/// The outcome of an attempt at all readings that wait.
#[derive(Debug, Default)]
pub struct Drained {
    /// The first failure.
    pub failure: Option<Error>,
    /// True if readings were left that need another call: the time was over, or the spool is on a read-only file system.
    pub left: bool,
}

/// A reading that could not be sent as a whole.
enum Failure {
    /// The reading is set aside, and the next one can be sent.
    Aside(Error),
    /// The reading waits, and so do all later ones of its source, or of all sources.
    Held {
        error: Error,
        of_all_sources: bool,
        partly: Option<Box<Progress>>,
    },
}

impl Error {
    /// Returns the time for which the other side wants to be left alone.
    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unsent(unsent) => unsent.retry_after,
            _ => None,
        }
    }
}

impl Courier {
    /// Makes a courier that connects to nothing yet.
    pub fn new(backlog: Backlog, feed: Feed) -> Self {
        Self {
            backlog,
            feed,
            backoff: Backoff::default(),
            holds: HashMap::new(),
        }
    }

    /// Sends the readings that wait, oldest first, except those of sources that pause after a failure. Begins no reading
    /// after `until`. On a read-only file system it sends nothing: what was sent could not be removed, and would be sent again and again.
    pub fn drain(&mut self, until: Option<Instant>) -> Result<Drained, Error> {
        let mut drained = Drained::default();
        if self.backlog.is_read_only() {
            self.holds.retain(|source, _| source.is_empty());
            drained.left = true;
            return Ok(drained);
        }
        let mut stopped = HashSet::new();
        loop {
            let mut sent = 0;
            let waiting = self.backlog.waiting()?;
            self.holds.retain(|source, _| {
                source.is_empty() || waiting.iter().any(|entry| entry.source == *source)
            });
            for entry in in_turns(waiting) {
                if stopped.contains(&entry.source) || self.is_paused(&entry.source) {
                    continue;
                }
                if until.is_some_and(|until| Instant::now() >= until) {
                    drained.left = true;
                    return Ok(drained);
                }
                let start = Instant::now();
                match self.deliver(&entry) {
                    Ok(()) => {
                        self.holds.remove(&entry.source);
                        sent += 1;
                    }
                    Err(Failure::Aside(error)) => {
                        drained.failure.get_or_insert(error);
                        sent += 1;
                    }
                    Err(Failure::Held {
                        error,
                        of_all_sources,
                        partly,
                    }) => {
                        let partly = partly.map(|partly| (entry.sequence, *partly));
                        self.hold(&entry.source, start, partly, error.retry_after());
                        drained.failure.get_or_insert(error);
                        stopped.insert(entry.source);
                        if of_all_sources {
                            return Ok(drained);
                        }
                    }
                }
            }
            // Others may have come in the meantime.
            if sent == 0 {
                return Ok(drained);
            }
        }
    }

    /// Sends a reading that is not in the spool. If that fails, also returns whether a later attempt may succeed.
    pub fn send_directly(
        &mut self,
        sender: &Sender,
        reading: &Reading,
    ) -> Result<(), (Unsent, bool)> {
        let start = Instant::now();
        let mut progress = Progress::new(reading);
        self.feed.send(sender, reading, &mut progress);
        self.backlog.state.note(progress.event());
        let is_over = progress.is_over();
        let result = progress.result();
        if is_over {
            self.holds.remove("");
        } else {
            let retry_after = result.err().and_then(|unsent| unsent.retry_after);
            self.hold("", start, None, retry_after);
        }
        result.map_err(|unsent| (unsent, !is_over))
    }

    /// Returns the time of the next attempt, if a failure has led to a pause.
    pub fn next_attempt(&self) -> Option<Instant> {
        self.holds.values().map(|hold| hold.until).min()
    }

    /// Reports how many readings wait.
    pub fn report_waiting(&self) {
        let waiting = self.backlog.waiting().map_or(0, |waiting| waiting.len());
        if waiting > 0 {
            let path = self.backlog.directory.path().display();
            warn(format_args!(
                "{} in {path}",
                message::waiting(waiting as u64)
            ));
        }
    }

    /// Returns true if readings of the source wait in the spool after a failure, and can be sent later.
    pub fn is_held(&self, source: &str) -> bool {
        self.holds.contains_key(source) && !self.backlog.is_read_only()
    }

    fn is_paused(&self, source: &str) -> bool {
        self.holds
            .get(source)
            .is_some_and(|hold| hold.until > Instant::now())
    }

    /// Lets a source pause after an attempt that failed. The other side may ask for a longer pause than this one, up to the
    /// longest of all. The pause is at least as long as the attempt, so that a source whose texts wait in vain for a lock
    /// leaves half of the time to others.
    fn hold(
        &mut self,
        source: &str,
        start: Instant,
        partly: Option<(u64, Progress)>,
        retry_after: Option<Duration>,
    ) {
        let failures = self.holds.get(source).map_or(0, |hold| hold.failures);
        let failures = failures.saturating_add(1);
        let asked = retry_after.unwrap_or_default();
        let pause = self.backoff.pause_asked(failures, fastrand::f64(), asked);
        let hold = Hold {
            failures,
            until: Instant::now() + pause.max(start.elapsed()),
            partly,
        };
        self.holds.insert(source.to_owned(), hold);
    }

    /// Sends a reading and removes it, or sets it aside, or keeps it waiting.
    fn deliver(&mut self, entry: &Entry) -> Result<(), Failure> {
        let file = match SpoolFile::open(&entry.path) {
            Ok(file) => file,
            // A limit has dropped the file.
            Err(spool::Error::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(());
            }
            Err(error) if error.is_damage() => {
                report(format_args!("{}: {error}", entry.path.display()));
                self.finish(entry, Directory::set_aside_damaged)?;
                self.backlog.count(Losses {
                    damaged: 1,
                    ..Losses::default()
                });
                return Err(Failure::Aside(Error::Damaged));
            }
            Err(error) => return Err(self.unusable(io::Error::other(error))),
        };
        let (sender, reading) = Reading::from_spool(file);
        let mut progress = self.progress(entry, &reading);
        self.feed.send(&sender, &reading, &mut progress);
        self.backlog.state.note(progress.event());
        match progress.result() {
            Ok(()) => self.finish(entry, Directory::remove),
            Err(unsent) if progress.is_over() => {
                self.finish(entry, Directory::set_aside)?;
                self.backlog.count(Losses {
                    refused: 1,
                    ..Losses::default()
                });
                let rejected = self.backlog.directory.path().join(REJECTED);
                report(format_args!(
                    "reading {} is set aside in {}",
                    entry.sequence,
                    rejected.display()
                ));
                Err(Failure::Aside(unsent.into()))
            }
            Err(unsent) => Err(Failure::Held {
                error: unsent.into(),
                of_all_sources: is_of_all_sources(unsent.kind),
                partly: Some(Box::new(progress)),
            }),
        }
    }

    /// Takes up the progress of an earlier attempt at this reading.
    fn progress(&mut self, entry: &Entry, reading: &Reading) -> Progress {
        let partly = self
            .holds
            .get_mut(&entry.source)
            .and_then(|hold| hold.partly.take());
        partly
            .filter(|(sequence, _)| *sequence == entry.sequence)
            .map_or_else(|| Progress::new(reading), |(_, progress)| progress)
    }

    /// Does with a file what is to be done after the last attempt. If that fails, nothing more is sent: the reading would
    /// be sent again and again.
    fn finish(
        &self,
        entry: &Entry,
        action: impl FnOnce(&Directory, &Entry) -> io::Result<()>,
    ) -> Result<(), Failure> {
        action(&self.backlog.directory, entry).map_err(|cause| self.unusable(cause))
    }

    fn unusable(&self, cause: io::Error) -> Failure {
        Failure::Held {
            error: self.backlog.broken(cause),
            of_all_sources: true,
            partly: None,
        }
    }
}

/// Returns the readings to be sent next: sources take turns, so that none waits behind the backlog of another, and each
/// sends its oldest first.
fn in_turns(waiting: Vec<Entry>) -> Vec<Entry> {
    let mut turns = HashMap::<String, u32>::new();
    let mut ordered: Vec<_> = waiting
        .into_iter()
        .map(|entry| {
            let turn = turns.entry(entry.source.clone()).or_default();
            *turn += 1;
            (*turn, entry)
        })
        .filter(|(turn, _)| *turn <= TURNS)
        .collect();
    ordered.sort_by_key(|(turn, entry)| (*turn, entry.sequence));
    ordered.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns true if no reading of any source can be sent now.
fn is_of_all_sources(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Lost | Kind::Silent | Kind::Exhausted | Kind::Local
    )
}
