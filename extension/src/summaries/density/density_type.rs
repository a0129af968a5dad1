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
    Density::from_bytes(bytes).map_err(|error| Error::DamagedValue(error.to_string()))
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
    Ok(text.map_err(|error| Error::DamagedValue(error.to_string()))?)
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

extension_sql!(
    r#"
CREATE FUNCTION jobstats_internal.density_send(jobstats_density) RETURNS bytea
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteasend';
COMMENT ON FUNCTION jobstats_internal.density_send(jobstats_density) IS 'Internal: to a binary message.';

CREATE TYPE jobstats_density (
    INPUT = jobstats_internal.density_in, OUTPUT = jobstats_internal.density_out,
    RECEIVE = jobstats_internal.density_recv, SEND = jobstats_internal.density_send,
    INTERNALLENGTH = VARIABLE, STORAGE = extended
);
COMMENT ON TYPE jobstats_density IS
'How many values lie in which power of a base: made by jobstats_density_agg(), merged by jobstats_rollup().';

CREATE FUNCTION jobstats_internal.density_eq(jobstats_density, jobstats_density) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteaeq';
COMMENT ON FUNCTION jobstats_internal.density_eq(jobstats_density, jobstats_density) IS 'Internal: =.';
CREATE FUNCTION jobstats_internal.density_ne(jobstats_density, jobstats_density) RETURNS boolean
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE AS 'byteane';
COMMENT ON FUNCTION jobstats_internal.density_ne(jobstats_density, jobstats_density) IS 'Internal: <>.';
CREATE FUNCTION jobstats_internal.density_hash(jobstats_density) RETURNS integer
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'hashvarlena';
COMMENT ON FUNCTION jobstats_internal.density_hash(jobstats_density) IS 'Internal: for GROUP BY and DISTINCT.';

CREATE OPERATOR = (
    LEFTARG = jobstats_density, RIGHTARG = jobstats_density, FUNCTION = jobstats_internal.density_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (jobstats_density, jobstats_density) IS 'The same base and the same counts.';
CREATE OPERATOR <> (
    LEFTARG = jobstats_density, RIGHTARG = jobstats_density, FUNCTION = jobstats_internal.density_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (jobstats_density, jobstats_density) IS 'Not =.';
CREATE OPERATOR CLASS jobstats_density_ops DEFAULT FOR TYPE jobstats_density USING hash AS
    OPERATOR 1 =, FUNCTION 1 jobstats_internal.density_hash(jobstats_density);
COMMENT ON OPERATOR CLASS jobstats_density_ops USING hash IS 'For GROUP BY, DISTINCT and hash joins.';
"#,
    name = "density_type",
    requires = [density_in, density_out, density_recv]
);
