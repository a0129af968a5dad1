//! Reads `job_stats` of a Lustre server with `lctl get_param` and sends the text, compressed and otherwise unchanged,
//! to `jobstats.feed` in PostgreSQL. The shipper knows where one target's text ends and the next one's begins, and
//! nothing else of the format.

mod exit;
mod feed;
mod input;
mod lctl;
mod lock;
mod message;
mod options;
mod pump;
mod reading;
mod row;
mod schedule;
mod split;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use rustix::system::uname;

use crate::feed::{Feed, Sender, Timeouts};
use crate::lctl::Lctl;
use crate::lock::Lock;
use crate::message::report;
use crate::options::{Command, Common, Input, Options};
use crate::reading::Reading;
use crate::schedule::Schedule;

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
    match options.command.execute() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(format_args!("{error}"));
            exit::code(&error).into()
        }
    }
}

impl Command {
    fn execute(self) -> Result<(), Error> {
        match self {
            Self::Once(once) => Shipper::new(once.common)?.once(&once.input),
            Self::Run(run) => Shipper::new(run.common)?.run(run.interval),
        }
    }
}

/// One instance of the shipper with its resources.
struct Shipper {
    server: String,
    lctl: Lctl,
    feed: Feed,
    verbose: bool,
    _lock: Lock,
}

impl Shipper {
    /// Checks settings, TLS and lock, so that what is missing is reported before anything is read.
    fn new(options: Common) -> Result<Self, Error> {
        let server = options
            .server
            .unwrap_or_else(|| uname().nodename().to_string_lossy().into_owned());
        let timeouts = Timeouts {
            connect: options.connect_timeout,
            statement: options.statement_timeout,
        };
        let sender = Sender {
            cluster: options.cluster,
            server: server.clone(),
        };
        let feed = Feed::new(
            options.database.settings("jobstats-shipper")?,
            timeouts,
            sender,
        )?;
        let lock = options.lock.unwrap_or_else(|| lock::default_path(&server));
        Ok(Self {
            lctl: Lctl {
                path: options.lctl,
                timeout: options.lctl_timeout,
            },
            verbose: options.verbose,
            _lock: Lock::take(&lock)?,
            feed,
            server,
        })
    }

    fn once(&mut self, input: &Input) -> Result<(), Error> {
        let mut reading = match &input.input {
            Some(path) => input::read(path, self.lctl.timeout)?,
            None => self.lctl.read()?,
        };
        if let Some(time) = input.time {
            reading.made_at(time);
        }
        self.send(&reading)
    }

    fn run(&mut self, interval: Duration) -> Result<(), Error> {
        let schedule = Schedule::new(interval, &self.server);
        loop {
            schedule.sleep();
            // A failed poll is only reported, because the next one may succeed.
            if let Err(error) = self
                .lctl
                .read()
                .map_err(Error::from)
                .and_then(|reading| self.send(&reading))
            {
                report(format_args!("{error}"));
            }
        }
    }

    fn send(&mut self, reading: &Reading) -> Result<(), Error> {
        Ok(self.feed.send(reading, self.verbose)?)
    }
}
