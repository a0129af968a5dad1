//! Sums of rollups by user, which dashboards ask for most, in a fraction of the rows.
//!
//! A row stands for all entries of a user on a target. So every question about users, and about nothing else that
//! entries have, is answered from these rows. They are in tables on every installation, since continuous aggregates do
//! not see that identities change; after `jobstats_reidentify()` all of them are computed anew.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::store;
use crate::store::installation::Installation;
use crate::store::rollup::{Rollup, operations};
use crate::store::sum::{COMBINED, Sum};

/// Creates the table of the sums by user, or adds the operation columns that it lacks.
pub fn create(
    client: &mut SpiClient<'_>,
    installation: &Installation,
    rollup: &Rollup,
) -> Result<(), Error> {
    let relation = rollup.users();
    match store::kind(client, &relation)? {
        Some(_) => store::add_operations(client, &relation),
        None => rollup.create_table(client, installation, &relation, KEY, &sums()),
    }
}

/// The key of the sums by user, and its type.
const KEY: (&str, &str) = ("uid", "bigint");

/// Returns the columns of the combined sums, each with a leading comma.
fn sums() -> String {
    combined(|name, _| format!("{name} bigint"))
}

/// Returns the statements that create the table, undivided.
pub fn definition(rollup: &Rollup) -> String {
    Rollup::table(&rollup.users(), KEY, &sums(), "")
}

/// Returns an expression for each of the [combined sums](COMBINED), each with a leading comma.
fn combined(expression: impl Fn(&str, &Sum) -> String) -> String {
    COMBINED
        .iter()
        .map(|it| format!(", {}", expression(it.column, &(it.sum)())))
        .collect()
}

/// Invalidates the sums by user after identities have changed, until maintenance has computed them anew. Waits for
/// maintenance that knows the old identities.
pub fn forget(client: &mut SpiClient<'_>) -> Result<(), Error> {
    store::lock(client)?;
    client.execute("UPDATE jobstats.rollups SET users_refreshed = 'epoch'", &[])?;
    Ok(())
}

/// Returns the INSERT that fills the table from the rollup. `condition` is one on rows `summed` of the rollup.
pub fn insert(rollup: &Rollup, condition: &str) -> String {
    let totals = combined(|_, sum| {
        let total = sum.over(|column| format!("summed.\"{column}\""));
        format!("sum({total})::bigint")
    });
    sql!(
        "users.sql",
        users = rollup.users(),
        relation = rollup.relation(),
        names = combined(|name, _| name.to_owned()),
        columns = operations(str::to_owned),
        totals = totals,
        sums = operations(|name| format!("sum(summed.{name})::bigint")),
        condition = condition,
    )
}
