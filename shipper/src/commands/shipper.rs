//! The commands `once` and `run`: they read each source and send its texts.

mod with_spool;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use jobstats_client::spool::Limits;

use crate::commands::CommandError;
use crate::commands::options::{Common, Delivery};
use crate::frame::Reading;
use crate::read::options::Identity;
use crate::read::pace::Pace;
use crate::read::schedule::Schedule;
use crate::read::sources::{Source, Way};
use crate::send::{Feed, Progress, SendError, Store, Timeouts};
use crate::spool::clock;
use crate::spool::{self, Spool};
use crate::state::{Event, StateFile};
use crate::system::lock::{Lock, LockError};
use crate::system::{notify, priority};

/// The shipper as the command line describes it.
pub struct Shipper {
    server: String,
    sources: Vec<Source>,
    pace: Pace,
    store: Store,
    timeouts: Timeouts,
    lock: PathBuf,
    spool: Option<Spool>,
    state: StateFile,
}

impl Shipper {
    /// Checks settings and spool, so that mistakes are reported before anything is read.
    pub fn new(
        identity: &Identity,
        pace: Pace,
        sources: Vec<Source>,
        delivery: Delivery,
    ) -> Result<Self, CommandError> {
        let lock = identity.lock();
        let limits = Limits {
            bytes: delivery.spool.spool_size,
            age: delivery.spool.spool_age,
        };
        let state = StateFile::beside(delivery.spool.spool.as_deref(), &lock);
        let open = |path| Spool::open(path, limits, state.clone(), spool::spare(&lock));
        Ok(Self {
            timeouts: delivery.timeouts(),
            store: Store::new(delivery.http, &delivery.database, "jobstats-shipper")?,
            spool: delivery.spool.spool.map(open).transpose()?,
            sources,
            pace,
            lock,
            server: identity.server_name().server,
            state,
        })
    }

    /// Lowers the priority, and reads the sources of the options of `once` and `run`.
    pub fn of(options: Common, sources: Vec<Source>) -> Result<Self, CommandError> {
        priority::lower(options.nice);
        let pace = Pace {
            percent: options.busy_limit,
        };
        Self::new(&options.reader.identity, pace, sources, options.delivery)
    }

    fn feed(&self) -> Result<Feed, SendError> {
        self.store.feed(self.timeouts, &self.state)
    }

    /// Takes the lock of the reader of a source.
    fn lock(&self, source: &Source) -> Result<Lock, LockError> {
        match source.is_lctl() {
            true => Lock::take(&self.lock),
            false => Lock::take(&self.lock.with_added_extension(&source.name)),
        }
    }

    /// Notes that a source is read, by `run` at this interval.
    fn begin(&self, source: &Source, interval: Option<Duration>) {
        self.state.note(Event::Started(&source.name, interval));
    }

    fn poll(&self, source: &Source, lock: &Lock) -> Result<Option<Reading>, CommandError> {
        let correction = self.correction(source);
        let mut read = source.read(Some(lock)).map_err(CommandError::from);
        if let Ok(Some(reading)) = &mut read {
            reading.shift(correction);
        }
        match source.way {
            Way::Follow(_) => read,
            _ => self.noted(source, read, |reading| {
                reading.as_ref().map(Reading::targets).unwrap_or_default()
            }),
        }
    }

    /// Returns the time to add to the times of a reading of lctl. With a spool, which keeps the clocks of the last reading, a
    /// step of the wall clock does not change them for an hour.
    fn correction(&self, source: &Source) -> SignedDuration {
        match (&source.way, &self.spool) {
            (Way::Lctl(_), Some(spool)) => clock::correction(spool.path()),
            _ => SignedDuration::ZERO,
        }
    }

    /// Notes how a reading ended. `count` returns the number of its targets.
    fn noted<T>(
        &self,
        source: &Source,
        read: Result<T, CommandError>,
        count: impl Fn(&T) -> u64,
    ) -> Result<T, CommandError> {
        let name = &source.name;
        self.state.note(match &read {
            Ok(reading) => Event::Read(name, count(reading)),
            Err(error) if error.is_of_standby() => Event::Read(name, 0),
            Err(error) => Event::Unread(name, error.to_string()),
        });
        read
    }

    /// Calls a function that reads, unless the last call of `once` took lctl so long that it is too early.
    fn unless_early<T>(&self, source: &Source, lock: &Lock, read: impl FnOnce() -> T) -> Option<T> {
        self.begin(source, None);
        match source.way {
            Way::Lctl(_) => self.pace.unless_early(lock, read),
            _ => Some(read()),
        }
    }

    pub fn once(&self) -> Result<(), CommandError> {
        if let Some(spool) = &self.spool {
            return with_spool::once(self, spool);
        }
        let mut feed = self.feed()?;
        for source in &self.sources {
            let lock = self.lock(source)?;
            let read = self.unless_early(source, &lock, || self.poll(source, &lock));
            if let Some(reading) = read.transpose()?.flatten() {
                self.send(&mut feed, &reading)?;
            }
        }
        Ok(())
    }

    pub fn run(&self) -> Result<(), CommandError> {
        let mut feed = self.feed()?;
        if let Some(spool) = &self.spool {
            return with_spool::run(self, spool, feed);
        }
        // Several sources have a spool.
        let Some(source) = self.sources.first() else {
            return Ok(());
        };
        let lock = self.lock(source)?;
        notify::ready();
        notify::watch(self.longest_silence());
        let begin = |interval| self.begin(source, Some(interval));
        let poll = || {
            let start = Instant::now();
            let read = self.poll(source, &lock);
            let took = start.elapsed();
            let sent = read.and_then(|reading| {
                reading.map_or(Ok(()), |reading| self.send(&mut feed, &reading))
            });
            // A failed poll is only reported, because the next one may succeed.
            if let Err(error) = sent {
                error.report();
            }
            took
        };
        let schedule = Schedule::new(source.interval, &self.server);
        schedule.repeat(self.pace, &source.name, begin, poll)
    }

    /// Returns the time after which a thread without a sign of life hangs. Its work has limits, which are shorter.
    fn longest_silence(&self) -> Duration {
        let reading = self.sources.iter().map(|source| source.timeout).max();
        let Timeouts { connect, statement } = self.timeouts;
        let limits = reading.unwrap_or_default() + connect + statement;
        limits.saturating_mul(3)
    }

    fn send(&self, feed: &mut Feed, reading: &Reading) -> Result<(), CommandError> {
        let mut progress = Progress::new(reading);
        feed.send(reading, &mut progress);
        self.state.note(progress.event());
        if !progress.is_over() {
            self.state.note(Event::Lost);
        }
        Ok(progress.result()?)
    }
}
