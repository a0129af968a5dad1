//! `jobstats_top()` reports the groups with the largest totals.

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

const DEFAULT_N: i32 = 10;

#[pg_extern(sql = false)]
fn jobstats_top(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
    let (n, min_rate) = (arguments.take()?, arguments.take()?);
    let filters = Filters::take(&mut arguments)?;
    let weights = arguments.take()?;
    let filters = filters.excluding(arguments.take()?)?;
    let unaccounted = arguments.take()?.unwrap_or(false);
    let question = Question {
        period,
        by: By::parse(by, &["workload", "uid"])?,
        measures: Measures::parse_busy(operation.as_deref(), weights)?,
        filters,
        wanted: Wanted::Top {
            n: rows_wanted(n)?,
            min_rate,
            unaccounted,
        },
    };
    answer(question, rows)
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
