//! Sums of rollups by user, by account and partition, and by both, which dashboards ask for most, in a fraction of the rows.
//!
//! A row stands for all entries of a user, of an account in a partition, or of a user in these, on a target. So every question
//! about them, and about nothing else that entries have, is answered from these rows. Sums by both have three times as many rows
//! as those by user: there are none of ten minutes, which are most of all rows. They are in tables on every installation, since
//! continuous aggregates do not see that identities change; after the users of entries have changed all of them are computed
//! anew, and the days of a target on which entries get another job are [noted](note_changed).

use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
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

/// A column that says whose a row is: its name, its type, and the expression for it, of an entry `entry` and its job `job`.
type Column = (&'static str, &'static str, &'static str);

/// The columns of sums by user. Names and groups are those of a job that alone says who the user is.
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
        forget_level(client, rollup)?;
    }
    Ok(())
}

/// Returns the first of the columns that say whose a row is, and its type.
fn key(owner: Owner) -> (&'static str, &'static str) {
    let first = owner.columns().next();
    first.map_or(("", ""), |(name, data_type, _)| (name, data_type))
}

/// Returns the columns beside those of a rollup and the key, each with a leading comma.
fn columns(owner: Owner) -> String {
    let others = owner.columns().skip(1);
    let others = others.map(|(name, data_type, _)| format!(", {name} {data_type}"));
    others.collect::<String>() + &combined(|name, _| format!("{name} bigint"))
}

fn forget_level(client: &mut SpiClient<'_>, rollup: &Rollup) -> Result<(), Error> {
    client.execute(
        "UPDATE jobstats.rollups l SET users_refreshed = 'epoch' WHERE l.level = $1",
        &[rollup.name.into()],
    )?;
    Ok(())
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

/// Invalidates the sums after identities have changed, until maintenance has computed them anew. Waits for
/// maintenance that knows the old identities.
pub fn forget(client: &mut SpiClient<'_>) -> Result<(), Error> {
    store::lock(client)?;
    client.execute(
        "UPDATE jobstats.rollups SET users_refreshed = 'epoch'; SELECT jobstats_internal.reset_realtime()",
        &[],
    )?;
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

/// Returns the INSERT that fills a table from the rollup. `condition` is one on rows `summed` of the rollup.
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
