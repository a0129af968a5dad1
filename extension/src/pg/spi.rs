//! Statements and their rows: the only way to run SQL.
//!
//! The connection determines the snapshot. Queries use [`connect_as_of_call`]: a function reads one state, of the statement
//! that calls it. The feed, maintenance, setup and all other writers use [`connect_mut`]: each statement sees all commits
//! before it, and changes of the function itself.
//!
//! Methods of [`Statements`] have names as in the crate `postgres`: `query…` reads, `execute…` may write or lock, which needs
//! [`connect_mut`]. Columns of a [`Row`] are read by name; only an option may be NULL:
//!
//! ```ignore
//! let row = client.query_opt("SELECT t.name, t.filesystem FROM jobstats.targets t", &[])?;
//! let (name, filesystem): (String, Option<String>) = (row.get("name")?, row.get("filesystem")?);
//! ```

use std::ffi::c_long;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ptr::NonNull;

use jobstats_core::base::instant::Micros;
use pgrx::datum::{Date, DatumWithOid, Interval, Range, TimestampWithTimeZone};
use pgrx::pg_sys::Oid;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::spi::{SpiClient, SpiHeapTupleData, SpiHeapTupleDataEntry};
use pgrx::{FromDatum, IntoDatum, Spi, pg_sys};

use crate::pg::ballast;
use crate::pg::error::Error;
use crate::pg::guc;
use crate::pg::statement::{self, Snapshot, Statement};
use crate::pg::time::micros;

/// The result of a function that SQL calls.
pub type SqlResult<T> = Result<T, ErrorReport>;

