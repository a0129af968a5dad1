//! Rows that a function returns, one after the other, however many they are.
#![allow(unsafe_code)]

use pgrx::{IntoDatum, PgMemoryContexts, direct_function_call_as_datum, pg_sys};

use std::ffi::CString;

/// The rows of a function's answer. They are in PostgreSQL's hands, which keeps `work_mem` of them in memory and the others
/// in a file.
pub struct Rows {
    store: *mut pg_sys::Tuplestorestate,
    descriptor: pg_sys::TupleDesc,
    /// Memory for the values of one row.
    row: PgMemoryContexts,
}

impl Rows {
    /// For a function that returns rows.
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

/// Text of JSON → jsonb, in the current memory; None where it has a NUL.
///
/// # Panics
///
/// With PostgreSQL's own error where it is no JSON.
pub fn jsonb(text: &str) -> Option<pg_sys::Datum> {
    let text = CString::new(text).ok()?;
    // SAFETY: jsonb_in takes a C string, which lives as long as the call, and makes a new value.
    unsafe { direct_function_call_as_datum(pg_sys::jsonb_in, &[text.as_c_str().into_datum()]) }
}
