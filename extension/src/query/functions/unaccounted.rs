//! `jobstats_unaccounted()` reports the work of targets that is in no entry.

use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::error::{Error, shown};
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::tuples::Tuples;
use crate::pg::tuplestore::Rows;
use crate::query::answer::{ask, copy_rows};
use crate::query::dimension::{By, DIMENSIONS, Level};
use crate::query::empty;
use crate::query::filters::Filters;
use crate::query::measure::Measures;
use crate::query::notice::hinted;
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, Wanted};
use crate::query::statement::Statement;

#[pg_extern(sql = false)]
fn jobstats_unaccounted(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let mut period = Period::take(&mut arguments)?;
    let (operations, by) = (arguments.take()?, arguments.take()?);
    let mut filters = Filters::default();
    for name in ["cluster", "filesystem", "kind", "target"] {
        filters = filters.any_of(name, arguments.take()?);
    }
    period.step = arguments.take()?;
    let question = Question {
        period,
        by: of_targets(By::parse(by, &["target"])?)?,
        measures: Measures::parse(operations, None)?,
        filters,
        wanted: Wanted::Totals,
    };
    ask(question, |client, question| {
        let Some(plan) = Plan::find(client, question)? else {
            return empty::explain(client, &question.period, &question.filters);
        };
        let wholes = plan.of_wholes(client)?;
        let query = Statement::new(question, &plan, None).unaccounted(&wholes, true);
        let found = Tuples::query(client, &query.sql, &query.params)?;
        let written = copy_rows(found, &mut rows)?;
        plan.note_behind()?;
        if written == 0 {
            empty::explain_window(client, &plan.window, question)?;
        }
        if !client.query_value::<bool>(
            "SELECT EXISTS (SELECT FROM jobstats.target_increments)",
            &[],
        )? {
            hinted(
                "no target's own counters were read",
                "They come from md_stats and stats, which jobstats-shipper asks for by default.",
            );
        }
        plan.note_age();
        Ok(())
    })
}

/// Returns the dimensions if all are those of targets.
///
/// # Errors
/// [`Error::argument`] if one is not.
fn of_targets(by: By) -> Result<By, Error> {
    let Some(other) = by.iter().find(|it| it.level != Level::Target) else {
        return Ok(by);
    };
    let all = DIMENSIONS.iter().filter(|it| it.level == Level::Target);
    let names: Vec<&str> = all.map(|it| it.name).collect();
    Err(Error::argument(
        format!("{} is no dimension of targets", shown(other.name)),
        format!(
            "Work in no entry has no user or job. Valid: {}.",
            names.join(", ")
        ),
    ))
}
