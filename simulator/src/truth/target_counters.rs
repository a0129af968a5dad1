//! The truth about target counters, and the share of it that readings show.

use std::collections::BTreeMap;

use crate::lustre::{Counters, Layout, TargetKind, Times};
use crate::time::{DAY, Nanos, Span};
use crate::truth::Totals;
use crate::world::{Cluster, Due, ServerIndex, TargetIndex, Walk, Workload, all};

/// The visible requests of a target between its first and its last reading: all except those between a reading and a reset and, where texts
/// have no start times, those before an invisible reset.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TargetCountersTruth {
    /// The requests that the target counters show.
    pub all: Totals,
    /// The share of metadata servers themselves.
    pub servers: Totals,
}

/// Computes the truth about every target, given the readings of its target counters in order of time.
pub fn of_targets(cluster: &Cluster, readings: &[Vec<Due>]) -> Vec<TargetCountersTruth> {
    let workload = Workload::new(cluster);
    all(cluster.targets.len(), |target| {
        let readings = readings.get(target).map(Vec::as_slice).unwrap_or_default();
        of_target(&workload, target, readings)
    })
}

fn of_target(workload: &Workload, target: TargetIndex, readings: &[Due]) -> TargetCountersTruth {
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
        return TargetCountersTruth::default();
    };
    let span = Span::new(first.time, last.time + 1 - first.time);
    let mut walk = Walk::new(workload, target, span);
    let mut reader = Reader {
        has_starts: workload.cluster.layout.times() == Times::Wall,
        ..Reader::default()
    };
    for due in readings {
        walk.advance(due.time, |_| ());
        reader.read(&walk, due.time);
    }
    reader.truth
}

/// The state of a reader for a target.
#[derive(Default)]
struct Reader {
    /// True if texts have the start of counters. Otherwise only a falling value shows a reset.
    has_starts: bool,
    /// The target's own counters.
    own: Option<CounterSnapshot>,
    /// The counters of each metadata server in any text so far.
    servers: BTreeMap<ServerIndex, CounterSnapshot>,
    truth: TargetCountersTruth,
}

/// The amounts of counters at a reading, and their start.
struct CounterSnapshot {
    time: Nanos,
    since: Nanos,
    totals: Totals,
}

impl Reader {
    fn read(&mut self, walk: &Walk, time: Nanos) {
        let (layout, kind) = (walk.state.cluster.layout, walk.state.kind());
        let counters = &walk.counters;
        let snapshot = |since, counters: &Counters| CounterSnapshot {
            time,
            since,
            totals: Totals::of_target_counters(counters, layout, kind),
        };
        let own = snapshot(counters.since, &counters.all);
        let before = self.own.as_ref().map(|before| before.time);
        if let Some(before) = &self.own {
            let grown = self.growth(before, &own);
            self.truth.all.plus(&grown);
        }
        self.own = Some(own);
        for (server, export) in counters.exports(time) {
            let export = snapshot(export.since, &export.counters);
            let known = self.servers.get(&server);
            let growth = match known.filter(|known| time - known.time < DAY) {
                Some(known) => Some(self.growth(known, &export)),
                // Texts may have lacked these counters because they were not requested.
                None => before
                    .filter(|before| self.has_starts && export.since > *before)
                    .map(|_| export.totals.clone()),
            };
            self.truth.servers.plus(&growth.unwrap_or_default());
            self.servers.insert(server, export);
        }
    }

    /// Returns the requests between two readings. Counters that were visibly reset show all that they have.
    fn growth(&self, before: &CounterSnapshot, now: &CounterSnapshot) -> Totals {
        let goes_on = match self.has_starts {
            true => before.since == now.since,
            false => before.totals.beyond(&now.totals).is_zero(),
        };
        match goes_on {
            true => now.totals.beyond(&before.totals),
            false => now.totals.clone(),
        }
    }
}

impl TargetCountersTruth {
    /// Returns the requests of clients, with those of metadata servers that are not counted separately.
    pub fn of_clients(&self) -> Totals {
        self.all.beyond(&self.servers)
    }
}

impl Totals {
    /// Returns the amounts of a target's own counters, which have no histograms.
    pub fn of_target_counters(counters: &Counters, layout: Layout, kind: TargetKind) -> Self {
        let mut totals = Self::default();
        for &op in layout.target_counters(kind) {
            let counter = counters.get(op);
            totals.add_counter(op, (counter.samples, counter.sum), layout, kind);
        }
        totals
    }
}
