//! Ends waiting for other servers, in whatever state they are.
//!
//! The kernel of a server with stopped processes still acknowledges packets, so connection options do not detect it. Canceling
//! does not help either: `postgres_fdw` waits for the stopped postmaster without a limit. So this timer shuts the connections
//! down, which `postgres_fdw` notices at once, and repeats this each second until the transaction ends, because of new
//! connections for cancel requests. An error would stop timers of PostgreSQL.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::io;
use std::mem::zeroed;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use pgrx::{PgMemoryContexts, pg_guard, pg_sys};

use crate::pg::error::Error;

thread_local! {
    /// The timer of this backend, as soon as it has one.
    static TIMER: Cell<Option<libc::timer_t>> = const { Cell::new(None) };
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    /// The last limit of this transaction, in milliseconds. It also covers the commit, which goes to the other servers.
    static OF_TRANSACTION: Cell<i32> = const { Cell::new(0) };
}

/// Set if connections were shut down since the last limit was set.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Returns whether the last limit was reached.
pub fn is_over() -> bool {
    IS_OVER.load(Ordering::Relaxed)
}

/// Returns whether there is a limit.
pub fn is_running() -> bool {
    IS_RUNNING.get()
}

/// Limits the waiting of this session from now on, in milliseconds, until [`stop`], or after an error until the end of the
/// transaction or subtransaction. Returns false, without any change, if there is a limit already.
pub fn start(milliseconds: i32) -> Result<bool, Error> {
    if is_running() {
        return Ok(false);
    }
    set(milliseconds)?;
    IS_OVER.store(false, Ordering::Relaxed);
    OF_TRANSACTION.set(milliseconds);
    // SAFETY: a context that is deleted after all that is done at the end of the transaction or subtransaction.
    PgMemoryContexts::CurTransactionContext.leak_and_drop_on_delete(LimitGuard);
    come_first();
    Ok(true)
}

/// Ends the limit.
pub fn stop() {
    drop(LimitGuard);
    come_first();
}

/// Ends the limit when it is dropped.
struct LimitGuard;

impl Drop for LimitGuard {
    fn drop(&mut self) {
        if is_running() {
            let _ = set(0);
        }
    }
}

/// Registers the callback again, to run before the one of `postgres_fdw`: the newest is called first.
fn come_first() {
    // SAFETY: the callback needs no argument.
    unsafe {
        pg_sys::UnregisterXactCallback(Some(at_end), ptr::null_mut());
        pg_sys::RegisterXactCallback(Some(at_end), ptr::null_mut());
    }
}

/// # Safety
///
/// PostgreSQL calls it at the end of every transaction.
#[pg_guard]
unsafe extern "C-unwind" fn at_end(event: pg_sys::XactEvent::Type, _argument: *mut c_void) {
    let milliseconds = OF_TRANSACTION.take();
    if event == pg_sys::XactEvent::XACT_EVENT_PRE_COMMIT && milliseconds > 0 {
        let _ = set(milliseconds);
    }
}

/// Sets the timer; 0 stops it.
fn set(milliseconds: i32) -> Result<(), Error> {
    let timer = match TIMER.get() {
        Some(timer) => timer,
        None => make_timer()?,
    };
    TIMER.set(Some(timer));
    // SAFETY: plain numbers.
    let mut new: libc::itimerspec = unsafe { zeroed() };
    new.it_value.tv_sec = i64::from(milliseconds / 1000);
    new.it_value.tv_nsec = i64::from(milliseconds % 1000) * 1_000_000;
    new.it_interval.tv_sec = 1;
    // SAFETY: the timer lives as long as the process.
    if unsafe { libc::timer_settime(timer, 0, &raw const new, ptr::null_mut()) } != 0 {
        return Err(Error::Node(io::Error::last_os_error().to_string()));
    }
    IS_RUNNING.set(milliseconds > 0);
    Ok(())
}

/// Makes a timer that sends this process a signal that PostgreSQL does not use.
fn make_timer() -> Result<libc::timer_t, Error> {
    // SAFETY: plain numbers and pointers. The handler calls only what a handler may.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = shut_down as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        let mut event: libc::sigevent = zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGRTMIN();
        let mut timer = ptr::null_mut();
        if libc::sigaction(event.sigev_signo, &raw const action, ptr::null_mut()) == 0
            && libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) == 0
        {
            return Ok(timer);
        }
    }
    Err(Error::Node(io::Error::last_os_error().to_string()))
}

/// Shuts down all connections of this process except the one of the client. Standard streams are left alone.
extern "C" fn shut_down(_signal: c_int) {
    // SAFETY: variables of this backend. Other files cannot be shut down. The kernel assigns the lowest free number, so
    // no number is much higher than the limit on open files.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let client = match pg_sys::MyProcPort.is_null() {
            true => -1,
            // The socket comes first.
            false => *pg_sys::MyProcPort.cast(),
        };
        for file in (3..pg_sys::max_files_per_process + 64).filter(|&it| it != client) {
            libc::shutdown(file, libc::SHUT_RDWR);
        }
        *errno = before;
    }
    IS_OVER.store(true, Ordering::Relaxed);
}
