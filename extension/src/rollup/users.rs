//! Sums of rollups by user: what dashboards ask most, in a fraction of the rows.
//!
//! A row stands for all entries of a user on a target. So whatever is asked of users, and of nothing else that entries
//! have, is read from it. They are tables on every installation, since continuous aggregates do not see that identities
//! change; after `jobstats_reidentify()` all are computed anew.

use pgrx::spi::SpiClient;

use super::{Level, operations};
use crate::error::Error;
use crate::reading::measure::{COMBINED, Sum};
use crate::setup::Installation;
use crate::store;

/// Creates what is missing.
pub fn create(
    client: &mut SpiClient<'_>,
    installation: &Installation,
    level: &Level,
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

/// An expression for each of the [combined sums](COMBINED), with a leading comma each.
fn combined(expression: impl Fn(&str, &Sum) -> String) -> String {
    COMBINED
        .iter()
        .map(|(name, sum)| format!(", {}", expression(name, &sum())))
        .collect()
}

/// Says what it is, for COMMENT ON.
pub fn comment(level: &Level) -> String {
    format!(
        "COMMENT ON TABLE jobstats.{users} IS \
         'Sums of {relation} by target and user, up to rollups.users_refreshed and but for the spans in dirty.'; \
         COMMENT ON COLUMN jobstats.{users}.bucket IS \
         'A microsecond after the start of the bucket, which does not belong to it; its end does.'",
        users = level.users(),
        relation = level.relation(),
    )
}

/// Identities have changed: nothing is relied on until maintenance has computed it anew. Waits for maintenance that knows
/// the old ones.
pub fn forget(client: &mut SpiClient<'_>) -> Result<(), Error> {
    store::lock(client)?;
    client.update(
        "UPDATE jobstats.rollups SET users_refreshed = 'epoch'",
        None,
        &[],
    )?;
    Ok(())
}

/// Fills it from the rollup, of which rows `i` are summed.
pub fn insert(level: &Level, rows: &str) -> String {
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
