//! Rows of queries.

use pgrx::spi::{SpiHeapTupleData, SpiTupleTable};

use crate::pg::error::Error;

/// Returns the row of a query on a table that has one. Fails with [`Error::NoRow`] if somebody has deleted it.
pub fn only_row<'c>(
    found: SpiTupleTable<'c>,
    table: &'static str,
) -> Result<SpiHeapTupleData<'c>, Error> {
    found.into_iter().next().ok_or(Error::NoRow(table))
}
