//! The commands `once` and `run`: they read each source and send what it has.

mod spooled;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use jobstats_client::Settings;
use jobstats_client::spool::Limits;

use crate::commands::Error;
use crate::commands::options::Common;
use crate::frame::{Reading, Sender};
use crate::keep::backlog::{self, Backlog};
use crate::keep::clock;
use crate::read::pace::Pace;
use crate::read::schedule::Schedule;
use crate::read::sources::{Source, Way};
use crate::send::{self, Database, Feed, Http, Progress, Timeouts, Transport, http};
use crate::state::{Event, StateFile};
use crate::system::lock::{self, Lock};
use crate::system::{notify, priority};

/// The settings of the way to the store.
enum Store {
    Database(Box<Settings>),
    Http(http::Settings),
}

impl Store {
    /// Reads the settings of the database unless the command line names a URL of PostgREST.
    fn new(http: http::Options, database: &jobstats_client::Options) -> Result<Self, Error> {
        match http.settings(database) {
            Some(settings) => Ok(Self::Http(settings)),
            None => Ok(Self::Database(Box::new(
                database.settings("jobstats-shipper")?,
            ))),
        }
    }
}

/// The shipper as the command line describes it.
pub struct Shipper {
    sender: Sender,
    sources: Vec<Source>,
    pace: Pace,
    store: Store,
    timeouts: Timeouts,
    lock: PathBuf,
    backlog: Option<Backlog>,
    state: StateFile,
}

impl Shipper {
    /// Checks settings and spool, so that what is missing is reported before anything is read.
    pub fn new(options: Common, sources: Vec<Source>) -> Result<Self, Error> {
        priority::lower(options.nice);
        let (sender, lock) = (options.reader.sender(), options.reader.lock());
        let limits = Limits {
            bytes: options.spool.spool_size,
            age: options.spool.spool_age,
        };
        let state = StateFile::beside(options.spool.spool.as_deref(), &lock);
        let open = |path| Backlog::open(path, limits, state.clone(), backlog::spare(&lock));
        Ok(Self {
            store: Store::new(options.http, &options.database)?,
            backlog: options.spool.spool.map(open).transpose()?,
            sources,
            pace: Pace {
                percent: options.busy_limit,
            },
            timeouts: Timeouts {
                connect: options.connect_timeout,
                statement: options.statement_timeout,
            },
            lock,
            sender,
            state,
        })
    }

    /// Prepares the way to the store.
    fn feed(&self) -> Result<Feed, Error> {
        let transport: Box<dyn Transport> = match &self.store {
            Store::Database(settings) => {
                let settings = Settings::clone(settings);
                Box::new(Database::new(settings, self.timeouts, self.state.clone())?)
            }
            Store::Http(settings) => {
                let http = Http::new(settings.clone(), self.timeouts);
                Box::new(http.map_err(send::Error::from)?)
            }
        };
        Ok(Feed::new(transport, self.timeouts))
    }

    /// Takes the lock of the reader of a source.
    fn lock(&self, source: &Source) -> Result<Lock, lock::Error> {
        if source.is_lctl() {
            Lock::take(&self.lock)
        } else {
            Lock::take(&lock::of_source(&self.lock, &source.name))
        }
    }

    /// Notes that a source is read, by `run` at this interval.
    fn begin(&self, source: &Source, interval: Option<Duration>) {
        let source = source.name.as_str();
        self.state.note(Event::Started { source, interval });
    }

    /// Reads a source.
    fn poll(&self, source: &Source, lock: &Lock) -> Result<Option<Reading>, Error> {
        let correction = self.correction(source);
        let read = source.read(lock).map_err(Error::from).map(|mut read| {
            read.iter_mut()
                .for_each(|reading| reading.shift(correction));
            read
        });
        match source.way {
            Way::Follow(_) => read,
            _ => self.noted(source, read, |reading| {
                reading
                    .as_ref()
                    .map_or(0, |reading| reading.texts.len() as u64)
            }),
        }
    }

    /// Returns what must be added to the times of a reading of lctl. With a spool, which keeps the clocks of the last reading, a
    /// step of the wall clock does not change them for an hour.
    fn correction(&self, source: &Source) -> SignedDuration {
        match (&source.way, &self.backlog) {
            (Way::Lctl(_), Some(backlog)) => clock::correction(backlog.path()),
            _ => SignedDuration::ZERO,
        }
    }

    /// Notes how a reading ended. `count` returns the number of its targets.
    fn noted<T>(
        &self,
        source: &Source,
        read: Result<T, Error>,
        count: impl Fn(&T) -> u64,
    ) -> Result<T, Error> {
        let source = source.name.as_str();
        self.state.note(match &read {
            Ok(reading) => Event::Read {
                source,
                targets: count(reading),
            },
            Err(error) if error.is_of_standby() => Event::Read { source, targets: 0 },
            Err(error) => Event::Unread {
                source,
                message: error.to_string(),
            },
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

    pub fn once(&self) -> Result<(), Error> {
        if let Some(backlog) = &self.backlog {
            return spooled::once(self, backlog);
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

    pub fn run(&self) -> Result<(), Error> {
        let mut feed = self.feed()?;
        if let Some(backlog) = &self.backlog {
            return spooled::run(self, backlog, feed);
        }
        // Several sources have a spool.
        let Some(source) = self.sources.first() else {
            return Ok(());
        };
        let lock = self.lock(source)?;
        notify::ready();
        notify::watch(self.longest_silence());
        let begin = |interval| self.begin(source, Some(interval));
        Schedule::new(source.interval, &self.sender.server).repeat(
            self.pace,
            &source.name,
            begin,
            || {
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
            },
        )
    }

    /// Returns the time after which a thread without a sign of life hangs. Its work has limits, which are shorter.
    fn longest_silence(&self) -> Duration {
        let reading = self.sources.iter().map(Source::timeout).max();
        let limits = [
            reading.unwrap_or_default(),
            self.timeouts.connect,
            self.timeouts.statement,
        ];
        limits.iter().sum::<Duration>().saturating_mul(3)
    }

    fn send(&self, feed: &mut Feed, reading: &Reading) -> Result<(), Error> {
        let mut progress = Progress::new(reading);
        feed.send(&self.sender, reading, &mut progress);
        self.state.note(progress.event());
        if !progress.is_over() {
            self.state.note(Event::Lost);
        }
        Ok(progress.result()?)
    }
}
