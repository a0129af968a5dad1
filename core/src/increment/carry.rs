//! The records to carry with a text: what was known before it and is not in it.

use std::borrow::Cow;
use std::collections::TryReserveError;

use super::Micros;
use super::known::{Life, Part, has_unlisted};
use super::value::bit;
use crate::operation::OPERATIONS;
use crate::scan::Time;
use crate::snapshot::{Counter, Record, Slot, Snapshot};

/// Collects carried records into a snapshot, in the order they come.
pub(super) struct Carry<'a> {
    snapshot: Snapshot<'a>,
    entries: u64,
}

/// Counters of a record that do not say what is known: they are missing or lower than before.
pub(super) struct Withheld<'a> {
    /// The listed operations.
    pub listed: u64,
    /// The others.
    pub unlisted: Vec<&'a str>,
}

impl<'a> Withheld<'a> {
    /// Withholds a counter of the record.
    pub fn add(&mut self, slot: Slot, name: &'a str) {
        match bit(slot) {
            Some(bit) => self.listed |= bit,
            None => self.unlisted.push(name),
        }
    }
}

impl<'a> Carry<'a> {
    /// For the text of this snapshot.
    pub fn with(text: &Snapshot<'a>) -> Self {
        let snapshot = Snapshot {
            target: text.target,
            complete: true,
            observed: true,
            ..Snapshot::default()
        };
        Self {
            snapshot,
            entries: 0,
        }
    }

    /// The records, and how many entries they belong to.
    pub fn finish(self) -> (Snapshot<'a>, u64) {
        (self.snapshot, self.entries)
    }

    /// Carries all that is known of an entry that the text lacks.
    pub fn entry(&mut self, life: &Life<'a>) -> Result<(), TryReserveError> {
        for share in life.shares() {
            let counters = self.counters(&share.part, share.listed, |name| share.has_say(name))?;
            self.push(&share.part, life.start_time(), share.listed, counters)?;
        }
        self.entries += 1;
        Ok(())
    }

    /// Carries the known values of counters of a record that `snapshot` has.
    pub fn withheld(
        &mut self,
        life: &Life<'a>,
        (snapshot, record): (&Snapshot<'a>, &Record<'a>),
        withheld: &Withheld<'a>,
    ) -> Result<(), TryReserveError> {
        let before = self.snapshot.records.len();
        for share in life.shares() {
            let listed = share.listed & withheld.listed;
            let counters = self.counters(&share.part, listed, |name| {
                let is_withheld =
                    withheld.unlisted.contains(&name) || !has_unlisted(snapshot, record, name);
                is_withheld && share.has_say(name)
            })?;
            // The text's start_time: it tells which life of the entry these counters belong to.
            self.push(&share.part, record.start_time, listed, counters)?;
        }
        self.entries += u64::from(self.snapshot.records.len() > before);
        Ok(())
    }

    /// Carries zeros for the counters that a newborn record lacks though other records of its text have them. What is
    /// known of its life has its own place.
    pub fn zeros(
        &mut self,
        since: Micros,
        (snapshot, record): (&'a Snapshot<'a>, &'a Record<'a>),
        life: Option<&Life<'a>>,
        in_text: u64,
    ) -> Result<(), TryReserveError> {
        let before = self.snapshot.records.len();
        let known = life.map_or(0, Life::listed);
        let is_known = |slot| life.is_some_and(|life| life.value(snapshot, slot).is_some());
        let missing = snapshot.unlisted.iter();
        let missing = missing.filter(|name| !has_unlisted(snapshot, record, name));
        let counters = missing.filter_map(|name| {
            let slot = snapshot
                .unlisted_slot(name)
                .filter(|slot| !is_known(*slot))?;
            let mut others = snapshot.counters.iter();
            let unit = others.find(|counter| counter.slot == slot)?.unit;
            Some(Counter::zero(self.own_slot(name), unit))
        });
        let counters = counters.collect();
        let part = Part {
            since,
            snapshot,
            record,
        };
        let listed = in_text & !record.present & !known;
        self.push(&part, record.start_time, listed, counters)?;
        self.entries += u64::from(self.snapshot.records.len() > before);
        Ok(())
    }

    /// A part's counters of these operations, as they stand in the carried snapshot.
    fn counters(
        &mut self,
        part: &Part<'a>,
        listed: u64,
        wants_unlisted: impl Fn(&'a str) -> bool,
    ) -> Result<Vec<Counter>, TryReserveError> {
        let counters = part.snapshot.counters_of(part.record).iter();
        counters
            .filter(|counter| match bit(counter.slot) {
                Some(bit) => listed & bit != 0,
                None => wants_unlisted(part.snapshot.slot_name(counter.slot)),
            })
            .map(|counter| self.adopt(part.snapshot, *counter))
            .collect()
    }

    /// Gives a counter of another snapshot its place in this one.
    fn adopt(
        &mut self,
        from: &'a Snapshot<'a>,
        counter: Counter,
    ) -> Result<Counter, TryReserveError> {
        let histograms = &mut self.snapshot.histograms;
        let mut adopted = Counter {
            histogram: None,
            ..counter
        };
        if let Some(histogram) = from.histogram(&counter) {
            histograms.try_reserve(1)?;
            adopted.histogram = u32::try_from(histograms.len()).ok();
            histograms.push(*histogram);
        }
        if bit(counter.slot).is_none() {
            adopted.slot = self.own_slot(from.slot_name(counter.slot));
        }
        Ok(adopted)
    }

    /// The slot of an operation that is not in the list, which gets one if it has none.
    fn own_slot(&mut self, name: &'a str) -> Slot {
        let own = &mut self.snapshot;
        if let Some(slot) = own.unlisted_slot(name) {
            return slot;
        }
        own.unlisted.push(name);
        (OPERATIONS.len() + own.unlisted.len() - 1) as Slot
    }

    /// Adds a record, unless it has no counters.
    fn push(
        &mut self,
        part: &Part<'a>,
        start_time: Option<Time>,
        listed: u64,
        mut counters: Vec<Counter>,
    ) -> Result<(), TryReserveError> {
        if listed == 0 && counters.is_empty() {
            return Ok(());
        }
        counters.sort_unstable_by_key(|counter| counter.slot);
        let own = &mut self.snapshot;
        let begin = own.counters.len() as u32;
        own.counters.try_reserve(counters.len())?;
        own.counters.append(&mut counters);
        own.records.try_reserve(1)?;
        own.records.push(Record {
            id: Cow::Borrowed(part.id()),
            line: part.record.line,
            snapshot_time: part.record.snapshot_time,
            start_time,
            last_seen: Some(part.since),
            present: listed,
            counters: begin..own.counters.len() as u32,
        });
        Ok(())
    }
}
