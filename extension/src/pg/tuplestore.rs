//! Rows of a set-returning function, written straight into PostgreSQL's tuplestore.
#![allow(unsafe_code)]

use std::ffi::CStr;

use pgrx::{PgMemoryContexts, pg_sys};

/// The rows of a function's answer. The tuplestore keeps up to `work_mem` of them in memory and writes more to a file.
pub struct Rows {
    store: *mut pg_sys::Tuplestorestate,
    descriptor: pg_sys::TupleDesc,
    /// The memory context for the values of one row.
    row: PgMemoryContexts,
    values: Vec<pg_sys::Datum>,
    nulls: Vec<bool>,
}

/// A column of an answer, or of a statement's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnType {
    /// The name.
    pub name: String,
    /// The type.
    pub oid: pg_sys::Oid,
}

impl Rows {
    /// Begins the answer of a function that returns rows.
    ///
    /// # Safety
    ///
    /// `call` is the call that is under way, and the rows are put before it ends.
    pub unsafe fn of(call: pg_sys::FunctionCallInfo) -> Self {
        // SAFETY: as the caller promises. InitMaterializedSRF checks that whoever calls takes rows, and leaves the store and
        // the descriptor there, which live as long as the call.
        unsafe {
            pg_sys::InitMaterializedSRF(call, 0);
            let result = (*call).resultinfo.cast::<pg_sys::ReturnSetInfo>();
            Self {
                store: (*result).setResult,
                descriptor: (*result).setDesc,
                row: PgMemoryContexts::new("jobstats row"),
                values: Vec::new(),
                nulls: Vec::new(),
            }
        }
    }

    /// Returns the columns of the answer.
    pub fn columns(&self) -> Vec<ColumnType> {
        // SAFETY: the descriptor lives as long as the call.
        unsafe { columns(self.descriptor) }
    }

    /// Adds a row; `values` makes its values, each of its column's type.
    pub fn put<const N: usize>(&mut self, values: impl FnOnce() -> [Option<pg_sys::Datum>; N]) {
        // SAFETY: the values are copied into the store before their memory is reset.
        unsafe {
            let values = self.row.switch_to(|_| values());
            self.put_row(&values);
            self.row.reset();
        }
    }

    /// Adds a row with these values, each of its column's type. They are copied.
    pub fn put_row(&mut self, row: &[Option<pg_sys::Datum>]) {
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
