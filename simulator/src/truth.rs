//! The truth about a span: all requests, and the share that the delivered texts cannot show.
//!
//! Both follow from the simulator's knowledge of epochs and readings, not from comparing texts.

pub mod attribution;
mod job_truth;
pub mod queues;
pub mod series;
pub mod tally;
pub mod target_counters;
#[cfg(test)]
mod tests;
pub mod totals;

pub use attribution::Attribution;
pub use tally::{Happening, Tally};
pub use totals::{Column, Quantity, Totals};

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::lustre::{Counters, Layout, Op, TargetKind, Times, identifier};
use crate::printing::snapshot::Snapshot;
use crate::time::{DAY, Nanos, Span};
use crate::world::{
    Change, Cluster, Due, Epoch, ServerIndex, TargetIndex, TargetState, Workload, all,
};

/// The reason why the texts do not show a part of the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Cause {
    /// The work was done after the last reading of an epoch.
    AfterLastReading,
    /// The values were already there at the first reading of a target.
    Baseline,
    /// The values were already there when an entry was first seen, and the entry is not proven to have been born since
    /// the reading before.
    Unknown,
    /// The values were lost in an invisible reset: there is no start time, and no value fell.
    HiddenReset,
    /// The values are in the older of two records with one identifier in one text, without start times, and a reset is invisible: no value
    /// fell, or the previous text also had two epochs of the entry.
    Rule5,
}

/// The truth about one column of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cell {
    /// The amount that was really done.
    pub truth: u64,
    /// The parts of the amount that the texts do not show, by [`Cause`].
    pub excluded: [u64; Cause::COUNT],
}

impl Cell {
    /// Returns the cell of a fully visible amount, at least zero.
    pub fn known(amount: i128) -> Self {
        Self {
            truth: u64::try_from(amount).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Adds another cell.
    pub fn plus(&mut self, other: &Self) {
        self.truth += other.truth;
        for (sum, amount) in self.excluded.iter_mut().zip(other.excluded) {
            *sum += amount;
        }
    }

    /// Returns the amount that a correct reader stores.
    pub fn stored(&self) -> i128 {
        i128::from(self.truth) - self.excluded.iter().copied().map(i128::from).sum::<i128>()
    }
}

/// The truth about one target in a span.
#[derive(Debug, Default)]
pub struct TargetTruth {
    /// The cells by entry name and column, wherever anything happened.
    pub cells: BTreeMap<(String, Column), Cell>,
    pub tally: Tally,
    /// The times of the first and the last text, by the server's clock.
    pub observed: Option<(Nanos, Nanos)>,
}

/// The limit on missing entries that a reader remembers if entries have start times. A text with more records raises
/// the limit to their number.
const REMEMBERED: usize = 100;

/// Computes the truth about every target in a span, given the delivered readings.
pub fn of_targets(cluster: &Cluster, span: Span, readings: &[Vec<Due>]) -> Vec<TargetTruth> {
    let workload = Workload::new(cluster);
    all(cluster.targets.len(), |target| {
        let readings = readings.get(target).map(Vec::as_slice).unwrap_or_default();
        of_target(&workload, target, span, readings)
    })
}

/// Computes the truth about a target in a span, given the delivered readings.
fn of_target(
    workload: &Workload,
    target: TargetIndex,
    span: Span,
    readings: &[Due],
) -> TargetTruth {
    let mut state = TargetState::new(workload, target, span);
    let mut counter = tally::Counter::default();
    state.advance(span.from - 1, |_| ());
    let mut auditor = Auditor::new(&state);
    for due in readings {
        let first = auditor.previous.is_none();
        let snapshot = Snapshot::take(&mut state, due.time, first, |change| auditor.change(change));
        counter.observe(&state, snapshot.as_ref());
        if let Some(snapshot) = snapshot {
            auditor.read(&snapshot, due.label);
        }
        // Epochs are settled only now, because an epoch that ended while the text was printed is still in the text.
        auditor.settle_ended();
    }
    state.advance(span.until - 1, |change| auditor.change(change));
    auditor.settle_ended();
    state.alive.iter().for_each(|epoch| auditor.settle(epoch));
    TargetTruth {
        cells: auditor.cells(&state),
        tally: counter.tally,
        observed: auditor.observed,
    }
}

/// The counters that a reader remembers of an entry.
struct RememberedEntry {
    epoch: u64,
    counters: Counters,
    /// The time of the last text that showed the entry, by the server's clock.
    last_seen: Nanos,
}

/// The amounts of an epoch by who can know them.
#[derive(Default)]
struct EpochAccount {
    /// The amounts before the span.
    before: Totals,
    /// The counters that readings have shown.
    seen: Counters,
    /// The amounts in a record that a reader could not use.
    unusable: Totals,
}

struct PreviousSnapshot {
    label: Nanos,
    server: ServerIndex,
    is_complete: bool,
}

/// Follows a target and its readings.
struct Auditor<'a> {
    cluster: &'a Cluster,
    layout: Layout,
    kind: TargetKind,
    has_start_times: bool,
    truth: HashMap<u32, Totals>,
    excluded: HashMap<(u32, Cause), Totals>,
    accounts: HashMap<u64, EpochAccount>,
    /// The epochs that are over, but not settled.
    ended: Vec<Rc<Epoch>>,
    known: HashMap<u32, RememberedEntry>,
    previous: Option<PreviousSnapshot>,
    /// The time of the last text that showed any of the entries that a reader remembers and the previous text lacks.
    last_missed: Option<Nanos>,
    /// The entry with two epochs in the previous text, without start times.
    renewed: Option<u32>,
    observed: Option<(Nanos, Nanos)>,
}

impl<'a> Auditor<'a> {
    fn new(state: &TargetState<'a>) -> Self {
        let (layout, kind) = (state.cluster.layout, state.kind());
        let accounts = state.alive.iter().map(|epoch| {
            let account = EpochAccount {
                before: Totals::of(&epoch.counters, layout, kind),
                seen: epoch.counters.clone(),
                unusable: Totals::default(),
            };
            (epoch.number, account)
        });
        Self {
            cluster: state.cluster,
            layout,
            kind,
            has_start_times: layout.times() != Times::Seconds,
            truth: HashMap::new(),
            excluded: HashMap::new(),
            accounts: accounts.collect(),
            ended: Vec::new(),
            known: HashMap::new(),
            previous: None,
            last_missed: None,
            renewed: None,
            observed: None,
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Calls(epoch, calls) => {
                let truth = self.truth.entry(epoch.entry).or_default();
                truth.add_calls(calls, self.layout, self.kind)
            }
            Change::End(epoch) => self.ended.push(epoch),
        }
    }

