//! The aggregates that make and merge summaries.

use jobstats_core::series::counter::{CounterError, Modulus, Reading, Rollup, Series};
use pgrx::datum::Internal;
use pgrx::prelude::*;

use crate::pg::aggregate_state::{self, StateMemory};
use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::pg::spi::SqlResult;
use crate::pg::time::micros;
use crate::summaries::counter::stored;

#[pg_extern(sql = false)]
fn counter_add(
    state: Internal,
    observed: Option<TimestampWithTimeZone>,
    value: Option<AnyNumeric>,
    call: pg_sys::FunctionCallInfo,
) -> SqlResult<Internal> {
    Ok(add(state, observed, value, None, None, call)?)
}

#[pg_extern(sql = false)]
fn counter_add_of_life(
    state: Internal,
    observed: Option<TimestampWithTimeZone>,
    value: Option<AnyNumeric>,
    start_time: Option<TimestampWithTimeZone>,
    call: pg_sys::FunctionCallInfo,
) -> SqlResult<Internal> {
    Ok(add(state, observed, value, start_time, None, call)?)
}

#[pg_extern(sql = false)]
fn counter_add_wrapping(
    state: Internal,
    observed: Option<TimestampWithTimeZone>,
    value: Option<AnyNumeric>,
    start_time: Option<TimestampWithTimeZone>,
    wraps_at: Option<i64>,
    call: pg_sys::FunctionCallInfo,
) -> SqlResult<Internal> {
    Ok(add(state, observed, value, start_time, wraps_at, call)?)
}

fn add(
    state: Internal,
    observed: Option<TimestampWithTimeZone>,
    value: Option<AnyNumeric>,
    start_time: Option<TimestampWithTimeZone>,
    wraps_at: Option<i64>,
    call: pg_sys::FunctionCallInfo,
) -> Result<Internal, Error> {
    let (Some(observed), Some(value)) = (observed, value) else {
        return Ok(state);
    };
    let start = start_time.map(micros).transpose()?;
    let value = i64::try_from(value).map_err(|_| CounterError::Range)?;
    let reading = Reading::new(micros(observed)?, value, start)?;
    let modulus = wraps_at.map(Modulus::new).transpose()?;
    // SAFETY: the states of this aggregate are series.
    #[allow(unsafe_code)]
    let series = unsafe {
        aggregate_state::state_or_new::<Series<StateMemory>>(state, call, |memory| {
            Ok(Series::wrapping_in(memory, modulus))
        })
    }?;
    series.require_modulus(modulus)?;
    series.push(reading)?;
    Ok(aggregate_state::datum_of(series))
}

#[pg_extern(sql = false)]
fn counter_finish(state: Internal) -> SqlResult<Option<Vec<u8>>> {
    // SAFETY: the states of this aggregate are series.
    #[allow(unsafe_code)]
    let Some(series) = (unsafe { aggregate_state::state::<Series<StateMemory>>(state) }) else {
        return Ok(None);
    };
    let summary = series.summary(PAUSE).map_err(Error::from)?;
    Ok(summary.map(|it| it.to_bytes()))
}

#[pg_extern(sql = false)]
fn counter_merge(
    state: Internal,
    counter: Option<&[u8]>,
    call: pg_sys::FunctionCallInfo,
) -> SqlResult<Internal> {
    let Some(counter) = counter else {
        return Ok(state);
    };
    // SAFETY: the states of this aggregate are rollups.
    #[allow(unsafe_code)]
    let rollup = unsafe {
        aggregate_state::state_or_new::<Rollup<StateMemory>>(state, call, |memory| {
            Ok(Rollup::new_in(memory))
        })
    }?;
    rollup.push(stored(counter)?).map_err(Error::from)?;
    Ok(aggregate_state::datum_of(rollup))
}

#[pg_extern(sql = false)]
fn counter_merged(state: Internal) -> SqlResult<Option<Vec<u8>>> {
    // SAFETY: the states of this aggregate are rollups.
    #[allow(unsafe_code)]
    let Some(rollup) = (unsafe { aggregate_state::state::<Rollup<StateMemory>>(state) }) else {
        return Ok(None);
    };
    let summary = rollup.summary(PAUSE).map_err(Error::from)?;
    Ok(summary.map(|it| it.to_bytes()))
}
