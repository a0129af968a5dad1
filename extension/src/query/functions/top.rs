//! `jobstats_top()` reports the groups with the largest totals.

use pgrx::AnyNumeric;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::pg::argument::{Short, plain};
use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::query::answer::ask;
use crate::query::arguments::{Filters, Ids, Period, Texts};
use crate::query::dimension::{By, Dimension};
use crate::query::measure::Measures;
use crate::query::question::{Question, Wanted};

const DEFAULT_BY: [Dimension; 2] = [Dimension::Workload, Dimension::Uid];
const DEFAULT_N: i32 = 10;

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_top(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT 'service_time', "by" text[] DEFAULT '{uid,workload}', n integer DEFAULT 10,
    min_rate double precision DEFAULT NULL,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, weights jsonb DEFAULT NULL
) RETURNS TABLE (
    rank bigint,
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint,
    operation text, total numeric, rate double precision, share double precision, calls numeric,
    per_call double precision, coverage double precision
)
LANGUAGE c STABLE PARALLEL RESTRICTED
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_top IS
'The n groups with the largest total of an operation in (since, until], of equal ones the first by their dimensions. share is the part of the total of all groups under the same filters; groups with a rate under min_rate are left out. calls is the number of calls; per_call is bytes or microseconds per call, NULL under ten calls. A dimension not named in by is NULL. A NULL argument is as if left out. Errors: 22023 for an unknown operation or dimension, an empty window or a negative n, 54000 for over a million rows, 55000 where there is no store.';
"#)]
fn jobstats_top(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    operation: Option<Short<&str>>,
    by: Texts,
    n: Option<i32>,
    min_rate: Option<f64>,
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
    weights: Option<Jsonb<'_>>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(rank, i64),
            name!(cluster, Option<String>),
            name!(filesystem, Option<String>),
            name!(kind, Option<String>),
            name!(target, Option<String>),
            name!(server, Option<String>),
            name!(workload, Option<String>),
            name!(job, Option<String>),
            name!(node, Option<String>),
            name!(executable, Option<String>),
            name!(status, Option<String>),
            name!(uid, Option<i64>),
            name!(operation, String),
            name!(total, Option<AnyNumeric>),
            name!(rate, Option<f64>),
            name!(share, Option<f64>),
            name!(calls, Option<AnyNumeric>),
            name!(per_call, Option<f64>),
            name!(coverage, f64),
        ),
    >,
    pgrx::pg_sys::panic::ErrorReport,
> {
    let rows = ask(&Question {
        period: Period {
            since,
            until,
            ..Period::default()
        },
        by: By::parse(by, &DEFAULT_BY)?,
        measures: Measures::parse_one(plain(operation).unwrap_or("service_time"), weights)?,
        filters: Filters {
            texts: [
                cluster, filesystem, kind, target, server, workload, job, node, executable, status,
            ],
            uid,
        },
        totals: true,
        calls: true,
        wanted: Wanted::Top {
            n: rows_wanted(n)?,
            min_rate,
        },
    })?;
    Ok(TableIterator::new((1..).zip(rows).map(|(rank, row)| {
        let dimensions = row.dimensions;
        (
            rank,
            dimensions.cluster,
            dimensions.filesystem,
            dimensions.kind,
            dimensions.target,
            dimensions.server,
            dimensions.workload,
            dimensions.job,
            dimensions.node,
            dimensions.executable,
            dimensions.status,
            dimensions.uid,
            row.operation,
            row.total,
            row.rate,
            row.share,
            row.calls,
            row.per_call,
            row.coverage,
        )
    })))
}

/// Returns the argument `n`.
///
/// # Errors
/// [`Error::argument`] if `n` is negative.
pub fn rows_wanted(n: Option<i32>) -> Result<i64, Error> {
    match n.unwrap_or(DEFAULT_N) {
        n if n >= 0 => Ok(n.into()),
        _ => Err(Error::argument(
            "n must not be negative",
            "Give the number of groups wanted, such as 10.",
        )),
    }
}
