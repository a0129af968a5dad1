//! `jobstats_untracked()` reports the work of targets that is in no entry.

use jobstats_core::quantity::Quantity;
use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::error::{Error, shown};
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::tuples::Tuples;
use crate::pg::tuplestore::Rows;
use crate::query::answer::{ask, copy_rows, note};
use crate::query::dimension::{By, Level};
use crate::query::filters::{Filters, OF_TARGETS};
use crate::query::measure::Measures;
use crate::query::notice::hinted;
use crate::query::question::{Period, Question, Wanted};
use crate::query::statement::Statement;

#[pg_extern(sql = false)]
fn jobstats_untracked(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let mut period = Period::take(&mut arguments)?;
    let (operations, by) = (arguments.take()?, arguments.take()?);
    period.step = arguments.take()?;
    let filters = Filters::take(&mut arguments)?;
    filters.require_keys(&OF_TARGETS)?;
    let question = Question {
        period,
        by: of_targets(By::parse(by, "target")?)?,
        measures: Measures::parse(operations, None)?,
        filters,
        wanted: Wanted::Totals,
    };
    ask(question, |client, question, plan| {
        let wholes = plan.of_wholes(client)?;
        let query = Statement::new(question, plan, None).unaccounted(&wholes, true);
        let found = Tuples::query(client, &query.sql, &query.params)?;
        let formatted = Some(("amount_in_no_entry", Quantity::Total));
        let written = copy_rows(client, found, &question.by, formatted, &mut rows)?;
        note(client, question, plan, written)?;
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
    Err(Error::argument(
        format!("{} is no dimension of targets", shown(other.name)),
        format!(
            "Work in no entry has no user or job. Valid: {}.",
            OF_TARGETS.join(", ")
        ),
    ))
}
