//! Counts the events of a span.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use strum::IntoStaticStr;

use crate::lustre::identifier::{Condition, condition};
use crate::printing::snapshot::{Header, Snapshot};
use crate::time::Span;
use crate::truth::TargetTruth;
use crate::world::{Cluster, Epoch, Plan, ServerIndex, TargetState};

/// A kind of events that are counted, with its label. They are shown in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
pub enum Happening {
    #[strum(serialize = "texts")]
    Text,
    #[strum(serialize = "texts of servers with additional parameters")]
    ServerText,
    #[strum(serialize = "texts that arrived late")]
    LateText,
    #[strum(serialize = "texts that arrived twice")]
    RepeatedText,
    #[strum(serialize = "records")]
    Record,
    #[strum(serialize = "entries (per target)")]
    NewEntry,
    #[strum(serialize = "resets, a value fell")]
    SmallerReset,
    #[strum(serialize = "resets, no value fell")]
    LargerReset,
    #[strum(serialize = "records skipped")]
    SkippedRecord,
    #[strum(serialize = "records doubled")]
    DoubledRecord,
    #[strum(serialize = "texts cut by a read error")]
    CutText,
    #[strum(serialize = "read errors without text")]
    FailedRead,
    #[strum(serialize = "headers stolen")]
    MissingHeader,
    #[strum(serialize = "headers among records")]
    ExtraHeader,
    #[strum(serialize = "targets that moved to another server")]
    MovedTarget,
    #[strum(serialize = "entries without job")]
    WithoutJob,
    #[strum(serialize = "entries with a mangled identifier")]
    Mangled,
    #[strum(serialize = "entries with a cut identifier")]
    CutIdentifier,
}

/// The number of events of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<Happening, u64>);

impl Tally {
    /// Adds a number of events of one kind.
    pub fn add(&mut self, happening: Happening, times: usize) {
        *self.0.entry(happening).or_default() += times as u64;
    }

    /// Returns the number of events of one kind.
    pub fn get(&self, happening: Happening) -> u64 {
        self.0.get(&happening).copied().unwrap_or(0)
    }

    /// Formats the counts as lines, with the counts of the cluster's disturbances.
    pub fn lines(&self, cluster: &Cluster, span: Span) -> impl Iterator<Item = String> {
        let own = self
            .0
            .iter()
            .map(|(happening, times)| ((*happening).into(), *times));
        let disturbances = Plan::new(cluster).server_disturbances(span);
        let disturbances = DISTURBANCES.into_iter().zip(disturbances);
        own.chain(disturbances.map(|((label, _), times)| (label, times)))
            .map(|(label, times): (&str, u64)| format!("{times:>12}  {label}"))
    }
}

/// The disturbances of servers in the order of [`Plan::server_disturbances`], by label and by column of a table of cases.
pub const DISTURBANCES: [(&str, &str); 4] = [
    ("gaps (a server unread for an hour)", "gaps"),
    ("failovers of a server's targets", "failovers"),
    ("clock steps", "clock_steps"),
    ("clears of a server's targets", "clears"),
];

/// Counts the events on one target.
#[derive(Debug, Default)]
pub struct Counter {
    pub tally: Tally,
    shown: HashMap<u32, Rc<Epoch>>,
    server: Option<ServerIndex>,
}

impl Counter {
    /// Counts the events of one attempt to read the target.
    pub fn observe(&mut self, state: &TargetState, snapshot: Option<&Snapshot>) {
        match snapshot {
            Some(snapshot) => self.read(state, snapshot),
            None => self.tally.add(Happening::FailedRead, 1),
        }
    }

    fn read(&mut self, state: &TargetState, snapshot: &Snapshot) {
        let moved = self.server.replace(snapshot.server);
        let counts = [
            (Happening::Text, 1),
            (Happening::Record, snapshot.records.len()),
            (Happening::SkippedRecord, snapshot.skipped.len()),
            (Happening::DoubledRecord, snapshot.doubled.into()),
            (Happening::CutText, snapshot.cut.is_some().into()),
        ];
        for (happening, times) in counts {
            self.tally.add(happening, times);
        }
        match snapshot.header {
            Header::First => (),
            Header::Missing => self.tally.add(Happening::MissingHeader, 1),
            Header::Extra(_) => self.tally.add(Happening::ExtraHeader, 1),
        }
        if moved.is_some_and(|server| server != snapshot.server) {
            self.tally.add(Happening::MovedTarget, 1);
        }
        for epoch in &snapshot.records {
            self.record(state, epoch);
        }
    }

    fn record(&mut self, state: &TargetState, epoch: &Rc<Epoch>) {
        let Some(before) = self.shown.insert(epoch.entry, epoch.clone()) else {
            self.tally.add(Happening::NewEntry, 1);
            match condition(&state.ids[epoch.entry as usize]) {
                Condition::Sound => (),
                Condition::WithoutJob => self.tally.add(Happening::WithoutJob, 1),
                Condition::Cut => self.tally.add(Happening::CutIdentifier, 1),
                Condition::Mangled => self.tally.add(Happening::Mangled, 1),
            }
            return;
        };
        if before.number != epoch.number {
            let fell = before
                .counters
                .fell(&epoch.counters, state.cluster.layout, state.kind());
            self.tally.add(
                if fell {
                    Happening::SmallerReset
                } else {
                    Happening::LargerReset
                },
                1,
            );
        }
    }
}

/// Sums the counts of targets.
pub fn sum<'a>(tallies: impl IntoIterator<Item = &'a Tally>) -> Tally {
    let mut sum = Tally::default();
    for (happening, times) in tallies.into_iter().flat_map(|tally| &tally.0) {
        *sum.0.entry(*happening).or_default() += times;
    }
    sum
}

/// Sums the counts in the truth about targets.
pub fn of_truths(truths: &[TargetTruth]) -> Tally {
    sum(truths.iter().map(|truth| &truth.tally))
}
