//! Large values that are passed to statements by pointer.
#![allow(unsafe_code)]

use std::ops::Deref;

use pgrx::{FromDatum, IntoDatum, PgMemoryContexts, pg_sys, varlena_to_byte_slice};

use crate::pg::argument::argument_type;

/// A value of type bytea in memory that is passed to statements as a pointer. PostgreSQL follows the pointer when it
/// stores the value. The value itself would be copied when a statement is planned and twice when a row is made, each
/// time into new memory: for 7.5 MB the copies take longer than storing the value.
#[derive(Debug, Clone, Copy)]
pub struct Bytea<'a> {
    value: *mut pg_sys::varlena,
    bytes: &'a [u8],
}

impl Bytea<'_> {
    /// Copies bytes for the rest of the function that was called. Only pgrx's signature allows for `None`.
    ///
    /// # Panics
    ///
    /// Panics in pgrx if the bytes and their header have 1 GiB or more.
    pub fn copied(bytes: &[u8]) -> Option<Self> {
        let datum = bytes.into_datum()?;
        // SAFETY: the value was just made in the memory context of the running function, and lives as long as that.
        unsafe { Self::from_datum(datum, false) }
    }
}

impl Deref for Bytea<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl FromDatum for Bytea<'_> {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        if is_null || datum.is_null() {
            return None;
        }
        // SAFETY: by this function's contract the datum is of type bytea; a value that is compressed or stored out of
        // line is fetched into the current memory context.
        unsafe {
            let value = pg_sys::pg_detoast_datum_packed(datum.cast_mut_ptr());
            let bytes = varlena_to_byte_slice(value);
            Some(Self { value, bytes })
        }
    }
}

argument_type!(Bytea, &[u8]);

/// An indirect pointer as in PostgreSQL's `varatt.h`.
#[repr(C, packed)]
struct Indirect {
    header: u8,
    tag: u8,
    pointer: pg_sys::varatt_indirect,
}

/// The header of a value that is stored elsewhere.
const ELSEWHERE: u8 = if cfg!(target_endian = "little") {
    0x01
} else {
    0x80
};

impl IntoDatum for Bytea<'_> {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        let indirect = Indirect {
            header: ELSEWHERE,
            tag: pg_sys::vartag_external::VARTAG_INDIRECT as u8,
            pointer: pg_sys::varatt_indirect {
                pointer: self.value,
            },
        };
        // SAFETY: the value that it points to is whole and in memory, and lives longer than a statement that the
        // running function makes. palloc returns room for the pointer, or raises an error of PostgreSQL.
        unsafe {
            let place = PgMemoryContexts::CurrentMemoryContext.palloc_struct::<Indirect>();
            place.write(indirect);
            Some(place.into())
        }
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::BYTEAOID
    }
}
