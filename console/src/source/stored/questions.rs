//! Queries of the screen. Most functions sum up by one grouping; the screen loads the totals of each entry, so that a key regroups at
//! once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{
    Baseline, BaselineRow, Dimension, Entries, EntryRow, EntryTotals, EntryTotalsRow, Filters,
    Nearest, Question, Rates, TargetRow, Targets, Untracked, UntrackedRow, Window, words,
};
use jobstats_client::{Connector, Decimal, ask};
use jobstats_core::base::instant::{DAY, HOUR, MINUTE, Micros};
use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::base::pattern::exactly;
use jobstats_core::rules::increment::Column;
use postgres::Client;

use crate::ask::store::{self, Error};
use crate::live::history::{Load, Loads, Medians};
use crate::live::interval::{OWN, TargetCounters};
use crate::live::view::{By, Key};
use crate::values::when::timestamp;

/// The settings of a session: read-only, with a timeout, and without JIT, which would take longer than the query.
const SETTINGS: &str = "\
    SET default_transaction_read_only = on; SET statement_timeout = '30s'; SET jit = off; SET client_min_messages = warning";

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

    /// Returns the target as if it had been observed at the end of a bucket.
    fn of_bucket(row: &TargetRow, end: Micros, width: Micros) -> Option<Self> {
        Self::observed(TargetRow {
            since: Some(timestamp(end - width)),
            time: Some(timestamp(end)),
            usual_interval: Some(SignedDuration::from_micros(width).into()),
            ..row.clone()
        })
    }

    /// Returns true if the target has not been observed for two of its usual intervals, as the view `jobstats.health` has it.
    pub fn is_late(&self, now: Micros) -> bool {
        let usual = self.usual.unwrap_or(super::DEFAULT_INTERVAL);
        now - self.time > 2 * usual
    }
}

/// Returns the growth of the columns.
pub fn totals(row: &EntryTotalsRow) -> Vec<(Column, i64)> {
    let columns = |column: fn(usize) -> Column| (0..OPERATIONS.len()).map(column);
    let totals = columns(Column::Total).zip(&row.totals);
    let totals = totals.chain(columns(Column::Usecs).zip(&row.usecs));
    let totals = totals.filter_map(|(column, total)| Some((column, (*total)?)));
    totals.collect()
}

/// Returns what a target counted by itself, if all of it is known.
fn target_counters<'r>(rows: impl Iterator<Item = &'r UntrackedRow>) -> Option<TargetCounters> {
    let mut counters = TargetCounters::default();
    for row in rows {
        let unit = OWN.iter().find(|it| it.name == row.operation)?.unit();
        let amount = |it: Option<Decimal>| i128::try_from(it?.checked_mul(unit.into())?).ok();
        counters.add(&row.operation, amount(row.total)?, amount(row.untracked)?);
    }
    Some(counters)
}

/// The groupings with a baseline.
const BASELINE_BY: [(By, &[Dimension]); 3] = [
    (By::User, &[Dimension::Uid]),
    (By::Account, &[Dimension::Account]),
    (By::Target, &[Dimension::Cluster, Dimension::Target]),
];

/// The largest number of rows of a grouping that are compared with a baseline.
const MAX_BASELINE_ROWS: i32 = 1000;

/// The work of whole targets, by their numbers.
pub type CountersByTarget = HashMap<i32, TargetCounters>;

/// The rollups, which are kept for longer than observations: the name and the width of a bucket of each, from the finest one on.
const ROLLUPS: [(&str, Micros); 3] = [("10m", 10 * MINUTE), ("1h", HOUR), ("1d", DAY)];

/// Returns the end of the bucket of a moment.
const fn end_of_bucket(at: Micros, width: Micros) -> Micros {
    let at = at.saturating_sub(1);
    at - at.rem_euclid(width) + width
}

/// Targets that did something, and what each entry did on them.
pub type ActiveTargets = (Vec<Target>, Vec<EntryTotalsRow>);

/// A connection with the selected targets.
pub struct Session {
    client: Client,
    scope: Filters,
}

impl Session {
    /// Connects.
    pub fn open(connector: &Connector, scope: Filters) -> Result<Self, Error> {
        let (client, _) = store::connect(connector, SETTINGS, drop)?;
        Ok(Self { client, scope })
    }

