//! Counts what happened in a span.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::lustre::identifier::{Condition, condition};
use crate::printing::reading::{Header, Outcome, Reading};
use crate::truth::TargetTruth;
use crate::world::cluster::{Cluster, ServerIndex};
use crate::world::plan::Plan;
use crate::world::schedule::Span;
use crate::world::target::{Life, TargetState};

/// The kinds of events that are counted, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Happening {
    /// A text arrived.
    Text,
    /// A text arrived after a later one.
    LateText,
    /// A text arrived twice.
    RepeatedText,
    /// A record arrived in a text.
    Record,
    /// A record of an entry arrived that no text had shown before.
    NewEntry,
    /// An entry came back with a value below its last.
    SmallerReset,
    /// An entry came back and no value fell.
    LargerReset,
    /// A record was skipped.
    SkippedRecord,
    /// An entry stood twice in one text.
    DoubledRecord,
    /// A text was cut by a read error.
    CutText,
    /// A read error left no text.
    FailedRead,
    /// The header was missing.
    MissingHeader,
    /// A second header stood among the records.
    ExtraHeader,
    /// A target was on another server than before.
    MovedTarget,
    /// An entry has no job.
    WithoutJob,
    /// An entry has a mangled identifier.
    Mangled,
    /// An entry has an identifier cut at 31 bytes.
    CutIdentifier,
}

impl Happening {
    fn label(self) -> &'static str {
        match self {
            Self::Text => "texts",
            Self::LateText => "texts that arrived late",
            Self::RepeatedText => "texts that arrived twice",
            Self::Record => "records",
            Self::NewEntry => "entries (per target)",
            Self::SmallerReset => "resets, a value fell",
            Self::LargerReset => "resets, no value fell",
            Self::SkippedRecord => "records skipped",
            Self::DoubledRecord => "records doubled",
            Self::CutText => "texts cut by a read error",
            Self::FailedRead => "read errors without text",
            Self::MissingHeader => "headers stolen",
            Self::ExtraHeader => "headers among records",
            Self::MovedTarget => "targets that moved to another server",
            Self::WithoutJob => "entries without job",
            Self::Mangled => "entries with a mangled identifier",
            Self::CutIdentifier => "entries with a cut identifier",
        }
    }
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

    /// Adds the counts of another tally.
    pub fn plus(&mut self, other: &Self) {
        for (happening, times) in &other.0 {
            *self.0.entry(*happening).or_default() += times;
        }
    }

    /// Formats the counts as lines, with the counts of the cluster's disturbances.
    pub fn lines(&self, cluster: &Cluster, span: Span) -> Vec<String> {
        let own = self
            .0
            .iter()
            .map(|(happening, times)| (happening.label(), *times));
        let servers = Plan::new(cluster).server_disturbances(span.from, span.until);
        own.chain(servers)
            .map(|(label, times)| format!("{times:>12}  {label}"))
            .collect()
    }
}

/// Counts the events on one target.
#[derive(Debug, Default)]
pub struct Counter {
    /// The counts so far.
    pub tally: Tally,
    shown: HashMap<u32, Rc<Life>>,
    server: Option<ServerIndex>,
}

impl Counter {
    /// Counts the events of one attempt to read the target.
    pub fn observe(&mut self, state: &TargetState, outcome: &Outcome) {
        match outcome {
            Outcome::Read(reading) => self.read(state, reading),
            Outcome::Failed => self.tally.add(Happening::FailedRead, 1),
        }
    }

    fn read(&mut self, state: &TargetState, reading: &Reading) {
        self.tally.add(Happening::Text, 1);
        self.tally.add(Happening::Record, reading.records.len());
        self.tally
            .add(Happening::SkippedRecord, reading.skipped.len());
        self.tally
            .add(Happening::DoubledRecord, usize::from(reading.doubled));
        self.tally
            .add(Happening::CutText, usize::from(reading.cut.is_some()));
        match reading.header {
            Header::First => (),
            Header::Missing => self.tally.add(Happening::MissingHeader, 1),
            Header::Extra(_) => self.tally.add(Happening::ExtraHeader, 1),
        }
        if self
            .server
            .replace(reading.server)
            .is_some_and(|server| server != reading.server)
        {
            self.tally.add(Happening::MovedTarget, 1);
        }
        for life in &reading.records {
            self.record(state, life);
        }
    }

    fn record(&mut self, state: &TargetState, life: &Rc<Life>) {
        let Some(before) = self.shown.insert(life.entry, life.clone()) else {
            self.tally.add(Happening::NewEntry, 1);
            match condition(&state.ids[life.entry as usize]) {
                Condition::Sound => (),
                Condition::WithoutJob => self.tally.add(Happening::WithoutJob, 1),
                Condition::Cut => self.tally.add(Happening::CutIdentifier, 1),
                Condition::Mangled => self.tally.add(Happening::Mangled, 1),
            }
            return;
        };
        if before.number != life.number {
            let fell = before
                .counters
                .fell(&life.counters, state.cluster.layout, state.kind());
            let reset = if fell {
                Happening::SmallerReset
            } else {
                Happening::LargerReset
            };
            self.tally.add(reset, 1);
        }
    }
}

/// Sums the counts of all targets.
pub fn of_all(truths: &[TargetTruth]) -> Tally {
    let mut tally = Tally::default();
    truths.iter().for_each(|truth| tally.plus(&truth.tally));
    tally
}