    fn totals(&self, counters: &Counters) -> Totals {
        Totals::of(counters, self.layout, self.kind)
    }

    fn exclude(&mut self, entry: u32, cause: Cause, totals: &Totals) {
        if !totals.is_zero() {
            let excluded = self.excluded.entry((entry, cause));
            excluded.or_default().plus(totals);
        }
    }

    fn settle_ended(&mut self) {
        let ended = std::mem::take(&mut self.ended);
        ended.iter().for_each(|epoch| self.settle(epoch));
    }

    /// Settles an epoch that is over, or that outlives the span: the amounts that no reading has shown are lost.
    fn settle(&mut self, epoch: &Epoch) {
        let account = self.accounts.remove(&epoch.number).unwrap_or_default();
        let unseen = self
            .totals(&epoch.counters)
            .beyond(&self.totals(&account.seen));
        let lost = unseen.beyond(&account.unusable);
        self.exclude(epoch.entry, Cause::Rule5, &account.unusable);
        self.exclude(epoch.entry, Cause::AfterLastReading, &lost);
    }

    fn read(&mut self, snapshot: &Snapshot, label: Nanos) {
        let superseded = self.superseded(snapshot);
        let mut survived = false;
        for (position, epoch) in snapshot.records.iter().enumerate() {
            if Some(epoch.number) == superseded {
                self.lose(epoch);
                continue;
            }
            let ops = snapshot.complete_counters(position, self.layout.counters(self.kind));
            survived |= self.record(epoch, ops, label);
        }
        self.forget(snapshot, label, survived);
        let missing = self.known.values().map(|known| known.last_seen);
        self.last_missed = missing.filter(|last_seen| *last_seen != label).max();
        self.observed = Some((self.observed.map_or(label, |(first, _)| first), label));
        self.previous = Some(PreviousSnapshot {
            label,
            server: snapshot.server,
            is_complete: snapshot.cut.is_none(),
        });
    }

    /// Returns the number of the epoch whose record looks like an older record of the epoch that follows it.
    fn superseded(&mut self, snapshot: &Snapshot) -> Option<u64> {
        let before = self.renewed.take();
        let older = snapshot.doubled_epoch().filter(|_| !self.has_start_times)?;
        let newer = snapshot.records.last()?;
        if older.counters.fell(&newer.counters, self.layout, self.kind) {
            self.renewed = Some(newer.entry);
        }
        (self.renewed.is_none() || self.renewed == before).then_some(older.number)
    }

