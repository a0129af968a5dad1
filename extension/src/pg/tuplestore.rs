//! Rows of a set-returning function, written straight into PostgreSQL's tuplestore.
#![allow(unsafe_code)]

use std::ffi::CStr;

use pgrx::callconv::{Arg, ArgAbi};
use pgrx::{IntoDatum, PgMemoryContexts, pg_sys};

use crate::pg::argument::hidden_argument;

/// The rows of a function's answer, which such a function takes as its last argument. The tuplestore keeps up to
/// `work_mem` of them in memory and writes more to a file.
pub struct Rows {
    store: *mut pg_sys::Tuplestorestate,
    descriptor: pg_sys::TupleDesc,
    /// The memory context for the values of one row.
    row: PgMemoryContexts,
    values: Vec<pg_sys::Datum>,
    nulls: Vec<bool>,
    /// The number of rows that were added.
    pub len: usize,
}

/// A value with its type.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    oid: pg_sys::Oid,
    value: Option<pg_sys::Datum>,
}

impl Cell {
    /// NULL, of any type.
    pub const NULL: Self = Self {
        oid: pg_sys::InvalidOid,
        value: None,
    };
}

/// Makes cells of values.
pub trait IntoCell: IntoDatum + Sized {
    /// Returns the value with its type.
    fn cell(self) -> Cell {
        Cell {
            oid: Self::type_oid(),
            value: self.into_datum(),
        }
    }
}

impl<T: IntoDatum> IntoCell for T {}

/// A column of an answer, or of a statement's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnType {
    /// The name.
    pub name: String,
    /// The type.
    pub oid: pg_sys::Oid,
}

// SAFETY: no argument of SQL, but the call itself, which is there as long as the function runs. InitMaterializedSRF checks that
// whoever calls takes rows, and leaves the store and the descriptor there, which live as long as the call.
unsafe impl<'call> ArgAbi<'call> for Rows {
    unsafe fn unbox_arg_unchecked(call: Arg<'_, 'call>) -> Self {
        unsafe {
            let call = pg_sys::FunctionCallInfo::unbox_arg_unchecked(call);
            pg_sys::InitMaterializedSRF(call, 0);
            let result = (*call).resultinfo.cast::<pg_sys::ReturnSetInfo>();
            Self {
                store: (*result).setResult,
                descriptor: (*result).setDesc,
                row: PgMemoryContexts::new("jobstats row"),
                values: Vec::new(),
                nulls: Vec::new(),
                len: 0,
            }
        }
    }

    fn is_virtual_arg() -> bool {
        true
    }
}

hidden_argument!(Rows);

impl Rows {
    /// Returns the columns of the answer.
    pub fn columns(&self) -> Vec<ColumnType> {
        // SAFETY: the descriptor lives as long as the call.
        unsafe { columns(self.descriptor) }
    }

    /// Adds a row; `cells` creates its values, whose types must be the declared ones of the SQL function: they are not checked.
    pub fn put<const N: usize>(&mut self, cells: impl FnOnce() -> [Cell; N]) {
        // SAFETY: the values are copied into the store before their memory is reset; a column is one of the descriptor.
        unsafe {
            let cells = self.row.switch_to(|_| cells());
            for (position, cell) in (1..).zip(&cells) {
                let declared = pg_sys::SPI_gettypeid(self.descriptor, position);
                assert!(
                    cell.value.is_none() || cell.oid == declared,
                    "the type of column {position}"
                );
            }
            self.put_row(&cells.map(|cell| cell.value));
        }
    }

    /// Makes values in the memory of a row, which ends when a row is added.
    pub fn within<T>(&self, make: impl FnOnce() -> T) -> T {
        // SAFETY: the context is there as long as these rows.
        unsafe { PgMemoryContexts::For(self.row.value()).switch_to(|_| make()) }
    }

    /// Adds a row with these values, each of its column's type. They are copied.
    pub fn put_row(&mut self, row: &[Option<pg_sys::Datum>]) {
        self.len += 1;
        self.values.clear();
        self.nulls.clear();
        for value in row {
            self.values.push(value.unwrap_or(pg_sys::Datum::null()));
            self.nulls.push(value.is_none());
        }
        // SAFETY: there are as many values as columns, and they live until they are copied into the store.
        unsafe {
            assert_eq!(usize::try_from((*self.descriptor).natts), Ok(row.len()));
            pg_sys::tuplestore_putvalues(
                self.store,
                self.descriptor,
                self.values.as_mut_ptr(),
                self.nulls.as_mut_ptr(),
            );
            self.row.reset();
        }
    }
}

/// Returns the columns of a row type.
///
/// # Safety
///
/// `descriptor` points to one.
pub unsafe fn columns(descriptor: pg_sys::TupleDesc) -> Vec<ColumnType> {
    // SAFETY: as the caller promises; names are C strings.
    unsafe {
        let count = usize::try_from((*descriptor).natts).unwrap_or_default();
        let mut columns = Vec::with_capacity(count);
        for position in 1..=count as i32 {
            let name = pg_sys::SPI_fname(descriptor, position);
            columns.push(ColumnType {
                name: CStr::from_ptr(name).to_string_lossy().into_owned(),
                oid: pg_sys::SPI_gettypeid(descriptor, position),
            });
        }
        columns
    }
}
