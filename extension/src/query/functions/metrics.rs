//! `jobstats_metrics()`: returns the health and the rates of targets, for scraping and alerting.

use std::collections::BTreeMap;

use jobstats_core::openmetrics::{Exposition, ExpositionError};
use jobstats_core::operation::{Kind, OPERATIONS, Operation};
use jobstats_core::target::TargetKind;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::PAUSE;
use crate::pg::spi::{Row, SqlResult, Statements, connect};
use crate::pg::template::sql;
use crate::query::functions::last_work::sums;
use crate::store;
use crate::store::columns::usecs_name;
use crate::store::views;

/// The values of `status` in the view `health`.
const STATUSES: [&str; 7] = ["ok", "silent", "clock", "late", "slow", "rejects", "ids"];

/// A target, its health, and its work in the last observation.
struct Target {
    cluster: String,
    filesystem: String,
    name: String,
    kind: String,
    status: String,
    last_observation: Option<f64>,
    delay: Option<f64>,
    usual_interval: Option<f64>,
    rejects: Option<f64>,
    /// The counts that feeds have made of the target. Retention takes nothing back.
    counts: Counts,
    /// The work in the last observation; `None` if the target is silent, if there is no observation before the last
    /// one, or if the last one spans over an hour and over four usual intervals.
    work: Option<Work>,
}

/// Counts that only grow.
struct Counts {
    observations: f64,
    text_bytes: f64,
    problems: f64,
}

/// The work in the last observation.
struct Work {
    seconds: f64,
    active: bool,
    /// The calls or bytes, in the order of [`OPERATIONS`].
    amounts: Vec<Option<f64>>,
    /// The microseconds of operations that make up service time; `None` where they are not known.
    usecs: Vec<Option<f64>>,
}

/// The state of maintenance of the store.
struct Maintenance {
    /// The time at which maintenance last completed; `None` if it never did.
    completed: Option<f64>,
    problem: bool,
    /// The rollups that were ever refreshed, each with its lag in seconds.
    lags: Vec<(String, f64)>,
}

impl Maintenance {
    fn read(client: &SpiClient<'_>) -> Result<Self, Error> {
        let row = client.query_opt(include_str!("metrics/maintenance.sql"), &[])?;
        let row = row.ok_or(Error::NoRow("maintenance_state"))?;
        let levels: Vec<String> = row.get("levels")?;
        let lags: Vec<f64> = row.get("lags")?;
        Ok(Self {
            completed: row.get("completed")?,
            problem: row.get("problem")?,
            lags: levels.into_iter().zip(lags).collect(),
        })
    }

