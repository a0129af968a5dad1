//! Values that PostgreSQL passes as `internal`: the state of an aggregate, which lies in PostgreSQL's memory, and a
//! message that is being received.
#![allow(unsafe_code)]

use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator, Layout};
use allocator_api2::boxed::Box;
use pgrx::datum::Internal;
use pgrx::pg_sys;

use crate::pg::error::Error;

/// The alignment of memory from `palloc`.
const ALIGNMENT: usize = 8;

/// The memory context of the states of an aggregate, which is freed as a whole without dropping values. PostgreSQL measures it
/// and spills groups to disk when it grows too large.
#[derive(Debug, Clone, Copy)]
pub struct StateMemory(pg_sys::MemoryContext);

// SAFETY: memory from PostgreSQL's allocator stays valid and in place until it is freed, or the context is, which frees
// all memory that is allocated from it; copies of this value name the same context.
unsafe impl Allocator for StateMemory {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.align() > ALIGNMENT {
            return Err(AllocError);
        }
        let flags = pg_sys::MCXT_ALLOC_HUGE | pg_sys::MCXT_ALLOC_NO_OOM;
        // SAFETY: the context exists as long as the aggregate runs. The function returns NULL if there is no memory.
        let place =
            unsafe { pg_sys::MemoryContextAllocExtended(self.0, layout.size(), flags as i32) };
        let place = NonNull::new(place.cast::<u8>()).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(place, layout.size()))
    }

    unsafe fn deallocate(&self, place: NonNull<u8>, _: Layout) {
        // SAFETY: comes from `allocate`.
        unsafe { pg_sys::pfree(place.as_ptr().cast()) }
    }
}

impl StateMemory {
    fn of_aggregate(call: pg_sys::FunctionCallInfo) -> Result<Self, Error> {
        let mut context = std::ptr::null_mut();
        // SAFETY: the call is running; the function also checks that an aggregate is the caller.
        let kind = unsafe { pg_sys::AggCheckCallContext(call, &raw mut context) };
        if kind == 0 {
            return Err(Error::argument(
                "this function works only as part of an aggregate",
                "Call the aggregate itself.",
            ));
        }
        Ok(Self(context))
    }
}

/// Returns the state that was passed to a function of an aggregate, if there is one yet.
///
/// # Safety
///
/// The aggregate's states are all made by [`state_or_new`] with this type, and the reference ends with the call.
pub unsafe fn state<'call, S>(state: Internal) -> Option<&'call mut S> {
    let place = state.unwrap()?.cast_mut_ptr::<S>();
    // SAFETY: as the caller promises. PostgreSQL hands a state to one function at a time.
    unsafe { place.as_mut() }
}

/// Returns the given state, or creates one in the memory of the aggregate.
///
/// # Safety
///
/// The aggregate's states are all made by this function with this type, and the reference ends with the call.
pub unsafe fn state_or_new<'call, S>(
    given: Internal,
    call: pg_sys::FunctionCallInfo,
    make: impl FnOnce(StateMemory) -> Result<S, Error>,
) -> Result<&'call mut S, Error> {
    // SAFETY: as the caller promises.
    if let Some(state) = unsafe { state(given) } {
        return Ok(state);
    }
    let memory = StateMemory::of_aggregate(call)?;
    let state = Box::try_new_in(make(memory)?, memory);
    Ok(Box::leak(state.map_err(|_| Error::Memory(size_of::<S>()))?))
}

/// Converts a state to the value that PostgreSQL keeps for the next call.
pub fn datum_of<S>(state: &mut S) -> Internal {
    Internal::from(Some(pg_sys::Datum::from(&raw mut *state)))
}

/// Returns the rest of a message that is being received.
///
/// # Safety
///
/// `message` is the argument of a type's receive function, and the bytes are not used after it has ended.
pub unsafe fn received<'call>(message: Internal) -> &'call [u8] {
    // SAFETY: that argument is a pointer to a StringInfo.
    let message = unsafe { state::<pg_sys::StringInfoData>(message) };
    let Some(message) = message else {
        return &[];
    };
    let (Ok(from), Ok(len)) = (
        usize::try_from(message.cursor),
        usize::try_from(message.len),
    ) else {
        return &[];
    };
    message.cursor = message.len;
    // SAFETY: a StringInfo has `len` bytes, and its cursor is not beyond them.
    unsafe { std::slice::from_raw_parts(message.data.add(from).cast(), len.saturating_sub(from)) }
}
