//! `jobstats_internal.work()` shows what each entry did in the last observation of each target, or in a bucket of a rollup.

use jobstats_core::base::operation::{Kind, OPERATIONS, Operation};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, values};
use crate::pg::time::micros;
use crate::pg::tuplestore::Rows;
use crate::query::answer::write_rows;
use crate::store;
use crate::store::columns::usecs_name;
use crate::store::rollup::{ROLLUPS, Rollup};
use crate::store::views::LAST_WORK;

/// The level of rows as they were observed.
const INCREMENTS: &str = "increments";

#[pg_extern(sql = false)]
fn jobstats_work(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let at = arguments.take::<TimestampWithTimeZone>()?;
    let level = arguments.take::<String>()?;
    let targets = arguments.take::<Vec<Option<i32>>>()?;
    at.map_or(Ok(0), micros)?;
    store::read(|client| {
        store::require(client)?;
        let (statement, at) = match level.as_deref() {
            None | Some(INCREMENTS) => (last()?, at),
            Some(level) => {
                let rollup = rollup(level)?;
                let bucket = format!("SELECT {}", rollup.bucket("coalesce($1, now())"));
                let bucket = client.query_value(&bucket, &values![at])?;
                (of_bucket(rollup), Some(bucket))
            }
        };
        write_rows(&statement, &values![at, targets], &mut rows, usize::MAX)
    })?;
    Ok(())
}

/// Returns the statement that reads what each entry did in the last observation of targets at a time, or in the last hour of it.
fn last() -> Result<String, Error> {
    Ok(format!(
        "WITH last AS MATERIALIZED (SELECT target.target_id, target.since, target.\"time\" FROM {}.jobstats_targets($1) target \
         WHERE target.since IS NOT NULL AND ($2 IS NULL OR target.target_id = ANY ($2))), {LAST_WORK} \
         SELECT work.target_id, work.entry_id, {} FROM work",
        store::extension_schema()?,
        columns("work")
    ))
}

/// Returns the statement that reads what each entry did on targets in a bucket.
fn of_bucket(rollup: &Rollup) -> String {
    format!(
        "SELECT summed.target_id, summed.entry_id, {} FROM jobstats.{} summed \
         WHERE summed.bucket = $1 AND ($2 IS NULL OR summed.target_id = ANY ($2))",
        columns("summed"),
        rollup.live()
    )
}

fn rollup(level: &str) -> Result<&'static Rollup, Error> {
    let known = ROLLUPS.iter().find(|rollup| rollup.name == level);
    known.ok_or_else(|| {
        let names = ROLLUPS.iter().map(|rollup| rollup.name);
        let valid: Vec<&str> = [INCREMENTS].into_iter().chain(names).collect();
        Error::unknown("level", level, valid.join(", "))
    })
}

/// Returns arrays of the totals and the times of all operations, as columns of a table.
fn columns(table: &str) -> String {
    let usecs = |operation: &Operation| match operation.kind {
        Kind::Requests => format!("{table}.\"{}\"", usecs_name(operation)),
        Kind::Bytes => "NULL".to_owned(),
    };
    let total = |operation: &Operation| format!("{table}.\"{}\"", operation.name);
    let totals: Vec<String> = OPERATIONS.iter().map(total).collect();
    let usecs: Vec<String> = OPERATIONS.iter().map(usecs).collect();
    format!(
        "ARRAY[{}]::bigint[] AS totals, ARRAY[{}]::bigint[] AS usecs",
        totals.join(", "),
        usecs.join(", ")
    )
}
