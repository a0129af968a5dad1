//! The query commands `job`, `user`, `target`, `compare` and `report`.

use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use jiff::Timestamp;
use jobstats_client::database::settings::SettingsError;
use jobstats_client::{program::duration, program::exit};

use super::output::write;
use crate::ask::config::Common;
use crate::ask::error::Error;
use crate::ask::store::{self, Store};
use crate::report::form::{self, Screen, written};
use crate::report::{self, Scope};
use crate::serve;
use crate::subject::chosen::{chosen, known};
use crate::subject::{Lookup, Subject, job, user};
use crate::terminal;
use crate::values::text;
use crate::values::when::{self, Clock, Span};

/// The width of text that is not printed on a terminal.
const WIDTH: usize = 80;

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
The database is named by -P, a profile of the configuration, or as in psql: by --database-url, JOBSTATS_DATABASE_URL, or PGHOST,
PGDATABASE and so on. A role that may read the store is enough (jobstats_grant_reader).

Exit codes:
   0  everything was shown
  64  wrong arguments
  65  the database refused the question
  66  there is no such job, user, target or file system, or nothing is known of it
  69  the database cannot be reached
  71  an error of this machine, such as no room for the file
  75  the database is busy: a later call may succeed
  77  the database denies access
  78  something must be set up first: the settings, or the store";

/// The options of commands that a service answers, too.
#[derive(Debug, Args)]
pub struct Service {
    /// Socket of jobstats-console serve to ask [default: /run/jobstats/console.sock, if no database is named and it is there]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["profile", "database_url"])]
    pub socket: Option<PathBuf>,
}

impl Service {
    /// Returns the socket if a service is queried instead of a database.
    fn socket(&self, common: &Common) -> Result<Option<&Path>, Error> {
        if self.socket.is_some() {
            return Ok(self.socket.as_deref());
        }
        let settings = common.database.complete()?.settings("jobstats-console");
        let usual = Path::new(serve::SOCKET);
        Ok(matches!(settings, Err(SettingsError::Nowhere) if usual.exists()).then_some(usual))
    }
}

/// Queries a service, and prints the answer.
fn print_asked(
    socket: &Path,
    kind: serve::Kind,
    words: serve::Words,
    form: &Form,
) -> Result<(), Error> {
    let screen = screen();
    let words = serve::Words {
        form: form.wanted(),
        width: u16::try_from(screen.cells).ok(),
        coloured: screen.is_coloured,
        ..words
    };
    form.print(&serve::ask(socket, kind, words)?)
}

impl Common {
    /// Returns the question about a name in a window, for a service.
    fn words(&self, name: &str, from: Option<&str>, to: Option<&str>) -> serve::Words {
        serve::Words {
            name: name.to_owned(),
            from: from.map(str::to_owned),
            to: to.map(str::to_owned),
            zone: Some(self.zone.name()),
            ..serve::Words::default()
        }
    }
}

/// The window of a command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Window")]
pub struct Period {
    /// Start: 2h (ago), yesterday, 'monday 14:00', 2026-11-20 or '2026-11-20 13:40'
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub from: String,
    /// End
    #[arg(long, value_name = "TIME", default_value = "now")]
    pub to: String,
}

impl Period {
    /// Returns the window.
    pub fn window(&self, zone: &Clock) -> Result<Span, Error> {
        when::span(&self.from, &self.to, zone).map_err(Error::Usage)
    }
}

fn last_week(zone: &Clock) -> Result<Span, Error> {
    let week = when::last_week(&zone.at(Timestamp::now()));
    week.map_err(|error| Error::Usage(error.to_string()))
}

/// The output format of a job, a user or a target: text by default.
#[derive(Debug, Args)]
pub struct Form {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write a page to this file instead; - is the standard output
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub html: Option<PathBuf>,
}

/// The options of `job`.
#[derive(Debug, Args)]
pub struct Job {
    /// Job: its number, or what users type, such as 123_4
    #[arg(value_name = "JOB")]
    pub job: String,
    /// Only what it did from this time on; if several jobs have the number, the last one that did anything then
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Only what it did up to this time
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Scheduler, if those of several clusters count alike and have a job of this number
    #[arg(long, value_name = "NAME")]
    pub scheduler: Option<String>,
    /// Wait until the job is over and its work is summed up, up to an hour or this long, and then print
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "1h", value_parser = duration::parse)]
    pub wait: Option<Duration>,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub service: Service,
    #[command(flatten)]
    pub common: Common,
}

/// The options of `user` and `target`.
#[derive(Debug, Args)]
pub struct SubjectOptions {
    /// Name; of a user also its number
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub period: Period,
    #[command(flatten)]
    pub common: Common,
}

/// The options of `user`.
#[derive(Debug, Args)]
pub struct User {
    #[command(flatten)]
    pub named: SubjectOptions,
    #[command(flatten)]
    pub service: Service,
}

/// The options of `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Jobs: their numbers, or what users type, such as 123_4
    #[arg(value_name = "JOB", num_args = 2.., required = true)]
    pub jobs: Vec<String>,
    /// Scheduler of all of them, if those of several clusters count alike and have jobs of these numbers
    #[arg(long, value_name = "NAME")]
    pub scheduler: Option<String>,
    /// File to write the page to; - is the standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub common: Common,
}

