//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use jiff::{SignedDuration, Timestamp};

use crate::{connection, exit};

#[cfg(test)]
mod tests;

/// Reads job_stats of this Lustre server with lctl and sends them to PostgreSQL.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Reads and sends once; for cron or a systemd timer
    #[command(after_help = exit::HELP)]
    Once(Once),
    /// Reads and sends again and again
    #[command(after_help = exit::HELP)]
    Run(Run),
}

/// `once`
#[derive(Debug, Args)]
pub struct Once {
    /// What both commands know.
    #[command(flatten)]
    pub common: Common,
    /// Where the text comes from.
    #[command(flatten)]
    pub input: Input,
}

/// `run`
#[derive(Debug, Args)]
pub struct Run {
    /// How often; the moments are multiples of it plus an offset that comes from the server's name
    #[arg(long, value_parser = duration, default_value = "120s")]
    pub interval: Duration,
    /// What both commands know.
    #[command(flatten)]
    pub common: Common,
}

/// Text that was read elsewhere.
#[derive(Debug, Args)]
#[command(next_help_heading = "Instead of lctl")]
pub struct Input {
    /// Sends what lctl printed into this file, or into this pipe (-)
    #[arg(
        long,
        value_name = "FILE|-",
        requires = "server",
        conflicts_with = "lctl"
    )]
    pub input: Option<PathBuf>,
    /// When that was, like 2026-01-31T12:00:00+01:00 or in seconds since 1970 [default: now]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "input", allow_negative_numbers = true)]
    pub time: Option<Timestamp>,
}

/// What both commands know.
#[derive(Debug, Args)]
pub struct Common {
    /// The name of this server [default: the name of this machine]
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// The name of its cluster, where several share a database
    #[arg(long, value_name = "NAME", default_value = "")]
    pub cluster: String,
    /// The program that reads
    #[arg(long, value_name = "PATH", default_value = "lctl")]
    pub lctl: PathBuf,
    /// How long a reading may take
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "60s")]
    pub lctl_timeout: Duration,
    /// How long the database may take to let us in, for each of its hosts
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10s")]
    pub connect_timeout: Duration,
    /// How long the database may take for a target
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "60s")]
    pub statement_timeout: Duration,
    /// The file that one instance locks [default: one for each server, in /run]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
    /// Says what was sent
    #[arg(long, short)]
    pub verbose: bool,
    /// The database.
    #[command(flatten)]
    pub database: connection::Options,
}

/// `120s`, `2m`, `1h 30m`
fn duration(text: &str) -> Result<Duration, String> {
    let duration: SignedDuration = text
        .parse()
        .map_err(|error: jiff::Error| error.to_string())?;
    Duration::try_from(duration)
        .ok()
        .filter(|duration| *duration >= Duration::from_millis(1))
        .ok_or_else(|| "is shorter than a millisecond".to_owned())
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
