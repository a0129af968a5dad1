//! One target at one time.
//!
//! A snapshot borrows the text that it was made from. Only counters that counted something take memory: a record says
//! with one bit per operation which counters it has, and keeps the values of those that are not all zero.

mod counters;
mod detach;
mod duplicates;
mod hash;
mod identifiers;
mod print;
mod read;
mod slots;

use std::ops::Range;

use thiserror::Error;

use crate::operation::{Kind, OPERATIONS};
pub use crate::scan::HISTOGRAM_LEN;
use crate::scan::{Problem, TargetName, Time, Unit};

pub use counters::{Counter, CounterIter, Counters, Histogram};
pub use detach::Words;
pub(crate) use hash::{ByKey, Key, Keys};
pub use identifiers::Identifiers;
pub use print::{print, print_to};
pub use read::{read, read_carried};

/// Which counter of a record: a position in [`crate::operation::OPERATIONS`] or, from its length on, a position in
/// [`Snapshot::unlisted`] after it.
///
/// The position follows the unit, not the name (so that all versions of Lustre agree): a `read` in bytes is the
/// counter `read_bytes`, and the same for write.
pub type Slot = u16;

const _: () = assert!(OPERATIONS.len() <= 64, "Record::present has a bit for each");

/// One entry at one time; with [`Snapshot`] the whole of what the text says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The identifier: a part of [`Snapshot::ids`].
    pub id: Range<u32>,
    /// The hash of the identifier.
    pub(crate) hash: u64,
    /// Line of `- job_id:` in the text, from 1.
    pub line: u32,
    /// Time of the last update.
    pub snapshot_time: Option<Time>,
    /// Creation of the entry: its identity.
    pub start_time: Option<Time>,
    /// For a record that is carried: microseconds since 1970 of the observation that really had it.
    pub last_seen: Option<i64>,
    /// Bit i is set where the record has the counter of slot i, zero or not. Slots of unlisted operations have no bit:
    /// they are present where they are in `counters`, which for them holds zero counters too.
    pub present: u64,
    /// The counters that are not all zero, in order of slot: a part of [`Snapshot::counters`].
    pub counters: Range<u32>,
}

impl Record {
    /// Whether it has the counter of a listed operation, zero or not.
    pub const fn has(&self, slot: Slot) -> bool {
        (slot as usize) < OPERATIONS.len() && self.present & (1 << slot) != 0
    }

    /// Whether it has any counter, zero or not.
    pub fn has_counters(&self) -> bool {
        self.present != 0 || !self.counters.is_empty()
    }
}

/// What one text says about one target.
#[derive(Debug, Clone, Default)]
pub struct Snapshot<'a> {
    /// The target; None where the text has no name (`lctl -n`).
    pub target: Option<TargetName<'a>>,
    /// The records in the text's order; rule 5's duplicates are already resolved: an identifier stands here more than
    /// once only with different start times (older first).
    pub records: Vec<Record>,
    /// Identifiers of all records, one after the other, so that neighbouring records have them side by side: comparing them
    /// where they stand in two texts of 110 MB took half of the time of comparing these.
    pub ids: Identifiers,
    /// Counters of all records.
    pub counters: Counters,
    /// Names of operations that are not in the list, as met.
    pub unlisted: Vec<&'a str>,
    /// What could not be used, in order of lines; not all of it where the text consists of little else.
    pub problems: Vec<Problem<'a>>,
    /// How much could not be used, kept or not.
    pub problems_found: u64,
    /// Whether an entry stands in the text twice, in records that differ.
    pub has_duplicates: bool,
    /// Whether two lives of an entry stand in it.
    pub has_several_lives: bool,
    /// Whether every record that Lustre printed is here (rule 3): false for a cut text, for a problem that can hide a
    /// record and for an error message that names this target.
    pub complete: bool,
    /// Seconds, where the text has the parameter `job_cleanup_interval` of this target.
    pub cleanup_interval: Option<u32>,
    /// Whether the text has the parameter `job_stats` of this target: without it this is no observation.
    pub observed: bool,
    /// Where the lines of this target stand in the text, in order: their concatenation, read alone, gives this
    /// snapshot again (lines counted anew), and is what the store keeps as the target's raw text.
    pub text: Vec<Range<usize>>,
}

impl<'a> Snapshot<'a> {
    /// The identifier of a record as stored (see [`crate::scan`]): unescaped where that is valid UTF-8 without NUL; '' where
    /// blank.
    pub fn id(&self, record: &Record) -> &str {
        self.ids.get(&record.id)
    }

    /// What a record is found by.
    pub(crate) fn key(&self, record: &Record) -> Key<'_> {
        Key {
            hash: record.hash,
            id: self.id(record),
        }
    }

    /// The counters of a record that are not all zero (of unlisted operations, zero ones too), in order of slot.
    pub fn counters_of(&self, record: &Record) -> CounterIter<'_> {
        self.counters.iter(record.counters.clone())
    }

    /// A counter of a record, if it has it. The unit of one that is zero is not known: it follows from the operation.
    pub fn value(&self, record: &Record, slot: Slot) -> Option<Counter<'_>> {
        Self::value_among(&mut self.counters_of(record), record, slot)
    }

    /// The same, where counters are asked for in order of slot: those before it are taken from the counters of the record.
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

    /// The name of the operation of a slot; '' of one that this snapshot does not have.
    pub fn slot_name(&self, slot: Slot) -> &str {
        let slot = usize::from(slot);
        match OPERATIONS.get(slot) {
            Some(operation) => operation.name,
            None => self
                .unlisted
                .get(slot - OPERATIONS.len())
                .copied()
                .unwrap_or_default(),
        }
    }

    /// The slot of an operation that is not in the list, by its name.
    pub fn unlisted_slot(&self, name: &str) -> Option<Slot> {
        let position = self.unlisted.iter().position(|known| *known == name)?;
        Slot::try_from(OPERATIONS.len() + position).ok()
    }

    /// The lines of this target, of the text that was read.
    pub fn lines<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
        self.text.iter().filter_map(|range| text.get(range.clone()))
    }
}

fn zero_unit(slot: Slot) -> Unit {
    match OPERATIONS
        .get(usize::from(slot))
        .map(|operation| operation.kind)
    {
        Some(Kind::Bytes) => Unit::Bytes,
        Some(Kind::Requests) | None => Unit::Requests,
    }
}

/// What one text says: its targets in the order of their first lines.
#[derive(Debug, Clone, Default)]
pub struct Reading<'a> {
    /// One snapshot per target, however often the target's name appears.
    pub snapshots: Vec<Snapshot<'a>>,
    /// What could not be used and belongs to no target.
    pub problems: Vec<Problem<'a>>,
    /// Problems, of targets or not, that are not kept: a text that consists of little else must not take many times its
    /// size in memory.
    pub problems_dropped: u64,
}

/// Why a text could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The text is longer than any that PostgreSQL can hold.
    #[error("a text of {0} bytes is too long")]
    TooLong(usize),
    /// The snapshot does not fit into memory.
    #[error("not enough memory for the snapshot")]
    OutOfMemory(#[from] std::collections::TryReserveError),
}
