//! Queries the space used on targets, and computes the expected answer.

use std::collections::BTreeMap;

use clap::ValueEnum;
use jiff::Timestamp;
use jobstats_client::Error;

use crate::lustre::{TargetKind, name_of};
use crate::store::database::{Amounts, Key, Store};
use crate::time::{DAY, HOUR, SECOND, shown};
use crate::truth::Cell;
use crate::world::space::{OwnerKind, Space};
use crate::world::{Cluster, Due, TargetIndex, Workload};

/// The first and the last list of the owners of a kind that a target's readings had on a day of UTC, as its server's clock shows it.
pub type Lists = BTreeMap<(i64, TargetIndex, OwnerKind), (Due, Due)>;

/// Returns the day of UTC on which a list is counted.
pub fn day(list: &Due) -> i64 {
    shown(list.label).div_euclid(DAY)
}

/// Returns the lists of planned readings of targets: the first reading of each hour has them.
pub fn lists(cluster: &Cluster, readings: &[Vec<Due>]) -> Lists {
    let mut lists = Lists::new();
    let has_kind =
        |kind: &&OwnerKind| **kind != OwnerKind::Project || cluster.layout.has_projects();
    for (target, dues) in readings.iter().enumerate() {
        let mut hour = None;
        let dues = dues.iter().filter(|due| {
            let of_due = Some(due.time.div_euclid(HOUR));
            std::mem::replace(&mut hour, of_due) != of_due
        });
        for due in dues {
            for kind in OwnerKind::value_variants().iter().filter(has_kind) {
                let list = lists.entry((day(due), target, *kind));
                list.or_insert((*due, *due)).1 = *due;
            }
        }
    }
    lists
}

/// A list that is part of an answer, and the place in the answer: a target or a day.
type Part<'a> = (String, (TargetIndex, OwnerKind), &'a Due);

/// Returns the newest lists of targets.
pub fn newest<'a>(cluster: &Cluster, lists: &'a Lists) -> Vec<Part<'a>> {
    let newest: BTreeMap<_, _> = lists
        .iter()
        .map(|((_, target, kind), (_, last))| ((*target, *kind), last))
        .collect();
    let name = |target: TargetIndex| cluster.targets[target].name.clone();
    let named = newest.into_iter();
    named.map(|(of, list)| (name(of.0), of, list)).collect()
}

/// Returns the first lists of days, which count for the whole day.
pub fn of_days<'a>(lists: &'a Lists, days: &[i64]) -> Vec<Part<'a>> {
    let lists = lists.iter().filter(|((day, ..), _)| days.contains(day));
    lists
        .map(|((day, target, kind), (first, _))| {
            (timestamp_of(*day).to_string(), (*target, *kind), first)
        })
        .collect()
}

/// Returns the beginning of a day.
fn timestamp_of(day: i64) -> Timestamp {
    Timestamp::from_second(day * DAY / SECOND).unwrap_or_default()
}

/// Returns what the database should answer, given the lists that it has: what each owner uses, and all users together. Objects of object
/// targets are no files.
pub fn cells(cluster: &Cluster, parts: Vec<Part<'_>>) -> BTreeMap<Key, Cell> {
    let workload = Workload::new(cluster);
    let mut cells: BTreeMap<Key, Cell> = BTreeMap::new();
    for (place, (target, kind), list) in parts {
        let space = Space::at(&workload, target, list.time);
        let all = (kind == OwnerKind::User).then_some(("all".to_owned(), space.used));
        let owners = space.by(kind).into_iter();
        let owners = owners.map(|(id, used)| (format!("{} {id}", name_of(&kind)), used));
        for (owner, used) in owners.chain(all) {
            let is_mdt = cluster.targets[target].kind == TargetKind::Mdt;
            let inodes = if is_mdt { used.inodes } else { 0 };
            for (name, amount) in [("bytes", 1024 * used.kbytes), ("inodes", inodes)] {
                let key = (place.clone(), owner.clone(), name.to_owned());
                cells.entry(key).or_default().truth += amount;
            }
        }
    }
    cells.retain(|_, cell| cell.truth > 0);
    cells
}

/// Queries the current space by target, or the space of days.
pub fn ask(store: &mut Store, days: Option<&[i64]>) -> Result<Amounts, Error> {
    const STATEMENT: &str = r#"
        SELECT coalesce(labels ->> 'target', ''), coalesce($2 || ' ' || coalesce(labels ->> 'uid', labels ->> 'gid', labels ->> 'project'), 'all'),
            bytes::bigint, coalesce(inodes, 0)::bigint
        FROM jobstats_space($1, concat_ws(',', CASE $2::text WHEN 'user' THEN 'uid' WHEN 'group' THEN 'gid' ELSE $2 END,
            CASE WHEN $1::timestamptz IS NULL THEN 'target' END), filter => jsonb_build_object('cluster', $3::text))"#;
    let statement = store.client.prepare(STATEMENT)?;
    let cluster = &store.cluster.name;
    let times = match days {
        Some(days) => days.iter().map(|day| Some(timestamp_of(*day))).collect(),
        None => vec![None],
    };
    let kinds = OwnerKind::value_variants().iter();
    let kinds: Vec<_> = kinds
        .map(|kind| Some(name_of(kind)))
        .chain([None])
        .collect();
    let mut amounts = Amounts::new();
    for time in times {
        for kind in &kinds {
            for row in store.client.query(&statement, &[&time, kind, &cluster])? {
                let place = time.map_or_else(|| row.get(0), |time: Timestamp| time.to_string());
                for (name, column) in [("bytes", 2), ("inodes", 3)] {
                    let key = (place.clone(), row.get(1), name.to_owned());
                    amounts.insert(key, row.get::<_, i64>(column).into());
                }
            }
        }
    }
    amounts.retain(|_, amount| *amount != 0);
    Ok(amounts)
}
