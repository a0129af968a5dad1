//! Memory that is given up where there is no other, so that PostgreSQL can tell.
//!
//! `pgrx` copies an error of PostgreSQL before it unwinds. Where the error is that memory has run out, copying it fails for
//! the same reason, that error is copied in turn, and after five of them the server ends all sessions.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use pgrx::{PgSqlErrorCode, PgTryBuilder, pg_sys};

use crate::error::Error;

/// A memory context of PostgreSQL grows by 8 MB, or, where these are not to be had, by half as many, down to 1 MB.
const LAYOUT: Layout = Layout::new::<[u8; 4 << 20]>();

static MEMORY: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Held by whatever takes memory in proportion to its input.
pub struct Ballast {
    callback: Box<pg_sys::ErrorContextCallback>,
}

impl Ballast {
    /// # Errors
    /// Where there is no memory to begin with.
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

/// Called by PostgreSQL when it makes an error, before it leaves the place where that happened.
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

/// Goes once through what an error goes through: some of that is set up the first time, which needs memory, and the C library
/// ends the process where it has none for that.
pub fn rehearse() {
    PgTryBuilder::new(|| pgrx::error!("rehearsal"))
        .catch_others(|_| ())
        .execute();
}
