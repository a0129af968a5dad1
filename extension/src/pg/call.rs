//! Calls of functions that read their arguments one by one, and that write their rows straight into PostgreSQL's
//! tuplestore.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use pgrx::callconv::{Arg, ArgAbi};
use pgrx::pg_sys::{FunctionCallInfo, InvalidOid};
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::{FromDatum, IntoDatum, pg_sys};

use crate::pg::argument::require_short;
use crate::pg::error::Error;
use crate::pg::tuplestore::Rows;

/// A call of a function that PostgreSQL is executing. It stands in place of all arguments in Rust; the SQL of the
/// function says what they are.
pub struct Call<'call> {
    info: FunctionCallInfo,
    lifetime: PhantomData<&'call ()>,
}

impl Call<'_> {
    /// Returns the arguments.
    pub fn arguments(&self) -> Arguments<'_> {
        Arguments {
            call: self,
            next: 0,
        }
    }

    /// Begins the answer of a function that returns rows. PostgreSQL reports an error if the caller takes no rows.
    pub fn rows(&self) -> Rows {
        // SAFETY: the call is under way, and functions put their rows before they return.
        unsafe { Rows::of(self.info) }
    }
}

/// The arguments of a call, in their order.
pub struct Arguments<'call> {
    call: &'call Call<'call>,
    next: usize,
}

impl Arguments<'_> {
    /// Takes the next argument; `None` if it is NULL.
    ///
    /// # Errors
    /// - [`Error::LongArgument`] if the argument is longer than 1 MB.
    /// - [`Error::Damaged`] if the function has no such argument, or if it is of another type.
    pub fn take<T: FromDatum + IntoDatum>(&mut self) -> Result<Option<T>, Error> {
        let info = self.call.info;
        let position = self.next;
        self.next += 1;
        // SAFETY: the call is under way, and the argument is of the type that `T` is read from. The caller's
        // expression says so, and where there is none the arguments are those of the function's own SQL.
        unsafe {
            let count = usize::try_from((*info).nargs).unwrap_or_default();
            let argument = (*info).args.as_slice(count).get(position);
            let argument = argument.ok_or_else(|| wrong(position))?;
            let oid = pg_sys::get_fn_expr_argtype((*info).flinfo, position as i32);
            if oid != InvalidOid && oid != T::type_oid() {
                return Err(wrong(position));
            }
            if argument.isnull {
                return Ok(None);
            }
            if pg_sys::get_typlen(T::type_oid()) == -1 {
                require_short(argument.value)?;
            }
            Ok(T::from_polymorphic_datum(
                argument.value,
                false,
                T::type_oid(),
            ))
        }
    }
}

fn wrong(position: usize) -> Error {
    Error::Damaged(format!(
        "argument {} of a function is not what its library expects",
        position + 1
    ))
}

// SAFETY: made of the call itself, and lives as long.
unsafe impl<'call> ArgAbi<'call> for Call<'call> {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'call>) -> Self {
        // SAFETY: by this function's contract.
        let info = unsafe { FunctionCallInfo::unbox_arg_unchecked(arg) };
        Self {
            info,
            lifetime: PhantomData,
        }
    }

    fn is_virtual_arg() -> bool {
        true
    }
}

// SAFETY: as for the call, of which SQL knows nothing.
unsafe impl SqlTranslatable for Call<'_> {
    const TYPE_IDENT: &'static str = <FunctionCallInfo as SqlTranslatable>::TYPE_IDENT;
    const TYPE_ORIGIN: TypeOrigin = <FunctionCallInfo as SqlTranslatable>::TYPE_ORIGIN;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> =
        <FunctionCallInfo as SqlTranslatable>::ARGUMENT_SQL;
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> =
        <FunctionCallInfo as SqlTranslatable>::RETURN_SQL;
}
