//! Arguments of limited size: names, patterns and lists of them.
//!
//! pgrx copies them with infallible allocation. [`crate::pg::reserve`] has room for a megabyte, but not for the half gigabyte that
//! an attacker could pass.
#![allow(unsafe_code)]

use std::ops::Deref;

use jobstats_core::base::pattern::{Pattern, exactly};
use pgrx::callconv::{Arg, ArgAbi};
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::prelude::*;
use pgrx::{FromDatum, pg_sys};

use crate::pg::error::Error;

/// The largest size of an argument in bytes: a hundred thousand user ids, or ten thousand names.
const LIMIT: usize = 1 << 20;

/// An argument of at most 1 MB. PostgreSQL reports 54000 for a longer one.
#[derive(Debug, Clone, Default)]
pub struct Short<T>(pub T);

impl<T> Deref for Short<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromDatum> FromDatum for Short<T> {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        oid: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: by contract the value has a type that `T` is read from, of variable length. Its size is known without
        // fetching it.
        unsafe {
            if !is_null && let Err(error) = require_short(datum) {
                pgrx::pg_sys::panic::ErrorReport::from(error).report(pgrx::PgLogLevel::ERROR);
            }
            T::from_polymorphic_datum(datum, is_null, oid).map(Self)
        }
    }
}

// SAFETY: as for the value that it holds; an argument lives as long as the call.
unsafe impl<'call, T: ArgAbi<'call> + FromDatum> ArgAbi<'call> for Short<T> {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'call>) -> Self {
        let value = unsafe { arg.unbox_arg_using_from_datum() };
        // SAFETY: by this function's contract the argument is not null.
        unsafe { value.unwrap_unchecked() }
    }
}

// SAFETY: it is a value of this type.
unsafe impl<T: SqlTranslatable> SqlTranslatable for Short<T> {
    const TYPE_IDENT: &'static str = T::TYPE_IDENT;
    const TYPE_ORIGIN: TypeOrigin = T::TYPE_ORIGIN;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = T::ARGUMENT_SQL;
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> = T::RETURN_SQL;
}

/// Lets functions take values of this type, which SQL maps like `$sql`.
macro_rules! argument_type {
    ($type:ident, $sql:ty) => {
        const _: () = {
            use pgrx::callconv::{Arg, ArgAbi};
            use pgrx::pgrx_sql_entity_graph::metadata::*;

            // SAFETY: the value lives in the memory context of the call.
            unsafe impl<'call> ArgAbi<'call> for $type<'call> {
                unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'call>) -> Self {
                    let value = unsafe { arg.unbox_arg_using_from_datum() };
                    // SAFETY: by this function's contract the argument is not null.
                    unsafe { value.unwrap_unchecked() }
                }
            }

            // SAFETY: it is a value of this type.
            unsafe impl SqlTranslatable for $type<'_> {
                const TYPE_IDENT: &'static str = <$sql>::TYPE_IDENT;
                const TYPE_ORIGIN: TypeOrigin = <$sql>::TYPE_ORIGIN;
                const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = <$sql>::ARGUMENT_SQL;
                const RETURN_SQL: Result<ReturnsRef, ReturnsError> = <$sql>::RETURN_SQL;
            }
        };
    };
}
pub(super) use argument_type;

/// Lets functions take an argument that SQL does not see.
macro_rules! hidden_argument {
    ($type:ty) => {
        const _: () = {
            use pgrx::pgrx_sql_entity_graph::metadata::*;

            // SAFETY: SQL does not see this argument.
            unsafe impl SqlTranslatable for $type {
                const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!($type);
                const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
                const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::Skip);
                const RETURN_SQL: Result<ReturnsRef, ReturnsError> = Err(ReturnsError::Datum);
            }
        };
    };
}
pub(super) use hidden_argument;

/// Checks the size of an argument, which is known without fetching it.
///
/// # Errors
/// [`Error::LongArgument`] if it is longer than 1 MB.
///
/// # Safety
///
/// `argument` is a value of a type of variable length.
pub unsafe fn require_short(argument: pg_sys::Datum) -> Result<(), Error> {
    // SAFETY: as the caller promises.
    match unsafe { pg_sys::toast_raw_datum_size(argument) } {
        size if size > LIMIT => Err(Error::LongArgument),
        _ => Ok(()),
    }
}

/// Returns the value of an argument.
pub fn plain<T>(argument: Option<Short<T>>) -> Option<T> {
    argument.map(|argument| argument.0)
}

/// Returns the patterns of LIKE that the same names match as these patterns of an argument.
pub fn as_like(patterns: &[Option<String>]) -> Vec<Option<String>> {
    let like = |pattern: &String| Pattern::new(pattern).like();
    patterns.iter().map(|it| it.as_ref().map(like)).collect()
}

#[pg_extern(sql = false)]
fn jobstats_exactly(name: Short<&str>) -> String {
    exactly(&name)
}

#[pg_extern(sql = false)]
fn jobstats_as_like(patterns: Short<Vec<Option<String>>>) -> Vec<Option<String>> {
    as_like(&patterns)
}
