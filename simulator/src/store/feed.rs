//! Loads a span of a cluster into the database, one target's text per row.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use jobstats_client::{Connector, Kind, Retry};
use postgres::{Client, Statement};
use thiserror::Error;

use crate::printing::lctl::{cleanup_interval, framed};
use crate::printing::reading::{Outcome, Reading};
use crate::random::Seed;
use crate::store::database::connector;
use crate::time::timestamp;
use crate::truth::tally::{self, Happening, Tally};
use crate::world::cluster::{Cluster, TargetIndex};
use crate::world::parallel::each_target;
use crate::world::schedule::{Span, readings};
use crate::world::target::TargetState;
use crate::world::workload::Workload;

/// An error that prevents loading a span.
#[derive(Debug, Error)]
pub enum Error {
    /// The database failed.
    #[error("database: {0}")]
    Database(#[from] jobstats_client::Error),
    /// A text could not be compressed.
    #[error("zstd: {0}")]
    Pack(#[from] std::io::Error),
}

/// The options of a load.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// View or table that takes the rows
    #[arg(long, default_value = "jobstats.feed")]
    table: String,
    /// Number of connections
    #[arg(long, default_value_t = 2)]
    connections: usize,
    /// Share of texts that arrive after later ones
    #[arg(long, default_value_t = 0.0)]
    late: f64,
    /// Share of texts that arrive twice
    #[arg(long, default_value_t = 0.0)]
    repeated: f64,
    /// The options of the database.
    #[command(flatten)]
    database: jobstats_client::Options,
}

/// The texts that the database was sent and rejected.
#[derive(Debug, Default)]
pub struct Rejected {
    /// The number of texts that were sent, those that were repeated included.
    pub sent: u64,
    /// The number of texts that the database rejected.
    pub texts: u64,
    /// The warning about the last of them.
    pub warning: String,
}

impl Rejected {
    /// Takes a warning of the database, which is about one text.
    fn warn(&mut self, warning: String) {
        if warning.contains("rejected") {
            self.texts += 1;
            self.warning = warning;
        }
    }

    /// Returns a line about the texts that were not stored; `None` if all were.
    pub fn line(&self) -> Option<String> {
        let stored = self.sent.saturating_sub(self.texts);
        (self.texts > 0).then(|| {
            format!(
                "{stored} of {} texts were stored, for the others see jobstats.rejects: {}",
                self.sent, self.warning
            )
        })
    }

    /// Returns true if texts were sent and none was stored.
    pub fn is_all(&self) -> bool {
        self.texts > 0 && self.texts == self.sent
    }
}

/// The sender's name and version in each row.
const SHIPPER: &str = concat!("jobstats-simulator ", env!("CARGO_PKG_VERSION"));
/// The retries of a text that runs into a deadlock or serialization failure.
const RETRY: Retry = Retry {
    attempts: 10,
    first_pause: Duration::from_millis(1),
};

/// Loads a span of a cluster. Targets are independent of each other; each is loaded in order of time.
pub fn load(cluster: &Cluster, span: Span, options: &Options) -> Result<(Tally, Rejected), Error> {
    let texts: usize = (0..cluster.targets.len())
        .map(|target| readings(cluster, target, span).len())
        .sum();
    let progress = ProgressBar::new(texts as u64);
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {pos}/{len} texts, {elapsed} of {duration}")
    {
        progress.set_style(style);
    }
    let workload = Workload::new(cluster);
    let connector = connector(&options.database)?;
    let rejected = Arc::new(Mutex::new(Rejected::default()));
    let tallies = each_target(
        cluster,
        options.connections,
        || Writer::connect(&connector, &options.table, &rejected),
        |writer, target| {
            let courier = Courier::new(cluster, target, options);
            load_target(&workload, cluster, target, span, writer, courier, &progress)
        },
    )?;
    progress.finish_and_clear();
    let mut total = Tally::default();
    tallies.iter().for_each(|tally| total.plus(tally));
    Ok((total, std::mem::take(&mut *locked(&rejected))))
}

/// Locks what only counts; a count is right even if another thread has panicked.
fn locked(rejected: &Mutex<Rejected>) -> MutexGuard<'_, Rejected> {
    rejected.lock().unwrap_or_else(PoisonError::into_inner)
}

