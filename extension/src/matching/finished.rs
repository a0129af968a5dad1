//! Sums up the jobs that are done in `jobstats.job_summaries`.
//!
//! A job waits in `jobstats.to_summarize` from the time on at which accounting knows its end. A summary is made of rollups once
//! these reach past the time in which work of the job may be seen, and once all targets that are not silent were observed then. It
//! is made again if accounting or late text changes it, as long as the rollups are there.

use jobstats_core::accounting::matching::Values;
use jobstats_core::base::operation::{Kind, OPERATIONS};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::matching::jobs::UPDATE;
use crate::matching::{Jobs, Store};
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_mut, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptzs;
use crate::store::columns::{list, usecs_name};
use crate::store::sum::Sum;
use crate::store::views::{DAY_AGO, pace_since};

/// The largest number of jobs that are summed up at a time.
const AT_A_TIME: i64 = 200;

/// Queues the jobs of these numbers that are done. Summaries of jobs that turned out to be parts of others, or to run on, are
/// deleted.
pub fn queue(
    client: &mut SpiClient<'_>,
    numbers: &[String],
    jobs: &Jobs,
    store: &Store,
) -> Result<(), Error> {
    let (mut done, mut due, mut running) = (Vec::new(), Vec::new(), Vec::new());
    for known in jobs.values() {
        for (job, &key) in known.jobs.iter().zip(&known.keys) {
            match job.ended {
                Some(ended) => {
                    done.push(key);
                    due.push(ended.saturating_add(store.late));
                }
                None => running.push(key),
            }
        }
    }
    client.run(
        include_str!("finished/queue.sql"),
        &values![done, timestamptzs(&due)?, running, numbers.to_vec()],
    )
}

/// Sums up some of the jobs that are due, and returns how many these were.
fn summarize(client: &mut SpiClient<'_>) -> Result<i64, Error> {
    let take = sql!("finished/take.sql", pace = pace_since(DAY_AGO, false));
    let taken = client.execute_rows(&take, &values![AT_A_TIME])?;
    let taken: Vec<i64> = taken.map(|row| row.at(1)).collect::<Result<_, _>>()?;
    let count = i64::try_from(taken.len()).unwrap_or(i64::MAX);
    if count > 0 {
        client.execute(&summaries(), &values![taken.clone()])?;
        client.execute(include_str!("finished/energy.sql"), &values![taken])?;
    }
    Ok(count)
}

/// Returns the statement that makes the summaries of jobs.
fn summaries() -> String {
    let usage = |sum: Sum, condition: &str| {
        let value = sum.over(|column| format!("usage.\"{column}\""));
        format!("sum({value}){condition}")
    };
    let count = |name: &str| format!("sum(usage.\"{name}\")");
    let columns: Vec<String> = OPERATIONS
        .iter()
        .flat_map(|it| match it.kind {
            Kind::Bytes => vec![it.name.to_owned()],
            Kind::Requests => vec![it.name.to_owned(), usecs_name(it)],
        })
        .map(|name| format!(", rollup.\"{name}\""))
        .collect();
    let operations: Vec<String> = OPERATIONS
        .iter()
        .filter(|it| it.kind == Kind::Requests)
        .map(|it| {
            format!(
                "CASE WHEN {calls} > 0 THEN jsonb_build_object(text '{name}', jsonb_strip_nulls(jsonb_build_object(text 'calls', {calls}, \
                 text 'seconds', trim_scale({usecs} * 0.000001)))) ELSE '{{}}'::jsonb END",
                name = it.name,
                calls = count(it.name),
                usecs = count(&usecs_name(it)),
            )
        })
        .collect();
    sql!(
        "finished/summaries.sql",
        names = list(&Values::COLUMNS, "{name}"),
        values = list(&Values::COLUMNS[2..], "j.{name}"),
        updates = list(&Values::COLUMNS, UPDATE),
        columns = columns.concat(),
        operations = operations.join("\n        || "),
        metadata = usage(
            Sum::metadata_calls(),
            " FILTER (WHERE target.kind = text 'MDT')"
        ),
        service_time = usage(Sum::service_time(), ""),
        service_calls = usage(Sum::service_calls(), ""),
    )
}

#[pg_extern(sql = false)]
fn jobstats_summarize_some() -> SqlResult<Option<i64>> {
    Ok(Some(connect_mut(summarize)?).filter(|made| *made > 0))
}

#[pg_extern(sql = false)]
fn jobstats_queue_changed_summaries() -> SqlResult<i64> {
    let queued = connect_mut(|client| client.execute(include_str!("finished/changed.sql"), &[]))?;
    Ok(i64::try_from(queued).unwrap_or(i64::MAX))
}
