//! `jobstats_rates()` reports the usage per second over time.

use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

use crate::pg::jsonb::Jsonb;
use crate::query::answer::ask;
use crate::query::arguments::{Filters, Ids, Period, Texts};
use crate::query::dimension::{By, Dimension};
use crate::query::measure::Measures;
use crate::query::question::{Question, Wanted};

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_rates(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}', step interval DEFAULT NULL,
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL, weights jsonb DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision,
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint,
    operation text, rate double precision, coverage double precision
)
LANGUAGE c STABLE PARALLEL RESTRICTED
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_rates IS
'Usage per second in (since, until], per step and group: one row for the window where step is NULL. A rate is the sum over targets of total / seconds that the target was observed; coverage is the observed part of all time, 0 to 1. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing give 0, and NULL if they were not observed. A NULL argument is as if left out. Errors: 22023 for unknown operations and dimensions and for windows and steps that are empty, 54000 for over a million rows or 100,000 steps, or a million steps of all targets together, 55000 where there is no store.';
"#)]
fn jobstats_rates(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    operations: Texts,
    by: Texts,
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
    weights: Option<Jsonb<'_>>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(time, TimestampWithTimeZone),
            name!(seconds, f64),
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
            name!(rate, Option<f64>),
            name!(coverage, f64),
        ),
    >,
    pgrx::pg_sys::panic::ErrorReport,
> {
    let rows = ask(&Question {
        period: Period {
            since,
            until,
            step,
            fixed: false,
        },
        by: By::parse(by, &[Dimension::Target])?,
        measures: Measures::parse(operations, weights)?,
        filters: Filters {
            texts: [
                cluster, filesystem, kind, target, server, workload, job, node, executable, status,
            ],
            uid,
        },
        totals: false,
        calls: false,
        wanted: Wanted::All,
    })?;
    Ok(TableIterator::new(rows.into_iter().map(|row| {
        let dimensions = row.dimensions;
        (
            row.time,
            row.seconds,
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
            row.rate,
            row.coverage,
        )
    })))
}
