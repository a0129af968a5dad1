//! Sums of rollups by user, by account and partition, and by both: the most frequent queries of dashboards, with a fraction of
//! the rows.
//!
//! A row sums all entries of an owner on a target. Queries that need no other dimension of entries read these rows. Sums by
//! both have three times as many rows as sums by user, so there are none of ten minutes, which would be most rows. They are
//! tables on every installation, because continuous aggregates do not notice changed identities: then all of them are
//! recomputed. Days on which entries get another job are [recorded](note_changed).

use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::store;
use crate::store::installation::Installation;
use crate::store::rollup::{Rollup, operations};
use crate::store::sum::{COMBINED, Sum};

/// The owner of the rows of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A user.
    User,
    /// An account and a partition.
    Account,
    /// A user in an account and a partition.
    Member,
}

/// A column of the owner: its name, type, and expression for an entry `entry` and its job `job`.
type Column = (&'static str, &'static str, &'static str);

/// The columns of sums by user. Names and groups are set where only the job has the user.
const USER: [Column; 4] = [
    ("uid", "bigint", "coalesce(entry.uid, job.uid)"),
    (
        "user_name",
        "text",
        "CASE WHEN entry.uid IS NULL THEN job.user_name END",
    ),
    (
        "gid",
        "bigint",
        "CASE WHEN entry.uid IS NULL THEN job.gid END",
    ),
    (
        "group_name",
        "text",
        "CASE WHEN entry.uid IS NULL THEN job.group_name END",
    ),
];

/// The columns of sums by account.
const ACCOUNT: [Column; 2] = [
    ("account", "text", "job.account"),
    ("\"partition\"", "text", "job.partition"),
];

impl Owner {
    fn columns(self) -> impl Iterator<Item = &'static Column> {
        let (user, account): (&[Column], &[Column]) = match self {
            Self::User => (&USER, &[]),
            Self::Account => (&[], &ACCOUNT),
            Self::Member => (&USER, &ACCOUNT),
        };
        user.iter().chain(account)
    }

    /// Returns the end of the names of its tables.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::User => "users",
            Self::Account => "accounts",
            Self::Member => "members",
        }
    }

    fn each(self, text: fn(&Column) -> &str) -> String {
        self.columns().map(|it| format!(", {}", text(it))).collect()
    }
}

/// Creates the tables of the sums, or adds the operations that they lack.
pub fn create(
    client: &mut SpiClient<'_>,
    installation: &Installation,
    rollup: &Rollup,
) -> Result<(), Error> {
    for owner in rollup.owners() {
        let relation = rollup.owned(owner);
        if store::kind(client, &relation)?.is_some() {
            store::add_operations(client, &relation)?;
            continue;
        }
        rollup.create_table(client, installation, &relation, key(owner), &columns(owner))?;
        client.execute(
            "UPDATE jobstats.rollups l SET users_refreshed = 'epoch' WHERE l.level = $1",
            &values![rollup.name],
        )?;
    }
    Ok(())
}

/// Returns the first column of an owner, and its type.
fn key(owner: Owner) -> (&'static str, &'static str) {
    let first = owner.columns().next();
    first.map_or(("", ""), |(name, data_type, _)| (name, data_type))
}

/// Returns the further columns of an owner and the combined sums, each with a leading comma.
fn columns(owner: Owner) -> String {
    let others = owner.columns().skip(1);
    let others = others.map(|(name, data_type, _)| format!(", {name} {data_type}"));
    others.collect::<String>() + &combined(|name, _| format!("{name} bigint"))
}

/// Returns the statements that create the tables, undivided.
pub fn definitions(rollup: &Rollup) -> impl Iterator<Item = String> {
    let tables = rollup.owners();
    tables.map(|it| Rollup::table(&rollup.owned(it), key(it), &columns(it), ""))
}

/// Returns an expression for each of the [combined sums](COMBINED), each with a leading comma.
fn combined(expression: impl Fn(&str, &Sum) -> String) -> String {
    COMBINED
        .iter()
        .map(|it| format!(", {}", expression(it.column, &(it.sum)())))
        .collect()
}

/// Invalidates the sums after identities have changed, until maintenance recomputes them. Waits for maintenance that knows the
/// old identities.
pub fn forget(client: &mut SpiClient<'_>) -> Result<(), Error> {
    store::lock(client)?;
    client.run(
        "UPDATE jobstats.rollups SET users_refreshed = 'epoch'; SELECT jobstats_internal.reset_realtime()",
        &[],
    )
}

/// Records the days on which entries got another job, for all targets on which they were active: ranges `(from, until]`, which
/// begin and end at 0:00 UTC. Days without sums are skipped.
pub fn note_changed(
    client: &mut SpiClient<'_>,
    entries: Vec<i64>,
    from: Vec<TimestampWithTimeZone>,
    until: Vec<TimestampWithTimeZone>,
) -> Result<(), Error> {
    if entries.is_empty() {
        return Ok(());
    }
    let ranges = values![entries, from, until];
    client.run(include_str!("note_changed.sql"), &ranges)
}

/// Returns the INSERT that fills a table from the rollup. `condition` refers to rows `summed` of the rollup.
pub fn insert(rollup: &Rollup, owner: Owner, condition: &str) -> String {
    let totals = combined(|_, sum| {
        let total = sum.over(|column| format!("summed.\"{column}\""));
        format!("sum({total})::bigint")
    });
    let positions = (3..).take(owner.columns().count());
    sql!(
        "owners.sql",
        relation = rollup.owned(owner),
        owner = owner.each(|it| it.0),
        whose = owner.each(|it| it.2),
        positions = positions.map(|it| format!(", {it}")).collect::<String>(),
        rollup = rollup.relation(),
        names = combined(|name, _| name.to_owned()),
        columns = operations(str::to_owned),
        totals = totals,
        sums = operations(|name| format!("sum(summed.{name})::bigint")),
        condition = condition,
    )
}
