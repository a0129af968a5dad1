//! Statements that a session plans once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Column, Row, Rows, first_value};
use crate::pg::statement::Plan;

/// The number of plans of each kind that a session keeps.
const PLANS_MAX: usize = 200;

/// Plans by options and statement.
type Plans = HashMap<u32, HashMap<String, Rc<Plan>>>;

thread_local! {
    static PREPARED: RefCell<Plans> = RefCell::default();
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
    Rows::of(&*generic(statement, arguments)?, arguments, None)
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

fn generic(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<Rc<Plan>, Error> {
    prepared(statement, arguments, pg_sys::CURSOR_OPT_GENERIC_PLAN)
}

/// Returns the cached plan of a statement with these cursor options, or creates it.
pub fn prepared(
    statement: &str,
    arguments: &[DatumWithOid<'_>],
    options: u32,
) -> Result<Rc<Plan>, Error> {
    let find = |all: &Plans| all.get(&options)?.get(statement).cloned();
    if let Some(plan) = PREPARED.with_borrow(find) {
        return Ok(plan);
    }
    let plan = Rc::new(Plan::new(statement, arguments, options)?);
    PREPARED.with_borrow_mut(|all| {
        let plans = all.entry(options).or_default();
        if plans.len() >= PLANS_MAX {
            plans.clear();
        }
        plans.insert(statement.to_owned(), plan.clone());
    });
    Ok(plan)
}

/// Reads the first row of a statement without arguments, if there is one, as [`Statements::query_opt`] does. The plan is kept.
///
/// [`Statements::query_opt`]: crate::pg::spi::Statements::query_opt
pub fn query_opt<'c>(_client: &SpiClient<'c>, statement: &str) -> Result<Option<Row<'c>>, Error> {
    Ok(Rows::of(&*generic(statement, &[])?, &[], Some(1))?.next())
}

/// Reads the first column of that row. It must be there, unless `T` is an option.
pub fn query_value<T: Column>(client: &SpiClient<'_>, statement: &str) -> Result<T, Error> {
    first_value(query_opt(client, statement)?)
}
