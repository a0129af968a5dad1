//! The type `jobstats_density`.
//!
//! A table holds the bytes that core makes, and each density has exactly one sequence of bytes. So PostgreSQL's own
//! functions for bytea compare, hash and send it.

use std::ffi::{CStr, CString};

use jobstats_core::density::{Density, DensityError};
use pgrx::datum::Internal;
use pgrx::prelude::*;

use crate::pg::aggregate_state;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;

extension_sql!("CREATE TYPE jobstats_density;", name = "density_name");

/// Reads a density from the bytes that a table holds.
pub fn stored(bytes: &[u8]) -> Result<Density, Error> {
    Density::from_bytes(bytes).map_err(Error::damaged_value)
}

#[pg_extern(requires = ["density_name"], sql = r#"
CREATE FUNCTION jobstats_internal.density_in(cstring) RETURNS jobstats_density
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.density_in(cstring) IS 'Internal: from text.';
"#)]
fn density_in(text: &CStr) -> SqlResult<Vec<u8>> {
    let text = text.to_str().map_err(|_| DensityError::Text);
    let density = text.and_then(Density::from_text).map_err(Error::from)?;
    Ok(density.to_bytes().map_err(Error::from)?)
}

#[pg_extern(requires = ["density_name"], sql = r#"
CREATE FUNCTION jobstats_internal.density_out(jobstats_density) RETURNS cstring
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.density_out(jobstats_density) IS 'Internal: to text.';
"#)]
fn density_out(bytes: &[u8]) -> SqlResult<CString> {
    let text = CString::new(stored(bytes)?.to_string());
    Ok(text.map_err(Error::damaged_value)?)
}

#[pg_extern(requires = ["density_name"], sql = r#"
CREATE FUNCTION jobstats_internal.density_recv(internal) RETURNS jobstats_density
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.density_recv(internal) IS 'Internal: from a binary message.';
"#)]
fn density_recv(message: Internal) -> SqlResult<Vec<u8>> {
    // SAFETY: this is the type's receive function.
    #[allow(unsafe_code)]
    let bytes = unsafe { aggregate_state::received(message) };
    let density = Density::from_bytes(bytes).map_err(Error::from)?;
    Ok(density.to_bytes().map_err(Error::from)?)
}

extension_sql_file!(
    "type.sql",
    name = "density_type",
    requires = [density_in, density_out, density_recv]
);
