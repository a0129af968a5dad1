//! Rows of a set-returning function, written straight into PostgreSQL's tuplestore.
#![allow(unsafe_code)]

use pgrx::callconv::{Arg, ArgAbi};
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::{PgMemoryContexts, pg_sys};

/// The rows of a function's answer, which such a function takes as its last argument. The tuplestore keeps up to `work_mem` of them in memory and writes more to a file.
pub struct Rows {
    store: *mut pg_sys::Tuplestorestate,
    descriptor: pg_sys::TupleDesc,
    /// The memory context for the values of one row.
    row: PgMemoryContexts,
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
            }
        }
    }

    fn is_virtual_arg() -> bool {
        true
    }
}

// SAFETY: SQL does not see this argument.
unsafe impl SqlTranslatable for Rows {
    const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!(Rows);
    const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::Skip);
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> = Err(ReturnsError::Datum);
}

impl Rows {
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
