//! Writes the rows of a statement that has the columns of an answer.

use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::tuples::Tuples;
use crate::pg::tuplestore::Rows;
use crate::query::window::ROW_LIMIT;

/// Runs a statement that has the columns of an answer, among others, writes its rows, and returns their number.
///
/// # Errors
/// [`Error::TooManyRows`], and [`Error::Damaged`] if a column is not there.
pub fn write_rows(
    client: &SpiClient<'_>,
    statement: &str,
    parameters: &[DatumWithOid<'_>],
    rows: &mut Rows,
) -> Result<usize, Error> {
    pgrx::debug1!("statement:\n{statement}");
    let mut found = Tuples::query(client, statement, parameters)?;
    if found.len() > ROW_LIMIT {
        return Err(Error::TooManyRows);
    }
    let columns = rows.columns();
    let places = columns.iter().map(|it| found.place(&it.name));
    let places: Vec<usize> = places.collect::<Result<_, _>>()?;
    for row in 0..found.len() {
        pause();
        found.read(row);
        let values: Vec<_> = places.iter().map(|it| found.datum(*it)).collect();
        rows.put_row(&values);
    }
    Ok(found.len())
}
