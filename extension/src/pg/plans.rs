//! Statements that a session plans once.

use std::cell::RefCell;
use std::collections::HashMap;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::PgOid;
use pgrx::spi::{OwnedPreparedStatement, PreparedStatement, SpiClient, SpiResult, SpiTupleTable};

use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::spi::{Column, Row, Rows, first_value};

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
    let types = arguments.iter().map(|argument| argument.oid().into());
    let prepare = || client.prepare_mut(statement, &types.collect::<Vec<PgOid>>());
    let prepared = kept(statement, prepare)?;
    let _pinned = Pinned::new([(c"plan_cache_mode", c"force_generic_plan")]);
    Ok(client.update(prepared, None, arguments)?)
}

/// Returns the plan of a statement, which is prepared unless there is one.
fn kept<'c>(
    statement: &str,
    prepare: impl FnOnce() -> SpiResult<PreparedStatement<'c>>,
) -> Result<&'static OwnedPreparedStatement, Error> {
    if let Some(known) = PREPARED.with_borrow(|prepared| prepared.get(statement).copied()) {
        return Ok(known);
    }
    let prepared: &'static OwnedPreparedStatement = Box::leak(Box::new(prepare()?.keep()));
    PREPARED.with_borrow_mut(|all| all.insert(statement.to_owned(), prepared));
    Ok(prepared)
}

/// Reads the first row of a statement without arguments, if there is one, as [`Statements::query_opt`] does. The plan is kept.
///
/// [`Statements::query_opt`]: crate::pg::spi::Statements::query_opt
pub fn query_opt<'c>(client: &SpiClient<'c>, statement: &str) -> Result<Option<Row<'c>>, Error> {
    let prepared = kept(statement, || client.prepare(statement, &[]))?;
    Ok(Rows(client.select(prepared, Some(1), &[])?).next())
}

/// Reads the first column of that row. It must be there, unless `T` is an option.
pub fn query_value<T: Column>(client: &SpiClient<'_>, statement: &str) -> Result<T, Error> {
    first_value(query_opt(client, statement)?)
}

/// Runs a statement as [`update`] does, and returns its rows by name.
pub fn rows<'c>(
    client: &mut SpiClient<'c>,
    statement: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<Rows<'c>, Error> {
    Ok(Rows(update(client, statement, arguments)?))
}
