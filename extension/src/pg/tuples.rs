//! The rows of a statement as PostgreSQL's own values, for statements with many rows or columns.
//!
//! A [row by name](crate::pg::spi::Row) looks up and copies each value; these rows are read in place.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ptr::NonNull;

use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;
use pgrx::{FromDatum, pg_sys};

use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::Rows;
use crate::pg::tuplestore::{ColumnType, columns};

/// The types of columns that [`Tuples::integer`] reads.
pub const INTEGERS: [pg_sys::Oid; 3] = [pg_sys::INT4OID, pg_sys::INT8OID, pg_sys::TIMESTAMPTZOID];

/// The type of columns that [`Tuples::text`] reads.
pub const TEXTS: [pg_sys::Oid; 1] = [pg_sys::TEXTOID];

/// The rows of a statement. One of them is current.
pub struct Tuples<'conn> {
    table: *const pg_sys::SPITupleTable,
    len: usize,
    columns: Vec<ColumnType>,
    /// The values of the current row.
    values: Vec<pg_sys::Datum>,
    nulls: Vec<bool>,
    connection: PhantomData<&'conn ()>,
}

impl<'conn> Tuples<'conn> {
    /// Runs a statement that reads. Its rows live as long as the connection.
    pub fn query(
        _client: &'conn SpiClient<'_>,
        statement: &str,
        parameters: &[DatumWithOid<'_>],
    ) -> Result<Self, Error> {
        Self::of(Rows::of(statement, parameters, None)?.table)
    }

    /// Runs a statement that may write, or reads writes of this transaction, with a cached plan. Rows live as long as the
    /// connection.
    pub fn update(
        client: &mut SpiClient<'conn>,
        statement: &str,
        parameters: &[DatumWithOid<'_>],
    ) -> Result<Self, Error> {
        Self::of(plans::rows(client, statement, parameters)?.table)
    }

    /// Takes the rows of a statement, which live as long as the connection.
    fn of(table: Option<NonNull<pg_sys::SPITupleTable>>) -> Result<Self, Error> {
        let table =
            table.ok_or_else(|| Error::Damaged("a statement returns no rows".to_owned()))?;
        // SAFETY: SPI keeps the table as long as the connection.
        let table = unsafe { table.as_ref() };
        // SAFETY: every table of rows has the type of its rows.
        let columns = unsafe { columns(table.tupdesc) };
        Ok(Self {
            table,
            len: usize::try_from(table.numvals).unwrap_or_default(),
            values: vec![pg_sys::Datum::null(); columns.len()],
            nulls: vec![true; columns.len()],
            columns,
            connection: PhantomData,
        })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the position of a column.
    ///
    /// # Errors
    /// [`Error::Damaged`] if there is no column of this name.
    pub fn place(&self, name: &str) -> Result<usize, Error> {
        let place = self.columns.iter().position(|it| it.name == name);
        place.ok_or_else(|| Error::Damaged(format!("an answer lacks its column {name}")))
    }

    /// Checks the type of a column before its values are read: the owner of a store can alter tables.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the column has another type.
    pub fn require(&self, column: usize, types: &[pg_sys::Oid]) -> Result<(), Error> {
        match self.columns.get(column) {
            Some(found) if types.contains(&found.oid) => Ok(()),
            _ => Err(Error::Damaged(format!(
                "column {} of a statement has another type",
                column + 1
            ))),
        }
    }

    /// Makes a row the current one. Rows are counted from 0.
    pub fn read(&mut self, row: usize) {
        assert!(row < self.len);
        // SAFETY: the row is one of the table, and the vectors have room for its columns.
        unsafe {
            pg_sys::heap_deform_tuple(
                *(*self.table).vals.add(row),
                (*self.table).tupdesc,
                self.values.as_mut_ptr(),
                self.nulls.as_mut_ptr(),
            );
        }
    }

    /// Returns a value of the current row; `None` if it is NULL. It lives as long as the connection.
    #[inline]
    pub fn datum(&self, column: usize) -> Option<pg_sys::Datum> {
        (!self.nulls[column]).then(|| self.values[column])
    }

    /// Returns the value of a column of [these types](INTEGERS), which must have been [checked](Self::require).
    #[inline]
    pub fn integer(&self, column: usize) -> Option<i64> {
        self.datum(column).map(|it| it.value() as i64)
    }

    /// Returns a copy of the value of a column of [this type](TEXTS), which must have been [checked](Self::require).
    pub fn text(&self, column: usize) -> Option<String> {
        let datum = self.datum(column)?;
        // SAFETY: the value is a text, and lives as long as the connection.
        unsafe { String::from_datum(datum, false) }
    }
}