    /// Runs a statement without an answer.
    pub fn execute(&mut self, statement: &str) -> Result<(), Error> {
        Ok(self.client.batch_execute(statement)?)
    }

    fn ask<Q: Question>(&mut self, question: &Q) -> Result<Vec<Q::Answer>, Error> {
        Ok(ask(&mut self.client, question)?)
    }

    /// Returns the time of the database.
    pub fn now(&mut self) -> Result<Micros, Error> {
        let row = self.client.query_typed("SELECT now()", &[])?;
        let now = row.first().map(|row| row.try_get::<_, Timestamp>(0));
        let now = now.transpose()?.unwrap_or_else(Timestamp::now);
        Ok(now.as_microsecond())
    }

    /// Returns all targets by name, with their last observations at a time, or now.
    pub fn targets(&mut self, at: Option<Micros>) -> Result<Vec<TargetRow>, Error> {
        let mut targets = self.ask(&Targets {
            at: at.map(timestamp),
            filter: self.scope.clone(),
        })?;
        targets.sort_by_cached_key(|it| (it.cluster.clone(), it.target.clone()));
        Ok(targets)
    }

    /// Returns the active targets and their totals at a time beyond the retention of increments, from the finest rollup with data.
    pub fn in_rollups(
        &mut self,
        targets: &[TargetRow],
        at: Micros,
    ) -> Result<ActiveTargets, Error> {
        let first = self.first()?;
        for (level, width) in ROLLUPS {
            let end = end_of_bucket(at, width);
            if first.is_some_and(|first| end > first) {
                continue;
            }
            let work = self.ask(&EntryTotals {
                at: Some(timestamp(at)),
                level: Some(level.to_owned()),
                target_id: Some(targets.iter().map(|it| it.target_id).collect()),
            })?;
            let active: BTreeSet<i32> = work.iter().map(|it| it.target_id).collect();
            let targets = targets.iter().filter(|it| active.contains(&it.target_id));
            let targets = targets.filter_map(|it| Target::of_bucket(it, end, width));
            let targets: Vec<_> = targets.collect();
            if !targets.is_empty() {
                return Ok((targets, work));
            }
        }
        Ok(ActiveTargets::default())
    }

    /// Returns what each entry did in the last observations of these targets at a time, or now.
    pub fn work(
        &mut self,
        targets: &[&Target],
        at: Option<Micros>,
    ) -> Result<Vec<EntryTotalsRow>, Error> {
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        self.ask(&EntryTotals {
            at: at.map(timestamp),
            level: None,
            target_id: Some(targets.iter().map(|it| it.row.target_id).collect()),
        })
    }

    /// Returns what these targets counted by themselves in the intervals before their last observations, as far as it is known.
    pub fn counters(&mut self, targets: &[&Target]) -> Result<CountersByTarget, Error> {
        // The targets of a server are read at once.
        let mut intervals: BTreeMap<_, Vec<&Target>> = BTreeMap::new();
        for target in targets {
            if let Some(since) = target.row.since {
                let interval = (&target.row.cluster, since, target.time);
                intervals.entry(interval).or_default().push(target);
            }
        }
        let mut counters = CountersByTarget::new();
        // Query a store without target counters once, not for each server.
        if intervals.len() > 1 && !self.has_target_counters(targets)? {
            return Ok(counters);
        }
        for ((cluster, since, until), targets) in intervals {
            let names = targets.iter().map(|it| exactly(&it.row.target));
            let rows = self.ask(&Untracked {
                window: Window::new(since, timestamp(until)),
                operations: words(OWN.iter().map(|it| &it.name)),
                filter: Filters {
                    cluster: Some(vec![exactly(cluster)]),
                    target: Some(names.collect()),
                    ..Filters::default()
                },
                ..Untracked::default()
            })?;
            for target in targets.into_iter().map(|it| &it.row) {
                let is_own =
                    |row: &&UntrackedRow| row.labels.target.as_ref() == Some(&target.target);
                let own = target_counters(rows.iter().filter(is_own));
                counters.extend(own.map(|it| (target.target_id, it)));
            }
        }
        Ok(counters)
    }

