//! Writes the rows of a statement that has the columns of an answer.

use std::cell::RefCell;

use pgrx::datum::DatumWithOid;

use crate::pg::error::Error;
use crate::pg::receive::{self, FOR_VALUES};
use crate::pg::tuplestore::{ColumnType, Rows};
use crate::query::window::ROW_LIMIT;

/// Runs a statement that has the columns of an answer, among others, writes its rows, and returns their number.
///
/// # Errors
/// [`Error::TooManyRows`], and [`Error::Damaged`] if a column is not there.
pub fn write_rows(
    statement: &str,
    parameters: &[DatumWithOid<'_>],
    rows: &mut Rows,
) -> Result<usize, Error> {
    let wanted = rows.columns();
    let places = RefCell::new(Vec::new());
    let mut written = 0;
    let check = &mut |columns: &[ColumnType]| {
        for name in wanted.iter().map(|it| &it.name) {
            let place = columns.iter().position(|it| it.name == *name);
            let lacks = || Error::Damaged(format!("an answer lacks its column {name}"));
            places.borrow_mut().push(place.ok_or_else(lacks)?);
        }
        Ok(())
    };
    receive::run(FOR_VALUES, statement, parameters, check, &mut |row| {
        if written == ROW_LIMIT {
            return Err(Error::TooManyRows);
        }
        written += 1;
        let values: Vec<_> = places.borrow().iter().map(|it| row.datum(*it)).collect();
        rows.put_row(&values);
        Ok(true)
    })?;
    Ok(written)
}
