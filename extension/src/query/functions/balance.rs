//! `jobstats_balance()` reports how evenly targets are used, and who leads on each.

use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::Rows;
use crate::query::answer::answer;
use crate::query::dimension::By;
use crate::query::filters::Filters;
use crate::query::measure::Measures;
use crate::query::question::{Period, Question, Wanted};

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_balance(
    filesystem text DEFAULT NULL,
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT 'write_bytes'
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, rate double precision, ratio double precision,
    workload text, uid bigint, share double precision, coverage double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_balance(text, timestamptz, timestamptz, text) IS
'Shows which targets are busier than others, and who uses them most. Covers the file systems that are LIKE the pattern (NULL: all) in (since, until], with a row for each target of the kinds that report the operation, also where nothing was done (0) or nothing was observed (NULL). ratio is that to the median of the observed targets of the same cluster, file system and kind, NULL where that is 0. workload and uid name who did most of it there, and share is their part. The targets that are farthest above their median come first. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or an empty window, 54000 for over a million rows, 55000 where there is no store.';
"#)]
fn jobstats_balance(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let filesystem = arguments.take()?;
    let (since, until) = (arguments.take()?, arguments.take()?);
    let operation = arguments.take::<String>()?;
    let operation = operation.as_deref().unwrap_or("write_bytes");
    let measures = Measures::parse_one(operation, None)?;
    let question = Question {
        period: Period {
            since,
            until,
            ..Period::default()
        },
        by: By::these(&["cluster", "filesystem", "kind", "target", "workload", "uid"]),
        filters: filters(filesystem, &measures),
        measures,
        totals: true,
        calls: false,
        wanted: Wanted::Leading,
    };
    answer(&question, rows)
}

/// Returns the filters for the targets of these file systems that report the operation.
fn filters(filesystem: Option<String>, measures: &Measures) -> Filters {
    let mut filters = Filters::default();
    if let Some(pattern) = filesystem {
        filters = filters.only("filesystem", pattern);
    }
    match measures.on() {
        (true, false) => filters.only("kind", "MDT".to_owned()),
        (false, true) => filters.only("kind", "OST".to_owned()),
        _ => filters,
    }
}
