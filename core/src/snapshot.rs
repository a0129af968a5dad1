//! One target at one time.
//!
//! A snapshot borrows the text that it was made from. Only counters that counted something take memory: a record says
//! with one bit per operation which counters it has, and keeps the values of those that are not all zero.

use std::borrow::Cow;
use std::ops::Range;

use crate::scan::{Problem, TargetName, Time, Unit};

/// Elements of a histogram: element k counts the sizes in (2^(k−1), 2^k], the last one all above.
pub const HISTOGRAM_LEN: usize = 32;

/// Which counter of a record: a position in [`crate::operation::OPERATIONS`] or, from its length on, a position in
/// [`Snapshot::unlisted`] after it.
///
/// The position follows the unit, not the name (so that all versions of Lustre agree): a `read` in bytes is the
/// counter `read_bytes`, and the same for write.
pub type Slot = u16;

/// A counter's values, as printed; a field that the line lacks is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Which operation.
    pub slot: Slot,
    /// The unit; `read_bytes` in requests (2.12 MDT) has its min, max, sum and sumsq dropped.
    pub unit: Unit,
    /// Number of calls.
    pub samples: u64,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Sum of the values.
    pub sum: u64,
    /// Sum of squares; wraps or saturates.
    pub sumsq: u64,
    /// Position in [`Snapshot::histograms`], where the line has a histogram that is not empty.
    pub histogram: Option<u32>,
}

/// One entry at one time; with [`Snapshot`] the whole of what the text says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    /// The identifier as stored (see [`crate::scan`]): unescaped where that is valid UTF-8 without NUL; '' where blank.
    pub id: Cow<'a, str>,
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
    /// The counters that are not all zero, in order of slot: a range of [`Snapshot::counters`].
    pub counters: Range<u32>,
}

/// What one text says about one target.
#[derive(Debug, Clone, Default)]
pub struct Snapshot<'a> {
    /// The target; None where the text has no name (`lctl -n`).
    pub target: Option<TargetName<'a>>,
    /// The records in the text's order; rule 5's duplicates are already resolved: an identifier stands here more than
    /// once only with different start times (older first).
    pub records: Vec<Record<'a>>,
    /// Counters of all records.
    pub counters: Vec<Counter>,
    /// Histograms of all counters.
    pub histograms: Vec<[u64; HISTOGRAM_LEN]>,
    /// Names of operations that are not in the list, as met.
    pub unlisted: Vec<&'a str>,
    /// What could not be used.
    pub problems: Vec<Problem<'a>>,
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

/// What one text says: its targets in the order of their first lines.
#[derive(Debug, Clone, Default)]
pub struct Reading<'a> {
    /// One snapshot per target, however often the target's name appears.
    pub snapshots: Vec<Snapshot<'a>>,
    /// What could not be used and belongs to no target.
    pub problems: Vec<Problem<'a>>,
}
