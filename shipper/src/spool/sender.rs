//! Sends the readings that wait in the spool.
//!
//! A reading is deleted when the database has stored each of its texts, or set aside when the database refuses one for good. After a crash,
//! the complete reading is sent again, because the same text at the same time changes nothing. Readings of a source are sent in order. A
//! failed reading delays later ones of its source, but not those of other sources.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, Instant};

use jobstats_client::Kind;
use jobstats_client::database::retry;
use jobstats_client::spool::{Directory, Entry, REJECTED, SpoolError, SpoolFile};

use crate::frame::Reading;
use crate::send::{Feed, Progress, Unsent};
use crate::spool::clock;
use crate::spool::{DeliveryError, Spool};
use crate::system::message::{self, notice, report, warn};

#[cfg(test)]
mod tests;

/// The number of readings of each source that are sent before the directory is looked at again.
const TURNS: u32 = 20;

/// Sends readings again and again, and pauses after failures.
pub struct Sender {
    spool: Spool,
    feed: Feed,
    /// The failures that keep readings waiting, by source. The source of a reading that is not in the spool is empty.
    holds: HashMap<String, Hold>,
    /// The last reading whose success caused rejected ones to be queued again. They are not queued a third time.
    taken_back: u64,
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
pub struct DrainOutcome {
    pub failure: Option<DeliveryError>,
    /// True if readings were left that need another call: the time was over, or the spool is on a read-only file system.
    pub left: bool,
}

/// A reading that could not be sent as a whole.
enum Failure {
    /// The reading is set aside, and the next one can be sent.
    Aside(DeliveryError),
    /// The reading waits, and so do all later ones of its source, or of all sources.
    Held {
        error: DeliveryError,
        of_all_sources: bool,
        partly: Option<Box<Progress>>,
    },
}

impl Sender {
    pub fn new(spool: Spool, feed: Feed) -> Self {
        Self {
            spool,
            feed,
            holds: HashMap::new(),
            taken_back: 0,
        }
    }

