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

#[pg_extern(sql = false)]
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
