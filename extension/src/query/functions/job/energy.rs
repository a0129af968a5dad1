//! The energy of a job whose nodes are metered, and were its own.

use std::collections::{BTreeMap, BTreeSet};

use jobstats_core::accounting::energy::{Meter, PARTS, Reading, during, of_node, stands_still};
use jobstats_core::accounting::node_list::{contains, contains_any, count};
use jobstats_core::base::instant::{HOUR, Micros, Span};
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::memory::require_room;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::{Row, SqlResult, Statements, connect, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::Rows;
use crate::query::functions::job::Subject;
use crate::query::functions::job::report::Row as UsageRow;
use crate::query::functions::job::time::{Limits, RequestedTime};
use crate::query::labels::ALL;
use crate::query::notice::hinted;
use crate::store::rights::caller::{OWN_FIRST, seen};

/// The operations of its rows.
const ENERGY: &str = "energy";
const PER_GB: &str = "energy_per_gb";

/// The largest number of runs of a job, and of the runs that may have shared its nodes. With more, the energy is unknown.
const RUNS_MAX: usize = 1_000;
const BESIDE_MAX: usize = 100_000;

/// The unit of the times of readings in microseconds.
const MILLISECOND: Micros = 1_000;

/// The memory of a run, without a very long list of nodes.
const RUN_BYTES: usize = 1 << 10;

/// The growth of counters of joules between readings, by the hour, in a span.
const READINGS: &str = "SELECT hour.series_id, (extract(epoch FROM hour.bucket) * 1000000)::bigint - 1 AS start, hour.times::bigint[] AS times, \
    hour.joules::double precision[] AS joules FROM jobstats.energy hour \
    WHERE hour.series_id = ANY ($1) AND hour.bucket > $2 AND hour.bucket <= $3 ORDER BY hour.series_id, hour.bucket";

/// The energy of the runs of a job in a window.
pub struct Energy {
    /// `None` if it is not known.
    joules: Option<f64>,
    /// The number of the nodes that are metered.
    nodes: usize,
    /// The start of the first run.
    since: Micros,
    /// The run time.
    run_time: Micros,
}

/// A counter of joules.
struct Counter {
    series: i64,
    meter: &'static Meter,
    /// The cluster and the server that report it.
    reported_by: (String, String),
}

/// The counters of each node.
type Counters = BTreeMap<String, Vec<Counter>>;

/// A run of a job on its nodes.
struct Run {
    key: ([String; 3], Micros),
    /// The time of the run, as far as it lies in the window.
    span: Span,
    goes_on: bool,
    nodes: Option<i64>,
    list: Option<String>,
}

/// A run after its nodes that are metered.
type MeteredRun<'c> = (BTreeSet<&'c str>, Run);

impl Energy {
    /// Returns the energy of a job between two times; `None` without metered nodes.
    pub fn of_job(
        client: &SpiClient<'_>,
        subject: &Subject,
        (since, until): Limits,
    ) -> Result<Option<Self>, Error> {
        let accounting = &subject.accounting;
        let counters = counters(client)?;
        let Some(starts) = accounting.starts().filter(|_| !counters.is_empty()) else {
            return Ok(None);
        };
        let job = &subject.job;
        let jobs = seen("jobs", job.own.as_ref(), OWN_FIRST);
        let condition = "run.job = ANY ($3) AND run.started BETWEEN $4 AND $5 AND ($6 IS NULL OR run.scheduler = $6)";
        let window = (
            since.unwrap_or(Micros::MIN),
            until.unwrap_or(Micros::MAX).min(accounting.ended()),
        );
        let arguments = job.runs_between(starts)?;
        let (runs, are_all) = runs(client, (&jobs, condition), &arguments, RUNS_MAX, window)?;
        let runs = runs.into_iter().filter(|run| run.span.0 < run.span.1);
        let runs = runs.map(|run| (run.metered(&counters), run));
        let runs: Vec<MeteredRun<'_>> = runs.collect();
        let nodes: BTreeSet<_> = runs.iter().flat_map(|it| &it.0).collect();
        let spans = || runs.iter().map(|it| it.1.span);
        let all = spans().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let Some(span) = all.filter(|_| !nodes.is_empty()) else {
            return Ok(None);
        };
        Ok(Some(Self {
            joules: match are_all {
                true => sum(client, &runs, &counters, span)?,
                false => None,
            },
            nodes: nodes.len(),
            since: span.0,
            run_time: spans().map(|it| it.1 - it.0).sum(),
        }))
    }

