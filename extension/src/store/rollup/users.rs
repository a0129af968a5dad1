//! Sums of rollups by user, which dashboards ask for most, in a fraction of the rows.
//!
//! A row stands for all entries of a user on a target. So every question about users, and about nothing else that
//! entries have, is answered from these rows. They are in tables on every installation, since continuous aggregates do
//! not see that identities change; after `jobstats_reidentify()` all of them are computed anew.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::store;
use crate::store::installation::Installation;
use crate::store::rollup::{Rollup, operations};
use crate::store::sum::{COMBINED, Sum};

/// Creates the table of the sums by user, or adds the operation columns that it lacks.
pub fn create(
    client: &mut SpiClient<'_>,
    installation: &Installation,
    level: &Rollup,
) -> Result<(), Error> {
    let relation = level.users();
    match store::kind(client, &relation)? {
        Some(_) => store::add_operations(client, &relation),
        None => {
            let sums = combined(|name, _| format!("{name} bigint"));
            level.create_table(client, installation, &relation, ("uid", "bigint"), &sums)
        }
    }
}

/// Returns an expression for each of the [combined sums](COMBINED), each with a leading comma.
fn combined(expression: impl Fn(&str, &Sum) -> String) -> String {
    COMBINED
        .iter()
        .map(|(name, sum)| format!(", {}", expression(name, &sum())))
        .collect()
}

/// Returns the COMMENT ON statements for the table.
pub fn comment(level: &Rollup) -> String {
    format!(
        "COMMENT ON TABLE jobstats.{users} IS \
         'Sums of {relation} by target and user, up to rollups.users_refreshed and but for the spans in dirty.'; \
         COMMENT ON COLUMN jobstats.{users}.bucket IS \
         'A microsecond after the start of the bucket, which does not belong to it; its end does.'",
        users = level.users(),
        relation = level.relation(),
    )
}

/// Invalidates the sums by user after identities have changed, until maintenance has computed them anew. Waits for
/// maintenance that knows the old identities.
pub fn forget(client: &mut SpiClient<'_>) -> Result<(), Error> {
    store::lock(client)?;
    client.update(
        "UPDATE jobstats.rollups SET users_refreshed = 'epoch'",
        None,
        &[],
    )?;
    Ok(())
}

/// Returns the INSERT that fills the table from the rollup. `rows` is a condition on rows `i` of the rollup.
pub fn insert(level: &Rollup, rows: &str) -> String {
    let totals = combined(|_, sum| {
        let total = sum.over(|column| format!("i.\"{column}\""));
        format!("sum({total})::bigint")
    });
    format!(
        "INSERT INTO jobstats.{users} (bucket, uid, target_id, first, last, resets{names}{columns}) \
         SELECT i.bucket, e.uid, i.target_id, min(i.first), max(i.last), sum(i.resets)::bigint{totals}{sums} \
         FROM jobstats.{relation} i LEFT JOIN jobstats.entries e ON e.entry_id = i.entry_id \
         WHERE {rows} GROUP BY 1, e.uid, i.target_id",
        users = level.users(),
        relation = level.relation(),
        names = combined(|name, _| name.to_owned()),
        columns = operations(str::to_owned),
        sums = operations(|name| format!("sum(i.{name})::bigint")),
    )
}
