//! Compares two snapshots of one target and gives the increments of its entries.
//!
//! `docs/rules.md` explains the numbers and has every rule that is cited here by its number.

mod carried;
mod compare;
mod detail;
mod epoch;
mod fits_between;
mod history;
mod limit;
mod observation_counts;
mod packed;
mod retained_values;
mod row;
mod split;
mod system_users;
#[cfg(test)]
mod tests;
mod truncated;
mod value;

use std::collections::TryReserveError;
use std::fmt;

use thiserror::Error;

pub use compare::compare;
pub(crate) use compare::wall;
pub use detail::Detail;
pub use fits_between::{can_be_followed, can_be_older};
pub use limit::MAX_RATE;
pub use observation_counts::{Counts, clamp};
pub use packed::{Details, Histograms, OperationName, json, pack_sizes, unpack, unpack_sizes};
pub use retained_values::Retention;
pub use split::{Coarse, edge_distance, reach, share, spans, split};
pub use system_users::{Folded, together};

use crate::base::instant::{Micros, Span};
use crate::base::operation::{Kind, OPERATIONS, OperationIndex};
use crate::base::try_vec::push;
use crate::rules::snapshot::{ByKey, Snapshot};

/// One target observed at one time.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// The time at which the first byte of the target's text arrived.
    pub time: Micros,
    /// The server that printed the text.
    pub server: &'a str,
    /// The snapshot of the text, or `None` if the raw text is gone.
    pub snapshot: Option<&'a Snapshot<'a>>,
    /// The records carried with the text: records that were known before the text and are missing from it. [`compare`]
    /// gives them.
    pub carried: Option<&'a Snapshot<'a>>,
}

impl Observation<'_> {
    /// Returns the earliest time at which an increment that is computed from this observation may begin.
    pub fn earliest(&self) -> Micros {
        self.carried
            .and_then(Snapshot::first_seen)
            .map_or(self.time, |seen| seen.min(self.time))
    }

    /// Returns the earliest time at which an increment of `next`, computed from this observation, may begin. Only an
    /// entry that this text lacks and `next` has can begin before this text: when it was really seen, or at its
    /// `start_time`.
    ///
    /// # Errors
    /// [`TryReserveError`] if there is not enough memory.
    pub fn earliest_in(&self, next: &Snapshot<'_>) -> Result<Micros, TryReserveError> {
        let Some(carried) = self.carried else {
            return Ok(self.time);
        };
        let mut seen = ByKey::default();
        seen.try_reserve(carried.records.len())?;
        for record in &carried.records {
            let first = seen.entry(carried.key(record)).or_insert(self.time);
            *first = record.last_seen.unwrap_or(self.time).min(*first);
        }
        let since = carried.last_seen().unwrap_or(self.time);
        let begins = next.records.iter().filter_map(|record| {
            let seen = seen.get(&next.key(record)).copied();
            seen.or_else(|| wall(record.start_time).filter(|start| *start > since))
        });
        Ok(begins.fold(self.time, Micros::min))
    }
}

/// The result of comparing an observation with the one before.
#[derive(Debug, Default)]
pub struct Comparison<'a> {
    /// The increments of the entries, in the order of the text. An entry has a row per epoch and `since`.
    pub increments: Vec<Increment<'a>>,
    /// The records to carry with the text; [`Observation::carried`] of the next comparison.
    pub carried: Snapshot<'a>,
    /// The number of entries in the text. An identifier with two epochs counts twice.
    pub entries: u64,
    /// The number of entries that have increments.
    pub active: u64,
    /// The number of entries that are proven to be born since the previous observation.
    pub added: u64,
    /// The number of entries whose counters restarted.
    pub resets: u64,
    /// The number of entries of the previous text that are missing from this one, though it is complete.
    pub removed: u64,
    /// The number of entries with carried records.
    pub carried_count: u64,
    /// The number of entries with a counter that has no known previous value: a baseline without increment.
    pub unknown: u64,
    /// True if the text ends too early, though its last line is whole.
    pub ends_early: bool,
    /// The problems that were found. Not all are kept if there are many.
    pub problems: Vec<Problem<'a>>,
    /// The number of problems that were found, kept or not.
    pub problems_found: u64,
}

/// The number of problems that are kept per comparison, more than anybody reads.
const PROBLEMS_KEPT: usize = 10_000;

impl<'a> Comparison<'a> {
    /// Counts a problem, and keeps it if there is room.
    fn report(&mut self, problem: Problem<'a>) -> Result<(), TryReserveError> {
        self.problems_found += 1;
        if self.problems.len() < PROBLEMS_KEPT {
            push(&mut self.problems, problem)?;
        }
        Ok(())
    }
}

