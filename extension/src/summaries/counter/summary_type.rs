//! The type `jobstats_counter`.
//!
//! A table holds the bytes that core makes, and each summary has exactly one sequence of bytes. So PostgreSQL's own
//! functions for bytea compare, hash and send it.

use std::ffi::{CStr, CString};

use jobstats_core::counter::{CounterError, Summary};
use pgrx::datum::Internal;
use pgrx::prelude::*;

use crate::pg::aggregate_state;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;

extension_sql!("CREATE TYPE jobstats_counter;", name = "counter_name");

/// Reads a summary from the bytes that a table holds.
pub fn stored(bytes: &[u8]) -> Result<Summary, Error> {
    Summary::from_bytes(bytes).map_err(Error::damaged_value)
}

#[pg_extern(requires = ["counter_name"], sql = r#"
CREATE FUNCTION jobstats_internal.counter_in(cstring) RETURNS jobstats_counter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.counter_in(cstring) IS 'Internal: from text.';
"#)]
fn counter_in(text: &CStr) -> SqlResult<Vec<u8>> {
    let text = text.to_str().map_err(|_| CounterError::Text);
    let summary = text.and_then(Summary::from_text).map_err(Error::from)?;
    Ok(summary.to_bytes())
}

#[pg_extern(requires = ["counter_name"], sql = r#"
CREATE FUNCTION jobstats_internal.counter_out(jobstats_counter) RETURNS cstring
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.counter_out(jobstats_counter) IS 'Internal: to text.';
"#)]
fn counter_out(bytes: &[u8]) -> SqlResult<CString> {
    let text = CString::new(stored(bytes)?.to_string());
    Ok(text.map_err(Error::damaged_value)?)
}

#[pg_extern(requires = ["counter_name"], sql = r#"
CREATE FUNCTION jobstats_internal.counter_recv(internal) RETURNS jobstats_counter
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.counter_recv(internal) IS 'Internal: from a binary message.';
"#)]
fn counter_recv(message: Internal) -> SqlResult<Vec<u8>> {
    // SAFETY: this is the type's receive function.
    #[allow(unsafe_code)]
    let bytes = unsafe { aggregate_state::received(message) };
    let summary = Summary::from_bytes(bytes).map_err(Error::from)?;
    Ok(summary.to_bytes())
}

extension_sql_file!(
    "type.sql",
    name = "counter_type",
    requires = [counter_in, counter_out, counter_recv]
);
