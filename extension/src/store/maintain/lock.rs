//! The lock that `jobstats_maintain()` holds over all its transactions, so that two calls never work at once.
//!
//! It is a session-level lock on the table `jobstats.locks`: only roles with rights on that table can take it.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use pgrx::prelude::*;

use crate::pg::spi::{SqlResult, Statements, connect_as_of_call};

/// The mode of the lock. It conflicts with itself, and with nothing that reads, writes or locks rows of the table.
const MODE: pg_sys::LOCKMODE = pg_sys::ShareUpdateExclusiveLock as pg_sys::LOCKMODE;

thread_local! {
    /// The table on which this backend holds the lock.
    static HELD: Cell<Option<pg_sys::LockRelId>> = const { Cell::new(None) };
}

/// True once this backend releases the lock when a transaction fails.
static GUARDED: AtomicBool = AtomicBool::new(false);

#[pg_extern(sql = false)]
fn jobstats_begin_maintenance() -> SqlResult<()> {
    guard();
    let table = connect_as_of_call(|client| {
        client.query_value("SELECT 'jobstats.locks'::regclass::oid", &[])
    })?;
    lock(table);
    Ok(())
}

#[pg_extern(sql = false)]
fn jobstats_end_maintenance() {
    release();
}

/// Takes the lock for the session: a procedure that commits would lose a lock of its transaction.
#[allow(unsafe_code)]
fn lock(table: pg_sys::Oid) {
    // SAFETY: reads a variable of this backend.
    let database = unsafe { pg_sys::MyDatabaseId };
    let mut relation = pg_sys::LockRelId {
        relId: table,
        dbId: database,
    };
    // SAFETY: takes the OID of a relation, which exists; waiting ends with an error of PostgreSQL at the latest.
    unsafe { pg_sys::LockRelationIdForSession(&raw mut relation, MODE) };
    HELD.set(Some(relation));
}

/// Registers the callback that releases the lock if the procedure fails: a session-level lock outlives its transaction.
#[allow(unsafe_code)]
fn guard() {
    if !GUARDED.swap(true, Ordering::Relaxed) {
        // SAFETY: the callback is never unregistered, and needs no argument.
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
    if let Some(mut relation) = HELD.take() {
        // SAFETY: this backend holds the lock. Releasing it needs neither catalog nor snapshot, so that it can be done
        // in a failed transaction.
        unsafe { pg_sys::UnlockRelationIdForSession(&raw mut relation, MODE) };
    }
}
