//! A snapshot of one target at one time.
//!
//! A snapshot borrows the text from which it was made. Only counters that counted something take memory: a record has
//! one bit per operation for the counters that it has, and keeps the values of the counters that are not all zero.

mod counters;
mod detach;
mod duplicates;
mod hash;
mod identifiers;
mod print;
mod read;
mod slots;

use std::borrow::Cow;
use std::ops::Range;

use thiserror::Error;

use crate::base::instant::Micros;
use crate::base::operation::{Kind, OPERATIONS};
use crate::base::target::TargetName;
use crate::text::additional_parameters::Other;
pub use crate::text::job_stats::HISTOGRAM_LEN;
use crate::text::job_stats::{Problem, Time, Unit};

pub(crate) use counters::set_bits;
pub use counters::{Counter, CounterIter, Counters, Histogram};
pub(crate) use hash::{ByKey, Key, Keys};
pub use identifiers::Identifiers;
pub use print::{print, print_to};
pub use read::{read, read_carried};

/// A counter of a record: a position in [`crate::base::operation::OPERATIONS`] or, from the length of that list on, a
/// position in [`Snapshot::unlisted`].
///
/// The position follows the unit, not the name, so that all versions of Lustre agree: a `read` in bytes is the counter
/// `read_bytes`, and a `write` in bytes is `write_bytes`.
pub type Slot = u16;

const _: () = assert!(OPERATIONS.len() <= 64, "Record::present has a bit for each");

/// One entry at one time. Together with its [`Snapshot`], a record has all data of the entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// The identifier: a part of [`Snapshot::ids`].
    pub id: Range<u32>,
    /// The hash of the identifier.
    pub(crate) hash: u64,
    /// The line of `- job_id:` in the text, counted from 1.
    pub line: u32,
    /// The time of the last update.
    pub snapshot_time: Option<Time>,
    /// The time at which the entry was created, which is its identity.
    pub start_time: Option<Time>,
    /// The time of the observation that really had a carried record, in microseconds since 1970; `None` for other
    /// records.
    pub last_seen: Option<i64>,
    /// True if the text has a later epoch of the entry, and neither has a start time.
    pub ended: bool,
    /// The bits of the counters: bit i is set if the record has the counter of slot i, zero or not. Slots of unlisted
    /// operations have no bit: their counters are present if they are in `counters`, which has their zero counters too.
    pub present: u64,
    /// The counters that are not all zero, in order of slot: a part of [`Snapshot::counters`].
    pub counters: Range<u32>,
}

impl Record {
    /// Returns true if the record has the counter of a listed operation, zero or not.
    pub const fn has(&self, slot: Slot) -> bool {
        (slot as usize) < OPERATIONS.len() && self.present & (1 << slot) != 0
    }

    /// Returns true if the record has any counter, zero or not.
    pub fn has_counters(&self) -> bool {
        self.present != 0 || !self.counters.is_empty()
    }
}

/// All data of one target in one text.
#[derive(Debug, Clone, Default)]
pub struct Snapshot<'a> {
    /// The target; `None` if the text has no name (`lctl -n`).
    pub target: Option<TargetName<'a>>,
    /// The records in the text's order. The duplicates of rule 5 are already resolved: an identifier repeats only in
    /// records of different epochs (older first).
    pub records: Vec<Record>,
    /// The identifiers of all records, one after the other, so that neighbouring records have theirs side by side.
    /// Comparing identifiers where they stand in two texts of 110 MB took half of the time of comparing the texts.
    pub ids: Identifiers,
    /// The counters of all records.
    pub counters: Counters,
    /// The names of unlisted operations, in the order in which they were met.
    pub unlisted: Vec<Cow<'a, str>>,
    /// The problems, in order of lines. Not all are kept if the text consists of little else.
    pub problems: Vec<Problem<'a>>,
    /// The number of problems, kept or not.
    pub problems_found: u64,
    /// True if an entry is in the text twice, in records that differ.
    pub has_duplicates: bool,
    /// True if two epochs of an entry stand in the text.
    pub has_several_epochs: bool,
    /// True if every record that Lustre printed is here (rule 3). False for a cut text, for a problem that can hide a
    /// record and for an error message that names this target.
    pub complete: bool,
    /// The cleanup interval in seconds, if the text has the parameter `job_cleanup_interval` of this target.
    pub cleanup_interval: Option<u32>,
    /// True if the text has the parameter `job_stats` of this target. Otherwise this is no observation.
    pub observed: bool,
    /// The positions of the lines of this target in the text, in order. Their concatenation, read alone, gives this
    /// snapshot again (lines counted anew), and the store keeps it as the target's raw text.
    pub text: Vec<Range<usize>>,
}

