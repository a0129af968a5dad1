//! Loads a span of a cluster into the database, one target's text per row.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use jobstats_client::{Connector, Kind, Retry};
use postgres::types::ToSql;
use postgres::{Client, Statement};
use zstd::bulk::Compressor;

use crate::failure::Failure;
use crate::printing::lctl::{cleanup_interval, framed, parameter};
use crate::printing::reading::{Reading, Records};
use crate::random::Seed;
use crate::store::database::connector;
use crate::time::{Span, timestamp};
use crate::truth::{Happening, Tally, tally};
use crate::world::schedule::readings;
use crate::world::{Cluster, TargetIndex, TargetState, Workload, each_target};

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
    #[command(flatten)]
    database: jobstats_client::Options,
}

/// The texts that the database was sent and rejected.
#[derive(Debug, Default)]
pub struct Rejected {
    /// The number of texts that were sent, those that were repeated included.
    pub sent: u64,
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
pub fn load(
    cluster: &Cluster,
    span: Span,
    options: &Options,
) -> Result<(Tally, Rejected), Failure> {
    let texts: usize = (0..cluster.targets.len())
        .map(|target| readings(cluster, target, span).len())
        .sum();
    let progress = ProgressBar::new(texts as u64);
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {pos}/{len} texts, {elapsed} of {duration}")
    {
        progress.set_style(style);
    }
    let connector = connector(&options.database)?;
    let rejected = Arc::new(Mutex::new(Rejected::default()));
    let loader = Loader {
        cluster,
        workload: Workload::new(cluster),
        span,
        options,
        progress,
    };
    let connect = || Writer::connect(&connector, &options.table, &rejected);
    let load = |writer: &mut Writer, target| loader.load(target, writer);
    let tallies = each_target(cluster, options.connections, connect, load)?;
    loader.progress.finish_and_clear();
    let rejected = std::mem::take(&mut *locked(&rejected));
    Ok((tally::sum(&tallies), rejected))
}

/// Locks counts, which are right even if another thread has panicked.
fn locked(rejected: &Mutex<Rejected>) -> MutexGuard<'_, Rejected> {
    rejected.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Loader<'a> {
    cluster: &'a Cluster,
    workload: Workload<'a>,
    span: Span,
    options: &'a Options,
    progress: ProgressBar,
}

impl Loader<'_> {
    fn load(&self, target: TargetIndex, writer: &mut Writer) -> Result<Tally, Failure> {
        let cluster = self.cluster;
        let mut courier = Courier::new(cluster, target, self.options);
        let mut state = TargetState::new(&self.workload, target, self.span);
        let mut counter = tally::Counter::default();
        let mut records = Records::new();
        let name = parameter(&cluster.targets[target], "job_stats");
        let mut first = true;
        for due in readings(cluster, target, self.span) {
            let reading = Reading::take(&mut state, due.time, first, |_| ());
            counter.observe(&state, reading.as_ref());
            if let Some(reading) = reading {
                first = false;
                let mut text = cleanup_interval(cluster, target).into_bytes();
                text.extend(framed(&name, &reading.text(&state, &mut records)));
                let row = Row {
                    cluster: &cluster.name,
                    server: &cluster.servers[due.server].name,
                    time: timestamp(due.label),
                    body_zstd: writer.compressor.compress(&text).map_err(zstd_failed)?,
                    // A dump takes longer the more there is to print.
                    duration: 0.05 + text.len() as f64 / 5e7,
                };
                for row in courier.carry(row, &mut counter.tally) {
                    writer.write(&row)?;
                }
            }
            self.progress.inc(1);
        }
        for (_, row) in courier.late {
            writer.write(&row)?;
        }
        Ok(counter.tally)
    }
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
    compressor: Compressor<'static>,
    rejected: Arc<Mutex<Rejected>>,
}

impl Writer {
    fn connect(
        connector: &Connector,
        table: &str,
        rejected: &Arc<Mutex<Rejected>>,
    ) -> Result<Self, Failure> {
        let warned = rejected.clone();
        let mut client =
            connector.client_that_warns(move |warning| locked(&warned).warn(warning))?;
        Ok(Self {
            rejected: rejected.clone(),
            insert: prepare(&mut client, table)?,
            client,
            compressor: Compressor::new(1).map_err(zstd_failed)?,
        })
    }

    /// Writes one text per transaction, so that concurrent feeds of several targets do not wait for each other in
    /// circles.
    fn write(&mut self, row: &Row) -> Result<(), Failure> {
        let values: [&(dyn ToSql + Sync); 6] = [
            &row.cluster,
            &row.server,
            &row.time,
            &row.body_zstd,
            &row.duration,
            &SHIPPER,
        ];
        let is_conflict = |error: &_| Kind::of(error) == Kind::Conflict;
        RETRY.run(is_conflict, || self.client.execute(&self.insert, &values))?;
        locked(&self.rejected).sent += 1;
        Ok(())
    }
}

fn zstd_failed(error: io::Error) -> Failure {
    format!("zstd: {error}").into()
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
