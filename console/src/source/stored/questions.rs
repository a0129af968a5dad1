//! The questions of the screen to a store. Most functions sum up for one grouping at a time; the screen asks those that have the work of
//! each entry, so that a key answers at once.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{
    self, Dimension, Entries, EntryRow, Filters, Nearest, NearestRow, Rates, TargetRow, Targets,
    Window, WorkRow,
};
use jobstats_client::ask;
use jobstats_core::increment::Column;
use jobstats_core::instant::{DAY, HOUR, MINUTE, Micros};
use jobstats_core::operation::OPERATIONS;
use postgres::Client;

use super::{Error, Scope};
use crate::live::board::{Load, Loads};
use crate::live::who::Who;

/// A target and its last observation.
#[derive(Debug, Clone)]
pub struct Target {
    /// The answer of the store.
    pub row: TargetRow,
    /// The time of the observation.
    pub time: Micros,
    /// The usual time between observations.
    pub usual: Option<Micros>,
}

impl Target {
    /// Returns the target, if it was observed.
    pub fn observed(row: TargetRow) -> Option<Self> {
        let usual = row.usual_interval;
        Some(Self {
            time: row.time?.as_microsecond(),
            usual: usual.and_then(|usual| Micros::try_from(usual.0.as_micros()).ok()),
            row,
        })
    }

    /// Returns the target as if it had been observed at the end of the bucket of a moment.
    fn of_bucket(row: &TargetRow, rollup: Rollup, at: Micros) -> Option<Self> {
        let end = rollup.end(at);
        let width = SignedDuration::from_micros(rollup.width);
        Self::observed(TargetRow {
            since: Some(timestamp(end - rollup.width)),
            time: Some(timestamp(end)),
            usual_interval: Some(width.into()),
            ..row.clone()
        })
    }

    /// Returns true if the target has not been observed for two of its usual intervals, as the view `jobstats.health` has it.
    pub fn is_late(&self, now: Micros) -> bool {
        let usual = self.usual.unwrap_or(super::USUAL);
        now - self.time > 2 * usual
    }
}

/// The work of an entry on a target.
#[derive(Debug, Clone)]
pub struct Work {
    /// The number of the target.
    pub target: i32,
    /// The number of the entry.
    pub entry: i64,
    /// The growth of the columns.
    pub totals: Vec<(Column, i64)>,
}

impl From<WorkRow> for Work {
    fn from(row: WorkRow) -> Self {
        // A store of a later version may have further operations.
        let columns = |column: fn(usize) -> Column| (0..OPERATIONS.len()).map(column);
        let totals = columns(Column::Total).zip(row.totals);
        let totals = totals.chain(columns(Column::Usecs).zip(row.usecs));
        Self {
            target: row.target_id,
            entry: row.entry_id,
            totals: totals
                .filter_map(|(column, total)| Some((column, total?)))
                .collect(),
        }
    }
}

/// Returns the owner of an entry.
pub fn who(entry: &EntryRow) -> Who {
    let text = |text: &Option<String>| text.as_deref().map(Into::into);
    Who {
        entry: entry.entry.as_str().into(),
        user: entry.uid.and_then(|user| u32::try_from(user).ok()),
        job: text(&entry.job),
        node: text(&entry.node),
        process: text(&entry.executable),
        account: text(&entry.account),
    }
}

fn timestamp(time: Micros) -> Timestamp {
    Timestamp::from_microsecond(time).unwrap_or_default()
}

/// Returns the time of the database.
pub fn now(client: &mut Client) -> Result<Micros, Error> {
    let row = client.query_typed("SELECT now()", &[])?;
    let now = row.first().map(|row| row.try_get::<_, Timestamp>(0));
    let now = now.transpose()?.unwrap_or_else(Timestamp::now);
    Ok(now.as_microsecond())
}

/// Returns all targets by name, with their last observations at a time, or now.
pub fn targets(
    client: &mut Client,
    scope: &Scope,
    at: Option<Micros>,
) -> Result<Vec<TargetRow>, Error> {
    let question = Targets {
        at: at.map(timestamp),
        cluster: scope.clusters(),
        filesystem: scope.filesystems(),
    };
    let mut targets = ask(client, &question)?;
    targets.sort_by_cached_key(|it| (it.cluster.clone(), it.target.clone()));
    Ok(targets)
}

/// A rollup, which is kept for longer than observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rollup {
    /// The name.
    level: &'static str,
    /// The width of a bucket.
    width: Micros,
}

