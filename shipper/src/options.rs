//! The command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand};
use jiff::Timestamp;
use jobstats_client::duration;
use rustix::system::uname;

use crate::feed::Sender;
use crate::input::Saved;
use crate::lctl::Lctl;
use crate::message::Level;
use crate::{doctor, exit, lock, priority, record, replay, requeue, status};

pub mod http;
#[cfg(test)]
mod tests;

/// Read the job_stats of this Lustre server with lctl and send them to PostgreSQL.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Options {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
    /// The options for messages.
    #[command(flatten)]
    pub messages: Messages,
}

/// The options for messages.
#[derive(Debug, Args)]
pub struct Messages {
    /// Also report normal work, such as each target that was sent
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
    #[command(after_help = exit::HELP)]
    Once(Once),
    /// Read and send at regular intervals
    #[command(after_help = exit::HELP)]
    Run(Run),
    /// Print what was read and sent last, what waits and what was lost; for monitoring
    #[command(after_help = status::HELP)]
    Status(status::Options),
    /// Keep what lctl prints in a directory, to send it later with `replay`
    #[command(after_help = exit::HELP)]
    Record(record::Options),
    /// Send what `record` kept, with its times
    #[command(after_help = exit::HELP)]
    Replay(replay::Options),
    /// Take back readings that the database refused, to send them again
    #[command(after_help = exit::HELP)]
    Requeue(requeue::Options),
    /// Try each step from lctl to the database without storing anything, and say what to do
    #[command(after_help = doctor::HELP)]
    Doctor(doctor::Options),
    /// Write manual pages and shell completions to a directory
    #[command(hide = true)]
    Generate(Generate),
}

/// The options of `generate`.
#[derive(Debug, Args)]
pub struct Generate {
    /// Directory to write to; it must exist
    pub directory: PathBuf,
}

/// The options of `once`.
#[derive(Debug, Args)]
pub struct Once {
    /// Wait first, for a part of this time that depends on the name of the server; for cron, so that servers do not all
    /// read at once
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub spread: Option<Duration>,
    /// The options that both commands have.
    #[command(flatten)]
    pub common: Common,
    /// The options for text from elsewhere.
    #[command(flatten)]
    pub input: Input,
}

/// The options of `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Time between readings; they start at multiples of it plus an offset derived from the server's name
    #[arg(long, value_parser = duration::parse, default_value = "120s")]
    pub interval: Duration,
    /// The options that both commands have.
    #[command(flatten)]
    pub common: Common,
}

/// The options for text that was read elsewhere.
#[derive(Debug, Args)]
#[command(next_help_heading = "Instead of lctl")]
pub struct Input {
    /// Send the text in this file, or from stdin (-)
    #[arg(
        long,
        value_name = "FILE|-",
        group = "way",
        requires = "server",
        conflicts_with = "lctl"
    )]
    pub input: Option<PathBuf>,
    /// Time at which the input was read, like 2026-01-31T12:00:00+01:00 or in seconds since 1970 [default: now]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "input", allow_negative_numbers = true)]
    pub time: Option<Timestamp>,
}

impl Input {
    /// Returns the text from elsewhere, if there is one.
    pub fn saved(&self, source: &str, timeout: Duration, most: u64) -> Option<Saved> {
        self.input.clone().map(|path| Saved {
            path,
            source: source.to_owned(),
            time: self.time,
            timeout,
            most,
        })
    }
}

/// The options of whatever reads the targets of this server.
#[derive(Debug, Args)]
pub struct Reader {
    /// Name of this server [default: the name of this machine]
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// Name of the server's cluster, if several clusters share a database
    #[arg(long, value_name = "NAME", default_value = "")]
    pub cluster: String,
    /// lctl program to run
    #[arg(long, value_name = "PATH", default_value = "lctl")]
    pub lctl: PathBuf,
    /// Time limit for a reading
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "60s")]
    pub lctl_timeout: Duration,
    /// Lock file that keeps out a second instance [default: one per server, in /run/jobstats-shipper, /run or $TMPDIR]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
    /// Largest reading, when compressed; a larger one is dropped
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "256MiB")]
    pub max_reading: u64,
}

impl Reader {
    /// Returns the names under which texts are sent.
    pub fn sender(&self) -> Sender {
        Sender {
            cluster: self.cluster.clone(),
            server: self.server.clone().unwrap_or_else(this_machine),
        }
    }

    /// Returns lctl with its limits.
    pub fn lctl(&self) -> Lctl {
        Lctl {
            path: self.lctl.clone(),
            timeout: self.lctl_timeout,
            most: self.max_reading,
        }
    }

