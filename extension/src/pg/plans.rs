//! Statements that a session plans once.

use std::cell::RefCell;
use std::collections::HashMap;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::PgOid;
use pgrx::spi::{OwnedPreparedStatement, SpiClient, SpiTupleTable};

use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::spi::Rows;

thread_local! {
    /// The plans, which are kept for the session. There are hardly more of them than statements in the code.
    static PREPARED: RefCell<HashMap<String, &'static OwnedPreparedStatement>> = RefCell::default();
}

/// Registers the thread-local memory with the C library, which ends the process if it cannot do so on first use.
pub fn register_memory() {
    PREPARED.with(|_| ());
}

/// Runs a statement with a generic plan. The plan is kept, and large arguments are not copied into it.
pub fn update<'c>(
    client: &mut SpiClient<'c>,
    statement: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<SpiTupleTable<'c>, Error> {
    let known = PREPARED.with_borrow(|prepared| prepared.get(statement).copied());
    let prepared = match known {
        Some(prepared) => prepared,
        None => {
            let types: Vec<PgOid> = arguments
                .iter()
                .map(|argument| argument.oid().into())
                .collect();
            let prepared = client.prepare_mut(statement, &types)?.keep();
            let prepared: &'static OwnedPreparedStatement = Box::leak(Box::new(prepared));
            PREPARED.with_borrow_mut(|all| all.insert(statement.to_owned(), prepared));
            prepared
        }
    };
    let _pinned = Pinned::new([(c"plan_cache_mode", c"force_generic_plan")]);
    Ok(client.update(prepared, None, arguments)?)
}

/// Runs a statement as [`update`] does, and returns its rows by name.
pub fn rows<'c>(
    client: &mut SpiClient<'c>,
    statement: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<Rows<'c>, Error> {
    Ok(Rows(update(client, statement, arguments)?))
}
