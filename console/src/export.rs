//! The command `export`: files of Parquet, one for each day of UTC.

mod batch;
mod columns;
mod days;
mod file;
mod pseudonyms;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use jiff::civil::Date;
use jobstats_client::answers::Filters;
use jobstats_client::files::file::directory_of;
use jobstats_client::program::exit;
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Row};
use serde_json::json;
use tokio_postgres::types::{ToSql, Type};

use crate::ask::error::Error;
use crate::ask::{config, store};
use crate::source::stored;
use crate::values::text;
use crate::values::when;
use batch::Batch;
use columns::{Column, Kind};
use file::Directory;
use pseudonyms::Pseudonyms;

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
Each full day of UTC becomes a file, such as 2026-11-22.parquet. Existing days are left unchanged.
Give the database with -P (a profile of the configuration), --database-url, JOBSTATS_DATABASE_URL or, as for psql, PGHOST,
PGDATABASE and so on. A role that may read the store is enough (jobstats_grant_reader).

Exit codes:
   0  the directory has all full days that the store retains
  64  wrong arguments, or the directory has files exported with other options
  65  the database rejected the query
  66  no data for these days, clusters and file systems
  69  the database cannot be reached
  71  local error, such as no space for the files
  75  the database or the directory is busy: try again later
  77  the database denies access
  78  not set up: the settings, the key of --pseudonyms, or the store";

/// The version of the columns, which is raised if one of them changes or goes.
const VERSION: u8 = 2;

/// The settings of the session. Only the role limits the time of a query, since a large day takes minutes. The planner underestimates the
/// rows of a view of a rollup, and would use a nested loop for names: an export of a day of 280,000 buckets then took 29 s instead of 6.
const SETTINGS: &str = "\
    SET default_transaction_read_only = on; SET jit = off; SET client_min_messages = warning; SET enable_nestloop = off";

/// The natural order of rows leaks their owners, because joins sort by uid. Rows with pseudonyms are sorted by columns that the file
/// shows anyway, and then by a hash that cannot be computed without the key, from which $4 is made.
const ORDER: &str = "ORDER BY done.until, done.target_id, hashint8extended(done.entry_id, $4)";

/// The number of seconds of a day.
const DAY: u64 = 86_400;

/// The options of `export`.
#[derive(Debug, Args)]
pub struct Export {
    /// Directory of the files; created if missing
    #[arg(value_name = "DIRECTORY")]
    pub directory: PathBuf,
    /// First day, such as 2026-11-01, monday or 7d (ago) [default: the first one retained]
    #[arg(long, value_name = "DAY", value_parser = when::of_utc)]
    pub from: Option<Timestamp>,
    /// Day after the last one to export [default: today]
    #[arg(long, value_name = "DAY", value_parser = when::of_utc)]
    pub to: Option<Timestamp>,
    /// Rows: one per increment, or per bucket of a rollup
    #[arg(long, value_enum, default_value_t = Level::Increments)]
    pub level: Level,
    /// Cluster, or a pattern with * [default: all]
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// File system, or a pattern with * [default: all]
    #[arg(long, value_name = "NAME")]
    pub filesystem: Option<String>,
    /// Replace users, groups, accounts, jobs, nodes and programs with pseudonyms, using the key in this file; created if missing
    #[arg(long, value_name = "KEYFILE")]
    pub pseudonyms: Option<PathBuf>,
    /// Export existing days again
    #[arg(long)]
    pub again: bool,
    /// The database.
    #[command(flatten)]
    pub database: config::Database,
}

jobstats_core::named! {
    /// The time that a row is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
    pub enum Level {
        /// The time between two observations of the target, split at full ten minutes
        Increments = "increments",
        /// Ten minutes
        #[value(name = "10m")]
        TenMinutes = "10m",
        /// An hour
        #[value(name = "1h")]
        Hour = "1h",
        /// A day
        #[value(name = "1d")]
        Day = "1d",
    }
    /// Returns the name, which is also the name in the store.
    pub fn name;
}

impl Level {
    /// Returns the view of the rows, with its columns of their time and of the last request.
    fn view(self) -> (String, &'static str, &'static str) {
        match self {
            Self::Increments => ("increments_rows".to_owned(), "until", "last_active"),
            _ => (format!("increments_{}", self.name()), "bucket", "last"),
        }
    }
}

fn nothing(notes: &[String]) -> Error {
    let notes = text::listed(notes);
    let message = format!("no data for these days, clusters and file systems{notes}");
    Error::other(exit::NOTHING, message)
}

/// Runs `export`.
pub fn run(options: &Export) -> Result<(), Error> {
    if let (Some(from), Some(to)) = (options.from, options.to) {
        let (from, to) = (days::day(from), days::day(to));
        if from >= to {
            return Err(Error::Usage(format!(
                "--from {from} is not before --to {to}, the day after the last one to export"
            )));
        }
    }
    let pseudonyms = options.pseudonyms.as_deref();
    let pseudonyms = pseudonyms.map(|key| pseudonyms_of(key, &options.directory));
    let pseudonyms = pseudonyms.transpose()?;
    let connector = store::connector(&options.database.complete()?)?;
    let (mut client, _) = store::connect(&connector, SETTINGS, drop)?;
    let scope = stored::scope(options.cluster.clone(), options.filesystem.clone());
    let retained = days::ask(&mut client, &scope, options.level)?;
    let plan = days::plan(options.from, options.to, &retained, options.level);
    if plan.days.is_empty() {
        return Err(nothing(&plan.notes));
    }
    for note in &plan.notes {
        eprintln!("jobstats-console: {}", text::shown(note));
    }
    let columns = columns::columns();
    let mut export = Exporter {
        directory: Directory::open(&options.directory, described(options, pseudonyms.as_ref()))?,
        statement: statement(&columns, options.level, pseudonyms.is_some()),
        columns: &columns,
        pseudonyms: pseudonyms.as_ref(),
        scope: &scope,
        bar: bar(),
        client: &mut client,
    };
    export.days(&plan.days, options.again)
}

