//! Functions that read a summary.

use jobstats_core::instant::DAY;
use pgrx::AnyNumeric;
use pgrx::datum::Interval;
use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::summaries::counter::summary_type::stored;

const MICROS_OF_A_DAY: u64 = DAY.unsigned_abs();

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_increase(counter jobstats_counter) RETURNS numeric
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_increase(jobstats_counter) IS
'Returns by how much a counter grew, exactly, resets included.';
"#)]
fn jobstats_increase(counter: &[u8]) -> SqlResult<AnyNumeric> {
    // The type is numeric, like that of sum(bigint): with resets the sum can exceed any bigint.
    Ok(stored(counter)?.increase().into())
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_rate(counter jobstats_counter) RETURNS double precision
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_rate(jobstats_counter) IS
'Returns by how much a counter grew per second. It is the increase divided by the time from its first reading to its last. NULL for a single reading.';
"#)]
fn jobstats_rate(counter: &[u8]) -> SqlResult<Option<f64>> {
    Ok(stored(counter)?.rate())
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_resets(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_resets(jobstats_counter) IS 'Returns how often a counter was reset.';
"#)]
fn jobstats_resets(counter: &[u8]) -> SqlResult<i64> {
    let resets = i64::try_from(stored(counter)?.resets());
    Ok(resets.map_err(Error::damaged_value)?)
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_elapsed(counter jobstats_counter) RETURNS interval
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_elapsed(jobstats_counter) IS
'Returns the time from the first reading of a counter to the last. It is in days and time of day.';
"#)]
fn jobstats_elapsed(counter: &[u8]) -> SqlResult<Interval> {
    let elapsed = stored(counter)?.elapsed();
    // PostgreSQL, too, subtracts times to days and time of day. Both parts are small.
    let days = (elapsed / MICROS_OF_A_DAY) as i32;
    let micros = (elapsed % MICROS_OF_A_DAY) as i64;
    let interval = Interval::new(0, days, micros);
    Ok(interval.map_err(Error::damaged_value)?)
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_first(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_first(jobstats_counter) IS 'Returns the value of the first reading.';
"#)]
fn jobstats_first(counter: &[u8]) -> SqlResult<i64> {
    Ok(stored(counter)?.first().value())
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_last(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_last(jobstats_counter) IS 'Returns the value of the last reading.';
"#)]
fn jobstats_last(counter: &[u8]) -> SqlResult<i64> {
    Ok(stored(counter)?.last().value())
}