    fn tell(&self, out: &mut Exposition) -> Result<(), ExpositionError> {
        const NONE: [(&str, &str); 0] = [];
        out.gauge(
            "jobstats_maintenance_completed_timestamp_seconds",
            Some("seconds"),
            "When jobstats_maintain() last came to its end, in seconds since 1970.",
        )?;
        if let Some(completed) = self.completed {
            out.sample(NONE, completed)?;
        }
        out.gauge(
            "jobstats_maintenance_problem",
            None,
            "1 where that left something undone, which jobstats.maintenance names, else 0.",
        )?;
        if self.completed.is_some() {
            out.sample(NONE, f64::from(u8::from(self.problem)))?;
        }
        out.gauge(
            "jobstats_rollup_lag_seconds",
            Some("seconds"),
            "How far the rollup stays behind; readers take what comes after from increments.",
        )?;
        for (level, lag) in &self.lags {
            out.sample([("level", level.as_str())], *lag)?;
        }
        Ok(())
    }
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_metrics() RETURNS text
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp SET jit = off
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_metrics() IS
'Prints health and rates of the targets for Prometheus. The text is OpenMetrics and says nothing of jobs: per target its health as in jobstats.health, counts of what was stored and what could not be used, and the rates of its last observation as in jobstats_now(); of the store, when it was maintained and how far its rollups stay behind. A silent target has no rates, nor one whose last observation spans over an hour. Errors: 55000 where there is no store.';
"#)]
fn jobstats_metrics() -> SqlResult<String> {
    let text = connect(|client| -> Result<String, Error> {
        store::require(client)?;
        let targets = targets(client)?;
        let elsewhere = elsewhere(client)?;
        let maintenance = Maintenance::read(client)?;
        exposition(&targets, &elsewhere, &maintenance)
            .map_err(|ExpositionError::Memory(bytes)| Error::Memory(bytes))
    })?;
    Ok(text)
}

/// The memory that a target takes with its rates.
const TARGET_BYTES: usize = 4 << 10;

fn targets(client: &SpiClient<'_>) -> Result<Vec<Target>, Error> {
    let mut works = works(client)?;
    let rows = client.query(include_str!("metrics/targets.sql"), &[])?;
    require_room(rows.len(), TARGET_BYTES)?;
    PAUSE
        .among(rows)
        .map(|row| target(&row, &mut works))
        .collect()
}

fn target(row: &Row<'_>, works: &mut BTreeMap<i32, Work>) -> Result<Target, Error> {
    Ok(Target {
        cluster: row.get("cluster")?,
        filesystem: row.get("filesystem")?,
        name: row.get("name")?,
        kind: row.get("kind")?,
        status: row.get("status")?,
        last_observation: row.get("last_observation")?,
        delay: row.get("delay")?,
        usual_interval: row.get("usual_interval")?,
        rejects: row.get("rejects")?,
        counts: Counts {
            observations: row.get("observations")?,
            text_bytes: row.get("text_bytes")?,
            problems: row.get("problems")?,
        },
        work: works.remove(&row.get("target_id")?),
    })
}

/// Returns the number of rejects that name no known target, per cluster.
fn elsewhere(client: &SpiClient<'_>) -> Result<Vec<(String, f64)>, Error> {
    client
        .query(include_str!("metrics/rejects.sql"), &[])?
        .map(|row| Ok((row.get("cluster")?, row.get("rejects")?)))
        .collect()
}

fn works(client: &SpiClient<'_>) -> Result<BTreeMap<i32, Work>, Error> {
    let mut works = BTreeMap::new();
    for row in PAUSE.among(client.query(&*statement()?, &[])?) {
        let work = Work {
            seconds: row.get("seconds")?,
            active: row.get("active")?,
            amounts: row.get("amounts")?,
            usecs: row.get("usecs")?,
        };
        works.insert(row.get("target_id")?, work);
    }
    Ok(works)
}

fn statement() -> Result<String, Error> {
    let names = OPERATIONS.iter().map(|operation| operation.name.to_owned());
    let timed = OPERATIONS
        .iter()
        .filter(|operation| operation.in_service_time());
    let last_of_a_day = views::last_since("now() - interval '1 day'");
    Ok(sql!(
        "metrics/rates.sql",
        pace_of_a_day = views::pace(&last_of_a_day),
        last_work = views::LAST_WORK,
        amounts = sums(names)?,
        usecs = sums(timed.map(usecs_name))?,
    ))
}

impl Work {
    /// Returns whether the server reports times; `None` if nothing was done.
    fn timed(&self) -> Option<bool> {
        self.active.then(|| self.usecs.iter().any(Option::is_some))
    }

    /// Returns the sum of amounts per second. The sum is taken before the division: sums of whole numbers are exact,
    /// sums of rates are not.
    fn rate<'a>(&self, amounts: impl Iterator<Item = &'a Option<f64>>) -> f64 {
        // `sum` would begin at -0.
        amounts.flatten().fold(0.0, |sum, amount| sum + amount) / self.seconds
    }
}

