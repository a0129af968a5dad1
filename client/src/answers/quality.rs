//! The view `jobstats.quality`.

use jiff::Timestamp;

use super::{Source, answer, question};

question! {
    /// How good is the data of the hours from `since` on and before `until`?
    Quality(Source::Part {
        view: "jobstats.quality",
        condition: "hour >= $since AND hour < $until",
    }) -> QualityRow {
        /// The start of the first hour.
        since: Timestamp,
        /// The end of the last hour.
        until: Timestamp,
    }
}

answer! {
    /// An hour of a target.
    QualityRow {
        /// The start of the hour.
        hour: Timestamp,
        /// The name of the target's cluster.
        cluster: String,
        /// The name of the target.
        target: String,
        /// The kind of the target: `MDT` or `OST`.
        kind: String,
        /// The number of observations.
        observations: i64,
        /// Active entries whose identifier could be read.
        ok: i64,
        /// Active entries whose identifier has no job.
        missing_job: i64,
        /// Active entries whose identifier was cut.
        truncated: i64,
        /// Active entries whose identifier matches no format.
        malformed: i64,
        /// Active entries of whose identifier only a part could be read.
        partial: i64,
        /// Entries whose counters restarted.
        resets: i64,
        /// Observations that came late.
        gaps: i64,
        /// Entries whose first value may be from before.
        unknown: i64,
        /// Pieces of text that could not be used.
        problems: i64,
        /// The part of the calls without a job, 0 to 1.
        operations_without_job: Option<f64>,
        /// The part of the calls without a user, 0 to 1.
        operations_without_user: Option<f64>,
        /// Readings that are missing.
        missed: Option<i64>,
    }
}
