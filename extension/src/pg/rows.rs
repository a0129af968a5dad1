//! Rows of queries.

use pgrx::spi::{SpiClient, SpiHeapTupleData, SpiTupleTable};

use crate::pg::error::Error;

/// Returns the row of a query on a table that has one. Fails with [`Error::NoRow`] if somebody has deleted it.
pub fn only_row<'c>(
    found: SpiTupleTable<'c>,
    table: &'static str,
) -> Result<SpiHeapTupleData<'c>, Error> {
    found.into_iter().next().ok_or(Error::NoRow(table))
}

/// Returns the single text that a query returns.
pub fn one_text(client: &SpiClient<'_>, query: &str) -> Result<String, Error> {
    let value = client
        .select(query, Some(1), &[])?
        .first()
        .get_one::<String>()?;
    value.ok_or_else(|| Error::Damaged(format!("no answer to: {query}")))
}