    /// Notes a record that shows amounts but cannot be used.
    fn lose(&mut self, epoch: &Epoch) {
        let shown = self.totals(&epoch.counters);
        let account = self.accounts.entry(epoch.number).or_default();
        account.unusable = shown.beyond(&Totals::of(&account.seen, self.layout, self.kind));
    }

    /// Notes a record. Returns true if a reader takes the record for the epoch that the reader knows.
    fn record(&mut self, epoch: &Epoch, ops: &[Op], label: Nanos) -> bool {
        let known = self.known.remove(&epoch.entry);
        let goes_on = match &known {
            Some(known) => self.goes_on(known, epoch),
            None => self.appear(epoch),
        };
        let mut counters = known.map(|known| known.counters).unwrap_or_default();
        counters.take_over(&epoch.counters, ops);
        let remembered = RememberedEntry {
            epoch: epoch.number,
            counters,
            last_seen: label,
        };
        self.known.insert(epoch.entry, remembered);
        let account = self.accounts.entry(epoch.number).or_default();
        account.seen.take_over(&epoch.counters, ops);
        goes_on
    }

    /// Returns true if a reader takes the record for the epoch that the reader knows, rightly or wrongly.
    fn goes_on(&mut self, known: &RememberedEntry, epoch: &Epoch) -> bool {
        if known.epoch == epoch.number {
            return true;
        }
        if self.has_start_times || known.counters.fell(&epoch.counters, self.layout, self.kind) {
            return false;
        }
        let lost = self.totals(&known.counters);
        self.exclude(epoch.entry, Cause::HiddenReset, &lost);
        true
    }

    /// Notes the first record of an unknown entry. The values count only if they are proven to have begun at zero.
    fn appear(&mut self, epoch: &Epoch) -> bool {
        let cause = match &self.previous {
            None => Cause::Baseline,
            Some(previous) => {
                let proven = match self.layout.times() {
                    // Later texts that had shown the entry would have made a reader remember it too.
                    Times::Wall => epoch.stamps.0 > self.last_missed.unwrap_or(previous.label),
                    Times::Boot | Times::Seconds => previous.is_complete,
                };
                if proven {
                    return false;
                }
                Cause::Unknown
            }
        };
        let shown = self.totals(&epoch.counters);
        let account = self.accounts.entry(epoch.number).or_default();
        let since = shown.beyond(&account.before);
        self.exclude(epoch.entry, cause, &since);
        false
    }

    /// Forgets entries that the text lacks. A reader remembers such entries for as long as they may still be there.
    fn forget(&mut self, snapshot: &Snapshot, label: Nanos, survived: bool) {
        let Some(previous) = &self.previous else {
            return;
        };
        let goes_on = previous.server == snapshot.server && survived;
        let (retention, oldest) = match (snapshot.cut.is_none(), self.has_start_times) {
            (false, _) => (DAY, Nanos::MIN),
            (true, true) => {
                let room = snapshot.records.len().max(REMEMBERED);
                (DAY, self.oldest_remembered(room, label))
            }
            (true, false) if goes_on => (self.cluster.cleanup_interval * 3 / 2, Nanos::MIN),
            (true, false) => (0, Nanos::MIN),
        };
        let remembered = |last_seen| label - last_seen < retention && last_seen >= oldest;
        self.known
            .retain(|_, known| known.last_seen == label || remembered(known.last_seen));
    }

    /// Returns the last-seen time from which missing entries are remembered. If there are too many missing entries, a reader remembers the
    /// most recent ones.
    fn oldest_remembered(&self, room: usize, label: Nanos) -> Nanos {
        let known = self.known.values().map(|known| known.last_seen);
        let mut missing: Vec<Nanos> = known.filter(|last_seen| *last_seen != label).collect();
        missing.sort_unstable_by(|one, other| other.cmp(one));
        match missing.get(room - 1) {
            Some(oldest) if missing.len() > room => *oldest,
            _ => Nanos::MIN,
        }
    }

    fn cells(&self, state: &TargetState) -> BTreeMap<(String, Column), Cell> {
        let mut cells: BTreeMap<_, Cell> = BTreeMap::new();
        let name = |entry: &u32| identifier::name(&state.ids[*entry as usize], self.layout);
        for (entry, totals) in &self.truth {
            for (column, amount) in totals.amounts() {
                cells.entry((name(entry), column)).or_default().truth += amount;
            }
        }
        for ((entry, cause), totals) in &self.excluded {
            for (column, amount) in totals.amounts() {
                cells.entry((name(entry), column)).or_default().excluded[*cause as usize] += amount;
            }
        }
        cells
    }
}
