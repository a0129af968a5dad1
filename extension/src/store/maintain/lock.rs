//! Locks that a procedure holds over all its transactions: `jobstats_maintain()` and `jobstats_convert()` lock the table
//! `jobstats.locks`, so that two calls never work at once, and the latter keeps writers from the table that it copies.

use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use pgrx::prelude::*;

use crate::pg::spi::{SqlResult, Statements, connect_as_of_call};

/// The mode of the lock. It conflicts with itself, but not with reading, writing or locking rows of the table.
const ALONE: pg_sys::LOCKMODE = pg_sys::ShareUpdateExclusiveLock as pg_sys::LOCKMODE;

/// The mode that keeps writers from a relation.
const UNCHANGED: pg_sys::LOCKMODE = pg_sys::ShareLock as pg_sys::LOCKMODE;

thread_local! {
    /// The locks that this backend holds.
    static HELD: RefCell<Vec<(pg_sys::LockRelId, pg_sys::LOCKMODE)>> = const { RefCell::new(Vec::new()) };
}

/// Registers thread-local memory with the C library, which aborts the process if that fails on first use.
pub fn register_memory() {
    HELD.with(|_| ());
}

/// True once this backend releases the locks when a transaction fails.
static GUARDED: AtomicBool = AtomicBool::new(false);

#[pg_extern(sql = false)]
fn jobstats_begin_maintenance() -> SqlResult<()> {
    let table = connect_as_of_call(|client| {
        client.query_value("SELECT 'jobstats.locks'::regclass::oid", &[])
    })?;
    lock(table, ALONE);
    Ok(())
}

#[pg_extern(sql = false)]
fn jobstats_hold_writers(relation: pg_sys::Oid) {
    lock(relation, UNCHANGED);
}

#[pg_extern(sql = false)]
fn jobstats_end_maintenance() {
    release();
}

/// Takes a lock for the session: a procedure that commits would lose a lock of its transaction.
#[allow(unsafe_code)]
fn lock(relation: pg_sys::Oid, mode: pg_sys::LOCKMODE) {
    guard();
    // SAFETY: reads a variable of this backend.
    let database = unsafe { pg_sys::MyDatabaseId };
    let mut relation = pg_sys::LockRelId {
        relId: relation,
        dbId: database,
    };
    // SAFETY: takes the OID of a relation, which exists. A timeout can end the wait in the moment in which the lock is granted:
    // PostgreSQL then keeps the lock, and gives it back with the transaction. So the transaction waits, and the session, which
    // would never give it back, takes a lock that is held already.
    unsafe {
        pg_sys::LockRelationOid(relation.relId, mode);
        pg_sys::LockRelationIdForSession(&raw mut relation, mode);
    }
    HELD.with_borrow_mut(|held| held.push((relation, mode)));
}

/// Registers the callback that releases the locks if the procedure fails: a session-level lock outlives its transaction.
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
    for (mut relation, mode) in HELD.take() {
        // SAFETY: this backend holds the lock. Releasing it needs neither catalog nor snapshot, so that it can be done
        // in a failed transaction.
        unsafe { pg_sys::UnlockRelationIdForSession(&raw mut relation, mode) };
    }
}
