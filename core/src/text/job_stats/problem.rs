//! Pieces of text that could not be used, and the reasons.

use thiserror::Error;

use crate::base::target::TargetName;

crate::named! {
    /// The reason why a piece of text could not be used, in words for an administrator.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
    pub enum Reason {
        /// The line does not have the syntax of `job_stats`.
        #[error("the line is nothing that job_stats prints")]
        UnreadableLine = "unreadable line",
        /// The text ends in the middle of a line, or another parameter begins there.
        #[error("the line ends in the middle")]
        CutLine = "cut line",
        /// The counter has a `{` without a `}`.
        #[error("the counter has no closing brace")]
        UnclosedCounter = "unclosed counter",
        /// The fields of a counter are not `name: value`, `samples` or `unit` is missing, or something follows them.
        #[error("the counter's fields cannot be read")]
        UnreadableCounter = "unreadable counter",
        /// A number cannot be read, is negative, or is too large.
        #[error("a number is not between 0 and 2^64-1")]
        BadNumber = "bad number",
        /// The histogram has a bucket that no version of Lustre prints.
        #[error("the histogram has an unknown bucket")]
        UnknownBucket = "unknown bucket",
        /// The time line has something else than a time.
        #[error("the time cannot be read")]
        BadTime = "bad time",
        /// The record has a second counter of one operation. The lines that follow in the record are not used either.
        #[error("the record already has this operation")]
        DuplicateOperation = "duplicate operation",
        /// The `job_id` line of a counter or time line is missing.
        #[error("the job_id line that should stand before this line is missing or damaged")]
        LineWithoutRecord = "line without record",
        /// The record follows a parameter that is not the `job_stats` of a target.
        #[error("the name of the target that this record belongs to is missing or damaged")]
        RecordWithoutTarget = "record without target",
        /// The `job_id` line has no counters.
        #[error("the record has no counters")]
        RecordWithoutCounters = "record without counters",
        /// The identifier is in the text again, with other values and without a `start_time` that would distinguish two
        /// epochs.
        #[error("the target has another record of this entry that is used instead")]
        DuplicateRecord = "duplicate record",
        /// The identifier is longer than any version of Lustre can print.
        #[error("the identifier is too long")]
        LongIdentifier = "long identifier",
        /// There are more unknown operations than a target can have.
        #[error("too many unknown operations")]
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
