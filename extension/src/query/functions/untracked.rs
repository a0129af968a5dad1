//! `jobstats_untracked()` reports the work of targets that is in no entry.

use jobstats_core::output::quantity::Quantity;
use jobstats_core::usage::Untracked;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::{Error, shown};
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::{ask, note, number, require_more};
use crate::query::dimension::{By, Level};
use crate::query::engine::Request;
use crate::query::filters::{Filters, OF_TARGETS};
use crate::query::labels::{Labels, covered, formatted, rounded};
use crate::query::measure;
use crate::query::notice::hinted;
use crate::query::plan::Plan;
use crate::query::question::{AnswerShape, Period, Question};

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
        measures: measure::several(operations, None)?,
        filters,
        wanted: AnswerShape::Totals,
    };
    ask(question, &[], |client, question, plan| {
        let request = Request::of(question, plan, None);
        let usage = request.read()?;
        let mut found = request.untracked(&usage)?;
        found.sort_by(|one, other| {
            let key = |it: &Untracked| (it.step, it.group.clone(), it.measure);
            key(one).cmp(&key(other))
        });
        write(client, question, plan, &found, &mut rows)?;
        note(client, question, plan, rows.len)?;
        if !client.query_value::<bool>(
            "SELECT EXISTS (SELECT FROM jobstats.target_increments)",
            &[],
        )? {
            hinted(
                "no target counters were read",
                "They come from md_stats and stats, which jobstats-shipper reads by default.",
            );
        }
        plan.note_age();
        Ok(())
    })
}

fn write(
    client: &SpiClient<'_>,
    question: &Question,
    plan: &Plan,
    found: &[Untracked],
    rows: &mut Rows,
) -> Result<(), Error> {
    let groups = found.iter().map(|it| &it.group);
    let labels = Labels::new(client, question.by.clone(), groups)?;
    for it in found {
        let measure = &question.measures.list[it.measure];
        let total = number(measure, it.total)?;
        let accounted = number(measure, it.accounted)?;
        let untracked = number(measure, it.untracked)?;
        let amount = it.untracked.map(|it| it as f64 / measure.unit() as f64);
        let share = it
            .untracked
            .zip(it.total)
            .map(|(part, all)| part as f64 / all as f64);
        let start = timestamptz(plan.window.edges[it.step])?;
        require_more(rows)?;
        rows.put(|| {
            [
                start.cell(),
                labels.name(&it.group, None).cell(),
                measure.name.as_str().cell(),
                formatted(amount, &measure.name, Quantity::Total).cell(),
                share.filter(|it| it.is_finite()).map(rounded).cell(),
                total.cell(),
                accounted.cell(),
                untracked.cell(),
                covered(it.coverage).cell(),
                labels.labels(&it.group, None).cell(),
            ]
        });
    }
    Ok(())
}

/// Returns the dimensions if all are dimensions of targets.
///
/// # Errors
/// [`Error::argument`] if one is not.
fn of_targets(by: By) -> Result<By, Error> {
    let Some(other) = by.iter().find(|it| it.level != Level::Target) else {
        return Ok(by);
    };
    Err(Error::argument(
        format!("{} is not a dimension of targets", shown(other.name)),
        format!(
            "I/O without an entry has no user or job. Valid values are {}.",
            OF_TARGETS.join(", ")
        ),
    ))
}