/// The rollups, from the finest one on.
pub const ROLLUPS: [Rollup; 3] = [
    Rollup {
        level: "10m",
        width: 10 * MINUTE,
    },
    Rollup {
        level: "1h",
        width: HOUR,
    },
    Rollup {
        level: "1d",
        width: DAY,
    },
];

impl Rollup {
    /// Returns the end of the bucket of a moment.
    pub const fn end(self, at: Micros) -> Micros {
        let at = at.saturating_sub(1);
        at - at.rem_euclid(self.width) + self.width
    }
}

/// Targets that did something, and what each entry did on them.
pub type Active = (Vec<Target>, Vec<Work>);

/// Returns those of the targets that did something in the bucket of a moment, and what each entry did there.
pub fn in_bucket(
    client: &mut Client,
    targets: &[TargetRow],
    rollup: Rollup,
    at: Micros,
) -> Result<Active, Error> {
    let question = answers::Work {
        at: Some(timestamp(at)),
        level: Some(rollup.level.to_owned()),
        target_id: Some(targets.iter().map(|it| it.target_id).collect()),
    };
    let work = ask(client, &question)?;
    let active: BTreeSet<i32> = work.iter().map(|it| it.target_id).collect();
    let targets = targets.iter().filter(|it| active.contains(&it.target_id));
    let targets = targets.filter_map(|it| Target::of_bucket(it, rollup, at));
    Ok((
        targets.collect(),
        work.into_iter().map(Into::into).collect(),
    ))
}

/// Returns what each entry did in the last observations of these targets at a time, or now.
pub fn work(
    client: &mut Client,
    targets: &[&Target],
    at: Option<Micros>,
) -> Result<Vec<Work>, Error> {
    let ids: Vec<i32> = targets.iter().map(|it| it.row.target_id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let question = answers::Work {
        at: at.map(timestamp),
        level: None,
        target_id: Some(ids),
    };
    let work = ask(client, &question)?;
    Ok(work.into_iter().map(Into::into).collect())
}

/// Returns these entries with their owners at a time.
pub fn entries(client: &mut Client, entries: Vec<i64>, at: Micros) -> Result<Vec<EntryRow>, Error> {
    let question = Entries {
        at: Some(timestamp(at)),
        entry_id: entries,
    };
    Ok(ask(client, &question)?)
}

/// Returns the time of the first observation.
pub fn first(client: &mut Client, scope: &Scope) -> Result<Option<Micros>, Error> {
    after(client, scope, 0)
}

/// Returns the time of the first observation after a time.
pub fn after(client: &mut Client, scope: &Scope, time: Micros) -> Result<Option<Micros>, Error> {
    let nearest = nearest(client, scope, time)?;
    let after = nearest.iter().filter_map(|it| it.after).min();
    Ok(after.map(Timestamp::as_microsecond))
}

/// Returns the time of the last observation up to a time.
pub fn before(client: &mut Client, scope: &Scope, time: Micros) -> Result<Option<Micros>, Error> {
    let nearest = nearest(client, scope, time)?;
    let before = nearest.iter().filter_map(|it| it.before).max();
    Ok(before.map(Timestamp::as_microsecond))
}

fn nearest(client: &mut Client, scope: &Scope, time: Micros) -> Result<Vec<NearestRow>, Error> {
    let question = Nearest {
        at: Some(timestamp(time)),
        cluster: scope.clusters(),
        filesystem: scope.filesystems(),
    };
    Ok(ask(client, &question)?)
}

/// Returns the loads of file systems in the day up to a time, in steps that rollups have.
pub fn history(
    client: &mut Client,
    scope: &Scope,
    until: Micros,
    step: Micros,
    has_clusters: bool,
) -> Result<Loads, Error> {
    let question = Rates {
        window: Window::new(timestamp(until - DAY), timestamp(until)),
        operations: Some(vec!["service_time".to_owned()]),
        by: Some(vec![Dimension::Cluster, Dimension::Filesystem]),
        step: Some(SignedDuration::from_micros(step).into()),
        filters: Filters {
            cluster: scope.clusters(),
            filesystem: scope.filesystems(),
            ..Filters::default()
        },
    };
    let mut history = Loads::new();
    for row in ask(client, &question)? {
        let name = row.group.filesystem.unwrap_or_default();
        let name = match (has_clusters, row.group.cluster) {
            (true, Some(cluster)) => format!("{cluster}/{name}"),
            _ => name,
        };
        history.entry(name.into()).or_default().push(Load {
            time: row.time.as_microsecond(),
            service: row.rate,
            requests: 0.0,
        });
    }
    // A course of which nothing is known, of servers without times, is none.
    history.retain(|_, loads| loads.iter().any(|load| load.service.is_some()));
    Ok(history)
}
