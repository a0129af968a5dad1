//! Memory that is freed when PostgreSQL runs out of memory, so that it can report the error.
//!
//! PostgreSQL adds the statement to an error, and `pgrx` copies each error before it unwinds. When memory has run out, both
//! fail for the same reason, and errors within errors end the server. But before PostgreSQL reports that memory has run out,
//! it asks all memory contexts for their sizes, to print them in the log: a context of this module frees the ballast then.
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

/// The functions of PostgreSQL's own kind of memory contexts.
static METHODS: AtomicPtr<pg_sys::MemoryContextMethods> = AtomicPtr::new(null_mut());

/// Allocates the ballast, unless the session has it already. Every function calls this first whose memory grows with its
/// input or that runs statements.
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

/// Prepares a session for errors: makes the context that frees the ballast, and raises and catches an error. The first error
/// of a session registers thread-local memory with the C library, which ends the process if there is no memory for it; so the
/// first error is this one.
///
/// Backtraces are off from then on, also if the environment of the server asks for them: pgrx adds them to the DETAIL of every
/// error, where they show users the inside of the library, and to make one takes memory that may have run out.
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

/// Makes a memory context that is like others but for [`give_up`]. It lives as long as the session, and nothing is in it.
fn make_context() {
    // SAFETY: the top context is there when libraries are loaded; small contexts begin with 1 kB. Its functions are those of
    // all contexts of its kind, of which the copy differs in one that has the same contract.
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

/// Frees the ballast, and tells the size of the context. PostgreSQL calls this when memory has run out, before it makes the
/// error, and when somebody asks for the sizes of contexts, which does no harm: the next function allocates the ballast again.
unsafe extern "C-unwind" fn give_up(
    context: pg_sys::MemoryContext,
    print: pg_sys::MemoryStatsPrintFunc,
    passthru: *mut c_void,
    totals: *mut pg_sys::MemoryContextCounters,
    to_stderr: bool,
) {
    let memory = MEMORY.swap(null_mut(), Ordering::Relaxed);
    if !memory.is_null() {
        // SAFETY: comes from `hold`, and nobody else has it.
        unsafe { System.dealloc(memory, LAYOUT) }
    }
    // SAFETY: the function that this one stands for, with the arguments of the call.
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
