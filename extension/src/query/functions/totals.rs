//! `jobstats_totals()` reports the total usage of each group.

use pgrx::AnyNumeric;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::query::answer::ask;
use crate::query::arguments::{Filters, Ids, Period, Texts};
use crate::query::dimension::{By, Dimension};
use crate::query::measure::Measures;
use crate::query::question::{Question, Wanted};

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_totals(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint,
    operation text, total numeric, calls numeric, per_call double precision, coverage double precision
)
LANGUAGE c STABLE PARALLEL RESTRICTED
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_totals IS
'Usage in (since, until] per group, exact: adjacent windows add up. calls is the number of calls; per_call is bytes or microseconds per call, NULL under ten calls. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing give 0, and NULL if they were not observed. A NULL argument is as if left out. Errors: 22023 for unknown operations and dimensions and for empty windows, 54000 for over a million rows, 55000 where there is no store.';
"#)]
fn jobstats_totals(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    operations: Texts,
    by: Texts,
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
        by: By::parse(by, &[Dimension::Target])?,
        measures: Measures::parse(operations, None)?,
        filters: Filters {
            texts: [
                cluster, filesystem, kind, target, server, workload, job, node, executable, status,
            ],
            uid,
        },
        totals: true,
        calls: true,
        wanted: Wanted::All,
    })?;
    Ok(TableIterator::new(rows.into_iter().map(|row| {
        let dimensions = row.dimensions;
        (
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
            row.calls,
            row.per_call,
            row.coverage,
        )
    })))
}
