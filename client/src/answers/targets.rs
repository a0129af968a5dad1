//! Targets: `jobstats_now()`, the table `jobstats.targets`, and the views `jobstats.health` and `jobstats.quality`.

use jiff::Timestamp;

use super::{Interval, Source, answer, question};

question! {
    /// Who keeps each target busy, as of its last observation?
    Now(Source::Function("jobstats_now")) -> NowRow {
        target: Option<Vec<String>>,
        n: Option<i32>,
        at: Option<Timestamp>,
    }
}

answer! {
    /// A workload and user that keeps a target busy.
    NowRow {
        cluster: String,
        target: String,
        kind: String,
        server: String,
        time: Timestamp,
        age: Interval,
        seconds: f64,
        rank: i64,
        workload: String,
        uid: Option<i64>,
        user_name: Option<String>,
        account: Option<String>,
        job_name: Option<String>,
        operation: String,
        rate: f64,
        service_time: Option<f64>,
        share: f64,
    }
}

question! {
    /// Which targets have ever been observed?
    Targets(Source::View("jobstats.targets")) -> TargetRow {}
}

answer! {
    /// A target.
    TargetRow {
        cluster: String,
        name: String,
        filesystem: Option<String>,
        kind: String,
    }
}

question! {
    /// Does the text of each target come in time, from a correct clock and readable?
    Health(Source::View("jobstats.health")) -> HealthRow {}
}

answer! {
    /// The state of a target, of a target or server that is expected and has never reported, or of the store's maintenance,
    /// which has neither.
    HealthRow {
        cluster: Option<String>,
        /// The name of the target; `None` for an expected server and for maintenance.
        target: Option<String>,
        kind: Option<String>,
        server: Option<String>,
        /// The status: `ok`, `silent`, `clock`, `late`, `slow`, `rejects`, `ids`, `retired` or
        /// `maintenance`.
        status: String,
        last_observation: Option<Timestamp>,
        /// The time that the last text took to arrive.
        delay: Option<Interval>,
        /// The usual time between observations.
        usual_interval: Option<Interval>,
        /// The time after which Lustre forgets idle entries; `None` if it is not known.
        cleanup_interval: Option<Interval>,
        /// True if Lustre may forget entries before they are read.
        cleanup_too_short: Option<bool>,
        /// The remedy; `None` if nothing needs to be done.
        remedy: Option<String>,
        /// The number of readings that are missing between the observations of the last hour; `None` if there are none, or
        /// not at regular times.
        missed: Option<i64>,
    }
}

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
        hour: Timestamp,
        cluster: String,
        target: String,
        kind: String,
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
