//! Large values on their way into a table.
#![allow(unsafe_code)]

use pgrx::{IntoDatum, PgMemoryContexts, pg_sys};

/// A value of type bytea, of which a statement is given a pointer. PostgreSQL follows it where it stores the value. The
/// value itself would be copied when the statement is planned and twice when a row is made, each time into new memory: of
/// 7.5 MB that takes longer than to store them.
pub struct ByPointer<'a>(pub &'a [u8]);

/// What is called an indirect pointer in PostgreSQL's `varatt.h`.
#[repr(C, packed)]
struct Indirect {
    header: u8,
    tag: u8,
    pointer: pg_sys::varatt_indirect,
}

/// The header of a value that is elsewhere.
const ELSEWHERE: u8 = if cfg!(target_endian = "little") {
    0x01
} else {
    0x80
};

impl IntoDatum for ByPointer<'_> {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        let value = self.0.into_datum()?;
        let indirect = Indirect {
            header: ELSEWHERE,
            tag: pg_sys::vartag_external::VARTAG_INDIRECT as u8,
            pointer: pg_sys::varatt_indirect {
                pointer: value.cast_mut_ptr(),
            },
        };
        // SAFETY: the value is whole and in the current memory context, as it was just made, and so is the pointer to it:
        // they live equally long. palloc gives room for it, or an error of PostgreSQL.
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
