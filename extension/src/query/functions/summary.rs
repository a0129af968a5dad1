//! `jobstats_summary()` reports the usage of each job, user or node in one row.

use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::Rows;
use crate::query::answer::answer;
use crate::query::dimension::By;
use crate::query::filters::Filters;
use crate::query::measure::Measures;
use crate::query::question::{Period, Question, SUMMARY, Wanted};

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_summary(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    "by" text[] DEFAULT '{job}',
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    @dimensions@,
    first timestamptz, last_active timestamptz, nodes bigint, read_bytes numeric, write_bytes numeric, read numeric,
    write numeric, opens numeric, metadata numeric, service_time numeric, busiest_target text
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_summary IS
'Sums up what each job or user did, in one wide row. Per group in (since, until]: from when to when, on how many nodes, bytes and calls read and written, files opened, calls of metadata, seconds that servers spent on it, and the target that spent most on it (where servers report no times, the one with most calls). Totals are exact. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing have a row too. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown dimension or an empty window, 54000 for over a million rows, 55000 where there is no store.';
"#)]
fn jobstats_summary(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let by = arguments.take()?;
    let filters = Filters::take(&mut arguments)?.excluding(arguments.take()?)?;
    let question = Question {
        period,
        by: By::parse(by, &["job"])?,
        measures: Measures::named(SUMMARY.map(|it| it.1))?,
        filters,
        wanted: Wanted::Summary,
    };
    answer(question, rows)
}
