//! The fast path of the transition function. It adds most totals: those of a target that was observed for as long as
//! the one before.
//!
//! pgrx's wrapper around a function takes longer than all of this path; see [`crate::summaries::counter`].
#![allow(unsafe_code)]

use jobstats_core::window::Rates;
use pgrx::pg_sys::{Datum, FunctionCallInfo, NullableDatum, Pg_finfo_record};

use crate::pg::aggregate_state::{StateMemory, VERSION_1};
use crate::query::aggregates::rate::sum_add_wrapper;

#[unsafe(no_mangle)]
extern "C" fn pg_finfo_jobstats_sum_add() -> &'static Pg_finfo_record {
    &VERSION_1
}

/// `jobstats_internal.sum_add(internal, bigint, bigint, bigint)`.
///
/// # Safety
///
/// PostgreSQL calls it as the transition function of an aggregate whose states are rates.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn jobstats_sum_add(call: FunctionCallInfo) -> Datum {
    // SAFETY: the call has these arguments, and `push` has changed nothing if it goes on to the wrapper.
    unsafe {
        match (*call).args.as_slice(4) {
            [state, value, observed, _] if push(state, value, observed) => state.value,
            _ => sum_add_wrapper(call),
        }
    }
}

/// Adds a total if the fast path can. Returns whether it has been dealt with.
///
/// # Safety
///
/// `state` is NULL or a state of this aggregate.
#[inline]
unsafe fn push(state: &NullableDatum, value: &NullableDatum, observed: &NullableDatum) -> bool {
    if state.isnull {
        return false;
    }
    if value.isnull {
        return true;
    }
    // Each datum is 64 bits, as those that PostgreSQL passes by value are on the platforms of pgrx.
    let number = |it: &NullableDatum| it.value.value() as i64;
    let observed = if observed.isnull { 0 } else { number(observed) };
    // SAFETY: as the caller promises.
    let rates = unsafe { state.value.cast_mut_ptr::<Rates<StateMemory>>().as_mut() };
    rates.is_some_and(|rates| rates.push_to_latest(number(value), observed))
}
