//! Reads and writes the current and earlier names of users and groups.

use std::collections::BTreeMap;

use jobstats_core::base::instant::{DAY, Micros};
use jobstats_core::text::getent::Entry;
use jobstats_core::text::getent::history::{History, Name, Run};
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::feed::getent::try_lock;
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;

/// The memory of a name in bytes, in several copies.
const NAME_BYTES: usize = 1024;

/// A pair of tables: the current names in `jobstats.NAME`, the previous ones in `jobstats.earlier_NAME`.
pub struct NameTable {
    name: &'static str,
    /// The column of the number.
    number: &'static str,
    /// The column of the name.
    names: &'static str,
    /// Set for names of users, which have a primary group and match jobs.
    is_of_users: bool,
}

/// The names of users.
pub const USERS: NameTable = NameTable {
    name: "users",
    number: "uid",
    names: "user_name",
    is_of_users: true,
};

/// The names of groups.
pub const GROUPS: NameTable = NameTable {
    name: "groups",
    number: "gid",
    names: "group_name",
    is_of_users: false,
};

impl NameTable {
    /// Returns `with` for tables with a primary group, and `without` for others.
    fn gid(&self, with: &'static str, without: &'static str) -> &'static str {
        if self.is_of_users { with } else { without }
    }
}

/// The name of a user or group in accounting.
pub struct AccountingName {
    pub name: String,
    /// The group of a job of a user.
    pub gid: Option<u32>,
}

/// The numbers of names that were written.
#[derive(Default)]
pub struct WriteCounts {
    /// The users or groups with a new or changed name, or a new first day of the name.
    pub changed: u64,
    /// The users or groups that are new.
    pub added: u64,
}

