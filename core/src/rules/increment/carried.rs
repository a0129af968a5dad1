//! The records to carry with a snapshot: records that were known before the snapshot and are missing from it.

use std::collections::{BTreeMap, TryReserveError};

use super::epoch::{Epoch, SeenValues};
use super::value::{bit, slot_in};
use crate::base::instant::Micros;
use crate::base::operation::OPERATIONS;
use crate::base::try_vec::push;
use crate::rules::snapshot::{Counter, Record, Slot, Snapshot};
use crate::text::job_stats::{Time, Unit};

/// Collects carried records into a snapshot, in the order in which they are added.
pub(super) struct CarriedRecords<'a> {
    pub snapshot: Snapshot<'a>,
    /// The number of entries to which the records belong.
    pub entries: u64,
}

/// The counters of a record whose known values are carried, because they are missing from the record or lower than
/// before.
pub(super) struct Withheld {
    /// The bits of the listed operations.
    pub listed: u64,
    /// The slots of unlisted operations that are lower.
    pub lower: Vec<Slot>,
}

/// The operations that occur in any record of a snapshot.
#[derive(Default)]
pub(super) struct InSnapshot {
    /// The bits of the listed operations.
    pub listed: u64,
    /// The slots of the unlisted operations, each with its unit.
    unlisted: BTreeMap<Slot, Unit>,
}

impl InSnapshot {
    /// Collects the operations of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        // Most snapshots have no unlisted operations.
        let records = snapshot
            .records
            .iter()
            .filter(|_| !snapshot.unlisted.is_empty());
        let counters = records.flat_map(|record| snapshot.counters_of(record));
        let unlisted = counters.filter(|counter| bit(counter.slot).is_none());
        let records = snapshot.records.iter();
        Self {
            listed: records.fold(0, |bits, record| bits | record.present),
            unlisted: unlisted.map(|it| (it.slot, it.unit)).collect(),
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

impl<'a> CarriedRecords<'a> {
    /// Creates an empty collection of records to carry with a snapshot.
    pub fn with(snapshot: &Snapshot<'a>) -> Self {
        let snapshot = Snapshot {
            target: snapshot.target,
            complete: true,
            observed: true,
            ..Snapshot::default()
        };
        Self {
            snapshot,
            entries: 0,
        }
    }

    /// Carries all known values of an entry that is missing from the snapshot.
    pub fn entry(&mut self, epoch: &Epoch<'a>) -> Result<(), TryReserveError> {
        for share in epoch.shares() {
            let start_time = epoch.start_time();
            self.part(&share.part, start_time, share.listed, |slot| {
                share.has_say(slot)
            })?;
        }
        self.entries += 1;
        Ok(())
    }

    /// Carries the known values of the withheld counters of a record of `snapshot`.
    pub fn withheld(
        &mut self,
        epoch: &Epoch<'a>,
        (snapshot, record): (&Snapshot<'a>, &Record),
        withheld: &Withheld,
    ) -> Result<(), TryReserveError> {
        let before = self.snapshot.records.len();
        for share in epoch.shares() {
            let listed = share.listed & withheld.listed;
            // The start_time of the record in the new snapshot identifies the epoch of these counters.
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

    /// Carries zeros for the counters that a record of a new epoch lacks although other records of its snapshot have them.
    /// Counters with known values are left to [`CarriedRecords::withheld`].
    pub fn zeros(
        &mut self,
        since: Micros,
        (snapshot, record): (&'a Snapshot<'a>, &'a Record),
        epoch: Option<&Epoch<'a>>,
        in_snapshot: &InSnapshot,
    ) -> Result<(), TryReserveError> {
        let (before, begin) = (self.snapshot.records.len(), self.snapshot.counters.end());
        let is_known = |slot| epoch.is_some_and(|epoch| epoch.value(snapshot, slot).is_some());
        for (slot, unit) in &in_snapshot.unlisted {
            if snapshot.value(record, *slot).is_none() && !is_known(*slot) {
                self.counter(snapshot, &Counter::zero(*slot, *unit), begin)?;
            }
        }
        let part = SeenValues {
            since,
            snapshot,
            record,
        };
        let listed = in_snapshot.listed & !record.present & !epoch.map_or(0, Epoch::listed);
        self.record(&part, record.start_time, listed, begin)?;
        self.entries += u64::from(self.snapshot.records.len() > before);
        Ok(())
    }

    /// Adds a record with the part's counters of the given operations, if any.
    fn part(
        &mut self,
        part: &SeenValues<'a>,
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

    /// Adds a counter of another snapshot to the counters from `begin` on.
    fn counter(
        &mut self,
        from: &'a Snapshot<'a>,
        counter: &Counter<'_>,
        begin: u32,
    ) -> Result<(), TryReserveError> {
        let own = &mut self.snapshot;
        // Unlisted operations have other slots in this snapshot.
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

    /// Adds a record with the counters from `begin` on, if any.
    fn record(
        &mut self,
        part: &SeenValues<'a>,
        start_time: Option<Time>,
        listed: u64,
        begin: u32,
    ) -> Result<(), TryReserveError> {
        let own = &mut self.snapshot;
        if listed == 0 && own.counters.end() == begin {
            return Ok(());
        }
        let id = own.ids.push(part.id())?;
        let record = Record {
            id,
            hash: part.record.hash,
            line: part.record.line,
            snapshot_time: part.record.snapshot_time,
            start_time,
            last_seen: Some(part.since),
            ended: false,
            present: listed,
            counters: begin..own.counters.end(),
        };
        push(&mut own.records, record)
    }
}

/// Returns the slot of an unlisted operation, and adds the operation if it is new.
fn own_slot<'a>(snapshot: &mut Snapshot<'a>, name: &'a str) -> Slot {
    if let Some(slot) = snapshot.unlisted_slot(name) {
        return slot;
    }
    snapshot.unlisted.push(name.into());
    (OPERATIONS.len() + snapshot.unlisted.len() - 1) as Slot
}