impl<'a> Snapshot<'a> {
    /// Returns the identifier of a record as stored (see [`crate::text::job_stats`]): unescaped if that is valid UTF-8 without
    /// NUL; '' if blank.
    pub fn id(&self, record: &Record) -> &str {
        self.ids.get(&record.id)
    }

    /// Returns the key of a record.
    pub(crate) fn key(&self, record: &Record) -> Key<'_> {
        Key {
            hash: record.hash,
            id: self.id(record),
        }
    }

    /// Returns the counters of a record that are not all zero (of unlisted operations, zero counters too), in order of
    /// slot.
    pub fn counters_of(&self, record: &Record) -> CounterIter<'_> {
        self.counters.iter(record.counters.clone())
    }

    /// Returns a counter of a record, if the record has it. The unit of a zero counter is not known: it follows from
    /// the operation.
    pub fn value(&self, record: &Record, slot: Slot) -> Option<Counter<'_>> {
        Self::value_among(&mut self.counters_of(record), record, slot)
    }

    /// Returns a counter of a record as [`Self::value`] does, for access in order of slot. The counters before it are
    /// taken from `counters`.
    pub(crate) fn value_among<'c>(
        counters: &mut CounterIter<'c>,
        record: &Record,
        slot: Slot,
    ) -> Option<Counter<'c>> {
        let zero = || {
            record
                .has(slot)
                .then(|| Counter::zero(slot, zero_unit(slot)))
        };
        counters.find(slot).or_else(zero)
    }

    /// Returns the name of the operation of a slot, or '' for an operation that this snapshot does not have.
    pub fn slot_name(&self, slot: Slot) -> &str {
        let slot = usize::from(slot);
        match OPERATIONS.get(slot) {
            Some(operation) => operation.name,
            None => self
                .unlisted
                .get(slot - OPERATIONS.len())
                .map_or("", |name| name),
        }
    }

    /// Returns the slot of an unlisted operation, by its name.
    pub fn unlisted_slot(&self, name: &str) -> Option<Slot> {
        let position = self.unlisted.iter().position(|known| known == name)?;
        Slot::try_from(OPERATIONS.len() + position).ok()
    }

    /// Returns the earliest time at which a carried record was really seen; `None` if no record is carried.
    pub fn first_seen(&self) -> Option<Micros> {
        let seen = self.records.iter().filter_map(|record| record.last_seen);
        seen.min()
    }

    /// Returns the latest time at which a carried record was really seen; `None` if no record is carried.
    pub fn last_seen(&self) -> Option<Micros> {
        let seen = self.records.iter().filter_map(|record| record.last_seen);
        seen.max()
    }

    /// Returns the number of bytes of the lines of this target.
    pub fn bytes(&self) -> usize {
        self.text.iter().map(ExactSizeIterator::len).sum()
    }

    /// Returns the lines of this target in the text that was read.
    pub fn lines<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
        self.text.iter().filter_map(|range| text.get(range.clone()))
    }
}

/// The cleanup interval in seconds of a target that is not known to have another one: the default of Lustre.
const CLEANUP_INTERVAL: u32 = 600;

/// Returns the cleanup interval of a text in seconds: its own one, or else `otherwise`, or else the default of Lustre.
pub fn cleanup_interval(text: Option<&Snapshot<'_>>, otherwise: Option<u32>) -> u32 {
    text.and_then(|text| text.cleanup_interval)
        .or(otherwise)
        .unwrap_or(CLEANUP_INTERVAL)
}

fn zero_unit(slot: Slot) -> Unit {
    let operation = OPERATIONS.get(usize::from(slot));
    match operation.map(|operation| operation.kind) {
        Some(Kind::Bytes) => Unit::Bytes,
        _ => Unit::Requests,
    }
}

/// The contents of one text: its targets in the order of their first lines.
#[derive(Debug, Clone, Default)]
pub struct Contents<'a> {
    /// One snapshot per target, however often the target's name appears.
    pub snapshots: Vec<Snapshot<'a>>,
    /// The values of other parameters, each parameter once: if it is printed again, as a symbolic link makes `lctl` do, its
    /// first value. At most 100,000.
    pub others: Vec<Other<'a>>,
    /// The problems that belong to no target.
    pub problems: Vec<Problem<'a>>,
    /// The number of problems, of targets or not, that are not kept: a text that consists of little else must not take
    /// many times its size in memory.
    pub problems_dropped: u64,
}

/// An error that prevents reading a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The text is longer than any that PostgreSQL can hold.
    #[error("a text of {0} bytes is too long")]
    TooLong(usize),
    /// The snapshot does not fit into memory.
    #[error("not enough memory for the snapshot")]
    OutOfMemory(#[from] std::collections::TryReserveError),
}
