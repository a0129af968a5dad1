//! Memory that is freed when PostgreSQL runs out of memory, so that it can report the error.
//!
//! `pgrx` copies each error of PostgreSQL before it unwinds. When memory has run out, the copy fails for the same reason, and
//! `pgrx` tries to copy that error in turn. After five errors within each other the server ends all sessions.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use pgrx::{PgSqlErrorCode, PgTryBuilder, pg_sys};

use crate::error::Error;

/// The size of the ballast. A memory context of PostgreSQL grows by 8 MB and, if that fails, by 4, 2 or 1 MB.
const LAYOUT: Layout = Layout::new::<[u8; 4 << 20]>();

static MEMORY: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// A guard that every function holds whose memory grows with its input.
pub struct Ballast {
    callback: Box<pg_sys::ErrorContextCallback>,
}

impl Ballast {
    /// Allocates the ballast, unless the session has it already.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no memory for it.
    pub fn hold() -> Result<Self, Error> {
        if MEMORY.load(Ordering::Relaxed).is_null() {
            // SAFETY: the layout is not empty. The reserve is no help to PostgreSQL: this is the system's memory.
            MEMORY.store(unsafe { System.alloc(LAYOUT) }, Ordering::Relaxed);
        }
        if MEMORY.load(Ordering::Relaxed).is_null() {
            return Err(Error::Memory(LAYOUT.size()));
        }
        // SAFETY: read and written by the backend's only thread. The callback stays in its place until it is taken from the
        // stack: by `drop`, or by PostgreSQL itself, which sets the stack back where it catches an error.
        let callback = unsafe {
            let mut callback = Box::new(pg_sys::ErrorContextCallback {
                previous: pg_sys::error_context_stack,
                callback: Some(give_up_where_short),
                arg: null_mut(),
            });
            pg_sys::error_context_stack = &raw mut *callback;
            callback
        };
        Ok(Self { callback })
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        // SAFETY: as in `hold`. Errors set the stack back before they unwind to here.
        unsafe {
            if pg_sys::error_context_stack == &raw mut *self.callback {
                pg_sys::error_context_stack = self.callback.previous;
            }
        }
        // The error that is under way may be that there is no memory.
        if std::thread::panicking() {
            give_up();
        }
    }
}

/// Frees the ballast if the error is that memory has run out. PostgreSQL calls this before it leaves the place of the error.
unsafe extern "C-unwind" fn give_up_where_short(_: *mut c_void) {
    // SAFETY: callable from here.
    if unsafe { pg_sys::geterrcode() } == PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY as i32 {
        give_up();
    }
}

fn give_up() {
    let memory = MEMORY.swap(null_mut(), Ordering::Relaxed);
    if !memory.is_null() {
        // SAFETY: comes from `hold`, and nobody else has it.
        unsafe { System.dealloc(memory, LAYOUT) }
    }
}

/// Raises and catches an error. The first error of a session registers thread-local memory with the C library, which ends the
/// process if there is no memory for it; so the first error is this one.
pub fn rehearse() {
    PgTryBuilder::new(|| pgrx::error!("rehearsal"))
        .catch_others(|_| ())
        .execute();
}
