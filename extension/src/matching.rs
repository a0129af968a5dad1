//! Matches entries with jobs by the rules of [`jobstats_core::accounting::matching`]: `jobstats.job_ids` and `jobstats.entry_jobs`.
//!
//! `jobstats.to_match` is a queue of job numbers. Feeds add the numbers of new and changed entries and runs; [maintenance](sweep) adds
//! the numbers of entries with newly active days and of renamed users. Maintenance also empties the queue, so a failed match stops no feed.

pub mod attributed;
mod entries;
mod finished;
mod jobs;

use std::collections::BTreeMap;

use jobstats_core::accounting::matching::Job;
use jobstats_core::base::instant::{DAY, MINUTE, Micros};
use jobstats_core::identity::entry_id::Identity;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::spi::{SqlResult, Statements, connect_mut, values};
use crate::pg::template::sql;

/// The largest number of job numbers in a batch.
const AT_A_TIME: i64 = 1_000;

/// The number of runs that are in memory at once.
const RUNS: i64 = 10_000;

/// The largest number of runs of a number and scheduler. Older ones are ignored.
const RUNS_MAX: i64 = 10_000;

/// The time between two snapshots: with the cleanup interval, I/O of a job may appear so long after its end.
const READING: Micros = 10 * MINUTE;

/// The cleanup interval of targets that have not reported one.
const CLEANUP: Micros = 10 * MINUTE;

/// The longest cleanup interval of a target in microseconds.
const LONGEST_CLEANUP: &str =
    "SELECT max(extract(epoch FROM t.cleanup_interval) * 1000000)::bigint FROM jobstats.targets t";

/// Returns how long after the end of a job its I/O may appear.
fn late(cleanup: Option<Micros>) -> Micros {
    cleanup.unwrap_or(CLEANUP).clamp(0, DAY) + READING
}

/// The jobs of a number.
#[derive(Default)]
struct NumberJobs {
    jobs: Vec<Job>,
    /// The keys in `jobstats.job_ids`.
    keys: Vec<i64>,
}

/// Jobs by number.
type Jobs = BTreeMap<String, NumberJobs>;

/// The state of the store that all matches depend on.
struct Store {
    /// The time of the newest accounting of each scheduler.
    newest: BTreeMap<String, Micros>,
    /// The delay after the end of a job in which its I/O may appear.
    late: Micros,
    /// The end of the daily rollup.
    days: TimestampWithTimeZone,
}

/// Matches the entries of a batch of numbers, and returns their number. The caller holds the lock on jobs.
pub fn take(client: &mut SpiClient<'_>) -> Result<i64, Error> {
    let taken = client.execute_rows(include_str!("matching/take.sql"), &values![AT_A_TIME])?;
    let numbers: Vec<String> = taken.map(|row| row.at(1)).collect::<Result<_, _>>()?;
    let taken = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
    if numbers.is_empty() {
        return Ok(taken);
    }
    let store = Store::read(client)?;
    // The planner would scan small tables sequentially, for each portion.
    let _pinned = Pinned::new([(c"enable_seqscan", c"off")]);
    let mut claims = Vec::new();
    for numbers in portions(client, numbers)? {
        // The end of the connection frees the rows that were read.
        let jobs = connect_mut(|client| jobs::renew(client, &numbers, &store))?;
        claims.extend(entries::renew(client, &numbers, &jobs, &store)?);
        finished::queue(client, &numbers, &jobs, &store)?;
    }
    // One statement locks them in the order of feeds.
    if !claims.is_empty() {
        let claim = sql!(
            "matching/claim.sql",
            without_job = Identity::WORKLOAD_WITHOUT_JOB
        );
        client.execute(&claim, &values![claims])?;
    }
    Ok(taken)
}

/// Divides numbers so that the runs of each portion fit into memory.
fn portions(client: &mut SpiClient<'_>, numbers: Vec<String>) -> Result<Vec<Vec<String>>, Error> {
    let counts = client.execute_rows(
        include_str!("matching/counts.sql"),
        &values![numbers, RUNS_MAX],
    )?;
    let (mut portions, mut sum) = (vec![Vec::new()], 0_i64);
    for row in counts {
        let (number, runs): (String, i64) = (row.at(1)?, row.at(2)?);
        sum = sum.saturating_add(runs);
        if sum > RUNS {
            portions.push(Vec::new());
            sum = runs;
        }
        if let Some(last) = portions.last_mut() {
            last.push(number);
        }
    }
    Ok(portions)
}