/// Merges entries of a text into the stored ones. A known entry is written only once a day.
pub fn merge(
    client: &mut SpiClient<'_>,
    table: &NameTable,
    entries: &[Entry<'_>],
    time: Micros,
) -> Result<WriteCounts, Error> {
    require_room(entries.len(), NAME_BYTES)?;
    let mut written = WriteCounts::default();
    let (mut current, mut earlier) = (Vec::new(), Vec::new());
    let (mut forgotten, mut renamed) = (Vec::<i64>::new(), RenamedUsers::default());
    for (place, before) in stored(client, table, entries, time)? {
        let Some(entry) = entries.get(place) else {
            continue;
        };
        let mut after = before.clone();
        after.add(Name::of(entry.name, entry.gid.map(i64::from)), time);
        if after == before {
            continue;
        }
        let is_same = is_same(&before, &after);
        written.added += u64::from(before.runs.is_empty());
        written.changed += u64::from(!is_same);
        renamed.add(entry.number, &before, &after);
        let (old, new) = (earlier_runs(&before), earlier_runs(&after));
        if old != new || !is_same {
            forgotten.extend((!old.is_empty()).then_some(i64::from(entry.number)));
            for (run, next) in new.iter().zip(&after.runs[1..]) {
                earlier.push((entry.number.into(), run.clone(), next.since));
            }
        }
        if let Some(run) = after.runs.last() {
            current.push((entry.number.into(), run.clone(), Micros::MAX));
        }
    }
    write(client, table, &current, forgotten, &earlier)?;
    if table.is_of_users {
        renamed.store(client)?;
    }
    Ok(written)
}

/// The renamed users by column, each with the new and the previous name.
#[derive(Default)]
struct RenamedUsers {
    numbers: Vec<i64>,
    names: Vec<String>,
}

impl RenamedUsers {
    fn add(&mut self, number: u32, before: &History, after: &History) {
        let name = |history: &History| Some(history.runs.last()?.name.name.clone());
        let (before, after) = (name(before), name(after));
        if before != after {
            for name in [before, after].into_iter().flatten() {
                self.numbers.push(number.into());
                self.names.push(name);
            }
        }
    }

    /// Queues them for maintenance, which matches their jobs again.
    fn store(self, client: &mut SpiClient<'_>) -> Result<(), Error> {
        if !self.numbers.is_empty() {
            client.execute(
                "INSERT INTO jobstats.to_resolve (uid, user_name) SELECT * FROM unnest($1::bigint[], $2::text[])",
                &values![self.numbers, self.names],
            )?;
        }
        Ok(())
    }
}

/// Names users or groups without a name as accounting does. During a feed of names it does nothing: the next text of jobs does
/// it.
pub fn fill(
    client: &mut SpiClient<'_>,
    table: &NameTable,
    named: &BTreeMap<u32, AccountingName>,
) -> Result<(), Error> {
    require_room(named.len(), NAME_BYTES)?;
    let numbers: Vec<i64> = named.keys().map(|number| i64::from(*number)).collect();
    let unknown = format!(
        "SELECT said.number FROM unnest($1::bigint[]) AS said (number) \
         WHERE NOT EXISTS (SELECT FROM jobstats.{} known WHERE known.{} = said.number)",
        table.name, table.number
    );
    let unknown = client.execute_rows(&unknown, &values![numbers])?;
    if unknown.len() == 0 || !try_lock(client)? {
        return Ok(());
    }
    let (mut numbers, mut names, mut gids) = (Vec::new(), Vec::new(), Vec::new());
    for row in unknown {
        let number: i64 = row.at(1)?;
        let named = u32::try_from(number).ok().and_then(|it| named.get(&it));
        if let Some(named) = named {
            numbers.push(number);
            names.push(named.name.as_str());
            gids.push(named.gid.map(i64::from));
        }
    }
    let statement = sql!(
        "fill.sql",
        table = table.name,
        number = table.number,
        name = table.names,
        gid = table.gid(", gid", ""),
        said_gid = table.gid(", said.gid", ""),
    );
    client.run(&statement, &values![numbers, names, gids])
}

fn earlier_runs(history: &History) -> &[Run] {
    history
        .runs
        .split_last()
        .map_or(&[], |(_, earlier)| earlier)
}

fn is_same(before: &History, after: &History) -> bool {
    let names = |history: &History| -> Vec<_> {
        let runs = history.runs.iter();
        runs.map(|run| (run.name.clone(), run.since)).collect()
    };
    names(before) == names(after)
}

/// Returns the stored rows of the new and changed entries by position.
fn stored(
    client: &mut SpiClient<'_>,
    table: &NameTable,
    entries: &[Entry<'_>],
    time: Micros,
) -> Result<BTreeMap<usize, History>, Error> {
    let numbers: Vec<i64> = entries.iter().map(|entry| entry.number.into()).collect();
    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    let gids: Vec<Option<i64>> = entries.iter().map(|it| it.gid.map(i64::from)).collect();
    let day = timestamptz(time - time.rem_euclid(DAY))?;
    let statement = sql!(
        "read.sql",
        table = table.name,
        number = table.number,
        name = table.names,
        known_gid = table.gid("known.gid", "NULL::bigint"),
        earlier_gid = table.gid("earlier.gid", "NULL::bigint"),
    );
    let arguments = values![numbers, names, gids, day];
    let rows = client.execute_rows(&statement, &arguments)?;
    require_room(rows.len(), NAME_BYTES)?;
    let mut stored = BTreeMap::<usize, History>::new();
    for row in rows {
        let place: i64 = row.at(1)?;
        let history = stored.entry(usize::try_from(place).unwrap_or(0));
        let history = history.or_default();
        let Some(name) = row.at::<Option<String>>(2)? else {
            continue;
        };
        let instant = |column| -> Result<Micros, Error> {
            Ok(row.at::<Option<i64>>(column)?.unwrap_or(Micros::MIN))
        };
        history.runs.push(Run {
            name: Name {
                name,
                gid: row.at(3)?,
            },
            since: instant(4)?,
            seen: instant(5)?,
        });
    }
    Ok(stored)
}

/// A row to write: the number, the name with its times, and the end of the name.
type Row = (i64, Run, Micros);

/// Returns rows as arrays of columns. An unknown time is NULL.
fn arguments(rows: &[Row]) -> [DatumWithOid<'static>; 6] {
    let known = |time: Micros| Some(time).filter(|time| *time != Micros::MIN);
    let numbers = |value: &dyn Fn(&Run) -> Option<i64>| {
        let numbers = rows.iter().map(|it| value(&it.1));
        numbers.collect::<Vec<_>>().into()
    };
    let names = rows.iter().map(|it| it.1.name.name.clone());
    [
        rows.iter().map(|it| it.0).collect::<Vec<_>>().into(),
        names.collect::<Vec<_>>().into(),
        numbers(&|run| run.name.gid),
        numbers(&|run| known(run.since)),
        numbers(&|run| known(run.seen)),
        rows.iter().map(|it| it.2).collect::<Vec<_>>().into(),
    ]
}

/// Writes the current names, and replaces all earlier names of `forgotten`.
fn write(
    client: &mut SpiClient<'_>,
    table: &NameTable,
    current: &[Row],
    forgotten: Vec<i64>,
    earlier: &[Row],
) -> Result<(), Error> {
    let NameTable { name, number, .. } = *table;
    if !current.is_empty() {
        let statement = sql!(
            "write.sql",
            table = name,
            number = number,
            name = table.names,
            gid = table.gid(", gid", ""),
            said_gid = table.gid(", said.gid", ""),
            set_gid = table.gid(", gid = excluded.gid", ""),
        );
        client.execute(&statement, &arguments(current)[..5])?;
    }
    if !forgotten.is_empty() {
        let delete =
            format!("DELETE FROM jobstats.earlier_{name} e WHERE e.{number} = ANY ($1::bigint[])");
        client.execute(&delete, &values![forgotten])?;
    }
    if !earlier.is_empty() {
        let statement = sql!(
            "write_earlier.sql",
            table = name,
            number = number,
            name = table.names,
            gid = table.gid(", gid", ""),
            said_gid = table.gid(", said.gid", ""),
        );
        client.execute(&statement, &arguments(earlier))?;
    }
    Ok(())
}
