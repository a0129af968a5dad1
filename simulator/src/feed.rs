//! A span of a cluster into the database, one target's text per row.

use indicatif::{ProgressBar, ProgressStyle};
use postgres::error::SqlState;
use postgres::{Client, NoTls, Statement};
use thiserror::Error;

use crate::cluster::{Cluster, TargetIndex};
use crate::lctl::{cleanup_interval, framed};
use crate::parallel::each_target;
use crate::reading::{Outcome, Reading};
use crate::schedule::{Span, label, readings};
use crate::tally::{self, Tally};
use crate::target::TargetState;
use crate::time::timestamp;
use crate::workload::Workload;

/// Why a span could not be loaded.
#[derive(Debug, Error)]
pub enum Error {
    /// The database.
    #[error("database: {}", database_message(.0))]
    Database(#[from] postgres::Error),
    /// Packing a text.
    #[error("zstd: {0}")]
    Pack(#[from] std::io::Error),
}

/// What the server said, where it said something: the client's own words are only "db error".
pub fn database_message(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!(
            "{} ({}){}",
            said.message(),
            said.code().code(),
            said.hint()
                .map(|hint| format!("\nHINT: {hint}"))
                .unwrap_or_default()
        ),
        None => error.to_string(),
    }
}

/// How and where to load.
#[derive(Debug, Clone)]
pub struct Options {
    /// The database.
    pub url: String,
    /// The view or table that takes the rows.
    pub table: String,
    /// How many connections to use at once.
    pub connections: usize,
}

/// What the rows say about who sent them.
const SHIPPER: &str = concat!("jobstats-simulator ", env!("CARGO_PKG_VERSION"));
/// Texts that deadlock are sent again, so many times.
const TRIES: usize = 10;

/// Loads a span of a cluster. Targets are independent of each other; each is loaded in order of time.
pub fn load(cluster: &Cluster, span: Span, options: &Options) -> Result<Tally, Error> {
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
    let tallies = each_target(
        cluster,
        options.connections,
        || Writer::connect(options),
        |writer, target| load_target(&workload, cluster, target, span, writer, &progress),
    )?;
    progress.finish_and_clear();
    let mut total = Tally::default();
    tallies.iter().for_each(|tally| total.plus(tally));
    Ok(total)
}

fn load_target(
    workload: &Workload,
    cluster: &Cluster,
    target: TargetIndex,
    span: Span,
    writer: &mut Writer,
    progress: &ProgressBar,
) -> Result<Tally, Error> {
    let mut state = TargetState::new(workload, cluster, target, span.from, span.until);
    let mut counter = tally::Counter::default();
    let name = cluster.targets[target].parameter("job_stats");
    let mut first = true;
    for (time, server) in readings(cluster, target, span) {
        let outcome = Reading::take(&mut state, time, first, |_| ());
        counter.observe(&state, &outcome);
        if let Outcome::Read(reading) = &outcome {
            first = false;
            let mut text = cleanup_interval(cluster, target).into_bytes();
            text.extend(framed(&name, &reading.text(&state)));
            let row = Row {
                cluster: &cluster.name,
                server: &cluster.servers[server].name,
                time: timestamp(label(cluster, server, time)),
                // A dump takes the longer, the more there is to print.
                duration: 0.05 + text.len() as f64 / 5e7,
            };
            writer.write(&row, &text)?;
        }
        progress.inc(1);
    }
    Ok(counter.tally)
}

struct Row<'a> {
    cluster: &'a str,
    server: &'a str,
    time: jiff::Timestamp,
    duration: f64,
}

struct Writer {
    client: Client,
    insert: Statement,
    compressor: zstd::bulk::Compressor<'static>,
}

impl Writer {
    fn connect(options: &Options) -> Result<Self, Error> {
        let mut client = Client::connect(&options.url, NoTls)?;
        // A simulated day can be loaded again.
        client.batch_execute("SET synchronous_commit = off")?;
        let insert = client.prepare(&format!(
            r#"INSERT INTO {} (cluster, server, "time", body_zstd, duration, shipper)
               VALUES ($1, $2, $3, $4, make_interval(secs => $5), $6)"#,
            options.table
        ))?;
        Ok(Self {
            client,
            insert,
            compressor: zstd::bulk::Compressor::new(1)?,
        })
    }

    /// One text, one transaction: so feeds of several targets at once do not wait for each other in circles.
    fn write(&mut self, row: &Row, text: &[u8]) -> Result<(), Error> {
        let packed = self.compressor.compress(text)?;
        let mut tries = 0;
        loop {
            tries += 1;
            let sent = self.client.execute(
                &self.insert,
                &[
                    &row.cluster,
                    &row.server,
                    &row.time,
                    &packed,
                    &row.duration,
                    &SHIPPER,
                ],
            );
            match sent {
                Ok(_) => return Ok(()),
                Err(error) if tries < TRIES && is_conflict(&error) => (),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn is_conflict(error: &postgres::Error) -> bool {
    error.code().is_some_and(|code| {
        [
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
        ]
        .contains(code)
    })
}