/// Runs statements that read with the snapshot of the calling statement, while the session holds its [ballast].
///
/// # Errors
/// Errors of `run`, and [`Error::Memory`] if there is no memory for the ballast.
pub fn connect_as_of_call<R>(
    run: impl FnOnce(&SpiClient<'_>) -> Result<R, Error>,
) -> Result<R, Error> {
    connect_with(Snapshot::OfCall, run)
}

/// Runs statements that read with this snapshot.
pub fn connect_with<R>(
    snapshot: Snapshot,
    run: impl FnOnce(&SpiClient<'_>) -> Result<R, Error>,
) -> Result<R, Error> {
    let _held = snapshot.hold();
    connect(run)
}

/// Runs statements with the snapshot of the surrounding connection. Its own rows are freed when it ends.
pub fn connect<R>(run: impl FnOnce(&SpiClient<'_>) -> Result<R, Error>) -> Result<R, Error> {
    ballast::hold()?;
    Spi::connect(run)
}

/// Runs statements that may write and see all commits before them, while the session holds its [ballast].
///
/// # Errors
/// As [`connect_as_of_call`], and [`Error::ReadOnly`] on a standby.
pub fn connect_mut<R>(
    run: impl FnOnce(&mut SpiClient<'_>) -> Result<R, Error>,
) -> Result<R, Error> {
    guc::require_writable()?;
    ballast::hold()?;
    let _held = Snapshot::Latest.hold();
    Spi::connect_mut(run)
}

/// Runs statements on a connection.
pub trait Statements<'conn> {
    /// Reads rows.
    fn query(&self, query: &str, arguments: &[DatumWithOid<'_>]) -> Result<Rows<'conn>, Error> {
        Rows::of(query, arguments, None)
    }

    /// Reads the first row, if there is one.
    fn query_opt(
        &self,
        query: &str,
        arguments: &[DatumWithOid<'_>],
    ) -> Result<Option<Row<'conn>>, Error> {
        Ok(Rows::of(query, arguments, Some(1))?.next())
    }

    /// Reads the row of a table that must have one.
    ///
    /// # Errors
    /// [`Error::NoRow`] if somebody has deleted it.
    fn query_only(
        &self,
        query: &str,
        arguments: &[DatumWithOid<'_>],
        table: &'static str,
    ) -> Result<Row<'conn>, Error> {
        self.query_opt(query, arguments)?.ok_or(Error::NoRow(table))
    }

    /// Reads the first column of the first row, which must exist unless `T` is an option.
    fn query_value<T: Column>(
        &self,
        query: &str,
        arguments: &[DatumWithOid<'_>],
    ) -> Result<T, Error> {
        first_value(self.query_opt(query, arguments)?)
    }

    /// Reads the first column of the first row as a time; `None` if it is NULL or if there is no row.
    fn query_time(
        &self,
        query: &str,
        arguments: &[DatumWithOid<'_>],
    ) -> Result<Option<Micros>, Error> {
        let time: Option<TimestampWithTimeZone> = self.query_value(query, arguments)?;
        time.map(micros).transpose()
    }

    /// Runs statements.
    fn run(&mut self, statements: &str, arguments: &[DatumWithOid<'_>]) -> Result<(), Error> {
        self.execute(statements, arguments).map(drop)
    }

    /// Runs statements, and returns the number of rows that the last one of them read or wrote.
    fn execute(
        &mut self,
        statements: &str,
        arguments: &[DatumWithOid<'_>],
    ) -> Result<usize, Error> {
        Ok(self.execute_rows(statements, arguments)?.len())
    }

    /// Runs a statement that writes or locks rows, and returns its rows.
    fn execute_rows(
        &mut self,
        statement: &str,
        arguments: &[DatumWithOid<'_>],
    ) -> Result<Rows<'conn>, Error> {
        Rows::of(statement, arguments, None)
    }

    /// Runs a statement that writes or locks rows, and returns its first row.
    fn execute_opt(
        &mut self,
        statement: &str,
        arguments: &[DatumWithOid<'_>],
    ) -> Result<Option<Row<'conn>>, Error> {
        Ok(self.execute_rows(statement, arguments)?.next())
    }

    /// Runs a statement that writes or locks rows, and returns the first column of its first row, which must exist unless `T`
    /// is an option.
    fn execute_value<T: Column>(
        &mut self,
        statement: &str,
        arguments: &[DatumWithOid<'_>],
    ) -> Result<T, Error> {
        first_value(self.execute_opt(statement, arguments)?)
    }
}

impl<'conn> Statements<'conn> for SpiClient<'conn> {}

/// Makes the arguments of a statement of values.
macro_rules! values {
    ($($value:expr),+ $(,)?) => { [$(pgrx::datum::DatumWithOid::from($value)),+] };
}
pub(crate) use values;

pub(super) fn first_value<T: Column>(row: Option<Row<'_>>) -> Result<T, Error> {
    match row {
        Some(row) => row.at(1),
        None => T::missing().ok_or_else(|| Error::Damaged("a row is missing".to_owned())),
    }
}

/// The rows of a statement.
pub struct Rows<'conn> {
    table: Option<NonNull<pg_sys::SPITupleTable>>,
    len: usize,
    next: usize,
    connection: PhantomData<&'conn ()>,
}

impl Rows<'_> {
    /// Runs a statement on the innermost connection, which the rows must not outlive.
    pub(super) fn of<S: Statement + ?Sized>(
        statement: &S,
        arguments: &[DatumWithOid<'_>],
        limit: Option<c_long>,
    ) -> Result<Self, Error> {
        let (table, len) = statement::run(statement, arguments, limit)?;
        Ok(Self {
            table,
            len,
            next: 0,
            connection: PhantomData,
        })
    }

    /// Returns the number of all rows, also after some were taken.
    pub fn len(&self) -> usize {
        self.len
    }
}

impl<'conn> Iterator for Rows<'conn> {
    type Item = Row<'conn>;

    #[allow(unsafe_code)]
    fn next(&mut self) -> Option<Row<'conn>> {
        let table = self.table.filter(|_| self.next < self.len)?.as_ptr();
        // SAFETY: the table lives as long as the connection, and has this many rows.
        let row = unsafe { SpiHeapTupleData::new((*table).tupdesc, *(*table).vals.add(self.next)) };
        self.next += 1;
        row.ok().flatten().map(Row)
    }
}

/// A row with its columns by name.
pub struct Row<'conn>(SpiHeapTupleData<'conn>);

impl Row<'_> {
    /// Reads a column.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the column is NULL and `T` is no option, an error of SPI if there is no such column or if it is
    /// of another type.
    pub fn get<T: Column>(&self, name: &str) -> Result<T, Error> {
        T::of(self.0.get_datum_by_name(name)?, &name)
    }

    /// Reads a column by position, from 1. With many rows, looking up names takes most of the time.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub fn at<T: Column>(&self, position: usize) -> Result<T, Error> {
        T::of(self.0.get_datum_by_ordinal(position)?, &position)
    }

    /// Reads a column that is a time.
    pub fn time(&self, name: &str) -> Result<Micros, Error> {
        micros(self.get(name)?)
    }

    /// Reads a column that is a time or NULL.
    pub fn time_opt(&self, name: &str) -> Result<Option<Micros>, Error> {
        let time: Option<TimestampWithTimeZone> = self.get(name)?;
        time.map(micros).transpose()
    }
}

/// A type that a column can be read as.
pub trait Column: Sized {
    /// Reads the column of this name.
    fn of(value: &SpiHeapTupleDataEntry<'_>, name: &dyn Display) -> Result<Self, Error>;

    /// Returns the value of a column of a row that does not exist, for types that have one.
    fn missing() -> Option<Self> {
        None
    }
}

impl<T: Column + FromDatum + IntoDatum> Column for Option<T> {
    fn of(value: &SpiHeapTupleDataEntry<'_>, _: &dyn Display) -> Result<Self, Error> {
        Ok(value.value::<T>()?)
    }

    fn missing() -> Option<Self> {
        Some(None)
    }
}

/// Lets columns be read as types whose values are never NULL.
macro_rules! column {
    ($($type:ty),*) => {$(
        impl Column for $type {
            fn of(value: &SpiHeapTupleDataEntry<'_>, name: &dyn Display) -> Result<Self, Error> {
                let value = value.value::<Self>()?;
                value.ok_or_else(|| Error::Damaged(format!("{name} is NULL")))
            }
        }
    )*};
}

column!(
    bool,
    i32,
    i64,
    f64,
    Oid,
    String,
    &str,
    &[u8],
    Date,
    Interval,
    TimestampWithTimeZone,
    Range<TimestampWithTimeZone>,
    Vec<u8>,
    Vec<f64>,
    Vec<i64>,
    Vec<Option<i64>>,
    Vec<Option<f64>>,
    Vec<String>,
    Vec<Option<String>>,
    Vec<TimestampWithTimeZone>
);
