//! Commands that ask a store once: `job`, `user` and `target`.

use std::io::{self, Write, stdout};

use clap::Args;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use jobstats_client::Kind;

use crate::store::{self, Store};
use crate::subject::{self, Subject, json, sheet};
use crate::text;
use crate::when::{self, Clock};

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
The database is named as in psql: by --database-url, JOBSTATS_DATABASE_URL, or PGHOST, PGDATABASE and so on. A role that may
read the store is enough (jobstats_grant_reader).

Exit codes:
   0  everything was shown
  64  wrong arguments
  66  there is no such job, user, target or file system, or nothing is known of it
  69  the database cannot be reached, or failed
  71  an error of this machine, such as no room for the file
  77  the database denied access
  78  the settings are wrong, or there is no store of this version";

/// An error of a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// The store knows nothing of it.
    #[error("nothing is known of {kind} {name}{}", listed(.notes))]
    Unknown {
        /// The kind of what was asked for.
        kind: &'static str,
        /// The name, as it was asked for.
        name: String,
        /// The notes of the store.
        notes: Vec<String>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The output cannot be written.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

fn listed(notes: &[String]) -> String {
    let lines = notes.iter().map(|note| format!("\n  {note}"));
    lines.collect()
}

impl Error {
    /// Returns the exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 64,
            Self::Unknown { .. } => 66,
            Self::Store(error) => match error.kind() {
                Kind::Denied => 77,
                Kind::Setup | Kind::Local => 78,
                Kind::Refused => 64,
                _ => 69,
            },
            Self::Output(_) => 71,
        }
    }

    /// Returns true if whoever reads the output has seen enough.
    pub fn is_enough(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// The options of all these commands.
#[derive(Debug, Args)]
pub struct Common {
    /// Time zone of what is typed and shown: UTC, local, or a name such as Europe/Helsinki
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = when::zone)]
    pub zone: TimeZone,
    /// The database.
    #[command(flatten)]
    pub database: jobstats_client::Options,
}

impl Common {
    /// Connects to the store.
    ///
    /// # Errors
    ///
    /// Fails if the settings are wrong or the database cannot be reached.
    pub fn store(&self) -> Result<Store, Error> {
        Ok(Store::open(&self.database)?)
    }

    /// Returns a clock of the zone.
    pub fn clock(&self) -> Clock {
        Clock::new(self.zone.clone())
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
    ///
    /// # Errors
    ///
    /// Fails if an edge is no time, or the end is not after the start.
    pub fn window(&self, zone: &TimeZone) -> Result<(Timestamp, Timestamp), Error> {
        let now = Timestamp::now().to_zoned(zone.clone());
        let time = |name: &str, text: &str| {
            when::parse(text, &now)
                .map_err(|error| Error::Usage(format!("--{name} {text} {error}")))
        };
        let (from, to) = (time("from", &self.from)?, time("to", &self.to)?);
        // A start of hours ago has fractions of a second that nobody asked for.
        let from = from
            .round(jiff::Unit::Minute)
            .unwrap_or(from)
            .min(to - SignedDuration::from_micros(1));
        if when::parse(&self.from, &now).is_ok_and(|from| from >= to) {
            let message = format!("--from {} is not before --to {}", self.from, self.to);
            return Err(Error::Usage(message));
        }
        Ok((from, to))
    }
}

/// The options of `job`.
#[derive(Debug, Args)]
pub struct Job {
    /// Job: its number, or what users type, such as 123_4
    #[arg(value_name = "JOB")]
    pub job: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The database and the zone.
    #[command(flatten)]
    pub common: Common,
}

/// The options of `user` and `target`.
#[derive(Debug, Args)]
pub struct Named {
    /// Name; of a user also its number
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The window.
    #[command(flatten)]
    pub period: Period,
    /// The database and the zone.
    #[command(flatten)]
    pub common: Common,
}

/// Runs `job`.
///
/// # Errors
///
/// Fails if the job is unknown, the store fails, or the output cannot be written.
pub fn job(options: &Job) -> Result<(), Error> {
    let mut store = options.common.store()?;
    let subject = known(
        "job",
        &options.job,
        subject::job::ask(&mut store, &options.job)?,
    )?;
    show(&subject, options.json, &options.common.clock())
}

/// Runs `user`.
///
/// # Errors
///
/// Fails if nothing is known of the user, the store fails, or the output cannot be written.
pub fn user(options: &Named) -> Result<(), Error> {
    let window = options.period.window(&options.common.zone)?;
    let mut store = options.common.store()?;
    let asked = subject::user::ask(&mut store, &options.name, window)?;
    let subject = known("user", &options.name, asked)?;
    show(&subject, options.json, &options.common.clock())
}

/// Runs `target`.
///
/// # Errors
///
/// Fails if there is no such target, the store fails, or the output cannot be written.
pub fn target(options: &Named) -> Result<(), Error> {
    let window = options.period.window(&options.common.zone)?;
    let mut store = options.common.store()?;
    let asked = subject::target::ask(&mut store, &options.name, window)?;
    let subject = known("target", &options.name, asked)?;
    show(&subject, options.json, &options.common.clock())
}

fn known(
    kind: &'static str,
    name: &str,
    asked: Result<Subject, Vec<String>>,
) -> Result<Subject, Error> {
    asked.map_err(|notes| Error::Unknown {
        kind,
        name: text::shown(name),
        notes,
    })
}

fn show(subject: &Subject, is_json: bool, clock: &Clock) -> Result<(), Error> {
    let mut out = stdout().lock();
    if is_json {
        writeln!(out, "{}", json::document(subject))?;
    } else {
        out.write_all(sheet::sheet(subject, clock).as_bytes())?;
    }
    Ok(out.flush()?)
}
