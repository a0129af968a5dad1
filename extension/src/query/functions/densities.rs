//! `jobstats_densities()` reports how many groups have which rate.

use jobstats_core::density::{DensityError, Edges};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

use crate::pg::argument::{Short, plain};
use crate::pg::error::Error;
use crate::query::answer::ask_for;
use crate::query::arguments::{Filters, Ids, Period, Texts};
use crate::query::dimension::{By, Dimension};
use crate::query::measure::Measures;
use crate::query::question::{Question, Wanted};

const DEFAULT_BASE: i32 = 10;

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_densities(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT 'service_time', "by" text[] DEFAULT '{uid}', base integer DEFAULT 10,
    step interval DEFAULT NULL,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, bucket integer, lower double precision, upper double precision, count bigint
)
LANGUAGE c STABLE PARALLEL RESTRICTED
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_densities IS
'Per step, how many groups (users, jobs, nodes, targets, whatever by names) have a rate in which bucket: bucket y holds the rates from lower, base ^ y, up to but not including upper, base ^ (y + 1). Only rates above 0 count; a bucket without any has no row; groups without an identifier count as one. jobstats_top() over the step with min_rate => lower tells who they are. A NULL argument is as if left out. Errors: 22023 for an unknown operation or dimension, an empty window or step or a base that is not from 2 to 100, 54000 for over a million rows or 100,000 steps, or a million steps of all targets together, 55000 where there is no store.';
"#)]
fn jobstats_densities(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    operation: Option<Short<&str>>,
    by: Texts,
    base: Option<i32>,
    step: Option<Interval>,
    cluster: Texts,
    filesystem: Texts,
    kind: Texts,
    target: Texts,
    server: Texts,
    workload: Texts,
    job: Texts,
    node: Texts,
    executable: Texts,
    status: Texts,
    uid: Ids,
) -> Result<
    TableIterator<
        'static,
        (
            name!(time, TimestampWithTimeZone),
            name!(bucket, i32),
            name!(lower, f64),
            name!(upper, f64),
            name!(count, i64),
        ),
    >,
    pgrx::pg_sys::panic::ErrorReport,
> {
    let question = Question {
        period: Period {
            since,
            until,
            step,
            fixed: false,
        },
        by: By::parse(by, &[Dimension::Uid])?,
        measures: Measures::parse_one(plain(operation).unwrap_or("service_time"), None)?,
        filters: Filters {
            texts: [
                cluster, filesystem, kind, target, server, workload, job, node, executable, status,
            ],
            uid,
        },
        totals: true,
        calls: false,
        wanted: Wanted::Densities {
            base: usable(base)?,
        },
    };
    let missing = || Error::Damaged("a bucket is incomplete".to_owned());
    let rows = ask_for(&question, |step, columns| {
        Ok((
            step.time,
            columns.take()?.ok_or_else(missing)?,
            columns.take()?.ok_or_else(missing)?,
            columns.take()?.ok_or_else(missing)?,
            columns.take()?.ok_or_else(missing)?,
        ))
    })?;
    Ok(TableIterator::new(rows))
}

/// Returns the argument `base`, which is checked even if there is no usage in the window.
///
/// # Errors
/// [`DensityError::Base`] if no buckets can have this base.
fn usable(base: Option<i32>) -> Result<i32, Error> {
    let base = base.unwrap_or(DEFAULT_BASE);
    match Edges::of(base) {
        Some(_) => Ok(base),
        None => Err(DensityError::Base(base).into()),
    }
}
