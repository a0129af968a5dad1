//! Rows of a set-returning function, written straight into PostgreSQL's tuplestore.
#![allow(unsafe_code)]

use pgrx::{PgMemoryContexts, pg_sys};

/// The rows of a function's answer. The tuplestore keeps up to `work_mem` of them in memory and writes more to a file.
pub struct Rows {
    store: *mut pg_sys::Tuplestorestate,
    descriptor: pg_sys::TupleDesc,
    /// The memory context for the values of one row.
    row: PgMemoryContexts,
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
            }
        }
    }

    /// Adds a row; `values` makes its values, each of its column's type.
    pub fn put<const N: usize>(&mut self, values: impl FnOnce() -> [Option<pg_sys::Datum>; N]) {
        // SAFETY: the values are copied into the store before their memory is reset.
        unsafe {
            let values = self.row.switch_to(|_| values());
            assert_eq!(usize::try_from((*self.descriptor).natts), Ok(N));
            let mut nulls = values.map(|value| value.is_none());
            let mut values = values.map(|value| value.unwrap_or(pg_sys::Datum::null()));
            pg_sys::tuplestore_putvalues(
                self.store,
                self.descriptor,
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
            self.row.reset();
        }
    }
}
