//! `jobstats_densities()` reports how many groups have which rate.

use jobstats_core::density::{DensityError, Edges};
use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::Rows;
use crate::query::answer::answer;
use crate::query::dimension::By;
use crate::query::filters::Filters;
use crate::query::measure::Measures;
use crate::query::question::{Period, Question, Wanted};

const DEFAULT_BASE: i32 = 10;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_densities(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT NULL, "by" text[] DEFAULT '{uid}', base integer DEFAULT 10,
    step interval DEFAULT NULL,
    @filters@,
    exclude jsonb DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision, operation text, bucket integer, lower double precision, upper double precision, count bigint
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_densities IS
'Counts how many users, jobs or targets have which rate. Per step, of which time is the start and seconds the width, count is the number of groups (of what by names) whose rate is in the bucket; bucket y holds the rates from lower, base ^ y, up to but not including upper, base ^ (y + 1). Only rates above 0 count; a bucket without any has no row; groups without an identifier count as one. Without operation that is the rate of service_time or, where no target in scope reports times (Lustre before 2.14), of metadata of MDTs and then of bytes of OSTs. To see who they are, use jobstats_top() over the step with min_rate => lower. exclude leaves out what matches any of its lists. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, an empty window, a step that is empty or mixes months with days, or a base that is not from 2 to 100, 54000 for over a million rows or 100,000 steps, or a million steps of all targets together, 55000 where there is no store.';
"#)]
fn jobstats_densities(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let mut period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
    let base = arguments.take()?;
    period.step = arguments.take()?;
    let filters = Filters::take(&mut arguments)?.excluding(arguments.take()?)?;
    let question = Question {
        period,
        by: By::parse(by, &["uid"])?,
        measures: Measures::parse_busy(operation.as_deref(), None)?,
        filters,
        wanted: Wanted::Densities {
            base: usable(base)?,
        },
    };
    answer(question, rows)
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
