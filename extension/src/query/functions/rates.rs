//! `jobstats_rates()` reports the usage per second over time.

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
CREATE FUNCTION jobstats_rates(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}', step interval DEFAULT NULL,
    @filters@,
    weights jsonb DEFAULT NULL, exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision,
    @dimensions@,
    operation text, rate double precision, coverage double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_rates IS
'Shows usage per second over time, by user, job or target. One row per step and group in (since, until], or for the window where step is NULL. Steps lie on multiples of step on the clocks of the session; time is where one really begins, seconds its width. A rate is the sum over targets of total / seconds that the target was observed; coverage is the observed part of all time, 0 to 1. The rate of service_time is called requests in service. A dimension not named in by is NULL. Where by names only cluster, filesystem, kind, target or server, targets that did nothing give 0, and NULL if they were not observed. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for unknown operations and dimensions and for windows and steps that are empty, for steps that mix months with days, 54000 for over a million rows or 100,000 steps, or a million steps of all targets together, 55000 where there is no store.';
"#)]
fn jobstats_rates(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let mut period = Period::take(&mut arguments)?;
    let (operations, by) = (arguments.take()?, arguments.take()?);
    period.step = arguments.take()?;
    let filters = Filters::take(&mut arguments)?;
    let weights = arguments.take()?;
    let filters = filters.excluding(arguments.take()?)?;
    let question = Question {
        period,
        by: By::parse(by, &["target"])?,
        measures: Measures::parse(operations, weights)?,
        filters,
        wanted: Wanted::Rates,
    };
    answer(question, rows)
}
