//! The options of the sources.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgGroup, Args};
use jiff::Timestamp;
use jobstats_client::program::duration;
use jobstats_client::spool::is_source;
use rustix::system::uname;

use crate::frame::ServerName;
use crate::read::parameters::Parameters;
use crate::system::lock;

#[cfg(test)]
mod tests;

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
    /// Time at which the input was read, such as 2026-01-31T12:00:00+01:00 or seconds since 1970 [default: now]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "input", allow_negative_numbers = true)]
    pub time: Option<Timestamp>,
}

/// The options for the names that texts are sent under, and for the lock.
#[derive(Debug, Args)]
pub struct Identity {
    /// Name of this server [default: the name of this machine]
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// Name of the server's cluster, if several clusters share a database
    #[arg(long, value_name = "NAME", default_value = "")]
    pub cluster: String,
    /// Lock file that prevents a second instance [default: one per server, in /run/jobstats-shipper, /var/lib/jobstats-shipper, /run or $TMPDIR]
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
}

impl Identity {
    /// Returns the names under which texts are sent.
    pub fn server_name(&self) -> ServerName {
        ServerName {
            cluster: self.cluster.clone(),
            server: self.server.clone().unwrap_or_else(this_machine),
        }
    }

    /// Returns the path of the lock.
    pub fn lock(&self) -> PathBuf {
        lock_of(self.lock.as_deref(), self.server.as_deref())
    }
}

/// The options of the reader of this server.
#[derive(Debug, Args)]
pub struct Reader {
    #[command(flatten)]
    pub identity: Identity,
    /// lctl program to run
    #[arg(long, value_name = "PATH", default_value = "lctl")]
    pub lctl: PathBuf,
    /// Time limit for a scrape
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "60s")]
    pub lctl_timeout: Duration,
    /// Maximum compressed size of a scrape; larger ones are dropped
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "256MiB")]
    pub max_reading: u64,
    #[command(flatten)]
    pub parameters: Parameters,
}

/// Returns the path of the lock of a server, or of this machine.
pub fn lock_of(lock: Option<&Path>, server: Option<&str>) -> PathBuf {
    lock.map_or_else(
        || lock::default_path(&server.map_or_else(this_machine, str::to_owned)),
        Path::to_owned,
    )
}

/// The options for texts other than the job_stats of this machine.
#[derive(Debug, Args)]
#[command(next_help_heading = "Other sources")]
#[group(skip)]
#[command(group = ArgGroup::new("way"))]
pub struct Origin {
    /// Source name of the text from --command, --follow or --input, such as passwd
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
    /// Growing file, or directory with a file for each day; appended lines are sent
    #[arg(long, value_name = "PATH", group = "way", requires_all = ["source", "spool"], conflicts_with = "lctl")]
    pub follow: Option<PathBuf>,
    /// Period, up to the start of the command, that its output covers completely
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
        .map_err(|_| "is not a whole number with an optional unit")?;
    count
        .checked_mul(unit)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "is out of range".to_owned())
}

/// Parses the name of a source.
pub fn source(text: &str) -> Result<String, String> {
    match is_source(text) {
        true => Ok(text.to_owned()),
        false => Err("has characters other than letters, digits, - and _".to_owned()),
    }
}

fn time(text: &str) -> Result<Timestamp, String> {
    let time = match text.parse() {
        Ok(seconds) if f64::is_finite(seconds) => {
            Timestamp::from_microsecond((seconds * 1e6).round() as i64)
        }
        _ => text.parse(),
    };
    time.map_err(|error| error.to_string())
}