/// A piece of the text that contradicts the texts before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem<'a> {
    /// The line of `- job_id:` in the text, counted from 1.
    pub line: u32,
    /// The entry.
    pub entry: &'a str,
    /// The operation, if the problem is about one.
    pub operation: Option<&'a str>,
    /// The reason.
    pub reason: Reason,
}

impl fmt::Display for Problem<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:", self.entry)?;
        if let Some(operation) = self.operation {
            write!(out, " {operation}:")?;
        }
        write!(out, " {}", self.reason)
    }
}

/// The reason why a piece of the text gives no increment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
pub enum Reason {
    /// A counter is lower in the same epoch of the entry (rule 4).
    #[error("{field} fell from {from} to {to}, but the entry is the same")]
    Fell {
        /// The number of the counter, such as `sum`.
        field: &'static str,
        /// The larger value, which was known before.
        from: u64,
        /// The value in this text.
        to: u64,
    },
    /// A later epoch of the same identifier has been seen before (rule 5).
    #[error("a later epoch of the entry was seen before")]
    OlderEpoch,
    /// A counter grew by more than anything real does (rule 7).
    #[error("{field} grew by {growth}, which is impossible")]
    TooLarge {
        /// The number of the counter, such as `sum`.
        field: &'static str,
        /// The growth of the counter.
        growth: u64,
    },
    /// A sum cannot count any more (rule 7).
    #[error("sum stays at {0}, its maximum")]
    Stuck(u64),
    /// The entries of the target together did more than the target can do (rule 14).
    #[error(
        "{growth} {counted} are impossible: all entries together can have {limit} since the previous text"
    )]
    Impossible {
        /// The unit of the growth: calls, bytes or microseconds.
        counted: &'static str,
        /// The growth of this entry.
        growth: u64,
        /// The largest growth that all entries together may have.
        limit: u128,
    },
}

impl Reason {
    /// Returns a short code that does not change.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Fell { .. } => "counter fell",
            Self::OlderEpoch => "older life",
            Self::TooLarge { .. } => "too large",
            Self::Stuck(_) => "stuck",
            Self::Impossible { .. } => "impossible",
        }
    }
}

/// The reason why a text cannot be older than the observation that follows it (rule 8).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LateReason {
    /// Neither the observation before nor the one after came from this server.
    #[error("the target was on another server before and after")]
    Server,
    /// An entry has an earlier `start_time` in the later text.
    #[error("entry {0:?} has a start_time that contradicts the texts before and after")]
    StartTime(String),
    /// A counter would fall.
    #[error("a counter of entry {0:?} would fall")]
    Fell(String),
    /// An entry is missing from all later snapshots, although Lustre cannot have dropped it.
    #[error("entry {0:?} is missing from the following texts")]
    Lost(String),
    /// There is not enough memory to find out.
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
    /// Returns the operation.
    pub const fn operation(self) -> OperationIndex {
        let (Self::Total(index) | Self::Usecs(index)) = self;
        index
    }

    /// Returns the unit that the column counts.
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

/// The increment of one entry in (since, time].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Increment<'a> {
    /// The line of `- job_id:` in the text, counted from 1.
    pub line: u32,
    /// The entry's identifier.
    pub id: &'a str,
    /// The entries that are added up in this increment, including `id`; `None` for a single entry.
    pub folded: Option<Folded>,
    /// The time at which the counters were last seen, usually the previous observation, or at which they began at zero;
    /// after splitting, the beginning of the part. Always before `time`.
    pub since: Micros,
    /// The time of the observation; after splitting, the end of the part.
    pub time: Micros,
    /// True if the counters restarted in this span.
    pub reset: bool,
    /// The `snapshot_time` of the record, if it is on the wall clock and after `since`; after splitting, on the parts that end after it,
    /// and on the last one.
    pub last_active: Option<Micros>,
    /// The growth of the columns, above 0 and below 2^53, each column at most once.
    pub totals: Vec<(Column, i64)>,
    /// The growth of the elements of histograms, if any element grew.
    pub histograms: Option<Box<Histograms>>,
    /// The values that have no column (rule 7), packed; on the last part only.
    pub detail: Option<Vec<u8>>,
}

impl Increment<'_> {
    /// Returns true if anything grew.
    fn has_grown(&self) -> bool {
        !self.totals.is_empty() || self.histograms.is_some() || self.detail.is_some()
    }
}

/// Returns the span of increments, from the first start to the last end; `None` if there are no increments.
pub fn span<'a, 'b: 'a>(
    increments: impl Iterator<Item = &'a Increment<'b>> + Clone,
) -> Option<Span> {
    let from = increments.clone().map(|increment| increment.since).min()?;
    let to = increments.map(|increment| increment.time).max()?;
    Some((from, to))
}
