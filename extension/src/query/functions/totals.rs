//! Functions whose answers are the groups of a question: `jobstats_totals()`, `jobstats_rates()`, `jobstats_summary()`,
//! `jobstats_top()`, `jobstats_densities()` and `jobstats_balance()`.

use jobstats_core::series::density::{DensityError, Edges};
use jobstats_core::usage::Measures;
use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::Rows;
use crate::query::answer::answer;
use crate::query::dimension::By;
use crate::query::filters::{Filters, OF_TARGETS};
use crate::query::measure;
use crate::query::question::{AnswerShape, DEFAULT_N, Period, Question, SUMMARY, number_of_rows};

const DEFAULT_BASE: i32 = 10;

#[pg_extern(sql = false)]
fn jobstats_totals(arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    of_operations(arguments, rows, AnswerShape::Totals)
}

#[pg_extern(sql = false)]
fn jobstats_rates(arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    of_operations(arguments, rows, AnswerShape::Rates)
}

/// Answers about operations, of rates also in steps.
fn of_operations(mut arguments: Arguments<'_>, rows: Rows, wanted: AnswerShape) -> SqlResult<()> {
    let mut period = Period::take(&mut arguments)?;
    let (operations, by) = (arguments.take()?, arguments.take()?);
    if matches!(wanted, AnswerShape::Rates) {
        period.step = arguments.take()?;
    }
    let filters = Filters::take(&mut arguments)?;
    let weights = arguments.take()?;
    let question = Question {
        period,
        by: By::parse(by, "target")?,
        measures: measure::several(operations, weights)?,
        filters,
        wanted,
    };
    answer(question, rows)
}

#[pg_extern(sql = false)]
fn jobstats_summary(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let by = arguments.take()?;
    let filters = Filters::take(&mut arguments)?;
    let question = Question {
        period,
        by: By::parse(by, "job")?,
        measures: Measures::named(SUMMARY.map(|it| it.1), None).map_err(Error::from)?,
        filters,
        wanted: AnswerShape::Summary,
    };
    answer(question, rows)
}

#[pg_extern(sql = false)]
fn jobstats_top(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
    let (n, min_rate) = (arguments.take()?, arguments.take()?);
    let filters = Filters::take(&mut arguments)?;
    let weights = arguments.take()?;
    let untracked = arguments.take()?.unwrap_or(false);
    let question = Question {
        period,
        by: By::parse(by, "user,workload")?,
        measures: measure::busy(operation.as_deref(), weights)?,
        filters,
        wanted: AnswerShape::Top {
            n: number_of_rows(n, DEFAULT_N)?,
            min_rate,
            untracked,
        },
    };
    answer(question, rows)
}

#[pg_extern(sql = false)]
fn jobstats_densities(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let mut period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
    let base = arguments.take()?.unwrap_or(DEFAULT_BASE);
    period.step = arguments.take()?;
    let filters = Filters::take(&mut arguments)?;
    let (by, measures) = (
        By::parse(by, "user")?,
        measure::busy(operation.as_deref(), None)?,
    );
    // It is wrong even if there is no usage in the window.
    if Edges::of(base).is_none() {
        return Err(Error::from(DensityError::Base(base)).into());
    }
    let question = Question {
        period,
        by,
        measures,
        filters,
        wanted: AnswerShape::Densities { base },
    };
    answer(question, rows)
}

#[pg_extern(sql = false)]
fn jobstats_balance(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let operation = arguments.take::<String>()?;
    let operation = operation.as_deref().unwrap_or("write_bytes");
    let measures = Measures::one(operation, None).map_err(Error::from)?;
    let filters = Filters::take(&mut arguments)?;
    filters.require_keys(&OF_TARGETS)?;
    let filters = match measures.list[0].on {
        _ if filters.wanted("kind").is_some() => filters,
        (true, false) => filters.only("kind", "MDT"),
        (false, true) => filters.only("kind", "OST"),
        _ => filters,
    };
    let question = Question {
        period,
        by: By::parse(
            None,
            "cluster,filesystem,kind,target,user,uid,workload,account",
        )?,
        filters,
        measures,
        wanted: AnswerShape::Leading,
    };
    answer(question, rows)
}
