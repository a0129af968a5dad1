//! The targets of a screen, and their rounds.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jobstats_client::answers::EntryTotalsRow;
use jobstats_core::base::instant::Micros;
use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::base::target::TargetKind;
use jobstats_core::usage::times::calls_have_times;

use super::questions::{CountersByTarget, Target, of_cluster, totals};
use super::{DEFAULT_INTERVAL, Owners, STEP};
use crate::live::interval::{EntryUsage, Interval, Round, TargetCounters, TargetSnapshot};

/// The targets that a reading was made of.
pub struct ShownTargets {
    pub time: Micros,
    pub targets: Vec<Target>,
    /// True if the targets are of several clusters. As long as they are, their names have the cluster.
    pub has_clusters: bool,
}

impl ShownTargets {
    /// Returns the begin of the step of history in which the time is.
    pub const fn begin_of_step(&self) -> Micros {
        self.time - self.time.rem_euclid(STEP)
    }

    pub fn new(time: Micros, targets: Vec<Target>) -> Self {
        let mut clusters = targets.iter().map(|it| &it.row.cluster);
        let first = clusters.next();
        let has_clusters = clusters.any(|cluster| Some(cluster) != first);
        Self {
            time,
            targets,
            has_clusters,
        }
    }

    pub fn name(&self, target: &Target) -> Arc<str> {
        let row = &target.row;
        of_cluster(self.has_clusters, Some(&row.cluster), &row.target).into()
    }

    /// Returns the names of the targets that are not late at a time.
    pub fn pending(&self, time: Micros) -> Vec<Arc<str>> {
        let pending = self.targets.iter().filter(|it| !it.is_late(time));
        pending.map(|it| self.name(it)).collect()
    }

    /// Returns the targets with a new observation since the previous round.
    pub fn fresh(&self, before: Option<&Self>) -> Vec<&Target> {
        let known = before.iter().flat_map(|before| &before.targets);
        let observation = |it: &Target| (it.row.target_id, it.time);
        let known: HashSet<_> = known.map(observation).collect();
        let targets = self.targets.iter();
        let fresh = targets.filter(|it| !known.contains(&observation(it)));
        fresh.collect()
    }

    /// Returns the usual time between the readings of most targets.
    pub fn pace(&self) -> Micros {
        let mut usual: Vec<_> = self.targets.iter().filter_map(|it| it.usual).collect();
        usual.sort_unstable();
        let median = usual.get(usual.len() / 2);
        median.map_or(DEFAULT_INTERVAL, |usual| (*usual).max(1))
    }

    /// Returns a round of the new observations, and after a jump a second one with the targets that were late.
    pub fn rounds(
        &self,
        fresh: &[&Target],
        (work, mut counters): (&[EntryTotalsRow], CountersByTarget),
        owners: &Owners,
        begins_anew: bool,
    ) -> Vec<Round> {
        let mut work_of: HashMap<i32, Vec<&EntryTotalsRow>> = HashMap::new();
        for one in work {
            work_of.entry(one.target_id).or_default().push(one);
        }
        let seen = fresh.iter().map(|target| {
            let id = target.row.target_id;
            let work = work_of.remove(&id).unwrap_or_default();
            self.seen(target, owners, &work, counters.remove(&id))
        });
        let round = Round {
            time: self.time,
            pending: self.pending(self.time),
            ..Round::default()
        };
        let mut rounds = vec![Round {
            snapshots: seen.collect(),
            ..round.clone()
        }];
        rounds.extend(begins_anew.then_some(round));
        rounds
    }

    fn seen(
        &self,
        target: &Target,
        owners: &Owners,
        rows: &[&EntryTotalsRow],
        counters: Option<TargetCounters>,
    ) -> TargetSnapshot {
        let row = &target.row;
        let count = |count: Option<i32>| count.unwrap_or_default().unsigned_abs().into();
        let interval = row.since.map(|since| {
            let usecs = rows.iter();
            let usecs = usecs.flat_map(|it| it.usecs.iter().take(OPERATIONS.len()));
            let work = rows.iter().filter_map(|it| {
                let owner = Arc::clone(&owners.get(&it.entry_id)?.0);
                let totals = totals(it);
                Some(EntryUsage { owner, totals })
            });
            Interval {
                since: since.as_microsecond(),
                until: target.time,
                timed: calls_have_times(usecs.map(Option::is_some)),
                work: work.collect(),
                counters,
                added: count(row.added),
                resets: count(row.resets),
                removed: count(row.removed),
            }
        });
        TargetSnapshot {
            target: self.name(target),
            kind: TargetKind::find(&row.kind).unwrap_or(TargetKind::Ost),
            server: row.server.as_deref().unwrap_or_default().into(),
            time: target.time,
            entries: count(row.entries),
            problems: count(row.problems),
            interval,
        }
    }
}
