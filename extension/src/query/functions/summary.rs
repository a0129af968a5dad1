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

#[pg_extern(sql = false)]
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
