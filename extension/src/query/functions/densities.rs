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

#[pg_extern(sql = false)]
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
