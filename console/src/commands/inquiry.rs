//! The query commands `job`, `jobs`, `user`, `target`, `compare` and `report`.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use jiff::Timestamp;
use jobstats_client::{program::duration, program::exit};
use serde_json::Value;

use super::output::write;
use crate::ask::config::Common;
use crate::ask::error::Error;
use crate::ask::store;
use crate::report;
use crate::serve;
use crate::subject::jobs;
use crate::terminal;
use crate::values::text;
use crate::values::when;

/// The width of text that is not printed on a terminal.
const WIDTH: usize = 80;

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
Give the database with -P (a profile of the configuration), --database-url, JOBSTATS_DATABASE_URL or, as for psql, PGHOST,
PGDATABASE and so on. A role that may read the store is enough (jobstats_grant_reader).

Exit codes:
   0  success
  64  wrong arguments
  65  the database rejected the query
  66  no such job, user, target or file system, or no data for it
  69  the database cannot be reached
  71  local error, such as no space for the file
  75  the database is busy: try again later
  77  the database denies access
  78  not set up: the settings, or the store";

/// The service or the store of a command.
#[derive(Debug, Args)]
pub struct Source {
    /// Socket of jobstats-console serve [default: /run/jobstats/console.sock, if it exists and no database is given]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["profile", "database_url"])]
    pub socket: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

impl Source {
    /// Returns the socket if a service is queried instead of a database.
    fn socket(&self) -> Result<Option<&Path>, Error> {
        if self.socket.is_some() {
            return Ok(self.socket.as_deref());
        }
        let database = self.common.database.complete()?;
        let usual = Path::new(serve::SOCKET);
        Ok((store::is_nowhere(&database) && usual.exists()).then_some(usual))
    }

    /// Asks a question.
    pub fn answer(&self, kind: serve::Kind, words: serve::Words) -> Result<String, Error> {
        match self.socket()? {
            Some(socket) => serve::ask(socket, &serve::Question { kind, words }),
            None => self.common.answer(kind, words),
        }
    }
}

impl Common {
    /// Returns the words of a question about a name in a window.
    pub fn words(&self, name: &str, period: &Period) -> serve::Words {
        serve::Words {
            name: name.to_owned(),
            from: period.from.clone(),
            to: period.to.clone(),
            zone: Some(self.zone.name()),
            ..serve::Words::default()
        }
    }

    /// Asks the store.
    fn answer(&self, kind: serve::Kind, words: serve::Words) -> Result<String, Error> {
        let question = serve::Question { kind, words };
        serve::answer(&question, &self.zone, || self.store())
    }
}

/// The window of a command.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Window")]
pub struct Period {
    /// Start: 2h (ago), yesterday, 'monday 14:00', 2026-11-20 or '2026-11-20 13:40' [default: 24h; for jobs, 30d]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// End [default: now]
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
}

/// The output format of a job, a user or a target: text by default.
#[derive(Debug, Default, Args)]
pub struct Form {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write an HTML page to this file instead; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub html: Option<PathBuf>,
}

/// The options of `job`.
#[derive(Debug, Args)]
pub struct Job {
    /// Job: its number, or as the scheduler prints it, such as 123_4 or 123.batch
    #[arg(value_name = "JOB")]
    pub job: String,
    /// Only I/O from this time on; if the number was reused, of the window's last job
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Only I/O up to this time
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Scheduler, if several clusters have a job with this number
    #[arg(long, value_name = "NAME")]
    pub scheduler: Option<String>,
    /// Wait until the job has ended and its I/O is summed up, at most two hours or this long, then print
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "2h", value_parser = duration::parse)]
    pub wait: Option<Duration>,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub source: Source,
}

/// The options of `jobs`.
#[derive(Debug, Args)]
pub struct Jobs {
    /// User, by name or number [default: you, or all if you may see all]
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Account, or a pattern with *
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Number of jobs
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = jobs::DEFAULT)]
    pub n: u16,
    #[command(flatten)]
    pub period: Period,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub source: Source,
}

/// The options of `user`.
#[derive(Debug, Args)]
pub struct User {
    /// Name or number [default: you]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub period: Period,
    #[command(flatten)]
    pub source: Source,
}

/// The options of `target`.
#[derive(Debug, Args)]
pub struct Target {
    /// Name, such as scratch-OST0006, or OST0006 if only one file system has it
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub period: Period,
    #[command(flatten)]
    pub common: Common,
}

/// The options of `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Jobs: their numbers, or as the scheduler prints them, such as 123_4
    #[arg(value_name = "JOB", num_args = 2.., required = true)]
    pub jobs: Vec<String>,
    /// Scheduler of all jobs, if several clusters have jobs with these numbers
    #[arg(long, value_name = "NAME")]
    pub scheduler: Option<String>,
    /// Write an HTML page to this file, instead of text to the terminal; - is standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub source: Source,
}

