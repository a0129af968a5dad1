//! Statements that a session plans once.

use std::cell::RefCell;
use std::collections::HashMap;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Column, Row, Rows, first_value};
use crate::pg::statement::Plan;

thread_local! {
    /// The plans, which are kept for the session. There are hardly more of them than statements in the code.
    static PREPARED: RefCell<HashMap<String, &'static Plan>> = RefCell::default();
}

/// Registers the thread-local memory with the C library, which ends the process if it cannot do so on first use.
pub fn register_memory() {
    PREPARED.with(|_| ());
}

/// Runs a statement with a generic plan, and returns its rows by name. The plan is kept, and large arguments are not copied into it.
pub fn rows<'c>(
    _client: &mut SpiClient<'c>,
    statement: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<Rows<'c>, Error> {
    Rows::of(kept(statement, arguments)?, arguments, None)
}

/// Runs a statement as [`rows`] does.
pub fn run(
    client: &mut SpiClient<'_>,
    statement: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<(), Error> {
    rows(client, statement, arguments).map(drop)
}

/// Runs a statement as [`rows`] does, and returns the number of its rows.
pub fn update(
    client: &mut SpiClient<'_>,
    statement: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<usize, Error> {
    Ok(rows(client, statement, arguments)?.len())
}

/// Returns the plan of a statement, which is made unless there is one.
fn kept(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<&'static Plan, Error> {
    if let Some(known) = PREPARED.with_borrow(|prepared| prepared.get(statement).copied()) {
        return Ok(known);
    }
    let plan = Plan::new(statement, arguments, pg_sys::CURSOR_OPT_GENERIC_PLAN)?;
    let plan: &'static Plan = Box::leak(Box::new(plan));
    PREPARED.with_borrow_mut(|all| all.insert(statement.to_owned(), plan));
    Ok(plan)
}

/// Reads the first row of a statement without arguments, if there is one, as [`Statements::query_opt`] does. The plan is kept.
///
/// [`Statements::query_opt`]: crate::pg::spi::Statements::query_opt
pub fn query_opt<'c>(_client: &SpiClient<'c>, statement: &str) -> Result<Option<Row<'c>>, Error> {
    Ok(Rows::of(kept(statement, &[])?, &[], Some(1))?.next())
}

/// Reads the first column of that row. It must be there, unless `T` is an option.
pub fn query_value<T: Column>(client: &SpiClient<'_>, statement: &str) -> Result<T, Error> {
    first_value(query_opt(client, statement)?)
}
