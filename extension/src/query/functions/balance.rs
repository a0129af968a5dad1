//! `jobstats_balance()` reports how evenly targets are used, and who leads on each.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::pg::argument::{Short, plain};
use crate::pg::error::Error;
use crate::query::answer::{Columns, Step, ask_for};
use crate::query::arguments::{Filters, Period};
use crate::query::dimension::{By, Dimension, Dimensions};
use crate::query::measure::Measures;
use crate::query::question::{Question, Wanted};

/// The row of one target.
struct Row {
    dimensions: Dimensions,
    coverage: f64,
    rate: Option<f64>,
    share: Option<f64>,
    ratio: Option<f64>,
}

impl Row {
    fn read(by: &By, step: Step, columns: &mut Columns<'_>) -> Result<Self, Error> {
        let mut dimensions = columns.dimensions(by)?;
        let observed: f64 = columns.take()?.unwrap_or(0.0);
        let (rate, share) = (columns.take()?, columns.take()?);
        if share.is_none() {
            // Nobody leads on a target without usage.
            dimensions.workload = None;
            dimensions.uid = None;
        }
        Ok(Self {
            dimensions,
            coverage: observed / step.seconds,
            rate,
            share,
            ratio: columns.take()?,
        })
    }
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_balance(
    filesystem text DEFAULT NULL,
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT 'write_bytes'
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, rate double precision, ratio double precision,
    workload text, uid bigint, share double precision, coverage double precision
)
LANGUAGE c STABLE PARALLEL RESTRICTED
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_balance(text, timestamptz, timestamptz, text) IS
'How evenly the targets of the file systems that are LIKE the pattern (NULL: of all) are used in (since, until]: a row for each target of the kinds that report the operation, also where nothing was done (0) or nothing was observed (NULL). ratio is that to the median of the observed targets of the same cluster, file system and kind, NULL where that is 0. workload and uid are who did most of it there, share their part of it. The targets that are farthest above their median come first. A NULL argument is as if left out. Errors: 22023 for an unknown operation or an empty window, 54000 for over a million rows, 55000 where there is no store.';
"#)]
fn jobstats_balance(
    filesystem: Option<Short<String>>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    operation: Option<Short<&str>>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(cluster, Option<String>),
            name!(filesystem, Option<String>),
            name!(kind, Option<String>),
            name!(target, Option<String>),
            name!(rate, Option<f64>),
            name!(ratio, Option<f64>),
            name!(workload, Option<String>),
            name!(uid, Option<i64>),
            name!(share, Option<f64>),
            name!(coverage, f64),
        ),
    >,
    pgrx::pg_sys::panic::ErrorReport,
> {
    let measures = Measures::parse_one(plain(operation).unwrap_or("write_bytes"), None)?;
    let question = Question {
        period: Period {
            since,
            until,
            ..Period::default()
        },
        by: By::these(&[
            Dimension::Cluster,
            Dimension::Filesystem,
            Dimension::Kind,
            Dimension::Target,
            Dimension::Workload,
            Dimension::Uid,
        ]),
        filters: filters(filesystem, &measures),
        measures,
        totals: true,
        calls: false,
        wanted: Wanted::Leading,
    };
    let rows = ask_for(&question, |step, columns| {
        Row::read(&question.by, step, columns)
    })?;
    Ok(TableIterator::new(rows.into_iter().map(|row| {
        let dimensions = row.dimensions;
        (
            dimensions.cluster,
            dimensions.filesystem,
            dimensions.kind,
            dimensions.target,
            row.rate,
            row.ratio,
            dimensions.workload,
            dimensions.uid,
            row.share,
            row.coverage,
        )
    })))
}

/// Returns the filters for the targets of these file systems that report the operation.
fn filters(filesystem: Option<Short<String>>, measures: &Measures) -> Filters {
    let mut filters = Filters::default();
    if let Some(Short(pattern)) = filesystem {
        filters = filters.only(Dimension::Filesystem, pattern);
    }
    match measures.on() {
        (true, false) => filters.only(Dimension::Kind, "MDT".to_owned()),
        (false, true) => filters.only(Dimension::Kind, "OST".to_owned()),
        _ => filters,
    }
}