    /// Writes its rows: of all of it, and by the bytes that the job read and wrote.
    pub fn write(&self, bytes: i128, rows: &mut Rows) -> Result<(), Error> {
        let per = |whole: f64| self.joules.map(|joules| joules / whole);
        let watts = per(self.run_time as f64 / 1e6);
        let per_gb = per(bytes as f64 / 1e9).filter(|_| bytes > 0);
        for (operation, joules, rate) in [(ENERGY, self.joules, watts), (PER_GB, per_gb, None)] {
            let row = UsageRow {
                name: ALL.to_owned(),
                operation,
                total: joules.map(exact).transpose()?,
                nodes: i64::try_from(self.nodes).ok(),
                time: Some(timestamptz(self.since)?),
                rate,
                ..UsageRow::default()
            };
            row.put(rows);
        }
        Ok(())
    }
}

#[pg_extern(sql = false)]
fn jobstats_energy_of_job(job: &str, scheduler: &str) -> SqlResult<Option<AnyNumeric>> {
    Ok(connect(|client| {
        let (job, scheduler) = (job.to_owned(), Some(scheduler.to_owned()));
        let Some(subject) = Subject::find(client, job, scheduler, None, &RequestedTime::default())?
        else {
            return Ok(None);
        };
        subject.job.note_unmatched(client)?;
        joules(client, &subject)
    })?)
}

/// Returns the energy of a job as a whole, if it is known.
pub fn joules(client: &SpiClient<'_>, subject: &Subject) -> Result<Option<AnyNumeric>, Error> {
    let energy = Energy::of_job(client, subject, (None, None))?;
    energy.and_then(|it| it.joules).map(exact).transpose()
}

/// Rounds joules: readings are less exact than a float.
fn exact(joules: f64) -> Result<AnyNumeric, Error> {
    let joules = AnyNumeric::try_from((joules * 10.0).round() / 10.0);
    joules.map_err(|error| Error::Damaged(error.to_string()))
}

/// Returns the counters of joules of all nodes that are metered.
fn counters(client: &SpiClient<'_>) -> Result<Counters, Error> {
    let found = client.query(
        "SELECT series.node, series.name, series.series_id, series.cluster, series.server FROM jobstats.sample_series series \
            WHERE series.node IS NOT NULL",
        &[],
    )?;
    require_room(found.len(), RUN_BYTES)?;
    let mut counters = Counters::new();
    for row in PAUSE.among(found) {
        let (node, name): (String, String) = (row.at(1)?, row.at(2)?);
        if let Some(meter) = Meter::of(&name) {
            counters.entry(node).or_default().push(Counter {
                series: row.at(3)?,
                meter,
                reported_by: (row.at(4)?, row.at(5)?),
            });
        }
    }
    Ok(counters)
}