/// The options of `report`.
#[derive(Debug, Args)]
pub struct Report {
    /// File system [default: the only one; of a service, all]
    #[arg(value_name = "FILESYSTEM")]
    pub filesystem: Option<String>,
    /// Cluster, if several have a file system of this name
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// File to write the page to; - is the standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: PathBuf,
    /// The last week that is over, from Monday to Monday
    #[arg(long, conflicts_with_all = ["from", "to"], help_heading = "Window")]
    pub weekly: bool,
    #[command(flatten)]
    pub period: Period,
    #[command(flatten)]
    pub service: Service,
    #[command(flatten)]
    pub common: Common,
}

/// Runs `report`.
pub fn report(options: &Report) -> Result<(), Error> {
    let window = match options.weekly {
        true => last_week(&options.common.zone)?,
        false => options.period.window(&options.common.zone)?,
    };
    if let Some(socket) = options.service.socket(&options.common)? {
        let name = options.filesystem.as_deref().unwrap_or_default();
        let (from, to) = (window.0.to_string(), window.1.to_string());
        let words = serve::Words {
            cluster: options.cluster.clone(),
            ..options.common.words(name, Some(&from), Some(&to))
        };
        let page = serve::ask(socket, serve::Kind::Report, words)?;
        return write(&options.output, &page);
    }
    let mut store = options.common.store()?;
    let (filesystem, cluster) = (options.filesystem.as_deref(), options.cluster.as_deref());
    let clock = options.common.clock();
    let scope = Scope::find(&mut store, filesystem, cluster, window, clock)?;
    let page = report::filesystem(&mut store, scope)?;
    write(&options.output, &page.document()?)
}

/// Runs `compare`.
pub fn compare(options: &Compare) -> Result<(), Error> {
    let mut store = options.common.store()?;
    let (scheduler, clock) = (options.scheduler.as_deref(), options.common.clock());
    let page = report::compare::page(&mut store, &options.jobs, scheduler, &clock)?;
    write(&options.output, &page.document()?)
}

/// Runs `job`.
pub fn job(options: &Job) -> Result<(), Error> {
    let (from, to) = (options.from.as_deref(), options.to.as_deref());
    let words = serve::Words {
        scheduler: options.scheduler.clone(),
        ..options.common.words(&options.job, from, to)
    };
    let window = when::window(from, to, &options.common.zone).map_err(Error::Usage)?;
    let scheduler = options.scheduler.as_deref();
    let socket = options.service.socket(&options.common)?;
    if let Some(limit) = options.wait {
        wait(&options.job, limit, || match socket {
            Some(socket) => serve::is_done(socket, words.clone()),
            None => {
                let mut store = options.common.store()?;
                Ok(job::is_done(&mut store, &options.job, window, scheduler)?)
            }
        })?;
    }
    if let Some(socket) = socket {
        return print_asked(socket, serve::Kind::Job, words, &options.form);
    }
    let clock = options.common.clock();
    let mut store = options.common.store()?;
    let subject = chosen(&mut store, &options.job, scheduler, window, &clock)?;
    show(&mut store, &subject, &options.form, &clock)
}

/// The minimum number of seconds between two polls of a job, and the number of different additions to it, which spread the
/// polls of many processes.
const POLL: u32 = 45;
const SPREAD: u32 = 31;

/// Waits until a job is done, up to a limit. After the limit it prints a warning and the current data is shown. No connection is held
/// meanwhile, since many may wait; an unreachable or busy server counts as not done.
fn wait(
    job: &str,
    limit: Duration,
    is_done: impl Fn() -> Result<bool, Error>,
) -> Result<(), Error> {
    let began = Instant::now();
    let pause = Duration::from_secs((POLL + process::id() % SPREAD).into());
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
            eprintln!("jobstats-console: job {job} is not done yet");
            break;
        }
        thread::sleep(left.min(pause));
    }
    Ok(())
}

/// Runs `user`.
pub fn user(options: &User) -> Result<(), Error> {
    let named = &options.named;
    if let Some(socket) = options.service.socket(&named.common)? {
        let (from, to) = (&*named.period.from, &*named.period.to);
        let words = named.common.words(&named.name, Some(from), Some(to));
        return print_asked(socket, serve::Kind::User, words, &named.form);
    }
    self::named("user", named, user::ask)
}

/// Runs `user` or `target`: shows the answer to a question about a name and a window.
pub fn named(
    kind: &'static str,
    options: &SubjectOptions,
    ask: impl FnOnce(&mut Store, &str, Span) -> Result<Lookup, store::Error>,
) -> Result<(), Error> {
    let window = options.period.window(&options.common.zone)?;
    let mut store = options.common.store()?;
    let asked = ask(&mut store, &options.name, window)?;
    let subject = known(kind, &options.name, asked)?;
    show(&mut store, &subject, &options.form, &options.common.clock())
}

fn show(store: &mut Store, subject: &Subject, form: &Form, clock: &Clock) -> Result<(), Error> {
    form.print(&written(store, subject, form.wanted(), screen(), clock)?)
}

/// Returns the room for text.
fn screen() -> Screen {
    Screen {
        cells: terminal::width().unwrap_or(WIDTH),
        is_coloured: terminal::is_coloured(),
    }
}

impl Form {
    /// Returns the requested format.
    const fn wanted(&self) -> form::Form {
        match (&self.html, self.json) {
            (Some(_), _) => form::Form::Html,
            (None, true) => form::Form::Json,
            (None, false) => form::Form::Text,
        }
    }

    /// Prints an answer, or writes a page to its file.
    fn print(&self, answer: &str) -> Result<(), Error> {
        let path = self.html.as_deref().unwrap_or(Path::new("-"));
        write(path, answer)
    }
}
