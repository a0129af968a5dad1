//! The arguments of functions that read them one by one.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::marker::PhantomData;

use pgrx::callconv::{Arg, ArgAbi};
use pgrx::pg_sys::{FunctionCallInfo, InvalidOid};
use pgrx::{FromDatum, IntoDatum, pg_sys};

use crate::pg::argument::{hidden_argument, require_short};
use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;

/// The arguments of a call, in order. They replace all arguments in Rust; the SQL of the function declares them.
pub struct Arguments<'call> {
    call: FunctionCallInfo,
    next: usize,
    lifetime: PhantomData<&'call ()>,
}

impl Arguments<'_> {
    /// Takes the next argument; `None` if it is NULL.
    ///
    /// # Errors
    /// - [`Error::LongArgument`] if the argument is longer than 1 MB.
    /// - [`Error::Damaged`] if the function has no such argument, or if it is of another type.
    pub fn take<T: FromDatum + IntoDatum>(&mut self) -> Result<Option<T>, Error> {
        self.next_value(|oid| oid == T::type_oid(), true)
    }

    /// Takes the next argument, which may be as long as a value of PostgreSQL; `None` if it is NULL.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the function has no such argument, or if it is of another type.
    pub fn take_large<T: FromDatum + IntoDatum>(&mut self) -> Result<Option<T>, Error> {
        self.next_value(|oid| oid == T::type_oid(), false)
    }

    /// Takes the next argument, which is of the type `jobstats_filter`; `None` if it is NULL.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn take_filter(&mut self) -> Result<Option<Jsonb<'static>>, Error> {
        self.next_value(is_filter, true)
    }

    fn next_value<T: FromDatum + IntoDatum>(
        &mut self,
        is_right: impl FnOnce(pg_sys::Oid) -> bool,
        is_short: bool,
    ) -> Result<Option<T>, Error> {
        let call = self.call;
        let position = self.next;
        self.next += 1;
        // SAFETY: the call is running, and the argument has a type that `T` is read from: the expression of the caller is
        // checked, and without one the arguments are declared by the function's SQL.
        unsafe {
            let count = usize::try_from((*call).nargs).unwrap_or_default();
            let argument = (*call).args.as_slice(count).get(position);
            let argument = argument.ok_or_else(|| wrong(position))?;
            let oid = pg_sys::get_fn_expr_argtype((*call).flinfo, position as i32);
            if oid != InvalidOid && !is_right(oid) {
                return Err(wrong(position));
            }
            if argument.isnull {
                return Ok(None);
            }
            if is_short && pg_sys::get_typlen(T::type_oid()) == -1 {
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

/// Returns whether a type is `jobstats_filter`, which is stored like jsonb.
fn is_filter(oid: pg_sys::Oid) -> bool {
    // SAFETY: PostgreSQL prints the names of types that are there, and of others.
    let name = unsafe { CStr::from_ptr(pg_sys::format_type_be(oid)) };
    name.to_bytes().ends_with(b"jobstats_filter")
}

fn wrong(position: usize) -> Error {
    Error::Damaged(format!(
        "argument {} of a function is not what its library expects",
        position + 1
    ))
}

// SAFETY: made of the call itself, and lives as long.
unsafe impl<'call> ArgAbi<'call> for Arguments<'call> {
    unsafe fn unbox_arg_unchecked(call: Arg<'_, 'call>) -> Self {
        Self {
            // SAFETY: by this function's contract.
            call: unsafe { FunctionCallInfo::unbox_arg_unchecked(call) },
            next: 0,
            lifetime: PhantomData,
        }
    }

    fn is_virtual_arg() -> bool {
        true
    }
}

hidden_argument!(Arguments<'_>);
