//! Target counters that supplement an answer about entries.

use std::collections::HashMap;

use jobstats_core::output::quantity::Quantity;
use jobstats_core::usage::{Measure, Untracked};
use pgrx::spi::SpiClient;
use serde_json::Value;

use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::pg::tuplestore::{Cell, IntoCell, Rows};
use crate::query::answer::number;
use crate::query::dimension::{By, Level};
use crate::query::engine::Request;
use crate::query::labels::{Group, UNTRACKED, covered, formatted, label, rounded};
use crate::query::plan::Plan;
use crate::query::question::Question;

/// Target counters of an answer, by the dimensions of targets that the answer is grouped by.
pub struct TargetCounters {
    /// The dimensions that distinguish targets.
    by: By,
    /// The work of each group of targets in all, where that is known.
    totals: HashMap<Group, f64>,
    /// The work that is in no entry.
    untracked: Vec<Untracked>,
}

impl TargetCounters {
    /// Returns the totals of the targets of a ranking and, if `wanted`, their untracked part; `None` if the answer is about servers, or
    /// the store has no target counters.
    pub fn find(
        client: &SpiClient<'_>,
        question: &Question,
        plan: &Plan,
        wanted: bool,
    ) -> Result<Option<Self>, Error> {
        let has_any = plan.state.has_target_counters;
        let Some(of_targets) = question.about_targets().filter(|_| has_any) else {
            return Ok(None);
        };
        let of_entries = plan.again(client, &of_targets)?;
        let wanted = wanted && !question.filters.has(Level::Entry);
        let request = Request::of(&of_targets, &of_entries, None);
        // Sums of entries cost as much as the rest of the answer.
        let usage = match wanted {
            true => request.read()?,
            false => request.read_targets()?,
        };
        let mut untracked = request.untracked(&usage)?;
        untracked.retain(|it| it.total.is_some() && it.untracked.is_some());
        let unit = of_targets.measures.list[0].unit() as f64;
        let total = |it: &Untracked| it.total.unwrap_or(0) as f64 / unit;
        let totals = untracked.iter().map(|it| (it.group.clone(), total(it)));
        let totals: HashMap<Group, f64> = totals.collect();
        untracked.retain(|it| wanted && it.untracked > Some(0));
        Ok(Some(Self {
            totals,
            untracked,
            by: of_targets.by.clone(),
        }))
    }

    /// Returns the part that an amount of a group has in what its targets did in all, rounded; `None` if that is unknown.
    pub fn share(&self, by: &By, group: &Group, amount: Option<f64>) -> Option<f64> {
        let values = by.iter().zip(group);
        let of_targets = values.filter(|it| it.0.level == Level::Target);
        let of_targets: Group = of_targets.map(|it| it.1.clone()).collect();
        let share = Some(amount? / self.totals.get(&of_targets)?);
        share.filter(|it| it.is_finite()).map(rounded)
    }

    /// Writes a row of a ranking for the work of each group of targets by a measure that is in no entry.
    pub fn write(&self, measure: &Measure, seconds: f64, rows: &mut Rows) -> Result<(), Error> {
        let operation = measure.name.as_str();
        for it in &self.untracked {
            let untracked = it.untracked.unwrap_or(0);
            let amount = untracked as f64 / measure.unit() as f64;
            let total = number(measure, it.untracked)?;
            let share = untracked as f64 / it.total.unwrap_or(0) as f64;
            rows.put(|| {
                [
                    Cell::NULL,
                    name(&it.group).cell(),
                    operation.cell(),
                    formatted(Some(amount), operation, Quantity::Total).cell(),
                    Cell::NULL,
                    total.cell(),
                    (amount / seconds).cell(),
                    Cell::NULL,
                    Cell::NULL,
                    rounded(share).cell(),
                    covered(it.coverage).cell(),
                    labels(&self.by, &it.group).cell(),
                ]
            });
        }
        Ok(())
    }
}

/// Returns the name of the work of a group of targets that is in no entry.
fn name(group: &Group) -> String {
    let values = group.iter().flatten().map(String::as_str);
    let values = values.filter(|it| !it.is_empty());
    values.chain([UNTRACKED]).collect::<Vec<_>>().join(", ")
}

/// Returns its labels, which are no filter.
fn labels(by: &By, group: &Group) -> Option<Jsonb<'static>> {
    let values = by.iter().zip(group);
    let values = values.map(|(it, value)| (it.name.to_owned(), label(it, value.as_deref())));
    let values = values.chain([(UNTRACKED.to_owned(), true.into())]);
    Jsonb::of(&Value::Object(values.collect()))
}