fn load_target<'a>(
    workload: &Workload,
    cluster: &'a Cluster,
    target: TargetIndex,
    span: Span,
    writer: &mut Writer,
    mut courier: Courier<'a>,
    progress: &ProgressBar,
) -> Result<Tally, Error> {
    let mut state = TargetState::new(workload, cluster, target, span.from, span.until);
    let mut counter = tally::Counter::default();
    let name = cluster.targets[target].parameter("job_stats");
    let mut first = true;
    for due in readings(cluster, target, span) {
        let outcome = Reading::take(&mut state, due.time, first, |_| ());
        counter.observe(&state, &outcome);
        if let Outcome::Read(reading) = &outcome {
            first = false;
            let mut text = cleanup_interval(cluster, target).into_bytes();
            text.extend(framed(&name, &reading.text(&state)));
            let row = Row {
                cluster: &cluster.name,
                server: &cluster.servers[due.server].name,
                time: timestamp(due.label),
                body_zstd: writer.compressor.compress(&text)?,
                // A dump takes longer the more there is to print.
                duration: 0.05 + text.len() as f64 / 5e7,
            };
            for row in courier.carry(row, &mut counter.tally) {
                writer.write(&row)?;
            }
        }
        progress.inc(1);
    }
    for (_, row) in courier.late {
        writer.write(&row)?;
    }
    Ok(counter.tally)
}

#[derive(Clone)]
struct Row<'a> {
    cluster: &'a str,
    server: &'a str,
    time: Timestamp,
    body_zstd: Vec<u8>,
    duration: f64,
}

/// Delivers a target's texts to the database, some of them late or twice.
struct Courier<'a> {
    seed: Seed,
    shares: (f64, f64),
    carried: usize,
    /// The late texts, each with the number of the text after which it arrives.
    late: Vec<(usize, Row<'a>)>,
}

impl<'a> Courier<'a> {
    fn new(cluster: &Cluster, target: TargetIndex, options: &Options) -> Self {
        Self {
            seed: cluster.seed.of("courier", &[target as i64]),
            shares: (options.late, options.repeated),
            carried: 0,
            late: Vec::new(),
        }
    }

    /// Takes the next text and returns the texts that arrive now. The first text is never late, because nothing is
    /// known before it.
    fn carry(&mut self, row: Row<'a>, tally: &mut Tally) -> Vec<Row<'a>> {
        self.carried += 1;
        let seed = self.seed.of("text", &[self.carried as i64]);
        let (late, repeated) = self.shares;
        let mut arriving = Vec::new();
        if self.carried > 1 && seed.of("late", &[]).chance(late) {
            tally.add(Happening::LateText, 1);
            let after = 1 + seed.of("after", &[]).below(5) as usize;
            self.late.push((self.carried + after, row));
        } else {
            let again = seed.of("repeated", &[]).chance(repeated);
            if again {
                tally.add(Happening::RepeatedText, 1);
            }
            arriving.extend(again.then(|| row.clone()));
            arriving.push(row);
        }
        let carried = self.carried;
        let due = self.late.extract_if(.., |(after, _)| *after <= carried);
        arriving.extend(due.map(|(_, row)| row));
        arriving
    }
}

struct Writer {
    client: Client,
    insert: Statement,
    compressor: zstd::bulk::Compressor<'static>,
    rejected: Arc<Mutex<Rejected>>,
}

impl Writer {
    fn connect(
        connector: &Connector,
        table: &str,
        rejected: &Arc<Mutex<Rejected>>,
    ) -> Result<Self, Error> {
        let warned = rejected.clone();
        let mut client =
            connector.client_that_warns(move |warning| locked(&warned).warn(warning))?;
        Ok(Self {
            rejected: rejected.clone(),
            insert: prepare(&mut client, table).map_err(jobstats_client::Error::from)?,
            client,
            compressor: zstd::bulk::Compressor::new(1)?,
        })
    }

    /// Writes one text per transaction, so that concurrent feeds of several targets do not wait for each other in
    /// circles.
    fn write(&mut self, row: &Row) -> Result<(), Error> {
        let sent = RETRY.run(
            |error| Kind::of(error) == Kind::Conflict,
            || {
                self.client.execute(
                    &self.insert,
                    &[
                        &row.cluster,
                        &row.server,
                        &row.time,
                        &row.body_zstd,
                        &row.duration,
                        &SHIPPER,
                    ],
                )
            },
        );
        sent.map_err(jobstats_client::Error::from)?;
        locked(&self.rejected).sent += 1;
        Ok(())
    }
}

/// Prepares a session and its statement.
fn prepare(client: &mut Client, table: &str) -> Result<Statement, postgres::Error> {
    // A commit may be lost in a crash, because a simulated day can be loaded again.
    client.batch_execute("SET synchronous_commit = off")?;
    client.prepare(&format!(
        r#"INSERT INTO {table} (cluster, server, "time", body_zstd, duration, shipper)
           VALUES ($1, $2, $3, $4, make_interval(secs => $5), $6)"#
    ))
}