    /// Returns the path of the lock.
    pub fn lock(&self) -> PathBuf {
        lock_of(self.lock.as_deref(), self.server.as_deref())
    }
}

/// Returns the path of the lock of a server, or of this machine.
pub fn lock_of(lock: Option<&Path>, server: Option<&str>) -> PathBuf {
    lock.map_or_else(
        || lock::default_path(&server.map_or_else(this_machine, str::to_owned)),
        Path::to_owned,
    )
}

/// The options that both commands have.
#[derive(Debug, Args)]
pub struct Common {
    /// The options of the reader.
    #[command(flatten)]
    pub reader: Reader,
    /// Time limit for connecting to the database, per host, or to PostgREST
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "10s")]
    pub connect_timeout: Duration,
    /// Time limit for storing one target, or for a request over HTTP, with connecting
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "60s")]
    pub statement_timeout: Duration,
    /// Largest share of the time that readings may take; after a longer reading, the next ones are further apart
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100), default_value = "10", overrides_with = "busy_limit")]
    pub busy_limit: u32,
    /// Lowest priority to run with, as in nice(1); the priority of disk access follows it
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i32).range(0..=19), default_value_t = priority::USUAL)]
    pub nice: i32,
    /// The options of the source.
    #[command(flatten)]
    pub origin: Origin,
    /// The options of the spool.
    #[command(flatten)]
    pub spool: Spool,
    /// The options of the way over HTTP.
    #[command(flatten)]
    pub http: http::Http,
    /// The options of the database.
    #[command(flatten)]
    pub database: jobstats_client::Options,
}

/// The options for texts other than the job_stats of this machine.
#[derive(Debug, Args)]
#[command(next_help_heading = "Other sources")]
#[group(skip)]
#[command(group = ArgGroup::new("way"))]
pub struct Origin {
    /// Source of the text that --command prints, or that --follow or --input names, such as passwd
    #[arg(long, value_name = "NAME", value_parser = source, requires = "way")]
    pub source: Option<String>,
    /// Shell command that prints the text
    #[arg(
        long,
        value_name = "COMMAND",
        group = "way",
        requires = "source",
        conflicts_with = "lctl"
    )]
    pub command: Option<String>,
    /// File that grows, or directory with a file for each day; what was appended is sent
    #[arg(long, value_name = "PATH", group = "way", requires_all = ["source", "spool"], conflicts_with = "lctl")]
    pub follow: Option<PathBuf>,
    /// Time before the start of the command from which on the text has everything
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = duration::parse,
        requires = "command",
        conflicts_with_all = ["follow", "sources"]
    )]
    pub covers: Option<Duration>,
    /// File that lists several sources (TOML), each with its interval
    #[arg(long, value_name = "FILE", requires = "spool", conflicts_with_all = ["source", "way"])]
    pub sources: Option<PathBuf>,
}

/// The options of the spool.
#[derive(Debug, Args)]
#[command(next_help_heading = "Spool")]
pub struct Spool {
    /// Directory in which readings wait until the database has stored them [default: none, and what cannot be sent is
    /// dropped]
    #[arg(long, value_name = "DIRECTORY")]
    pub spool: Option<PathBuf>,
    /// Largest size of the spool; the oldest readings are dropped to make room
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "4GiB")]
    pub spool_size: u64,
    /// Longest time for which a reading is kept
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "720h")]
    pub spool_age: Duration,
}

/// Returns the name of this machine.
fn this_machine() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

/// Parses a size such as `500MB` or `4GiB`, or a number of bytes.
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err("has a unit other than B, kB, MB, GB, KiB, MiB, GiB".to_owned()),
    };
    let count: u64 = digits
        .trim()
        .parse()
        .map_err(|_| "is not a whole number of a unit")?;
    count
        .checked_mul(unit)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "is out of range".to_owned())
}

/// Parses the name of a source.
pub fn source(text: &str) -> Result<String, String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_allowed) {
        return Err("has other characters than letters, digits, - and _".to_owned());
    }
    Ok(text.to_owned())
}

fn time(text: &str) -> Result<Timestamp, String> {
    if let Some(seconds) = text
        .parse::<f64>()
        .ok()
        .filter(|seconds| seconds.is_finite())
    {
        return Timestamp::from_microsecond((seconds * 1e6).round() as i64)
            .map_err(|error| error.to_string());
    }
    text.parse().map_err(|error: jiff::Error| error.to_string())
}
