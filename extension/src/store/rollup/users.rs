//! Sums of rollups by user, account and partition, which dashboards ask for most, in a fraction of the rows.
//!
//! A row stands for all entries of a user on a target whose jobs have the same account and partition. So every question
//! about these, and about nothing else that entries have, is answered from these rows. They are in tables on every
//! installation, since continuous aggregates do not see that identities change; after `jobstats_reidentify()` all of them
//! are computed anew, and the days of a target on which entries get another job are [noted](note_changed).

use pgrx::datum::TimestampWithTimeZone;
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
        Some(_) => {
            add_columns(client, rollup)?;
            store::add_operations(client, &relation)
        }
        None => rollup.create_table(client, installation, &relation, KEY, &columns()),
    }
}

/// The key of the sums by user, and its type: the number of the user of the entry or, where the identifier has none, of its
/// job.
const KEY: (&str, &str) = ("uid", "bigint");

/// The columns that say more of whose a row is, with their types, and what they hold of an entry `entry` and its job `job`.
/// Names and groups are those of a job that alone says who the user is.
const OWNER: [(&str, &str, &str); 5] = [
    ("user_name", "text", OF_UNNAMED),
    ("gid", "bigint", OF_UNNAMED),
    ("group_name", "text", OF_UNNAMED),
    ("account", "text", "job.@column@"),
    ("\"partition\"", "text", "job.@column@"),
];
const OF_UNNAMED: &str = "CASE WHEN entry.uid IS NULL THEN job.@column@ END";

/// Returns the columns beside those of a rollup, each with a leading comma.
fn columns() -> String {
    let owner = OWNER
        .iter()
        .map(|(name, of_type, _)| format!(", {name} {of_type}"));
    owner.collect::<String>() + &combined(|name, _| format!("{name} bigint"))
}

/// Adds the columns that a table of another version lacks. Its rows then know of no jobs.
fn add_columns(client: &mut SpiClient<'_>, rollup: &Rollup) -> Result<(), Error> {
    let relation = rollup.users();
    let has_owner: bool = client.query_value(
        "SELECT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = to_regclass('jobstats.' || $1) AND a.attname = 'account')",
        &[relation.as_str().into()],
    )?;
    if has_owner {
        return Ok(());
    }
    for (name, of_type, _) in OWNER {
        let column = format!("ALTER TABLE jobstats.{relation} ADD COLUMN {name} {of_type}");
        client.execute(&column, &[])?;
    }
    client.execute(
        "UPDATE jobstats.rollups l SET users_refreshed = 'epoch' \
         WHERE l.level = $1 AND EXISTS (SELECT FROM jobstats.entry_jobs)",
        &[rollup.name.into()],
    )?;
    Ok(())
}

/// Returns the statements that create the table, undivided.
pub fn definition(rollup: &Rollup) -> String {
    Rollup::table(&rollup.users(), KEY, &columns(), "")
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

/// Notes the days on which entries have got another job, of all targets on which they were active then: the ranges
/// `(from, until]`, which begin and end at 0:00 UTC. Nothing is noted of days of which no sums are computed yet.
pub fn note_changed(
    client: &mut SpiClient<'_>,
    entries: Vec<i64>,
    from: Vec<TimestampWithTimeZone>,
    until: Vec<TimestampWithTimeZone>,
) -> Result<(), Error> {
    if entries.is_empty() {
        return Ok(());
    }
    let ranges = [entries.into(), from.into(), until.into()];
    client.execute(include_str!("note_changed.sql"), &ranges)?;
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
        owner = OWNER
            .iter()
            .map(|(name, ..)| format!(", {name}"))
            .collect::<String>(),
        whose = OWNER
            .iter()
            .map(|(name, _, of)| format!(", {}", of.replace("@column@", name)))
            .collect::<String>(),
        names = combined(|name, _| name.to_owned()),
        columns = operations(str::to_owned),
        totals = totals,
        sums = operations(|name| format!("sum(summed.{name})::bigint")),
        condition = condition,
    )
}