    /// Returns true if the own counters of any of these targets are known in their intervals.
    fn has_target_counters(&mut self, targets: &[&Target]) -> Result<bool, Error> {
        let since = targets.iter().filter_map(|it| it.row.since).min();
        let until = targets.iter().map(|it| timestamp(it.time)).max();
        let rows = self.ask(&Untracked {
            window: Window { since, until },
            by: Some(String::new()),
            filter: self.scope.clone(),
            ..Untracked::default()
        })?;
        Ok(rows.iter().any(|row| row.coverage > 0.0))
    }

    /// Returns these entries with their owners at a time.
    pub fn entries(&mut self, entry_id: Vec<i64>, at: Micros) -> Result<Vec<EntryRow>, Error> {
        let at = Some(timestamp(at));
        self.ask(&Entries { at, entry_id })
    }

    /// Returns the time of the first observation.
    pub fn first(&mut self) -> Result<Option<Micros>, Error> {
        Ok(self.nearest(0)?.1)
    }

    /// Returns the times of the last observation up to a time, and of the first one after it.
    pub fn nearest(&mut self, time: Micros) -> Result<(Option<Micros>, Option<Micros>), Error> {
        let nearest = self.ask(&Nearest {
            at: Some(timestamp(time)),
            filter: self.scope.clone(),
        })?;
        let before = nearest.iter().filter_map(|it| it.before).max();
        let after = nearest.iter().filter_map(|it| it.after).min();
        let micros = |time: Option<Timestamp>| time.map(Timestamp::as_microsecond);
        Ok((micros(before), micros(after)))
    }

    /// Returns the loads of file systems in the day up to a time, in steps that rollups have.
    pub fn history(
        &mut self,
        until: Micros,
        step: Micros,
        has_clusters: bool,
    ) -> Result<Loads, Error> {
        let rates = self.ask(&Rates {
            window: Window::new(timestamp(until - DAY), timestamp(until)),
            operations: words(["service_time"]),
            by: words([Dimension::Cluster, Dimension::Filesystem]),
            step: Some(SignedDuration::from_micros(step).into()),
            filter: self.scope.clone(),
        })?;
        let mut history = Loads::new();
        for row in rates {
            let name = row.labels.filesystem.unwrap_or_default();
            let name = of_cluster(has_clusters, row.labels.cluster.as_deref(), &name);
            history.entry(name.into()).or_default().push(Load {
                time: row.time.as_microsecond(),
                service: row.rate,
                requests: 0.0,
            });
        }
        // Drop a load without any service time.
        history.retain(|_, loads| loads.iter().any(|load| load.service.is_some()));
        Ok(history)
    }

    /// Returns the medians of requests in service in the hour up to a time, for active groups.
    pub fn medians(&mut self, until: Micros, has_clusters: bool) -> Result<Medians, Error> {
        let mut medians = Medians::new();
        for (by, dimensions) in BASELINE_BY {
            let rows = self.ask(&Baseline {
                window: Window::new(timestamp(until - HOUR), timestamp(until)),
                operation: Some("service_time".to_owned()),
                by: words(dimensions),
                n: Some(MAX_BASELINE_ROWS),
                filter: self.scope.clone(),
            })?;
            medians.extend(rows.into_iter().filter_map(|row| {
                let median = row.median?;
                Some(((by, key(by, row, has_clusters)?), median))
            }));
        }
        Ok(medians)
    }
}

/// Returns the key of the row on the screen that an answer about a user, an account or a target is of.
fn key(by: By, row: BaselineRow, has_clusters: bool) -> Option<Key> {
    let group = row.labels;
    match by {
        By::User => u32::try_from(group.uid?).ok().map(Key::User),
        By::Target => {
            let name = of_cluster(has_clusters, group.cluster.as_deref(), &group.target?);
            Some(Key::Name(name.into()))
        }
        _ => group.account.map(|name| Key::Name(name.into())),
    }
}

/// Returns a name as the screen shows it: with its cluster, if there are several.
pub fn of_cluster(has_clusters: bool, cluster: Option<&str>, name: &str) -> String {
    match cluster.filter(|_| has_clusters) {
        Some(cluster) => format!("{cluster}/{name}"),
        None => name.to_owned(),
    }
}
