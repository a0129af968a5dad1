//! Reads `job_stats` of a Lustre server with `lctl get_param` and sends the text, compressed and otherwise unchanged,
//! to `jobstats.feed` in PostgreSQL. The shipper knows where one target's text ends and the next one's begins, and
//! nothing else of the format.

mod backlog;
mod clock;
mod doctor;
mod exit;
mod feed;
mod generate;
mod input;
mod lctl;
mod lock;
mod message;
mod notify;
mod options;
mod pump;
mod reading;
mod record;
mod rehearsal;
mod replay;
mod row;
mod schedule;
mod split;
mod spooled;
mod state;
mod status;
mod storage;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use jobstats_client::Settings;
use jobstats_client::spool::Limits;

use crate::backlog::Backlog;
use crate::feed::{Database, Feed, Http, Progress, Sender, Timeouts, Transport};
use crate::lctl::Lctl;
use crate::lock::Lock;
use crate::message::report;
use crate::options::{Command, Common, Input, Options, this_machine};
use crate::reading::{Reading, SOURCE};
use crate::schedule::Schedule;
use crate::state::{Event, StateFile};

/// An error that kept some or all targets from being sent.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Settings(#[from] jobstats_client::settings::Error),
    #[error(transparent)]
    Lock(#[from] lock::Error),
    #[error(transparent)]
    Lctl(#[from] lctl::Error),
    #[error(transparent)]
    Input(#[from] input::Error),
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
            report(format_args!("{error}"));
            exit::code(&error).into()
        }
    }
}

impl Command {
    fn execute(self) -> Result<ExitCode, Error> {
        match self {
            Self::Once(once) => Shipper::new(once.common)?.once(&once.input)?,
            Self::Run(run) => Shipper::new(run.common)?.run(run.interval)?,
            Self::Record(options) => record::execute(options)?,
            Self::Replay(options) => replay::execute(options)?,
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
    lctl: Lctl,
    store: Store,
    timeouts: Timeouts,
    lock: PathBuf,
    backlog: Option<Backlog>,
    state: StateFile,
}

impl Shipper {
    /// Checks settings and spool, so that what is missing is reported before anything is read.
    fn new(options: Common) -> Result<Self, Error> {
        let server = options.server.unwrap_or_else(this_machine);
        let limits = Limits {
            bytes: options.spool.spool_size,
            age: options.spool.spool_age,
        };
        let lock = options.lock.unwrap_or_else(|| lock::default_path(&server));
        let state = StateFile::beside(options.spool.spool.as_deref(), &lock);
        let open = |path| Backlog::open(path, limits, state.clone());
        Ok(Self {
            store: Store::new(options.http, &options.database)?,
            backlog: options.spool.spool.map(open).transpose()?,
            lctl: Lctl {
                path: options.lctl,
                timeout: options.lctl_timeout,
                most: options.max_reading,
            },
            timeouts: Timeouts {
                connect: options.connect_timeout,
                statement: options.statement_timeout,
            },
            lock,
            sender: Sender {
                cluster: options.cluster,
                server,
            },
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

    /// Takes the lock of the reader.
    fn lock(&self) -> Result<Lock, lock::Error> {
        let lock = Lock::take(&self.lock)?;
        lock.inherited().map_err(|cause| lock::Error::Unusable {
            path: self.lock.clone(),
            cause,
        })
    }

    fn once(&self, input: &Input) -> Result<(), Error> {
        if let Some(backlog) = &self.backlog {
            return spooled::once(self, backlog, input);
        }
        let mut feed = self.feed()?;
        let _lock = self.lock()?;
        self.send(&mut feed, &self.read(input)?)
    }

    fn run(&self, interval: Duration) -> Result<(), Error> {
        let schedule = Schedule::new(interval, &self.sender.server);
        let mut feed = self.feed()?;
        let _lock = self.lock()?;
        self.state.note(Event::Started {
            source: SOURCE,
            interval: Some(interval),
        });
        notify::ready();
        notify::watch(self.longest_silence());
        if let Some(backlog) = &self.backlog {
            return spooled::run(self, backlog, feed, schedule);
        }
        loop {
            schedule.sleep();
            // A failed poll is only reported, because the next one may succeed.
            if let Err(error) = self
                .poll()
                .and_then(|reading| self.send(&mut feed, &reading))
            {
                report(format_args!("{error}"));
            }
        }
    }

    /// Returns the time after which a thread without a sign of life hangs. Its work has limits, which are shorter.
    fn longest_silence(&self) -> Duration {
        let limits = [
            self.lctl.timeout,
            self.timeouts.connect,
            self.timeouts.statement,
        ];
        limits.iter().sum::<Duration>().saturating_mul(3)
    }

    /// Reads lctl. With a spool, which keeps the clocks of the last reading, a step of the wall clock does no harm.
    fn poll(&self) -> Result<Reading, Error> {
        let spool = self.backlog.as_ref();
        let correction = spool.map(|backlog| clock::correction(backlog.path()));
        let read = self.lctl.read().map(|mut reading| {
            reading.shift(correction.unwrap_or_default());
            reading
        });
        self.noted(read.map_err(Error::from))
    }

    /// Reads lctl or the input.
    fn read(&self, input: &Input) -> Result<Reading, Error> {
        self.state.note(Event::Started {
            source: SOURCE,
            interval: None,
        });
        let Some(path) = &input.input else {
            return self.poll();
        };
        let read = input::read(path, self.lctl.timeout, self.lctl.most);
        let mut reading = self.noted(read.map_err(Error::from))?;
        if let Some(time) = input.time {
            reading.made_at(time);
        }
        Ok(reading)
    }

    /// Notes how a reading ended.
    fn noted(&self, read: Result<Reading, Error>) -> Result<Reading, Error> {
        let source = SOURCE;
        let targets = match &read {
            Ok(reading) => Ok(reading.texts.len() as u64),
            // This is normal on the standby of a pair.
            Err(Error::Lctl(lctl::Error::NoTarget)) => Ok(0),
            Err(error) => Err(error.to_string()),
        };
        self.state.note(match targets {
            Ok(targets) => Event::Read { source, targets },
            Err(message) => Event::Unread { source, message },
        });
        read
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
