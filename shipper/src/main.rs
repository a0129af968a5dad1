//! Reads `job_stats` of a Lustre server with `lctl get_param` and sends the text, compressed and otherwise unchanged,
//! to `jobstats.feed` in PostgreSQL. The shipper knows where one target's text ends and the next one's begins, and
//! nothing else of the format.

mod backlog;
mod exit;
mod feed;
mod follow;
mod generate;
mod input;
mod lctl;
mod lock;
mod message;
mod options;
mod pace;
mod priority;
mod process;
mod pump;
mod reading;
mod row;
mod schedule;
mod script;
mod sources;
mod split;
mod spooled;
mod storage;

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use rustix::system::uname;

use jobstats_client::Settings;
use jobstats_client::spool::Limits;

use crate::backlog::Backlog;
use crate::feed::{Database, Feed, Http, Progress, Sender, Timeouts, Transport};
use crate::lock::Lock;
use crate::message::report;
use crate::options::{Command, Common, Options};
use crate::reading::Reading;
use crate::schedule::Schedule;
use crate::sources::{ReadError, Source, Way, sources};

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
    Read(#[from] sources::ReadError),
    #[error(transparent)]
    Feed(#[from] feed::Error),
    #[error(transparent)]
    Unsent(#[from] feed::Unsent),
    #[error(transparent)]
    Backlog(#[from] backlog::Error),
    #[error(transparent)]
    Generate(#[from] generate::Error),
}

impl Error {
    /// Returns true if there is no target to be read. This is normal on the standby of a pair.
    fn is_of_standby(&self) -> bool {
        matches!(self, Self::Read(ReadError::Lctl(lctl::Error::NoTarget)))
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
    let is_verbose = options.command.is_verbose();
    match options.command.execute() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Under cron, a line every two minutes from each standby would hide others.
            if is_verbose || !error.is_of_standby() {
                report(format_args!("{error}"));
            }
            exit::code(&error).into()
        }
    }
}

impl Command {
    fn execute(self) -> Result<(), Error> {
        match self {
            Self::Once(once) => {
                let sources = sources(&once.common, Some(&once.input), Duration::ZERO)?;
                let shipper = Shipper::new(once.common, sources)?;
                if let Some(spread) = once.spread {
                    thread::sleep(Schedule::new(spread, &shipper.sender.server).offset());
                }
                shipper.once()
            }
            Self::Run(run) => {
                let sources = sources(&run.common, None, run.interval)?;
                Shipper::new(run.common, sources)?.run()
            }
            Self::Generate(generate) => Ok(generate::write(&generate.directory)?),
        }
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
        match http.settings(database.ca_file.clone()) {
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
    store: Store,
    timeouts: Timeouts,
    verbose: bool,
    lock: PathBuf,
    backlog: Option<Backlog>,
}

impl Shipper {
    /// Checks settings and spool, so that what is missing is reported before anything is read.
    fn new(options: Common, sources: Vec<Source>) -> Result<Self, Error> {
        priority::lower(options.nice);
        let server = options
            .server
            .unwrap_or_else(|| uname().nodename().to_string_lossy().into_owned());
        let limits = Limits {
            bytes: options.spool.spool_size,
            age: options.spool.spool_age,
        };
        let open = |path| Backlog::open(path, limits);
        Ok(Self {
            store: Store::new(options.http, &options.database)?,
            backlog: options.spool.spool.map(open).transpose()?,
            sources,
            timeouts: Timeouts {
                connect: options.connect_timeout,
                statement: options.statement_timeout,
            },
            verbose: options.verbose,
            lock: options.lock.unwrap_or_else(|| lock::default_path(&server)),
            sender: Sender {
                cluster: options.cluster,
                server,
            },
        })
    }

    /// Prepares the way to the store.
    fn feed(&self) -> Result<Feed, Error> {
        let transport: Box<dyn Transport> = match &self.store {
            Store::Database(settings) => {
                Box::new(Database::new(Settings::clone(settings), self.timeouts)?)
            }
            Store::Http(settings) => {
                let http = Http::new(settings.clone(), self.timeouts);
                Box::new(http.map_err(feed::Error::from)?)
            }
        };
        Ok(Feed::new(transport, self.timeouts, self.verbose))
    }

    /// Takes the lock of the reader of a source.
    fn lock(&self, source: &Source) -> Result<Lock, lock::Error> {
        if source.is_lctl() {
            Lock::take(&self.lock)
        } else {
            Lock::take(&lock::of_source(&self.lock, &source.name))
        }
    }

    /// Calls a function that reads, unless the last call of `once` took lctl so long that it is too early.
    fn unless_early<T>(&self, source: &Source, lock: &Lock, read: impl FnOnce() -> T) -> Option<T> {
        match source.way {
            Way::Lctl(_) => pace::unless_early(lock, read),
            _ => Some(read()),
        }
    }

    /// Reports an error of `run`. That there is no target is normal on the standby of a pair.
    fn report(&self, error: &Error) {
        if self.verbose || !error.is_of_standby() {
            report(format_args!("{error}"));
        }
    }

    fn once(&self) -> Result<(), Error> {
        if let Some(backlog) = &self.backlog {
            return spooled::once(self, backlog);
        }
        let mut feed = self.feed()?;
        for source in &self.sources {
            let lock = self.lock(source)?;
            let read = self.unless_early(source, &lock, || source.read(&lock));
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
        Schedule::new(source.interval, &self.sender.server).repeat(&source.name, || {
            let start = Instant::now();
            let read = source.read(&lock).map_err(Error::from);
            let took = start.elapsed();
            let sent = read.and_then(|reading| {
                reading.map_or(Ok(()), |reading| self.send(&mut feed, &reading))
            });
            // A failed poll is only reported, because the next one may succeed.
            if let Err(error) = sent {
                self.report(&error);
            }
            took
        })
    }

    fn send(&self, feed: &mut Feed, reading: &Reading) -> Result<(), Error> {
        let mut progress = Progress::new(reading);
        feed.send(&self.sender, reading, &mut progress);
        Ok(progress.result()?)
    }
}