/// The options of `report`.
#[derive(Debug, Args)]
pub struct Report {
    /// File system [default: the only one; from a service, all]
    #[arg(value_name = "FILESYSTEM")]
    pub filesystem: Option<String>,
    /// Cluster, if several have a file system of this name
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Write an HTML page to this file, instead of text to the terminal; - is standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The last full week, from Monday to Monday
    #[arg(long, conflicts_with_all = ["from", "to"], help_heading = "Window")]
    pub weekly: bool,
    #[command(flatten)]
    pub period: Period,
    #[command(flatten)]
    pub source: Source,
}

/// Runs `report`.
pub fn report(options: &Report) -> Result<(), Error> {
    let (source, common) = (&options.source, &options.source.common);
    let name = options.filesystem.as_deref().unwrap_or_default();
    let mut words = serve::Words {
        cluster: options.cluster.clone(),
        ..common.words(name, &options.period)
    };
    if options.weekly {
        let now = common.zone.at(Timestamp::now());
        let week = when::last_week(&now).map_err(|error| Error::Usage(error.to_string()))?;
        words.from = Some(week.0.to_string());
        words.to = Some(week.1.to_string());
    }
    let form = Form::of_page(&options.output);
    form.print(words, |words| source.answer(serve::Kind::Report, words))
}

/// Runs `compare`.
pub fn compare(options: &Compare) -> Result<(), Error> {
    let source = &options.source;
    let jobs = options.jobs.join(",");
    let words = serve::Words {
        scheduler: options.scheduler.clone(),
        ..source.common.words(&jobs, &Period::default())
    };
    let form = Form::of_page(&options.output);
    form.print(words, |words| source.answer(serve::Kind::Compare, words))
}

/// Runs `job`.
pub fn job(options: &Job) -> Result<(), Error> {
    let source = &options.source;
    let words = serve::Words {
        scheduler: options.scheduler.clone(),
        from: options.from.clone(),
        to: options.to.clone(),
        ..source.common.words(&options.job, &Period::default())
    };
    if let Some(limit) = options.wait {
        wait(&options.job, limit, || {
            let answer = source.answer(serve::Kind::Done, words.clone())?;
            let answer = serde_json::from_str::<Value>(&answer);
            Ok(answer.is_ok_and(|answer| answer["done"] == true))
        })?;
    }
    let form = &options.form;
    form.print(words, |words| source.answer(serve::Kind::Job, words))
}

/// The range of seconds between two polls of a job, from which each process takes a number, so that the polls of many are spread.
const POLL: Range<u64> = 45..76;

/// Waits until a job is done, up to a limit. After the limit it prints a warning and the current data is shown. No connection is held
/// meanwhile, since many may wait; an unreachable or busy server counts as not done.
fn wait(
    job: &str,
    limit: Duration,
    is_done: impl Fn() -> Result<bool, Error>,
) -> Result<(), Error> {
    let began = Instant::now();
    let pause = Duration::from_secs(fastrand::u64(POLL));
    loop {
        match is_done() {
            Ok(true) => break,
            Ok(false) => {}
            Err(error) if [exit::UNREACHABLE, exit::LATER].contains(&error.code()) => {}
            Err(error) => return Err(error),
        }
        let left = limit.saturating_sub(began.elapsed());
        if left.is_zero() {
            let job = text::shown(job);
            eprintln!("jobstats-console: job {job} has not finished yet");
            break;
        }
        thread::sleep(left.min(pause));
    }
    Ok(())
}

/// Runs `jobs`.
pub fn jobs(options: &Jobs) -> Result<(), Error> {
    let (source, form) = (&options.source, &options.form);
    let user = options.user.as_deref().unwrap_or_default();
    let words = serve::Words {
        account: options.account.clone(),
        n: Some(options.n),
        ..source.common.words(user, &options.period)
    };
    form.print(words, |words| source.answer(serve::Kind::Jobs, words))
}

/// Runs `user`.
pub fn user(options: &User) -> Result<(), Error> {
    let (source, form) = (&options.source, &options.form);
    let name = options.name.as_deref().unwrap_or_default();
    let words = source.common.words(name, &options.period);
    form.print(words, |words| source.answer(serve::Kind::User, words))
}

/// Runs `target`.
pub fn target(options: &Target) -> Result<(), Error> {
    let (common, form) = (&options.common, &options.form);
    let words = common.words(&options.name, &options.period);
    form.print(words, |words| common.answer(serve::Kind::Target, words))
}

impl Form {
    /// Returns the form of a page that is written to a file, or else printed as text.
    fn of_page(output: &Option<PathBuf>) -> Self {
        Self {
            html: output.clone(),
            ..Self::default()
        }
    }

    /// Requests an answer in this form, and prints it, or writes a page to its file.
    pub fn print(
        &self,
        words: serve::Words,
        answer: impl FnOnce(serve::Words) -> Result<String, Error>,
    ) -> Result<(), Error> {
        let form = match (&self.html, self.json) {
            (Some(_), _) => report::Form::Html,
            (None, true) => report::Form::Json,
            (None, false) => report::Form::Text,
        };
        let answer = answer(serve::Words {
            form,
            width: u16::try_from(terminal::width().unwrap_or(WIDTH)).ok(),
            coloured: terminal::is_coloured(),
            ..words
        })?;
        write(self.html.as_deref().unwrap_or(Path::new("-")), &answer)
    }
}
