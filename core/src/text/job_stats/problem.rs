//! Pieces of text that could not be used, and the reasons.

use crate::base::target::TargetName;

crate::named! {
    /// The reason why a piece of text could not be used, in words for an administrator.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Reason {
        /// The line does not have the syntax of `job_stats`.
        UnreadableLine = "unreadable line",
        /// The text ends in the middle of a line, or another parameter begins there.
        CutLine = "cut line",
        /// The counter has a `{` without a `}`.
        UnclosedCounter = "unclosed counter",
        /// The fields of a counter are not `name: value`, `samples` or `unit` is missing, or something follows them.
        UnreadableCounter = "unreadable counter",
        /// A number cannot be read, is negative, or is too large.
        BadNumber = "bad number",
        /// The histogram has a bucket that no version of Lustre prints.
        UnknownBucket = "unknown bucket",
        /// The time line has something else than a time.
        BadTime = "bad time",
        /// The record has a second counter of one operation. The lines that follow in the record are not used either.
        DuplicateOperation = "duplicate operation",
        /// The `job_id` line of a counter or time line is missing.
        LineWithoutRecord = "line without record",
        /// The record follows a parameter that is not the `job_stats` of a target.
        RecordWithoutTarget = "record without target",
        /// The `job_id` line has no counters.
        RecordWithoutCounters = "record without counters",
        /// The identifier is in the text again, with other values and without a `start_time` that would distinguish two
        /// epochs.
        DuplicateRecord = "duplicate record",
        /// The identifier is longer than any version of Lustre can print.
        LongIdentifier = "long identifier",
        /// There are more unknown operations than a target can have.
        TooManyOperations = "too many operations",
    }
    /// Returns a short code that stays the same in all versions.
    pub fn code;
}

impl Reason {
    /// Returns true if the reason only discards one counter of the record.
    pub const fn rejects_counter(self) -> bool {
        matches!(
            self,
            Self::UnclosedCounter
                | Self::UnreadableCounter
                | Self::BadNumber
                | Self::UnknownBucket
                | Self::TooManyOperations
        )
    }
}

/// A piece of text that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem<'a> {
    /// The line in the text, counted from 1.
    pub line: u32,
    /// The target to which the line belongs, if known.
    pub target: Option<TargetName<'a>>,
    /// The entry to which the line belongs, if known, as [`crate::rules::snapshot::Snapshot::id`] gives it.
    pub entry: Option<String>,
    /// The reason.
    pub reason: Reason,
    /// The text of the line.
    pub text: &'a [u8],
}
