//! The entries that a question is about, where they are few.

use pgrx::spi::SpiClient;

use crate::error::Error;
use crate::reading::arguments::Filters;
use crate::reading::dimension::Level;

/// So many are named in the statement, one by one: then the planner looks each up in an index, and in batches that are kept in
/// columns by their bounds. For a condition that is a statement itself it reads all rows of the window where any of it is
/// in columns: 1.2 million of a month of a large cluster for one job.
const FEW: usize = 1000;

/// A statement for the entries that the filters let through; see [`Filters::conditions`].
pub fn entries(filters: &Filters, parameter: usize) -> String {
    format!(
        "SELECT e.entry_id FROM jobstats.entries e WHERE true{}",
        filters.conditions(Level::Entry, parameter)
    )
}

/// These entries; None where they may be many.
pub fn few_entries(client: &SpiClient<'_>, filters: &Filters) -> Result<Option<Vec<i64>>, Error> {
    if !filters.has(Level::Entry) {
        return Ok(None);
    }
    let statement = format!("{} LIMIT {}", entries(filters, 1), FEW + 1);
    let parameters: Vec<_> = filters.parameters().collect();
    let found = client.select(&statement, None, &parameters)?;
    let found = found.map(|row| row.get::<i64>(1));
    let found: Result<Option<Vec<i64>>, _> = found.collect();
    Ok(found?.and_then(if_few))
}

/// The same of entries that are known.
pub fn if_few(entries: Vec<i64>) -> Option<Vec<i64>> {
    (entries.len() <= FEW).then_some(entries)
}
