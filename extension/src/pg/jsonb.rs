//! Values of type jsonb as PostgreSQL prints them. pgrx's own type panics where serde_json cannot read a value that
//! PostgreSQL can store, such as a number of 400 digits or an array 200 levels deep.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::{FromDatum, IntoDatum, direct_function_call, direct_function_call_as_datum, pg_sys};
use serde_json::Value;

use crate::pg::argument::argument_type;

/// A value of type jsonb.
#[derive(Debug, Clone, Copy)]
pub struct Jsonb<'a> {
    datum: pg_sys::Datum,
    text: &'a CStr,
}

impl Jsonb<'_> {
    /// Reads the value. Returns `None` if serde_json cannot read it, or if its text exceeds `limit` bytes. Only this bounds
    /// the memory of serde_json.
    pub fn read(&self, limit: usize) -> Option<Value> {
        let text = self.text.to_bytes();
        (text.len() <= limit)
            .then(|| serde_json::from_slice(text).ok())
            .flatten()
    }

    /// Converts a value of serde_json. Returns `None` if it cannot be written as JSON.
    pub fn of(value: &Value) -> Option<Self> {
        Self::of_text(&serde_json::to_string(value).ok()?)
    }

    /// Converts text, in the current memory context. Returns `None` if it contains a NUL.
    ///
    /// # Panics
    ///
    /// Raises PostgreSQL's own error if the text is not JSON.
    pub fn of_text(text: &str) -> Option<Self> {
        let text = CString::new(text).ok()?;
        // SAFETY: jsonb_in takes a C string, which lives as long as the call, and makes a new value.
        let datum = unsafe {
            direct_function_call_as_datum(pg_sys::jsonb_in, &[text.as_c_str().into_datum()])
        }?;
        Some(Self { datum, text: c"" })
    }
}

impl FromDatum for Jsonb<'_> {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        if is_null {
            return None;
        }
        // SAFETY: by this function's contract the datum is of type jsonb. The function fetches a value that is
        // compressed or stored out of line, and its result lives in the current memory context.
        let text = unsafe { direct_function_call::<&CStr>(pg_sys::jsonb_out, &[Some(datum)]) }?;
        Some(Self { datum, text })
    }
}

impl IntoDatum for Jsonb<'_> {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        Some(self.datum)
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

// SAFETY: the datum is of type jsonb.
unsafe impl BoxRet for Jsonb<'_> {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: the datum lives in the memory context of the call, or is an argument of it.
        unsafe { fcinfo.return_raw_datum(self.datum) }
    }
}

argument_type!(Jsonb, pgrx::JsonB);
