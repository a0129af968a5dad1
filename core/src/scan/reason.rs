//! Why a piece of text could not be used.

use thiserror::Error;

use super::TargetName;

/// Why a piece of text could not be used, in words for an administrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
pub enum Reason {
    /// A line that is nothing known.
    #[error("the line is nothing that job_stats prints")]
    UnreadableLine,
    /// The text ends in the middle of a line, or another parameter begins there.
    #[error("the line ends in the middle")]
    CutLine,
    /// `{` without `}`.
    #[error("the counter has no closing brace")]
    UnclosedCounter,
    /// The fields of a counter are not `name: value`, `samples` or `unit` is missing, or something follows them.
    #[error("the counter's fields cannot be read")]
    UnreadableCounter,
    /// Not a number, negative, or too large.
    #[error("a number is not between 0 and 2^64-1")]
    BadNumber,
    /// A histogram with a bucket that no version of Lustre prints.
    #[error("the histogram has an unknown bucket")]
    UnknownBucket,
    /// A time line with something else than a time.
    #[error("the time cannot be read")]
    BadTime,
    /// The second counter of one operation in one record; what follows it in the record is not used either.
    #[error("the record already has this operation")]
    DuplicateOperation,
    /// A counter or time line whose `job_id` line is missing.
    #[error("the job_id line that should stand before this line is missing or damaged")]
    LineWithoutRecord,
    /// A record after a parameter that is not the `job_stats` of a target.
    #[error("the name of the target that this record belongs to is missing or damaged")]
    RecordWithoutTarget,
    /// A `job_id` line without any counter.
    #[error("the record has no counters")]
    RecordWithoutCounters,
    /// The same identifier again, with other values and without a `start_time` that would tell two lives apart.
    #[error("the target has another record of this entry that is used instead")]
    DuplicateRecord,
    /// An identifier that no version of Lustre can print.
    #[error("the identifier is too long")]
    LongIdentifier,
    /// More different unknown operations than a target can have.
    #[error("too many unknown operations")]
    TooManyOperations,
}

impl Reason {
    /// A short code that stays the same in all versions.
    pub const fn code(self) -> &'static str {
        match self {
            Self::UnreadableLine => "unreadable line",
            Self::CutLine => "cut line",
            Self::UnclosedCounter => "unclosed counter",
            Self::UnreadableCounter => "unreadable counter",
            Self::BadNumber => "bad number",
            Self::UnknownBucket => "unknown bucket",
            Self::BadTime => "bad time",
            Self::DuplicateOperation => "duplicate operation",
            Self::LineWithoutRecord => "line without record",
            Self::RecordWithoutTarget => "record without target",
            Self::RecordWithoutCounters => "record without counters",
            Self::DuplicateRecord => "duplicate record",
            Self::LongIdentifier => "long identifier",
            Self::TooManyOperations => "too many operations",
        }
    }

    /// Whether it says that one counter of the record is not used.
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
    /// Line in the text, from 1.
    pub line: u32,
    /// The target that the line belongs to, where known.
    pub target: Option<TargetName<'a>>,
    /// The entry (as [`crate::snapshot::Snapshot::id`] gives it) that the line belongs to, where known.
    pub entry: Option<String>,
    /// Why.
    pub reason: Reason,
    /// The line.
    pub text: &'a [u8],
}