/// Returns the runs that fulfil a condition, as far as they lie in a window, and whether these are all.
fn runs(
    client: &SpiClient<'_>,
    (jobs, condition): (&str, &str),
    arguments: &[DatumWithOid<'_>],
    most: usize,
    window: Span,
) -> Result<(Vec<Run>, bool), Error> {
    let which = format!("{condition} LIMIT {}", most + 1);
    let columns = "run.job, run.node_list";
    let statement = sql!("runs.sql", columns = columns, jobs = jobs, which = which);
    let found = client.query(&statement, arguments)?;
    require_room(found.len(), RUN_BYTES)?;
    let are_all = found.len() <= most;
    let runs = PAUSE.among(found).map(|row| Run::read(&row, window));
    Ok((runs.collect::<Result<_, Error>>()?, are_all))
}

/// Returns the joules of runs, which lie in a span; `None` if some are unknown, or if another run shared one of their nodes, or may have.
fn sum(
    client: &SpiClient<'_>,
    runs_of_job: &[MeteredRun<'_>],
    counters: &Counters,
    span: Span,
) -> Result<Option<f64>, Error> {
    let mut sum = 0.0;
    for (nodes, run) in runs_of_job {
        if !run.is_known_on(nodes) {
            return Ok(None);
        }
        let mut of_run = 0.0;
        for node in nodes {
            pause();
            let counters = counters.get(*node).map_or(&[][..], Vec::as_slice);
            let Some(joules) = run.joules(client, node, counters)? else {
                return Ok(None);
            };
            of_run += joules;
        }
        sum += of_run;
    }
    let (since, until) = (timestamptz(span.0)?, timestamptz(span.1)?);
    let condition = "run.started < $2 AND (run.ended > $1 OR run.ended IS NULL)";
    let (beside, are_all) = runs(
        client,
        ("jobstats.jobs", condition),
        &values![since, until],
        BESIDE_MAX,
        span,
    )?;
    let is_beside = |other: &Run| {
        let mut runs = runs_of_job.iter();
        runs.any(|(nodes, run)| run.shares(nodes, other))
    };
    let is_alone = are_all && !PAUSE.among(&beside).any(is_beside);
    Ok(is_alone.then_some(sum))
}

impl Run {
    fn read(row: &Row<'_>, (since, until): Span) -> Result<Self, Error> {
        let (started, ended) = (row.time("started")?, row.time_opt("ended")?);
        let list: Option<String> = row.get("node_list")?;
        require_room(list.as_ref().map_or(0, String::len), 2)?;
        let of_job = [row.get("scheduler")?, row.get("job")?, row.get("label")?];
        Ok(Self {
            key: (of_job, started),
            span: (started.max(since), ended.unwrap_or(until).min(until)),
            goes_on: ended.is_none(),
            nodes: row.get("nodes")?,
            list,
        })
    }

    /// Returns its nodes that are metered.
    fn metered<'c>(&self, counters: &'c Counters) -> BTreeSet<&'c str> {
        let Some(list) = &self.list else {
            return BTreeSet::new();
        };
        let nodes = PAUSE.among(counters.keys()).map(String::as_str);
        nodes
            .filter(|node| contains(list, node) == Some(true))
            .collect()
    }

    /// Returns whether these metered nodes are all of its nodes.
    fn is_known_on(&self, metered: &BTreeSet<&str>) -> bool {
        let listed = self.list.as_deref().and_then(count);
        let nodes = self.nodes.and_then(|nodes| u64::try_from(nodes).ok());
        listed == Some(metered.len() as u64) && nodes.is_none_or(|it| Some(it) == listed)
    }

    /// Returns the joules of a node during the run. A counter without readings in the run is ignored: it only existed
    /// before or after.
    fn joules(
        &self,
        client: &SpiClient<'_>,
        node: &str,
        counters: &[Counter],
    ) -> Result<Option<f64>, Error> {
        let (since, until) = self.span;
        let beyond = (until - since) / PARTS + HOUR;
        let series: Vec<i64> = counters.iter().map(|counter| counter.series).collect();
        let found = client.query(
            READINGS,
            &values![
                series,
                timestamptz(since.saturating_sub(beyond))?,
                timestamptz(until.saturating_add(beyond))?
            ],
        )?;
        let mut readings = BTreeMap::<i64, Vec<Reading>>::new();
        for row in found {
            let (start, times): (Micros, Vec<i64>) = (row.at(2)?, row.at(3)?);
            let joules: Vec<Option<f64>> = row.at(4)?;
            let all = readings.entry(row.at(1)?).or_default();
            all.extend(times.iter().zip(joules).map(|(time, joules)| Reading {
                at: start + time * MILLISECOND,
                joules,
            }));
        }
        let (mut known, mut reported_by, mut is_still) = (Vec::new(), BTreeSet::new(), false);
        for counter in counters {
            let mut readings = readings.remove(&counter.series).unwrap_or_default();
            if !readings.iter().any(|it| since < it.at && it.at <= until) {
                continue;
            }
            readings.sort_by_key(|reading| reading.at);
            is_still |= stands_still(&readings, self.span);
            known.push((counter.meter, during(&readings, self.span, self.goes_on)));
            reported_by.insert(&counter.reported_by);
        }
        // If two servers report joules of a node, they mean two different nodes, or count the same joules twice.
        let joules = of_node(&known).filter(|_| reported_by.len() == 1);
        if joules.is_none() && is_still {
            hinted(
                format!("the energy counter of node {} did not advance", shown(node)),
                "The energy of the job is unknown: the sensor is broken, or its steps are too large for the run time of the job.",
            );
        }
        Ok(joules)
    }

    /// Returns whether another run was, or may have been, on one of these nodes at the same time.
    fn shares(&self, nodes: &BTreeSet<&str>, other: &Self) -> bool {
        let since = self.span.0.max(other.span.0);
        if since >= self.span.1.min(other.span.1) || self.key == other.key {
            return false;
        }
        let Some(list) = &other.list else {
            return other.nodes != Some(0);
        };
        contains_any(list, nodes) != Some(false)
    }
}
