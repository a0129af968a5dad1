//! Functions that read a summary.

use jobstats_core::base::instant::DAY;
use jobstats_core::series::counter::Growth;
use pgrx::AnyNumeric;
use pgrx::datum::Interval;
use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::summaries::counter::stored;

const MICROS_OF_A_DAY: u64 = DAY.unsigned_abs();

#[pg_extern(sql = false)]
fn jobstats_counter_increase(counter: &[u8]) -> SqlResult<AnyNumeric> {
    // The type is numeric, as in sum(bigint): with resets the sum can exceed any bigint.
    Ok(stored(counter)?.increase().into())
}

#[pg_extern(sql = false)]
fn jobstats_counter_increase_after(
    counter: Option<&[u8]>,
    previous: Option<&[u8]>,
) -> SqlResult<Option<AnyNumeric>> {
    Ok(growth(counter, previous)?.map(|it| it.increase.into()))
}

#[pg_extern(sql = false)]
fn jobstats_counter_rate(counter: &[u8]) -> SqlResult<Option<f64>> {
    Ok(stored(counter)?.growth().rate())
}

#[pg_extern(sql = false)]
fn jobstats_counter_rate_after(
    counter: Option<&[u8]>,
    previous: Option<&[u8]>,
) -> SqlResult<Option<f64>> {
    Ok(growth(counter, previous)?.and_then(|it| it.rate()))
}

#[pg_extern(sql = false)]
fn jobstats_counter_resets(counter: &[u8]) -> SqlResult<i64> {
    bigint(stored(counter)?.resets)
}

#[pg_extern(sql = false)]
fn jobstats_counter_resets_after(
    counter: Option<&[u8]>,
    previous: Option<&[u8]>,
) -> SqlResult<Option<i64>> {
    let growth = growth(counter, previous)?;
    growth.map(|it| bigint(it.resets)).transpose()
}

#[pg_extern(sql = false)]
fn jobstats_counter_elapsed(counter: &[u8]) -> SqlResult<Interval> {
    interval(stored(counter)?.growth().elapsed)
}

#[pg_extern(sql = false)]
fn jobstats_counter_elapsed_after(
    counter: Option<&[u8]>,
    previous: Option<&[u8]>,
) -> SqlResult<Option<Interval>> {
    let growth = growth(counter, previous)?;
    growth.map(|it| interval(it.elapsed)).transpose()
}

#[pg_extern(sql = false)]
fn jobstats_counter_first(counter: &[u8]) -> SqlResult<i64> {
    Ok(stored(counter)?.first.value)
}

#[pg_extern(sql = false)]
fn jobstats_counter_last(counter: &[u8]) -> SqlResult<i64> {
    Ok(stored(counter)?.last.value)
}

/// Returns the increase of a counter since the previous summary, or within it without a previous one. The functions on it are not strict, because the
/// first bucket of a series has no previous one.
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
