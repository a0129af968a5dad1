//! Two snapshots of one target → what its entries did in between.
//!
//! What the numbers mean, and every rule that is cited here by its number, stands in `docs/rules.md`.

mod carry;
mod compare;
mod detail;
mod known;
mod late;
mod life;
mod limit;
mod row;
mod value;

use std::collections::TryReserveError;

use thiserror::Error;

pub use compare::compare;
pub use detail::{Detail, leave_out};
pub use late::can_be_older;
pub use limit::MAX_RATE;

use crate::operation::{Kind, OPERATIONS, OperationIndex};
use crate::snapshot::{HISTOGRAM_LEN, Snapshot};

/// Microseconds since 1970.
pub type Micros = i64;

/// One target observed at one time.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// When the first byte of the target's text came.
    pub time: Micros,
    /// The server that printed it.
    pub server: &'a str,
    /// What the text says; None where the raw text is gone.
    pub snapshot: Option<&'a Snapshot<'a>>,
    /// The records carried with the text: what was known before it and is not in it. [`compare`] gives it.
    pub carried: Option<&'a Snapshot<'a>>,
}

/// What came out of comparing an observation with the one before.
#[derive(Debug, Default)]
pub struct Comparison<'a> {
    /// What the entries did, in the order of the text; an entry has a row per life and `since`.
    pub increments: Vec<Increment<'a>>,
    /// The records to carry with the text; [`Observation::carried`] of the next comparison.
    pub carried: Snapshot<'a>,
    /// Entries in the text; an identifier with two lives counts twice.
    pub entries: u64,
    /// Entries that did something.
    pub active: u64,
    /// Entries that are proven born since the previous observation.
    pub added: u64,
    /// Entries whose counters restarted.
    pub resets: u64,
    /// Entries of the previous text that this one lacks, though it is complete.
    pub removed: u64,
    /// Entries of which something is carried.
    pub carried_count: u64,
    /// Entries of which a counter has no known previous value: a baseline without increment.
    pub unknown: u64,
    /// What comparing found wrong; not all of it where that is much.
    pub problems: Vec<Problem<'a>>,
    /// How much it found wrong, kept or not.
    pub problems_found: u64,
}

/// Problems that are kept of a comparison: more than anybody reads.
const PROBLEMS_KEPT: usize = 10_000;

impl<'a> Comparison<'a> {
    /// Keeps a problem if there is room.
    fn report(&mut self, problem: Problem<'a>) -> Result<(), TryReserveError> {
        self.problems_found += 1;
        if self.problems.len() < PROBLEMS_KEPT {
            self.problems.try_reserve(1)?;
            self.problems.push(problem);
        }
        Ok(())
    }
}

/// A piece of the text that contradicts what was known before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem<'a> {
    /// Line of `- job_id:` in the text, from 1.
    pub line: u32,
    /// The entry.
    pub entry: &'a str,
    /// The operation, where it is about one.
    pub operation: Option<&'a str>,
    /// Why.
    pub reason: Reason,
}

/// Why two observations could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompareError {
    /// What comes out of it does not fit into memory.
    #[error("not enough memory to compare the snapshots")]
    OutOfMemory(#[from] TryReserveError),
}

/// Why a piece of the text gives no increment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
pub enum Reason {
    /// The entry is the same and the counter lower (rule 4).
    #[error("{field} fell from {from} to {to} though the entry is the same")]
    Fell {
        /// Which number of the counter.
        field: &'static str,
        /// The larger one, known before.
        from: u64,
        /// The one in this text.
        to: u64,
    },
    /// A later life of the same identifier has been seen before (rule 5).
    #[error("a later life of the entry was seen before")]
    OlderLife,
    /// More than anything real does (rule 7).
    #[error("{field} grew by {growth}, more than can be true")]
    TooLarge {
        /// Which number of the counter.
        field: &'static str,
        /// By how much it grew.
        growth: u64,
    },
    /// All entries of the target together did more than it can do (rule 14).
    #[error(
        "{growth} {counted} are impossible: all entries together can have {limit} since the text before"
    )]
    Impossible {
        /// What was counted: calls, bytes or microseconds.
        counted: &'static str,
        /// How many of them.
        growth: u64,
        /// How many all entries may have.
        limit: u128,
    },
}

impl Reason {
    /// A short word that does not change.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Fell { .. } => "counter fell",
            Self::OlderLife => "older life",
            Self::TooLarge { .. } => "too large",
            Self::Impossible { .. } => "impossible",
        }
    }
}

/// Why a text cannot be older than the observation that follows it (rule 8).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LateReason {
    /// Neither the observation before nor the one after came from this server.
    #[error("the target was on another server before and after")]
    Server,
    /// An entry began earlier in the later text.
    #[error("entry {0:?} has a start_time that contradicts the texts around")]
    StartTime(String),
    /// A counter would fall.
    #[error("a counter of entry {0:?} would fall")]
    Fell(String),
    /// It could not be found out.
    #[error("not enough memory to compare the snapshots")]
    OutOfMemory(#[from] TryReserveError),
}

/// A column of `jobstats.increments`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Column {
    /// `<op>`: calls, or bytes for an operation of kind Bytes.
    Total(OperationIndex),
    /// `<op>_usecs`: microseconds spent on an operation of kind Requests.
    Usecs(OperationIndex),
}

impl Column {
    /// What the column counts.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Usecs(_) => "microseconds",
            Self::Total(index) => match OPERATIONS[index].kind {
                Kind::Requests => "calls",
                Kind::Bytes => "bytes",
            },
        }
    }
}

/// What one entry did in (since, time].
#[derive(Debug, Clone, PartialEq)]
pub struct Increment<'a> {
    /// Line of `- job_id:` in the text, from 1.
    pub line: u32,
    /// The entry's identifier.
    pub id: &'a str,
    /// The observation before.
    pub since: Micros,
    /// The observation that gave it; after splitting, the end of the part.
    pub time: Micros,
    /// The counters restarted in this span.
    pub reset: bool,
    /// `snapshot_time`, where it is on the wall clock; on the last part only.
    pub last_active: Option<Micros>,
    /// Growth, above 0 and below 2^53, each column at most once.
    pub totals: Vec<(Column, i64)>,
    /// Growth of the elements of `read_bytes`' histogram, where any grew.
    pub read_histogram: Option<Box<[i64; HISTOGRAM_LEN]>>,
    /// The same of `write_bytes`.
    pub write_histogram: Option<Box<[i64; HISTOGRAM_LEN]>>,
    /// What the columns do not hold (rule 7), as a JSON object; on the last part only.
    pub detail: Option<String>,
}

impl Increment<'_> {
    /// Whether anything grew.
    fn has_grown(&self) -> bool {
        !self.totals.is_empty()
            || self.read_histogram.is_some()
            || self.write_histogram.is_some()
            || self.detail.is_some()
    }
}
