//! Memory that is freed when PostgreSQL runs out of memory, so that it can report the error.
//!
//! PostgreSQL adds the statement to an error, and `pgrx` copies each error before it unwinds. Without memory both fail, and
//! nested errors end the server. But before reporting, PostgreSQL collects the sizes of all memory contexts for the log: a
//! context of this module then frees the ballast.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use pgrx::{PgTryBuilder, pg_sys};

use crate::pg::error::Error;

/// The size of the ballast. A memory context of PostgreSQL grows by 8 MB and, if that fails, by 4, 2 or 1 MB.
const LAYOUT: Layout = Layout::new::<[u8; 4 << 20]>();

static MEMORY: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// The original functions of the memory context.
static METHODS: AtomicPtr<pg_sys::MemoryContextMethods> = AtomicPtr::new(null_mut());

/// Allocates the ballast if necessary. Functions that run statements, or whose memory grows with the input, call this first.
///
/// # Errors
/// [`Error::Memory`] if there is no memory for it.
pub fn hold() -> Result<(), Error> {
    if MEMORY.load(Ordering::Relaxed).is_null() {
        // SAFETY: the layout is not empty. The reserve is no help to PostgreSQL: this is the system's memory.
        let memory = unsafe { System.alloc(LAYOUT) };
        if memory.is_null() {
            return Err(Error::Memory(LAYOUT.size()));
        }
        MEMORY.store(memory, Ordering::Relaxed);
    }
    Ok(())
}

/// Prepares a session for errors: creates the context that frees the ballast, and raises and catches an error. The first error
/// of a session registers thread-local memory with the C library, which aborts the process if that fails.
///
/// Also disables backtraces, which pgrx would add to the DETAIL of each error: they expose internals to users and need memory.
pub fn prepare() {
    // SAFETY: a backend has one thread.
    unsafe {
        std::env::set_var("RUST_BACKTRACE", "0");
        std::env::set_var("RUST_LIB_BACKTRACE", "0");
    }
    make_context();
    PgTryBuilder::new(|| pgrx::error!("rehearsal"))
        .catch_others(|_| ())
        .execute();
}

/// Creates an empty memory context for the whole session, which differs from others only in [`give_up`].
fn make_context() {
    // SAFETY: the top context exists when libraries are loaded; small contexts begin with 1 kB. The copied functions differ in
    // one, which has the same contract.
    unsafe {
        let context = pg_sys::AllocSetContextCreateInternal(
            pg_sys::TopMemoryContext,
            c"jobstats ballast".as_ptr(),
            0,
            1 << 10,
            8 << 10,
        );
        METHODS.store((*context).methods.cast_mut(), Ordering::Relaxed);
        (*context).methods = Box::leak(Box::new(pg_sys::MemoryContextMethods {
            stats: Some(give_up),
            ..*(*context).methods
        }));
    }
}

/// Frees the ballast, and reports the size of the context. PostgreSQL calls this when memory has run out, before creating the
/// error. Other calls do no harm: the next function allocates the ballast again.
unsafe extern "C-unwind" fn give_up(
    context: pg_sys::MemoryContext,
    print: pg_sys::MemoryStatsPrintFunc,
    passthru: *mut c_void,
    totals: *mut pg_sys::MemoryContextCounters,
    to_stderr: bool,
) {
    let memory = MEMORY.swap(null_mut(), Ordering::Relaxed);
    if !memory.is_null() {
        // SAFETY: allocated by `hold`, and not shared.
        unsafe { System.dealloc(memory, LAYOUT) }
    }
    // SAFETY: the original function, with the arguments of the call.
    unsafe {
        if let Some(stats) = METHODS
            .load(Ordering::Relaxed)
            .as_ref()
            .and_then(|methods| methods.stats)
        {
            stats(context, print, passthru, totals, to_stderr);
        }
    }
}