    /// Sends queued readings, oldest first, except those of sources that pause after a failure. Starts no reading after `until`. On a
    /// read-only file system it sends nothing, because sent readings could not be removed and would be repeated.
    pub fn drain(&mut self, until: Option<Instant>) -> Result<DrainOutcome, DeliveryError> {
        let mut drained = DrainOutcome::default();
        if self.spool.is_read_only() {
            self.holds.retain(|source, _| source.is_empty());
            drained.left = true;
            return Ok(drained);
        }
        let mut stopped = HashSet::new();
        loop {
            let mut sent = 0;
            let waiting = self.spool.waiting()?;
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
                        let retry_after = match &error {
                            DeliveryError::Unsent(unsent) => unsent.retry_after,
                            _ => None,
                        };
                        self.hold(&entry.source, start, partly, retry_after);
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
    pub fn send_directly(&mut self, reading: &Reading) -> Result<(), (Unsent, bool)> {
        let start = Instant::now();
        let mut progress = Progress::new(reading);
        self.feed.send(reading, &mut progress);
        self.spool.state.note(progress.event());
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
        let waiting = self.spool.waiting().map_or(0, |waiting| waiting.len());
        if waiting > 0 {
            let waiting = message::waiting(waiting as u64);
            warn(format_args!("{waiting} in {}", self.spool.path().display()));
        }
    }

    /// Returns true if readings of the source wait in the spool after a failure, and can be sent later.
    pub fn is_held(&self, source: &str) -> bool {
        self.holds.contains_key(source) && !self.spool.is_read_only()
    }

    fn is_paused(&self, source: &str) -> bool {
        let hold = self.holds.get(source);
        hold.is_some_and(|hold| hold.until > Instant::now())
    }

    /// Pauses a source after a failed attempt. The other side may request a longer pause, up to the maximum. The pause is at least as long
    /// as the attempt, so that a source that waits for a lock leaves half of the time to others.
    fn hold(
        &mut self,
        source: &str,
        start: Instant,
        partly: Option<(u64, Progress)>,
        retry_after: Option<Duration>,
    ) {
        let failures = self.holds.get(source).map_or(0, |hold| hold.failures);
        let failures = failures.saturating_add(1);
        let requested = retry_after.unwrap_or_default();
        let pause = retry::pause(failures, fastrand::f64(), requested);
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
            Err(SpoolError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(());
            }
            Err(error) if error.is_damage() => {
                report(format_args!("{}: {error}", entry.path.display()));
                self.finish(entry, Directory::set_aside_damaged)?;
                self.spool.count(|losses| losses.damaged = 1);
                return Err(Failure::Aside(DeliveryError::Damaged));
            }
            Err(error) => return Err(self.unusable(io::Error::other(error))),
        };
        let reading = Reading::from_spool(file);
        let mut progress = self.progress(entry, &reading);
        self.feed.send(&reading, &mut progress);
        self.spool.state.note(progress.event());
        match progress.result() {
            Ok(()) => {
                self.finish(entry, Directory::remove)?;
                self.take_back(entry.sequence)
                    .map_err(|cause| self.unusable(cause))
            }
            Err(unsent) if progress.is_over() => {
                self.finish(entry, Directory::set_aside)?;
                if progress.is_untimely && entry.sequence > self.taken_back {
                    clock::note_rejected(self.spool.path(), entry.sequence);
                }
                self.spool.count(|losses| losses.refused = 1);
                let (number, rejected) = (entry.sequence, self.spool.path().join(REJECTED));
                let rejected = rejected.display();
                report(format_args!("scrape {number} is set aside in {rejected}"));
                Err(Failure::Aside(unsent.into()))
            }
            Err(unsent) => Err(Failure::Held {
                error: unsent.into(),
                of_all_sources: is_of_all_sources(unsent.kind),
                partly: Some(Box::new(progress)),
            }),
        }
    }

    /// Lets readings wait again that the database rejected for their time, after it has taken a later one: its clock was wrong.
    fn take_back(&mut self, taken: u64) -> io::Result<()> {
        let (path, directory) = (self.spool.path(), &self.spool.directory);
        let Some(first) = clock::rejected_since(path).filter(|first| *first < taken) else {
            return Ok(());
        };
        let mut count = 0;
        for entry in directory.rejected()? {
            if (first..taken).contains(&entry.sequence) {
                count += u64::from(directory.requeue(&entry)?);
            }
        }
        clock::forget_rejected(path);
        self.taken_back = taken;
        let waiting = message::waiting(count);
        notice(format_args!(
            "the database accepts current timestamps again: {waiting} again in {}",
            path.display()
        ));
        Ok(())
    }

    /// Takes up the progress of an earlier attempt at this reading.
    fn progress(&mut self, entry: &Entry, reading: &Reading) -> Progress {
        let hold = self.holds.get_mut(&entry.source);
        match hold.and_then(|hold| hold.partly.take()) {
            Some((sequence, progress)) if sequence == entry.sequence => progress,
            _ => Progress::new(reading),
        }
    }

    /// Removes a file or sets it aside after the last attempt. If that fails, sending stops, because the reading would be sent again and
    /// again.
    fn finish(
        &self,
        entry: &Entry,
        action: impl FnOnce(&Directory, &Entry) -> io::Result<()>,
    ) -> Result<(), Failure> {
        action(&self.spool.directory, entry).map_err(|cause| self.unusable(cause))
    }

    fn unusable(&self, cause: io::Error) -> Failure {
        Failure::Held {
            error: self.spool.broken(cause),
            of_all_sources: true,
            partly: None,
        }
    }
}

/// Returns the next readings to send: sources take turns, so that the backlog of one does not delay others, and each sends its oldest
/// first.
fn in_turns(waiting: Vec<Entry>) -> Vec<Entry> {
    let mut turns = HashMap::<String, u32>::new();
    let numbered = waiting.into_iter().map(|entry| {
        let turn = turns.entry(entry.source.clone()).or_default();
        *turn += 1;
        (*turn, entry)
    });
    let mut ordered: Vec<_> = numbered.filter(|(turn, _)| *turn <= TURNS).collect();
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
