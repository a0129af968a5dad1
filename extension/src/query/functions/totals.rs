//! `jobstats_totals()` reports the total usage of each group.

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
CREATE FUNCTION jobstats_totals(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}',
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    @dimensions@,
    operation text, total numeric, calls numeric, per_call double precision, coverage double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_totals IS
'Shows usage in a window, exactly, by user, job or target. One row per group; totals of adjacent windows (since, until] add up. calls is the number of calls; total and per_call of times are in seconds, other per_call are bytes per call; per_call is NULL under ten calls. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing give 0, and NULL if they were not observed. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for unknown operations and dimensions and for empty windows, 54000 for over a million rows, 55000 where there is no store.';
"#)]
fn jobstats_totals(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let (operations, by) = (arguments.take()?, arguments.take()?);
    let filters = Filters::take(&mut arguments)?.excluding(arguments.take()?)?;
    let question = Question {
        period,
        by: By::parse(by, &["target"])?,
        measures: Measures::parse(operations, None)?,
        filters,
        wanted: Wanted::Totals,
    };
    answer(question, rows)
}
