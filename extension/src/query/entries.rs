//! Looks up the entries that a question is about, if they are few.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::params::Params;

/// The largest number of entries that a statement names one by one. The planner then looks up each of them in an index,
/// and in columnar batches by the bounds of the batches. If the condition is a subquery instead, the planner reads all
/// rows of the window as soon as some of them are columnar: 1.2 million rows for one job in a month of a large cluster.
const FEW: usize = 1000;

/// Returns a SELECT of the entries that the filters let through.
pub fn entries(filters: &Filters, params: &Params) -> String {
    format!(
        "SELECT entry.entry_id FROM jobstats.entries entry WHERE true{}",
        filters.conditions(Level::Entry, "entry", params)
    )
}

/// Returns the entries that the filters let through; `None` if they may be many.
pub fn few_entries(client: &SpiClient<'_>, filters: &Filters) -> Result<Option<Vec<i64>>, Error> {
    if !filters.has(Level::Entry) {
        return Ok(None);
    }
    let params = Params::default();
    let statement = format!("{} LIMIT {}", entries(filters, &params), FEW + 1);
    let found = client.query(&*statement, &params.take())?;
    let found: Result<Vec<i64>, _> = found.map(|row| row.at(1)).collect();
    Ok(if_few(found?))
}

/// Returns the entries if they are few.
pub fn if_few(entries: Vec<i64>) -> Option<Vec<i64>> {
    (entries.len() <= FEW).then_some(entries)
}
