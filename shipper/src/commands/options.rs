//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use jobstats_client::program::duration;

use crate::commands::{doctor, error, probe, record, replay, requeue, status};
use crate::read::options::{Input, Origin, Reader, size};
use crate::read::probe::Attempt;
use crate::send::Timeouts;
use crate::send::http::HttpOptions;
use crate::system::message::Level;
use crate::system::priority;

#[cfg(test)]
mod tests;

/// Read the job_stats of this Lustre server with lctl and send them to PostgreSQL.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Options {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub messages: Messages,
}

/// The options for messages.
#[derive(Debug, Args)]
pub struct Messages {
    /// Also report normal operation, such as each target sent
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Report errors only
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

impl Messages {
    /// Returns the least urgent level that is shown.
    pub fn level(&self) -> Level {
        match (self.verbose, self.quiet) {
            (true, _) => Level::Info,
            (_, true) => Level::Error,
            _ => Level::Notice,
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Read and send once; for cron or a systemd timer
    #[command(after_help = error::HELP)]
    Once(Once),
    /// Read and send at regular intervals
    #[command(after_help = error::HELP)]
    Run(Run),
    /// Print the last scrape and delivery, the backlog and the losses, for monitoring
    #[command(after_help = status::HELP)]
    Status(status::Options),
    /// Regularly write and read a small file in some directories of a client, and send the timings
    #[command(after_help = error::HELP)]
    Probe(probe::Options),
    /// Probe one directory; `probe` calls this
    #[command(hide = true)]
    ProbeDirectory(Attempt),
    /// Record the output of lctl in a directory, to send it later with `replay`
    #[command(after_help = error::HELP)]
    Record(record::Options),
    /// Send a recording made by `record`, with its original times
    #[command(after_help = error::HELP)]
    Replay(replay::Options),
    /// Requeue scrapes that the database refused
    #[command(after_help = error::HELP)]
    Requeue(requeue::Options),
    /// Test each step from lctl to the database without storing data, and suggest fixes
    #[command(after_help = doctor::HELP)]
    Doctor(doctor::Options),
    /// Write manual pages and shell completions to a directory
    #[command(hide = true)]
    Generate {
        /// Directory to write to; it must exist
        directory: PathBuf,
    },
}

/// The options of `once`.
#[derive(Debug, Args)]
pub struct Once {
    /// Wait first, for a fraction of this time derived from the server's name; for cron, so that servers do not all read at once
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub spread: Option<Duration>,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub input: Input,
}

/// The options of `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Time between scrapes; they start at multiples of it plus an offset derived from the server's name
    #[arg(long, value_parser = duration::parse, default_value = "120s")]
    pub interval: Duration,
    #[command(flatten)]
    pub common: Common,
}

/// The options that both commands have.
#[derive(Debug, Args)]
pub struct Common {
    #[command(flatten)]
    pub reader: Reader,
    /// Maximum share of the time to spend on scrapes; slower scrapes lengthen the interval
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100), default_value = "10", overrides_with = "busy_limit")]
    pub busy_limit: u32,
    /// Minimum niceness to run with, as in nice(1); the I/O priority follows it
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i32).range(0..=19), default_value_t = priority::USUAL)]
    pub nice: i32,
    #[command(flatten)]
    pub origin: Origin,
    #[command(flatten)]
    pub delivery: Delivery,
}

/// The options for the way to the database.
#[derive(Debug, Args)]
pub struct Delivery {
    /// Time limit for connecting to the database, per host, or to PostgREST
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "10s")]
    pub connect_timeout: Duration,
    /// Time limit for storing one target, or for an HTTP request including connecting
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "60s")]
    pub statement_timeout: Duration,
    #[command(flatten)]
    pub spool: SpoolOptions,
    #[command(flatten)]
    pub http: HttpOptions,
    #[command(flatten)]
    pub database: jobstats_client::Options,
}

impl Delivery {
    /// Returns the time limits of the store.
    pub fn timeouts(&self) -> Timeouts {
        Timeouts {
            connect: self.connect_timeout,
            statement: self.statement_timeout,
        }
    }
}

/// The options of the spool.
#[derive(Debug, Args)]
#[command(next_help_heading = "Spool")]
pub struct SpoolOptions {
    /// Directory in which scrapes are queued until the database has stored them [default: none; unsent scrapes are dropped]
    #[arg(long, value_name = "DIRECTORY")]
    pub spool: Option<PathBuf>,
    /// Maximum size of the spool; the oldest scrapes are dropped to make room
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "4GiB")]
    pub spool_size: u64,
    /// Maximum age of a queued scrape
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "720h")]
    pub spool_age: Duration,
}
