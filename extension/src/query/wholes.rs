//! The own counters of targets beside an answer about their entries.

use std::collections::HashMap;

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::tuples::{FLOATS, Tuples};
use crate::pg::tuplestore::Rows;
use crate::query::dimension::Level;
use crate::query::plan::Plan;
use crate::query::question::Question;
use crate::query::statement::Statement;

/// A group of targets: the values of the dimensions by which targets are told apart.
type Group = Vec<Option<String>>;

/// The targets of an answer as wholes, by the dimensions of targets that the answer is grouped by.
pub struct Wholes<'a> {
    found: Tuples<'a>,
    /// The names of the dimensions.
    by: Vec<&'static str>,
    /// The work of each group of targets in all, where that is known.
    totals: HashMap<Group, f64>,
    /// The rows of `found` with work that is in no entry.
    unaccounted: Vec<usize>,
}

impl<'a> Wholes<'a> {
    /// Finds what the targets of a ranking did in all, and what of it is in no entry, if that is wanted; `None` if the answer is
    /// about servers, or no target was ever fed as a whole.
    pub fn find(
        client: &'a SpiClient<'_>,
        question: &Question,
        plan: &Plan,
        unaccounted: bool,
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
        let wanted = unaccounted && !question.filters.has(Level::Entry);
        let wholes = plan.of_wholes(client)?;
        let query = Statement::new(&of_targets, &of_entries, None).unaccounted(&wholes, wanted);
        let mut found = Tuples::query(client, &query.sql, &query.params)?;
        let by: Vec<&str> = of_targets.by.iter().map(|it| it.name).collect();
        let of_group = places(&found, by.iter().copied())?;
        let [total, rest] = floats(&found, ["amount", "amount_in_no_entry"])?;
        let (mut totals, mut rows) = (HashMap::new(), Vec::new());
        for row in 0..found.len() {
            found.read(row);
            let Some((total, rest)) = found.float(total).zip(found.float(rest)) else {
                continue;
            };
            totals.insert(group(&found, &of_group), total);
            if wanted && rest > 0.0 {
                rows.push(row);
            }
        }
        Ok(Some(Self {
            found,
            by,
            totals,
            unaccounted: rows,
        }))
    }

    /// Returns the parts that groups of an answer have in what their targets did in all.
    pub fn shares(&self, groups: &Tuples<'_>) -> Result<Shares<'_>, Error> {
        let [amount] = floats(groups, ["amount"])?;
        Ok(Shares {
            totals: &self.totals,
            of_group: places(groups, self.by.iter().copied())?,
            amount,
        })
    }

    /// Writes a row for the work of each group of targets that is in no entry, and returns their number.
    pub fn write(mut self, rows: &mut Rows) -> Result<usize, Error> {
        let asked = rows.columns();
        let found = self.found.columns();
        let place = |name: &str| found.iter().position(|it| it.name == name);
        let sources: Vec<Option<usize>> = asked
            .iter()
            .map(|column| match column.name.as_str() {
                "total" => place("unaccounted"),
                "share_of_target" => place("share"),
                name @ ("operation" | "coverage" | "rate") => place(name),
                name => self.by.contains(&name).then(|| place(name)).flatten(),
            })
            .collect();
        for row in &self.unaccounted {
            self.found.read(*row);
            let values = sources.iter().map(|it| self.found.datum((*it)?));
            rows.put_row(&values.collect::<Vec<_>>());
        }
        Ok(self.unaccounted.len())
    }
}

/// The parts that groups of an answer have in what their targets did in all.
pub struct Shares<'a> {
    totals: &'a HashMap<Group, f64>,
    /// The columns of the group of targets.
    of_group: Vec<usize>,
    amount: usize,
}

impl Shares<'_> {
    /// Returns the part of the current group; `None` if that is unknown.
    pub fn of(&self, groups: &Tuples<'_>) -> Option<f64> {
        let total = self.totals.get(&group(groups, &self.of_group))?;
        Some(groups.float(self.amount)? / total).filter(|share| share.is_finite())
    }
}

/// Returns the positions of columns.
///
/// # Errors
/// [`Error::Damaged`] if there is no column of a name.
pub fn places<'n>(
    rows: &Tuples<'_>,
    names: impl Iterator<Item = &'n str>,
) -> Result<Vec<usize>, Error> {
    let columns = rows.columns();
    let place = |name: &str| {
        let found = columns.iter().position(|it| it.name == name);
        found.ok_or_else(|| Error::Damaged(format!("an answer lacks its column {name}")))
    };
    names.map(place).collect()
}

/// Returns the positions of columns that are [floats](FLOATS).
fn floats<const N: usize>(rows: &Tuples<'_>, names: [&str; N]) -> Result<[usize; N], Error> {
    let mut found = [0; N];
    for (place, position) in found.iter_mut().zip(places(rows, names.into_iter())?) {
        rows.require(position, &FLOATS)?;
        *place = position;
    }
    Ok(found)
}

/// Returns the group of targets of the current row.
fn group(rows: &Tuples<'_>, columns: &[usize]) -> Group {
    columns.iter().map(|it| rows.text(*it)).collect()
}
