//! The lock that one `jobstats_maintain()` holds over all its transactions, so that two never work at once.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use pgrx::prelude::*;

use crate::error::Error;
use crate::store::LOCK_CLASS;

/// Second key of the lock. No target has it.
const KEY: i32 = -1;

/// Whether this backend holds it.
static HELD: AtomicBool = AtomicBool::new(false);

/// Whether this backend gives it back when a transaction fails.
static GUARDED: AtomicBool = AtomicBool::new(false);

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.begin_maintenance() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.begin_maintenance() IS
'Internal: waits until no other maintenance is at work, as long as lock_timeout allows.';
"#)]
fn jobstats_begin_maintenance() -> Result<(), pgrx::pg_sys::panic::ErrorReport> {
    guard();
    Spi::connect_mut(|client| -> Result<(), Error> {
        let keys = [LOCK_CLASS.into(), KEY.into()];
        client.update("SELECT pg_advisory_lock($1, $2)", None, &keys)?;
        Ok(())
    })?;
    HELD.store(true, Ordering::Relaxed);
    Ok(())
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.end_maintenance() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.end_maintenance() IS
'Internal: lets the next maintenance begin.';
"#)]
fn jobstats_end_maintenance() {
    release();
}

/// A procedure that commits keeps a lock only if it is the session's; that of a session is kept when the procedure fails.
#[allow(unsafe_code)]
fn guard() {
    if !GUARDED.swap(true, Ordering::Relaxed) {
        // SAFETY: the callback is never taken away, and needs no argument.
        unsafe { pg_sys::RegisterXactCallback(Some(transaction_ends), std::ptr::null_mut()) }
    }
}

/// # Safety
///
/// PostgreSQL calls it at the end of every transaction.
#[allow(unsafe_code)]
#[pg_guard]
unsafe extern "C-unwind" fn transaction_ends(
    event: pg_sys::XactEvent::Type,
    _argument: *mut c_void,
) {
    if event == pg_sys::XactEvent::XACT_EVENT_ABORT {
        release();
    }
}

#[allow(unsafe_code)]
fn release() {
    if HELD.swap(false, Ordering::Relaxed) {
        // SAFETY: takes two integers and needs neither catalog nor snapshot, so that it can be called in a failed transaction.
        let _: Option<bool> = unsafe {
            pgrx::direct_function_call(
                pg_sys::pg_advisory_unlock_int4,
                &[LOCK_CLASS.into_datum(), KEY.into_datum()],
            )
        };
    }
}
