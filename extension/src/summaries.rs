//! Summaries of any table of readings: counters with their resets, and densities.

/// The functions of a type of summaries, whose SQL is in `extension/sql/summary_type.sql`. Core reads and makes the text and the bytes
/// of a summary, and each has exactly one sequence of bytes: PostgreSQL's own functions for bytea compare, hash and send it.
macro_rules! summary_type {
    ($Summary:ty, $Error:ident, $input:ident, $output:ident, $receive:ident) => {
        use std::ffi::{CStr, CString};

        use pgrx::datum::Internal;
        use pgrx::prelude::*;

        use crate::pg::aggregate_state;
        use crate::pg::error::Error;
        use crate::pg::spi::SqlResult;

        /// Reads a summary from the bytes that a table holds.
        pub fn stored(bytes: &[u8]) -> Result<$Summary, Error> {
            <$Summary>::from_bytes(bytes).map_err(Error::damaged_value)
        }

        #[pg_extern(sql = false)]
        fn $input(text: &CStr) -> SqlResult<Vec<u8>> {
            let text = text.to_str().map_err(|_| $Error::Text);
            let summary = text.and_then(<$Summary>::from_text).map_err(Error::from)?;
            Ok(summary.to_bytes())
        }

        #[pg_extern(sql = false)]
        fn $output(bytes: &[u8]) -> SqlResult<CString> {
            let text = CString::new(stored(bytes)?.to_string());
            Ok(text.map_err(Error::damaged_value)?)
        }

        #[pg_extern(sql = false)]
        fn $receive(message: Internal) -> SqlResult<Vec<u8>> {
            // SAFETY: this is the type's receive function.
            #[allow(unsafe_code)]
            let bytes = unsafe { aggregate_state::received(message) };
            let summary = <$Summary>::from_bytes(bytes).map_err(Error::from)?;
            Ok(summary.to_bytes())
        }
    };
}

mod counter;
mod density;
