//! Rounds of a store.

use std::collections::HashMap;
use std::sync::Arc;

use jobstats_client::answers::EntryTotalsRow;
use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::base::target::TargetKind;
use jobstats_core::usage::times::calls_have_times;

use super::StoreSource;
use super::questions::{self, CountersByTarget, Target};
use super::targets::ShownTargets;
use crate::live::interval::{EntryUsage, Interval, Round, TargetSnapshot};

impl StoreSource {
    /// Returns a round of the new observations, and after a jump a second one with the targets that were late.
    pub(super) fn rounds(
        &self,
        shown: &ShownTargets,
        fresh: &[&Target],
        (work, mut counters): (&[EntryTotalsRow], CountersByTarget),
        begins_anew: bool,
    ) -> Vec<Round> {
        let mut work_of: HashMap<i32, Vec<&EntryTotalsRow>> = HashMap::new();
        for one in work {
            work_of.entry(one.target_id).or_default().push(one);
        }
        let seen = fresh.iter().map(|target| {
            let work = work_of.remove(&target.row.target_id).unwrap_or_default();
            let mut seen = self.seen(target, shown.name(target), &work);
            if let Some(interval) = &mut seen.interval {
                interval.counters = counters.remove(&target.row.target_id);
            }
            seen
        });
        let round = Round {
            time: shown.time,
            pending: shown.pending(shown.time),
            ..Round::default()
        };
        let mut rounds = vec![Round {
            snapshots: seen.collect(),
            ..round.clone()
        }];
        rounds.extend(begins_anew.then_some(round));
        rounds
    }

    fn seen(&self, target: &Target, name: Arc<str>, rows: &[&EntryTotalsRow]) -> TargetSnapshot {
        let row = &target.row;
        let count = |count: Option<i32>| count.unwrap_or_default().unsigned_abs().into();
        let interval = row.since.map(|since| {
            let usecs = rows.iter();
            let usecs = usecs.flat_map(|it| it.usecs.iter().take(OPERATIONS.len()));
            let work = rows.iter().filter_map(|it| {
                let owner = Arc::clone(&self.owners.get(&it.entry_id)?.0);
                let totals = questions::totals(it);
                Some(EntryUsage { owner, totals })
            });
            Interval {
                since: since.as_microsecond(),
                until: target.time,
                timed: calls_have_times(usecs.map(Option::is_some)),
                work: work.collect(),
                counters: None,
                added: count(row.added),
                resets: count(row.resets),
                removed: count(row.removed),
            }
        });
        TargetSnapshot {
            target: name,
            kind: TargetKind::find(&row.kind).unwrap_or(TargetKind::Ost),
            server: row.server.as_deref().unwrap_or_default().into(),
            time: target.time,
            entries: count(row.entries),
            problems: count(row.problems),
            interval,
        }
    }
}