impl Target {
    fn labels(&self) -> [(&'static str, &str); 4] {
        [
            ("cluster", &self.cluster),
            ("filesystem", &self.filesystem),
            ("kind", &self.kind),
            ("target", &self.name),
        ]
    }

    fn kind(&self) -> TargetKind {
        if self.kind == "MDT" {
            TargetKind::Mdt
        } else {
            TargetKind::Ost
        }
    }

    /// Returns the operations that targets of its kind report, with the amount of each.
    fn operations(&self) -> impl Iterator<Item = (&'static Operation, &Option<f64>)> {
        let amounts = self.work.iter().flat_map(|work| &work.amounts);
        OPERATIONS
            .iter()
            .zip(amounts)
            .filter(|(operation, _)| operation.on(self.kind()))
    }

    /// Returns the calls per second of all metadata operations of an MDT.
    fn metadata(&self) -> Option<f64> {
        let work = self.work.as_ref()?;
        let calls = self.operations().filter(|(it, _)| it.metadata);
        (self.kind() == TargetKind::Mdt).then(|| work.rate(calls.map(|(_, calls)| calls)))
    }

    /// Returns the mean number of requests in service. A target that did nothing is assumed to report times if others
    /// do.
    fn service_time(&self, others_timed: bool) -> Option<f64> {
        let work = self.work.as_ref()?;
        work.timed()
            .unwrap_or(others_timed)
            .then(|| work.rate(work.usecs.iter()) / 1e6)
    }
}

fn exposition(
    targets: &[Target],
    elsewhere: &[(String, f64)],
    maintenance: &Maintenance,
) -> Result<String, ExpositionError> {
    let mut out = Exposition::default();
    health(&mut out, targets)?;
    counts(&mut out, targets)?;
    of_each(
        &mut out,
        targets,
        "jobstats_rejects",
        None,
        "Rows that came to jobstats.rejects within the last hour; without a target: those that name none that is known.",
        |target| target.rejects,
    )?;
    for (cluster, rejects) in elsewhere {
        out.sample([("cluster", cluster.as_str())], *rejects)?;
    }
    work(&mut out, targets)?;
    maintenance.tell(&mut out)?;
    out.finish()
}

fn health(out: &mut Exposition, targets: &[Target]) -> Result<(), ExpositionError> {
    out.gauge(
        "jobstats_target_status",
        None,
        "1 for the status of the target in jobstats.health, 0 for the others.",
    )?;
    for target in targets {
        for status in STATUSES {
            let labels = target.labels().into_iter().chain([("status", status)]);
            out.sample(labels, f64::from(u8::from(target.status == status)))?;
        }
    }
    of_each(
        out,
        targets,
        "jobstats_target_last_observation_timestamp_seconds",
        Some("seconds"),
        "When the target was last observed, in seconds since 1970.",
        |target| target.last_observation,
    )?;
    of_each(
        out,
        targets,
        "jobstats_target_delay_seconds",
        Some("seconds"),
        "From the last reading of the target to its arrival in the database.",
        |target| target.delay,
    )?;
    of_each(
        out,
        targets,
        "jobstats_target_usual_interval_seconds",
        Some("seconds"),
        "Median of the last intervals between observations.",
        |target| target.usual_interval,
    )
}

/// Writes what has been counted since the target was first observed.
fn counts(out: &mut Exposition, targets: &[Target]) -> Result<(), ExpositionError> {
    out.counter(
        "jobstats_target_observations",
        None,
        "Observations that were stored of the target.",
    )?;
    samples(out, targets, |target| Some(target.counts.observations))?;
    out.counter(
        "jobstats_target_text_bytes",
        Some("bytes"),
        "Size of the texts of these observations.",
    )?;
    samples(out, targets, |target| Some(target.counts.text_bytes))?;
    out.counter(
        "jobstats_target_problems",
        None,
        "Pieces of these texts that could not be used.",
    )?;
    samples(out, targets, |target| Some(target.counts.problems))
}

fn work(out: &mut Exposition, targets: &[Target]) -> Result<(), ExpositionError> {
    let works = targets.iter().filter_map(|target| target.work.as_ref());
    let timed = works.filter_map(Work::timed).max().unwrap_or(true);
    of_operations(
        out,
        targets,
        "jobstats_target_calls_per_second",
        "calls_per_second",
        "Calls per second in the last observation. Some calls count in two operations: do not sum over them.",
        Kind::Requests,
    )?;
    of_operations(
        out,
        targets,
        "jobstats_target_bytes_per_second",
        "bytes_per_second",
        "Bytes per second in the last observation.",
        Kind::Bytes,
    )?;
    of_each(
        out,
        targets,
        "jobstats_target_metadata_calls_per_second",
        Some("calls_per_second"),
        "Calls per second of all metadata operations in the last observation.",
        Target::metadata,
    )?;
    of_each(
        out,
        targets,
        "jobstats_target_requests_in_service",
        None,
        "Mean number of requests in service in the last observation: the seconds per second that the server spent on requests.",
        |target| target.service_time(timed),
    )
}

/// Writes a family of gauges with a sample of each target that has a value.
fn of_each(
    out: &mut Exposition,
    targets: &[Target],
    name: &'static str,
    unit: Option<&str>,
    help: &str,
    value: impl Fn(&Target) -> Option<f64>,
) -> Result<(), ExpositionError> {
    out.gauge(name, unit, help)?;
    samples(out, targets, value)
}

/// Writes a sample of each target that has a value.
fn samples(
    out: &mut Exposition,
    targets: &[Target],
    value: impl Fn(&Target) -> Option<f64>,
) -> Result<(), ExpositionError> {
    for target in targets {
        if let Some(value) = value(target) {
            out.sample(target.labels(), value)?;
        }
    }
    Ok(())
}

/// Writes a family with the rates of all operations of a kind.
fn of_operations(
    out: &mut Exposition,
    targets: &[Target],
    name: &'static str,
    unit: &str,
    help: &str,
    kind: Kind,
) -> Result<(), ExpositionError> {
    out.gauge(name, Some(unit), help)?;
    for target in targets {
        let Some(work) = &target.work else { continue };
        for (operation, amount) in target.operations().filter(|(it, _)| it.kind == kind) {
            let labels = target
                .labels()
                .into_iter()
                .chain([("operation", operation.name)]);
            out.sample(labels, work.rate(std::iter::once(amount)))?;
        }
    }
    Ok(())
}
