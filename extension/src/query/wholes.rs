//! The own counters of targets beside an answer about their entries.

use std::collections::HashMap;

use jobstats_core::quantity::Quantity;
use pgrx::IntoDatum;
use pgrx::spi::SpiClient;
use serde_json::Value;

use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::pg::spi::Statements;
use crate::pg::tuples::{FLOATS, Tuples};
use crate::pg::tuplestore::{ColumnType, Rows};
use crate::query::dimension::{By, Level};
use crate::query::groups::Group;
use crate::query::labels::{Places, UNTRACKED, covered, formatted, label, rounded};
use crate::query::plan::Plan;
use crate::query::question::Question;
use crate::query::statement::Statement;

/// The targets of an answer as wholes, by the dimensions of targets that the answer is grouped by.
pub struct Wholes<'a> {
    found: Tuples<'a>,
    /// The dimensions by which targets are told apart.
    by: By,
    /// The work of each group of targets in all, where that is known.
    totals: HashMap<Group, f64>,
    /// The rows of `found` with work that is in no entry.
    untracked: Vec<usize>,
}

impl<'a> Wholes<'a> {
    /// Finds what the targets of a ranking did in all, and what of it is in no entry, if that is wanted; `None` if the answer is
    /// about servers, or no target was ever fed as a whole.
    pub fn find(
        client: &'a SpiClient<'_>,
        question: &Question,
        plan: &Plan,
        untracked: bool,
    ) -> Result<Option<Self>, Error> {
        let Some(of_targets) = question.about_targets() else {
            return Ok(None);
        };
        // A plan costs milliseconds. The sums of days are kept for ever.
        let has_any = "SELECT EXISTS (SELECT FROM jobstats.rollup_1d_targets)";
        if !client.query_value::<bool>(has_any, &[])? {
            return Ok(None);
        }
        let Some(of_entries) = Plan::over(client, &of_targets, plan.window.clone())? else {
            return Ok(None);
        };
        let wanted = untracked && !question.filters.has(Level::Entry);
        let wholes = plan.of_wholes(client)?;
        let query = Statement::new(&of_targets, &of_entries, None).unaccounted(&wholes, wanted);
        let mut found = Tuples::query(client, &query.sql, &query.params)?;
        let by = of_targets.by;
        let of_group = Places::find(&by, &found, None)?;
        let total = found.place_of("amount", &FLOATS)?;
        let rest = found.place_of("amount_in_no_entry", &FLOATS)?;
        let (mut totals, mut rows) = (HashMap::new(), Vec::new());
        for row in 0..found.len() {
            found.read(row);
            let Some((total, rest)) = found.float(total).zip(found.float(rest)) else {
                continue;
            };
            totals.insert(of_group.group(&found), total);
            if wanted && rest > 0.0 {
                rows.push(row);
            }
        }
        Ok(Some(Self {
            found,
            by,
            totals,
            untracked: rows,
        }))
    }

    /// Returns what tells the part that the current group of an answer has in what its targets did in all; `None` if that is
    /// unknown.
    pub fn shares<'s>(
        &'s self,
        groups: &Tuples<'_>,
    ) -> Result<impl Fn(&Tuples<'_>) -> Option<f64> + use<'s, 'a>, Error> {
        let amount = groups.place_of("amount", &FLOATS)?;
        let of_group = Places::find(&self.by, groups, None)?;
        Ok(move |groups: &Tuples<'_>| {
            let total = self.totals.get(&of_group.group(groups))?;
            Some(groups.float(amount)? / total).filter(|share| share.is_finite())
        })
    }

    /// Writes a row for the work of each group of targets that is in no entry, and returns their number.
    pub fn write(mut self, operation: &str, rows: &mut Rows) -> Result<usize, Error> {
        let asked = rows.columns();
        let place = |name| self.found.place_of(name, &FLOATS);
        let (amount, share) = (place("amount_in_no_entry")?, place("share")?);
        let coverage = place("coverage")?;
        let of_group = Places::find(&self.by, &self.found, None)?;
        for row in &self.untracked {
            self.found.read(*row);
            let found = &self.found;
            let copied = |name: &str| found.datum(found.place(name).ok()?);
            let group = of_group.group(found);
            let values = rows.within(|| {
                let value = |column: &ColumnType| match column.name.as_str() {
                    "name" => name(&group).into_datum(),
                    "labels" => labels(&self.by, &group).into_datum(),
                    "formatted" => {
                        formatted(found.float(amount), operation, Quantity::Total).into_datum()
                    }
                    "total" => copied("untracked"),
                    "share_of_target" => found.float(share).map(rounded).into_datum(),
                    "coverage" => found.float(coverage).map(covered).into_datum(),
                    name @ ("operation" | "rate") => copied(name),
                    _ => None,
                };
                asked.iter().map(value).collect::<Vec<_>>()
            });
            rows.put_row(&values);
        }
        Ok(self.untracked.len())
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
