//! The aggregates that make and merge densities.

use jobstats_core::series::density::Density;
use pgrx::datum::Internal;
use pgrx::prelude::*;

use crate::pg::aggregate_state::{self, StateMemory};
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::summaries::density::stored;

const DEFAULT_BASE: i32 = 10;

#[pg_extern(sql = false)]
fn density_add(
    state: Internal,
    value: Option<f64>,
    call: pg_sys::FunctionCallInfo,
) -> SqlResult<Internal> {
    add(state, value, Some(DEFAULT_BASE), call)
}

#[pg_extern(sql = false)]
fn density_add_to_base(
    state: Internal,
    value: Option<f64>,
    base: Option<i32>,
    call: pg_sys::FunctionCallInfo,
) -> SqlResult<Internal> {
    add(state, value, base, call)
}

fn add(
    state: Internal,
    value: Option<f64>,
    base: Option<i32>,
    call: pg_sys::FunctionCallInfo,
) -> SqlResult<Internal> {
    let (Some(value), Some(base)) = (value, base) else {
        return Ok(state);
    };
    let density = density_of(state, base, call)?;
    density.require_base(base).map_err(Error::from)?;
    density.push(value).map_err(Error::from)?;
    Ok(aggregate_state::datum_of(density))
}

fn density_of<'call>(
    state: Internal,
    base: i32,
    call: pg_sys::FunctionCallInfo,
) -> Result<&'call mut Density<StateMemory>, Error> {
    // SAFETY: the states of these aggregates are densities.
    #[allow(unsafe_code)]
    unsafe {
        aggregate_state::state_or_new(state, call, |memory| Ok(Density::new_in(base, memory)?))
    }
}

#[pg_extern(sql = false)]
fn density_merge(
    state: Internal,
    density: Option<&[u8]>,
    call: pg_sys::FunctionCallInfo,
) -> SqlResult<Internal> {
    let Some(density) = density else {
        return Ok(state);
    };
    let density = stored(density)?;
    let whole = density_of(state, density.base().into(), call)?;
    whole.merge(&density).map_err(Error::from)?;
    Ok(aggregate_state::datum_of(whole))
}

#[pg_extern(sql = false)]
fn density_finish(state: Internal) -> SqlResult<Option<Vec<u8>>> {
    // SAFETY: the states of these aggregates are densities.
    #[allow(unsafe_code)]
    let density = unsafe { aggregate_state::state::<Density<StateMemory>>(state) };
    Ok(density.map(|it| it.to_bytes()))
}