impl Store {
    fn read(client: &mut SpiClient<'_>) -> Result<Self, Error> {
        let newest = client.execute_rows(include_str!("matching/newest.sql"), &[])?;
        let newest = newest.map(|row| Ok((row.at(1)?, row.at(2)?)));
        let newest = newest.collect::<Result<_, Error>>()?;
        let cleanup = client.execute_value(LONGEST_CLEANUP, &[])?;
        let days = client.query_only(
            "SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = '1d'",
            &[],
            "rollups",
        )?;
        Ok(Self {
            newest,
            late: late(cleanup),
            days: days.get("refreshed")?,
        })
    }
}

/// Queues job numbers to match again, and returns how many: short forms of Flux, jobs of renamed users, and entries that were active on days
/// without a match.
///
/// Feeds only record new names of users: a job that another feed is storing is found here, or queued by that feed.
pub fn sweep(client: &mut SpiClient<'_>) -> Result<i64, Error> {
    let renumbered = client.execute(include_str!("matching/short_forms.sql"), &[])?;
    let renamed = client.execute(include_str!("matching/resolve.sql"), &[])?;
    let state = client.query_only(
        "SELECT r.matched, greatest(r.matched, (SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = '10m')) AS refreshed, \
         (SELECT l.refreshed FROM jobstats.rollups l WHERE l.level = '1d') AS days, \
         ARRAY(SELECT DISTINCT g.instant + interval '1 microsecond' \
             FROM jobstats.dirty d CROSS JOIN LATERAL generate_series(date_bin(interval '1 day', d.span_from, timestamptz 'epoch'), \
             d.span_to - interval '1 microsecond', interval '1 day') AS g (instant) \
             WHERE d.known AND d.span_from < r.matched) AS late \
         FROM jobstats.refresh r",
        &[],
        "refresh",
    )?;
    let time = |name| state.get::<TimestampWithTimeZone>(name);
    let (matched, refreshed, days) = (time("matched")?, time("refreshed")?, time("days")?);
    let late: Option<Vec<TimestampWithTimeZone>> = state.get("late")?;
    let queued = client.execute(
        include_str!("matching/sweep.sql"),
        &values![matched, days, refreshed, late],
    )?;
    client.execute(
        "UPDATE jobstats.refresh r SET matched = $1",
        &values![refreshed],
    )?;
    let queued = queued.saturating_add(renamed).saturating_add(renumbered);
    Ok(i64::try_from(queued).unwrap_or(i64::MAX))
}

/// The lock that serializes feeds of jobs and matching.
pub const LOCK_JOBS: &str = "SELECT FROM jobstats.locks l WHERE l.name = 'jobs' FOR UPDATE";

/// Queues all entries after identities have changed. Entries without a job in accounting lose theirs.
pub fn forget(client: &mut SpiClient<'_>) -> Result<(), Error> {
    client.execute(LOCK_JOBS, &[])?;
    client.execute(include_str!("matching/forget.sql"), &[])?;
    client.run(
        "INSERT INTO jobstats.to_match (job) SELECT DISTINCT j.job FROM jobstats.jobs j",
        &[],
    )
}

/// Queues entries whose identities have changed. Until they are matched they have no job, because it may be another user's. The caller holds
/// the lock on jobs.
pub fn forget_some(
    client: &mut SpiClient<'_>,
    changed: Vec<i64>,
    numbers: Vec<Option<String>>,
) -> Result<(), Error> {
    client.execute(
        "INSERT INTO jobstats.to_match (job) SELECT DISTINCT n.job FROM unnest($1::text[]) AS n (job) \
         WHERE n.job IS NOT NULL AND EXISTS (SELECT FROM jobstats.jobs)",
        &values![numbers],
    )?;
    let gone = client.execute_rows(
        "DELETE FROM jobstats.entry_jobs j WHERE j.entry_id = ANY ($1) RETURNING j.entry_id, j.valid_from, j.valid_to",
        &values![changed],
    )?;
    entries::note_changed(client, gone)
}

#[pg_extern(sql = false)]
fn jobstats_match_some() -> SqlResult<Option<i64>> {
    Ok(Some(connect_mut(take)?).filter(|taken| *taken > 0))
}

#[pg_extern(sql = false)]
fn jobstats_queue_unmatched() -> SqlResult<i64> {
    Ok(connect_mut(sweep)?)
}
