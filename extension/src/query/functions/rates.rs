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

#[pg_extern(sql = false)]
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
