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

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_unaccounted(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operations text[] DEFAULT NULL, "by" text[] DEFAULT '{target}',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL,
    step interval DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision, cluster text, filesystem text, kind text, target text, operation text,
    total numeric, accounted numeric, unaccounted numeric, beyond numeric, share double precision, coverage double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_unaccounted IS
'Shows the work of targets that is in no entry of job_stats. In (since, until], or in steps of it, with a row for each group of targets and each operation of which anything was done. total is what the targets'' own counters say (md_stats and stats), without what metadata servers did on OSTs where their exports are fed; accounted is the sum of all entries. unaccounted is what is missing from that, and beyond what entries did more than the target counted, both added up target by target: total = accounted + unaccounted - beyond. Both are NULL where the own counters of a target were read for less than 98 % of the time in which its entries were observed. share is the part of the total that is unaccounted, coverage the part of the window in which the own counters were read. Times are in seconds. by names dimensions of targets. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or dimension, one of entries or servers, and an empty window, 54000 for over a million rows or too many steps, 55000 where there is no store.';
"#)]
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