/// Opens a key, which must not lie in the directory of the files.
fn pseudonyms_of(key: &Path, directory: &Path) -> Result<Pseudonyms, Error> {
    let place = directory_of(key).canonicalize();
    // Neither a place nor a directory that does not exist yet has anything in it.
    if let (Ok(place), Ok(files)) = (place, directory.canonicalize())
        && place.starts_with(files)
    {
        return Err(Error::Usage(format!(
            "{} would be published with the files: use a key outside {}",
            key.display(),
            directory.display()
        )));
    }
    Pseudonyms::open(key)
}

/// Returns what all files of a directory have in common, so that they can be read together.
fn described(options: &Export, pseudonyms: Option<&Pseudonyms>) -> String {
    let described = json!({
        "version": VERSION,
        "level": options.level.name(),
        "cluster": options.cluster,
        "filesystem": options.filesystem,
        "pseudonyms": pseudonyms.map(Pseudonyms::fingerprint),
    });
    described.to_string()
}

/// Returns the statement that reads the rows of a day. For pseudonyms it has an order, which is sorted by the database.
fn statement(columns: &[Column], level: Level, is_ordered: bool) -> String {
    let (view, time, active) = level.view();
    let operations = columns[columns::FIRST.len()..].iter();
    let operations = operations.map(|column| format!("done.{}", column.name));
    let rows = include_str!("export/rows.sql")
        .replace("@columns@", &operations.collect::<Vec<_>>().join(", "))
        .replace("@view@", &view)
        .replace("@time@", time)
        .replace("@active@", active);
    if is_ordered { rows + ORDER } else { rows }
}

/// Returns a bar that is only seen on a terminal.
fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}  {bar:30}  {percent} %, {eta} left");
    let bar = ProgressBar::new(0);
    style.map(|style| bar.set_style(style)).unwrap_or_default();
    bar
}

/// An export that is under way.
struct Exporter<'a> {
    directory: Directory,
    statement: String,
    columns: &'a [Column],
    pseudonyms: Option<&'a Pseudonyms>,
    scope: &'a Filters,
    bar: ProgressBar,
    client: &'a mut Client,
}

impl Exporter<'_> {
    fn days(&mut self, days: &[Date], again: bool) -> Result<(), Error> {
        // Before anything is written, all files are known to fit together.
        let mut left = Vec::new();
        for day in days {
            if again || !self.directory.has(*day)? {
                left.push(*day);
            }
        }
        let mut is_there = left.len() < days.len();
        self.bar.set_length(left.len() as u64 * DAY);
        for (at, day) in left.into_iter().enumerate() {
            self.bar.set_position(at as u64 * DAY);
            is_there |= self.day(day)?;
        }
        self.bar.finish_and_clear();
        match is_there {
            true => Ok(()),
            false => Err(nothing(&[])),
        }
    }

    /// Exports a day, and returns whether there was anything.
    fn day(&mut self, day: Date) -> Result<bool, Error> {
        self.bar.set_message(day.to_string());
        let (since, until) = (days::start(day), days::start(days::after(day)));
        let done = self.bar.position();
        let seed = self.pseudonyms.map(Pseudonyms::seed);
        let parameters: [(&(dyn ToSql + Sync), Type); 4] = [
            (&since, Type::TIMESTAMPTZ),
            (&until, Type::TIMESTAMPTZ),
            (self.scope, Type::JSONB),
            (&seed, Type::INT8),
        ];
        let rows = self.client.query_typed_raw(&self.statement, parameters)?;
        let mut rows = rows.peekable();
        if rows.peek()?.is_none() {
            return Ok(false);
        }
        let mut file = self.directory.begin(day, self.columns)?;
        let mut batch = Batch::new(self.columns, self.pseudonyms);
        let (mut count, mut latest) = (0_u64, since);
        while let Some(row) = rows.next()? {
            add(&row, self.columns, &mut batch)?;
            count += 1;
            latest = latest.max(row.try_get("until")?);
            let seconds = latest.duration_since(since).as_secs().unsigned_abs();
            self.bar.set_position(done + seconds.min(DAY));
            if batch.is_full() {
                file.write(&mut batch)?;
            }
        }
        if !batch.is_empty() {
            file.write(&mut batch)?;
        }
        let bytes = file.finish()?;
        let path = self.directory.file(day);
        self.bar.println(format!(
            "{}  {count} rows, {:.1} MB",
            text::shown(&path.display().to_string()),
            bytes as f64 / 1e6
        ));
        Ok(true)
    }
}

/// Adds a row to a batch.
fn add(row: &Row, columns: &[Column], batch: &mut Batch<'_>) -> Result<(), tokio_postgres::Error> {
    for (at, column) in columns.iter().enumerate() {
        match column.kind {
            Kind::Time => {
                let time: Option<Timestamp> = row.try_get(at)?;
                batch.push_number(at, time.map(Timestamp::as_microsecond));
            }
            Kind::Text => batch.push_text(at, row.try_get(at)?),
            Kind::Number => batch.push_number(at, row.try_get(at)?),
        }
    }
    Ok(())
}
