//! Functions that read a summary.

use jobstats_core::counter::Growth;
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
CREATE FUNCTION jobstats_increase(counter jobstats_counter, previous jobstats_counter) RETURNS numeric
LANGUAGE c IMMUTABLE PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_increase(jobstats_counter, jobstats_counter) IS
'Returns by how much a counter grew since a previous summary. With lag(counter) OVER (PARTITION BY series ORDER BY bucket) as previous, the increases of all buckets add up to that of the whole, also where the counter grew between two buckets. previous NULL: jobstats_increase(counter). Error: 22000 for a previous that does not end before counter begins.';
"#)]
fn jobstats_increase_after(
    counter: Option<&[u8]>,
    previous: Option<&[u8]>,
) -> SqlResult<Option<AnyNumeric>> {
    Ok(growth(counter, previous)?.map(|it| it.increase.into()))
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_rate(counter jobstats_counter) RETURNS double precision
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_rate(jobstats_counter) IS
'Returns by how much a counter grew per second. It is the increase divided by the time from its first reading to its last. NULL for a single reading.';
"#)]
fn jobstats_rate(counter: &[u8]) -> SqlResult<Option<f64>> {
    Ok(stored(counter)?.growth().rate())
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_rate(counter jobstats_counter, previous jobstats_counter) RETURNS double precision
LANGUAGE c IMMUTABLE PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_rate(jobstats_counter, jobstats_counter) IS
'Returns by how much a counter grew per second since a previous summary. It is the increase divided by the time from the last reading of previous to the last reading of counter. previous NULL: jobstats_rate(counter). Error: 22000 for a previous that does not end before counter begins.';
"#)]
fn jobstats_rate_after(counter: Option<&[u8]>, previous: Option<&[u8]>) -> SqlResult<Option<f64>> {
    Ok(growth(counter, previous)?.and_then(|it| it.rate()))
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_resets(counter jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_resets(jobstats_counter) IS 'Returns how often a counter was reset.';
"#)]
fn jobstats_resets(counter: &[u8]) -> SqlResult<i64> {
    bigint(stored(counter)?.resets())
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_resets(counter jobstats_counter, previous jobstats_counter) RETURNS bigint
LANGUAGE c IMMUTABLE PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_resets(jobstats_counter, jobstats_counter) IS
'Returns how often a counter was reset since a previous summary. With lag(counter) OVER (PARTITION BY series ORDER BY bucket) as previous, a reset between two buckets counts in the later one. previous NULL: jobstats_resets(counter). Error: 22000 for a previous that does not end before counter begins.';
"#)]
fn jobstats_resets_after(
    counter: Option<&[u8]>,
    previous: Option<&[u8]>,
) -> SqlResult<Option<i64>> {
    let growth = growth(counter, previous)?;
    growth.map(|it| bigint(it.resets)).transpose()
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_elapsed(counter jobstats_counter) RETURNS interval
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_elapsed(jobstats_counter) IS
'Returns the time from the first reading of a counter to the last. It is in days and time of day.';
"#)]
fn jobstats_elapsed(counter: &[u8]) -> SqlResult<Interval> {
    interval(stored(counter)?.growth().elapsed)
}

#[pg_extern(requires = ["counter_type"], sql = r#"
CREATE FUNCTION jobstats_elapsed(counter jobstats_counter, previous jobstats_counter) RETURNS interval
LANGUAGE c IMMUTABLE PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_elapsed(jobstats_counter, jobstats_counter) IS
'Returns the time since the last reading of a previous summary. It ends with the last reading, and is in days and time of day. previous NULL: jobstats_elapsed(counter). Error: 22000 for a previous that does not end before counter begins.';
"#)]
fn jobstats_elapsed_after(
    counter: Option<&[u8]>,
    previous: Option<&[u8]>,
) -> SqlResult<Option<Interval>> {
    let growth = growth(counter, previous)?;
    growth.map(|it| interval(it.elapsed)).transpose()
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

/// Returns what a counter did since the previous summary, or alone if there is none. The functions on it are not strict,
/// because the first bucket of a series has no previous one.
fn growth(counter: Option<&[u8]>, previous: Option<&[u8]>) -> Result<Option<Growth>, Error> {
    let Some(counter) = counter.map(stored).transpose()? else {
        return Ok(None);
    };
    Ok(Some(match previous.map(stored).transpose()? {
        Some(previous) => counter.growth_after(&previous)?,
        None => counter.growth(),
    }))
}

fn bigint(number: u64) -> SqlResult<i64> {
    Ok(i64::try_from(number).map_err(Error::damaged_value)?)
}

fn interval(elapsed: u64) -> SqlResult<Interval> {
    // PostgreSQL, too, subtracts times to days and time of day. Both parts are small.
    let days = (elapsed / MICROS_OF_A_DAY) as i32;
    let micros = (elapsed % MICROS_OF_A_DAY) as i64;
    let interval = Interval::new(0, days, micros);
    Ok(interval.map_err(Error::damaged_value)?)
}
