//! `jobstats_summary()` reports the usage of each job, user or node in one row.

use pgrx::AnyNumeric;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::pg::argument::Short;
use crate::pg::error::Error;
use crate::query::answer::{BETWEEN, Columns, ask_for};
use crate::query::arguments::{Filters, Ids, Period, Texts};
use crate::query::dimension::{By, Dimension, Dimensions};
use crate::query::measure::Measures;
use crate::query::question::{Question, Wanted};

/// The measures in the order of the columns.
const OPERATIONS: [&str; 7] = [
    "read_bytes",
    "write_bytes",
    "read",
    "write",
    "open",
    "metadata",
    "service_time",
];

/// One row of the answer.
struct Row {
    dimensions: Dimensions,
    totals: [Option<AnyNumeric>; OPERATIONS.len()],
    first: Option<TimestampWithTimeZone>,
    last_active: Option<TimestampWithTimeZone>,
    nodes: Option<i64>,
    busiest_target: Option<String>,
}

impl Row {
    fn read(by: &By, columns: &mut Columns<'_>) -> Result<Self, Error> {
        let dimensions = columns.dimensions(by)?;
        columns.skip(BETWEEN);
        let mut totals = [const { None }; OPERATIONS.len()];
        for total in &mut totals {
            *total = columns.take()?;
            // The rate of the measure.
            columns.skip(1);
        }
        Ok(Self {
            dimensions,
            totals,
            first: columns.take()?,
            last_active: columns.take()?,
            nodes: columns.take()?,
            busiest_target: columns.take()?,
        })
    }
}

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_summary(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    "by" text[] DEFAULT '{job}',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    server text[] DEFAULT NULL, workload text[] DEFAULT NULL, job text[] DEFAULT NULL, node text[] DEFAULT NULL,
    executable text[] DEFAULT NULL, status text[] DEFAULT NULL, uid bigint[] DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, server text, workload text, job text, node text,
    executable text, status text, uid bigint,
    first timestamptz, last_active timestamptz, nodes bigint, read_bytes numeric, write_bytes numeric, read numeric,
    write numeric, opens numeric, metadata numeric, service_time numeric, busiest_target text
)
LANGUAGE c STABLE PARALLEL RESTRICTED
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_summary IS
'What each group did in (since, until], in one row: from when to when, on how many nodes, bytes and calls read and written, files opened, calls of metadata, seconds that servers spent on it, and the target that spent most on it (where servers report no times, the one with most calls). Totals are exact. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing have a row too. A NULL argument is as if left out. Errors: 22023 for an unknown dimension or an empty window, 54000 for over a million rows, 55000 where there is no store.';
"#)]
fn jobstats_summary(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
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
            name!(first, Option<TimestampWithTimeZone>),
            name!(last_active, Option<TimestampWithTimeZone>),
            name!(nodes, Option<i64>),
            name!(read_bytes, Option<AnyNumeric>),
            name!(write_bytes, Option<AnyNumeric>),
            name!(read, Option<AnyNumeric>),
            name!(write, Option<AnyNumeric>),
            name!(opens, Option<AnyNumeric>),
            name!(metadata, Option<AnyNumeric>),
            name!(service_time, Option<AnyNumeric>),
            name!(busiest_target, Option<String>),
        ),
    >,
    pgrx::pg_sys::panic::ErrorReport,
> {
    let operations = OPERATIONS.map(|name| Some(name.to_owned())).to_vec();
    let question = Question {
        period: Period {
            since,
            until,
            ..Period::default()
        },
        by: By::parse(by, &[Dimension::Job])?,
        measures: Measures::parse(Some(Short(operations)), None)?,
        filters: Filters {
            texts: [
                cluster, filesystem, kind, target, server, workload, job, node, executable, status,
            ],
            uid,
        },
        totals: true,
        calls: false,
        wanted: Wanted::Summary,
    };
    let rows = ask_for(&question, |_, columns| Row::read(&question.by, columns))?;
    Ok(TableIterator::new(rows.into_iter().map(|row| {
        let dimensions = row.dimensions;
        let [
            read_bytes,
            write_bytes,
            read,
            write,
            opens,
            metadata,
            service_time,
        ] = row.totals;
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
            row.first,
            row.last_active,
            row.nodes,
            read_bytes,
            write_bytes,
            read,
            write,
            opens,
            metadata,
            service_time,
            row.busiest_target,
        )
    })))
}
