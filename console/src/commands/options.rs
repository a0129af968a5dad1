//! The command line.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use jobstats_client::program::duration;
use jobstats_core::base::target::TargetKind;

use crate::ask::config::Common;
use crate::commands::{events, inquiry};
use crate::export;
use crate::live::user_names::UserNames;
use crate::live::view::{By, Filter, Sort, View};
use crate::serve;

/// Show who uses a Lustre file system.
#[derive(Debug, Parser)]
#[command(name = "jobstats-console", version)]
pub struct Options {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show who uses a file system right now, or play a recording
    #[command(after_help = HELP)]
    Top(Box<Top>),
    /// Show the I/O of one job: totals, rates over time, targets, findings, and its servers while it ran
    #[command(after_help = inquiry::HELP)]
    Job(Box<inquiry::Job>),
    /// List recent jobs, each with its worst finding
    #[command(after_help = inquiry::HELP)]
    Jobs(Box<inquiry::Jobs>),
    /// Show your own or another user's I/O in a window
    #[command(after_help = inquiry::HELP)]
    User(Box<inquiry::User>),
    /// Show the I/O on one target in a window, and its users
    #[command(after_help = inquiry::HELP)]
    Target(Box<inquiry::Target>),
    /// Compare jobs, aligned by their starts
    #[command(after_help = inquiry::HELP)]
    Compare(Box<inquiry::Compare>),
    /// Report on a file system: its load, the users behind it, and changes
    #[command(after_help = inquiry::HELP)]
    Report(Box<inquiry::Report>),
    /// List events on file systems, or explain one: its cause, and what to do next
    #[command(after_help = inquiry::HELP)]
    Events(Box<events::EventsOptions>),
    /// Check for current alerts: one line and an exit code, as a Nagios plugin
    #[command(after_help = events::HELP)]
    Check(Box<events::CheckOptions>),
    /// Export a store to Parquet files, one per day
    #[command(after_help = export::HELP)]
    Export(Box<export::Export>),
    /// Let users of this machine query their own jobs, through a socket
    #[command(after_help = serve::HELP)]
    Serve(Box<serve::Serve>),
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

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
Unless --ssh, --input or a recording is given, top reads the store named by the database options, or by
JOBSTATS_DATABASE_URL, PGHOST, PGDATABASE or PGSERVICE.

Without a store, --ssh mds1,oss1 reads the servers, or --input gives a command per server that prints its job_stats. Rates
appear with the second scrape. In the terminal, ? shows the keys.

Exit codes:
   0  success
  64  wrong arguments
  65  the database rejected the query
  66  no data: no server, no recording, or an empty store
  69  the database cannot be reached
  71  local error: no terminal, no space for the recording
  74  no server could be read
  75  the database is busy: try again later
  77  the database denies access
  78  not set up: the configuration, or the store";

/// The options of `top`.
#[derive(Debug, Args)]
pub struct Top {
    /// Directory of a recording to play
    #[arg(value_name = "DIRECTORY", conflicts_with_all = ["input", "ssh", "profile", "record", "at", "database_url"])]
    pub recording: Option<PathBuf>,
    /// Lustre servers to read by ssh, such as mds1,root@oss1
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = host, conflicts_with_all = ["at", "database_url"])]
    pub ssh: Vec<String>,
    /// Shell command that prints job_stats of a server; repeat it for each server
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["at", "database_url"])]
    pub input: Vec<String>,
    /// Name of the server of each --input, in the same order [default: the host of ssh]
    #[arg(long, value_name = "NAME", requires = "input")]
    pub server: Vec<String>,
    /// Time in the store to begin at, such as 2h (ago), 'yesterday 14:00' or '2026-11-20 13:40' [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Time between scrapes [default: 10s]
    #[arg(long, short = 'i', value_name = "DURATION", value_parser = duration::parse)]
    pub interval: Option<Duration>,
    /// Time limit of a command [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub timeout: Option<Duration>,
    /// Format of identifiers: jobid_name of the clients, such as %u:%j:%H; may be repeated [default: guessed]
    #[arg(long, value_name = "FORMAT")]
    pub format: Vec<String>,
    /// Shell command that prints user names, such as 'getent passwd'; run once
    #[arg(long, value_name = "COMMAND")]
    pub users: Option<String>,
    /// Directory to record scrapes in, as jobstats-shipper record does
    #[arg(long, value_name = "DIRECTORY")]
    pub record: Option<PathBuf>,
    /// With a store, cluster or a pattern with *; with --record, its name in the recording
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// File system of the store, or a pattern with * [default: all]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["input", "ssh", "recording"])]
    pub filesystem: Option<String>,
    /// Playback speed of a recording, or of the past of a store
    #[arg(long, value_name = "FACTOR", value_parser = positive, default_value = "60")]
    pub speed: f64,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub show: Show,
}

/// The options for rows and their form.
#[derive(Debug, Args)]
#[command(next_help_heading = "Display")]
pub struct Show {
    /// Print one table instead of a screen: a store now or --at, servers after two scrapes, or a recording's end
    #[arg(long)]
    pub once: bool,
    /// Print each scrape as a line of JSON instead of a screen
    #[arg(long)]
    pub json: bool,
    /// Dimension to group rows by
    #[arg(long, value_enum, default_value_t = By::User)]
    pub by: By,
    /// Value to rank rows by
    #[arg(long, value_enum, default_value_t = Sort::Service)]
    pub sort: Sort,
    /// Words that row names must contain or, after a !, must not
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub filter: String,
    /// Only targets of one kind: mdt or ost
    #[arg(long, value_parser = kind)]
    pub targets: Option<TargetKind>,
    /// Hide rows with fewer requests per second
    #[arg(long, value_name = "RATE", value_parser = not_negative, default_value = "0")]
    pub min_rate: f64,
    /// Number of rows [default: as many as fit, 20 with --once, all with --json]
    #[arg(long, short = 'n', value_name = "NUMBER")]
    pub rows: Option<usize>,
    /// Width of the table of --once [default: the terminal's, or 100]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..=400))]
    pub width: Option<u16>,
}

impl Show {
    /// Returns the view to begin with.
    pub fn view(&self, is_store: bool, users: UserNames) -> View {
        View {
            by: self.by,
            sort: self.sort,
            filter: Filter::new(&self.filter),
            kind: self.targets,
            minimum: self.min_rate,
            users: Arc::new(users),
            is_store,
            ..View::default()
        }
    }
}

fn kind(text: &str) -> Result<TargetKind, String> {
    let kind = TargetKind::find(&text.to_uppercase());
    kind.ok_or_else(|| "must be mdt or ost".to_owned())
}

/// Returns the name of a server, if the shell and ssh take it as one.
fn host(text: &str) -> Result<String, String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-@:".contains(it);
    match text.starts_with(|it: char| it.is_ascii_alphanumeric()) && text.chars().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("is not a server name".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = Some(not_negative(text)?).filter(|number| *number > 0.0);
    number.ok_or_else(|| "must be positive".to_owned())
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().map_err(|error| error.to_string())?;
    let number = Some(number).filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "must be a non-negative number".to_owned())
}
