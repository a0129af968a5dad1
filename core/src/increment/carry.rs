//! The records to carry with a text: what was known before it and is not in it.

use std::collections::TryReserveError;

use super::Micros;
use super::life::{Life, Part};
use super::value::{bit, slot_in};
use crate::operation::OPERATIONS;
use crate::scan::{Time, Unit};
use crate::snapshot::{Counter, Record, Slot, Snapshot};

/// Collects carried records into a snapshot, in the order they come.
pub(super) struct Carry<'a> {
    snapshot: Snapshot<'a>,
    entries: u64,
}

/// Counters of a record that do not say what is known: they are missing or lower than before.
pub(super) struct Withheld {
    /// The listed operations.
    pub listed: u64,
    /// The slots of others that are lower.
    pub lower: Vec<Slot>,
}

/// The operations that any record of a text has.
#[derive(Default)]
pub(super) struct InText {
    /// The listed ones.
    pub listed: u64,
    /// The others, and the unit of each.
    unlisted: Vec<(Slot, Unit)>,
}

impl InText {
    /// Of this text.
    pub fn of(text: &Snapshot) -> Self {
        let mut units = vec![None; text.unlisted.len()];
        // Most texts have none.
        let records = text.records.iter().filter(|_| !text.unlisted.is_empty());
        let counters = records.flat_map(|record| text.counters_of(record));
        for counter in counters.filter(|counter| bit(counter.slot).is_none()) {
            if let Some(unit) = units.get_mut(usize::from(counter.slot) - OPERATIONS.len()) {
                *unit = Some((counter.slot, counter.unit));
            }
        }
        let records = text.records.iter();
        Self {
            listed: records.fold(0, |bits, record| bits | record.present),
            unlisted: units.into_iter().flatten().collect(),
        }
    }
}

impl Withheld {
    /// Withholds a counter of the record.
    pub fn add(&mut self, slot: Slot) {
        match bit(slot) {
            Some(bit) => self.listed |= bit,
            None => self.lower.push(slot),
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
            let start_time = life.start_time();
            self.part(&share.part, start_time, share.listed, |slot| {
                share.has_say(slot)
            })?;
        }
        self.entries += 1;
        Ok(())
    }

    /// Carries the known values of counters of a record that `snapshot` has.
    pub fn withheld(
        &mut self,
        life: &Life<'a>,
        (snapshot, record): (&Snapshot<'a>, &Record),
        withheld: &Withheld,
    ) -> Result<(), TryReserveError> {
        let before = self.snapshot.records.len();
        for share in life.shares() {
            let listed = share.listed & withheld.listed;
            // The text's start_time: it tells which life of the entry these counters belong to.
            self.part(&share.part, record.start_time, listed, |slot| {
                let own = slot_in(snapshot, share.part.snapshot, slot);
                let own = own.filter(|own| snapshot.value(record, *own).is_some());
                let is_withheld = own.is_none_or(|own| withheld.lower.contains(&own));
                is_withheld && share.has_say(slot)
            })?;
        }
        self.entries += u64::from(self.snapshot.records.len() > before);
        Ok(())
    }

    /// Carries zeros for the counters that a newborn record lacks though other records of its text have them. What is
    /// known of its life has its own place.
    pub fn zeros(
        &mut self,
        since: Micros,
        (snapshot, record): (&'a Snapshot<'a>, &'a Record),
        life: Option<&Life<'a>>,
        in_text: &InText,
    ) -> Result<(), TryReserveError> {
        let (before, begin) = (self.snapshot.records.len(), self.snapshot.counters.end());
        let is_known = |slot| life.is_some_and(|life| life.value(snapshot, slot).is_some());
        for (slot, unit) in &in_text.unlisted {
            if snapshot.value(record, *slot).is_none() && !is_known(*slot) {
                self.counter(snapshot, &Counter::zero(*slot, *unit), begin)?;
            }
        }
        let part = Part {
            since,
            snapshot,
            record,
        };
        let listed = in_text.listed & !record.present & !life.map_or(0, Life::listed);
        self.record(&part, record.start_time, listed, begin)?;
        self.entries += u64::from(self.snapshot.records.len() > before);
        Ok(())
    }

    /// Adds a record with the part's counters of these operations, unless it has none.
    fn part(
        &mut self,
        part: &Part<'a>,
        start_time: Option<Time>,
        listed: u64,
        wants_unlisted: impl Fn(Slot) -> bool,
    ) -> Result<(), TryReserveError> {
        let begin = self.snapshot.counters.end();
        for counter in part.snapshot.counters_of(part.record) {
            let is_wanted = match bit(counter.slot) {
                Some(bit) => listed & bit != 0,
                None => wants_unlisted(counter.slot),
            };
            if is_wanted {
                self.counter(part.snapshot, &counter, begin)?;
            }
        }
        self.record(part, start_time, listed, begin)
    }

    /// Adds a counter of another snapshot to those from `begin` on.
    fn counter(
        &mut self,
        from: &'a Snapshot<'a>,
        counter: &Counter<'_>,
        begin: u32,
    ) -> Result<(), TryReserveError> {
        let own = &mut self.snapshot;
        // Operations that are not in the list have other slots here.
        let slot = match bit(counter.slot) {
            Some(_) => counter.slot,
            None => own_slot(own, from.slot_name(counter.slot)),
        };
        let sizes = counter.histogram.map(|histogram| histogram.sizes());
        let counters = &mut own.counters;
        counters.insert(
            begin,
            (slot, counter.unit),
            &counter.numbers(),
            sizes.as_ref(),
        )
    }

    /// Adds a record with the counters from `begin` on, unless it has none.
    fn record(
        &mut self,
        part: &Part<'a>,
        start_time: Option<Time>,
        listed: u64,
        begin: u32,
    ) -> Result<(), TryReserveError> {
        let own = &mut self.snapshot;
        if listed == 0 && own.counters.end() == begin {
            return Ok(());
        }
        let id = own.ids.push(part.id())?;
        own.records.try_reserve(1)?;
        own.records.push(Record {
            id,
            hash: part.record.hash,
            line: part.record.line,
            snapshot_time: part.record.snapshot_time,
            start_time,
            last_seen: Some(part.since),
            present: listed,
            counters: begin..own.counters.end(),
        });
        Ok(())
    }
}

/// The slot of an operation that is not in the list, which gets one if it has none.
fn own_slot<'a>(snapshot: &mut Snapshot<'a>, name: &'a str) -> Slot {
    if let Some(slot) = snapshot.unlisted_slot(name) {
        return slot;
    }
    snapshot.unlisted.push(name);
    (OPERATIONS.len() + snapshot.unlisted.len() - 1) as Slot
}
