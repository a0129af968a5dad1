//! Reads `job_stats` of a Lustre server with `lctl get_param` and sends the text, compressed and otherwise unchanged,
//! to `jobstats.feed` in PostgreSQL. The shipper knows where one target's text ends and the next one's begins, and
//! nothing else of the format.

mod backlog;
mod clock;
mod doctor;
mod exit;
mod feed;
mod follow;
mod generate;
mod input;
mod lctl;
mod lock;
mod message;
mod notify;
mod options;
mod pace;
mod priority;
mod process;
mod pump;
mod reading;
mod record;
mod rehearsal;
mod replay;
mod requeue;
mod row;
mod schedule;
mod script;
mod sources;
mod split;
mod spooled;
mod state;
mod status;
mod storage;

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use jiff::SignedDuration;

use jobstats_client::Settings;
use jobstats_client::spool::Limits;

use crate::backlog::Backlog;
use crate::feed::{Database, Feed, Http, Progress, Sender, Timeouts, Transport};
use crate::lock::Lock;
use crate::message::{info, report};
use crate::options::{Command, Common, Options};
use crate::pace::Pace;
use crate::reading::Reading;
use crate::schedule::Schedule;
use crate::sources::{ReadError, Source, Way, sources};
use crate::state::{Event, StateFile};

/// An error that kept some or all targets from being sent.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Settings(#[from] jobstats_client::settings::Error),
    #[error(transparent)]
    Lock(#[from] lock::Error),
    #[error(transparent)]
    Sources(#[from] sources::Error),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Feed(#[from] feed::Error),
    #[error(transparent)]
    Unsent(#[from] feed::Unsent),
    #[error(transparent)]
    Backlog(#[from] backlog::Error),
    #[error(transparent)]
    Generate(#[from] generate::Error),
    #[error(transparent)]
    Record(#[from] record::Error),
    #[error(transparent)]
    Replay(#[from] replay::Error),
    #[error(transparent)]
    Requeue(#[from] requeue::Error),
}

impl Error {
    /// Returns true if there is no target to be read. This is normal on the standby of a pair.
    fn is_of_standby(&self) -> bool {
        matches!(self, Self::Read(ReadError::Lctl(lctl::Error::NoTarget)))
    }

    /// Reports the error. Under cron, a line every two minutes from each standby would hide others.
    fn report(&self) {
        if self.is_of_standby() {
            info(format_args!("{self}"));
        } else {
            report(format_args!("{self}"));
        }
    }
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            // Help and version are errors here too, but go to stdout.
            let _ = error.print();
            return if error.use_stderr() {
                exit::USAGE.into()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    message::show(options.messages.level());
    match options.command.execute() {
        Ok(code) => code,
        Err(error) => {
            error.report();
            exit::code(&error).into()
        }
    }
}

impl Command {
    fn execute(self) -> Result<ExitCode, Error> {
        match self {
            Self::Once(once) => {
                let sources = sources(&once.common, Some(&once.input), Duration::ZERO)?;
                let shipper = Shipper::new(once.common, sources)?;
                if let Some(spread) = once.spread {
                    thread::sleep(Schedule::new(spread, &shipper.sender.server).offset());
                }
                shipper.once()?;
            }
            Self::Run(run) => {
                let sources = sources(&run.common, None, run.interval)?;
                Shipper::new(run.common, sources)?.run()?;
            }
            Self::Record(options) => record::execute(options)?,
            Self::Replay(options) => replay::execute(options)?,
            Self::Requeue(options) => requeue::execute(options)?,
            Self::Doctor(options) => return Ok(doctor::execute(options)),
            Self::Status(options) => return Ok(status::execute(&options)),
            Self::Generate(generate) => generate::write(&generate.directory)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The settings of the way to the store.
enum Store {
    Database(Box<Settings>),
    Http(feed::http::Settings),
}

impl Store {
    /// Reads the settings of the database unless the command line names a URL of PostgREST.
    fn new(http: options::http::Http, database: &jobstats_client::Options) -> Result<Self, Error> {
        match http.settings(database) {
            Some(settings) => Ok(Self::Http(settings)),
            None => Ok(Self::Database(Box::new(
                database.settings("jobstats-shipper")?,
            ))),
        }
    }
}

/// The shipper as the command line describes it.
struct Shipper {
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
    fn new(options: Common, sources: Vec<Source>) -> Result<Self, Error> {
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
                Box::new(http.map_err(feed::Error::from)?)
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

    fn once(&self) -> Result<(), Error> {
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

    fn run(&self) -> Result<(), Error> {
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
