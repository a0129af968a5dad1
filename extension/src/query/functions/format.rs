//! `jobstats_format()`: prints a number of an answer with its unit.

use jobstats_core::quantity::{Quantity, Readable};
use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::query::measure::unknown;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_format(value double precision, operation text, quantity text DEFAULT 'rate') RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_format(double precision, text, text) IS
'Prints a number of an answer with its unit, as in 104 MB/s. quantity is the column that the number is from: rate, total or per_call. Three digits, decimal prefixes as storage is sold with (kB is 1000 bytes), times in the unit that suits them (23 ms, 90 min). A rate of service_time is the number of requests in service and has no unit. NULL where an argument is NULL. Errors: 22023 for an unknown operation or quantity.';
"#)]
fn jobstats_format(value: f64, operation: &str, quantity: &str) -> SqlResult<String> {
    let Some(quantity) = Quantity::find(quantity) else {
        let valid = Quantity::NAMES.join(", ");
        return Err(Error::unknown("quantity", quantity, valid).into());
    };
    let readable = Readable::new(value, operation, quantity).ok_or_else(|| unknown(operation))?;
    Ok(readable.to_string())
}
