//! Targets: `jobstats_now()`, `jobstats_targets()`, `jobstats_internal.kept()`, `jobstats_space()`, `jobstats_queues()`, and the views
//! `jobstats.health` and `jobstats.quality`.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Filters, Group, Interval, Source, Window, questions};

questions! {
    /// Who keeps each target busy, as of its last observation?
    Now(Source::Function("jobstats_now")) {
        /// A pattern of the names of targets.
        target: Option<String>,
        n: Option<i32>,
        at: Option<Timestamp>,
        by: Option<String>,
        filter: Filters,
    }
    /// A group that keeps a target busy.
    -> NowRow {
        target: String,
        rank: i64,
        name: String,
        /// The operation that took most of the time.
        operation: String,
        formatted: Option<String>,
        /// The part of the server's time, or of all calls if the server reports no times, 0 to 1.
        share: f64,
        /// The mean number of requests of all operations in service; `None` before Lustre 2.14.
        service_time: Option<f64>,
        /// The calls of the operation per second.
        rate: f64,
        /// The time since the observation.
        age: Interval,
        /// The cluster, the target, the number of the user, and what the question groups by.
        group: Group,
    }

    /// What is the last observation of each target?
    Targets(Source::Function("jobstats_targets")) {
        at: Option<Timestamp>,
        /// Dimensions of targets.
        filter: Filters,
    }
    /// A target. All that comes from an observation is `None` if it was not observed in the day before.
    -> TargetRow {
        target_id: i32,
        cluster: String,
        filesystem: Option<String>,
        kind: String,
        target: String,
        /// The server that it was observed on.
        server: Option<String>,
        /// The time of the observation before, or an hour before this one; `None` for a first observation.
        since: Option<Timestamp>,
        /// The time of the observation.
        time: Option<Timestamp>,
        /// The usual time between observations.
        usual_interval: Option<Interval>,
        /// The number of records of the text.
        entries: Option<i32>,
        /// The number of lines and values that could not be used.
        problems: Option<i32>,
        /// The number of entries that were born.
        added: Option<i32>,
        /// The number of entries whose counters restarted.
        resets: Option<i32>,
        /// The number of entries that are gone.
        removed: Option<i32>,
    }

    /// Which observations of each target are nearest to a time?
    Nearest(Source::Function("jobstats_targets")) {
        at: Option<Timestamp>,
        /// Dimensions of targets.
        filter: Filters,
    }
    /// The observations of a target that are nearest to a time.
    -> NearestRow {
        /// The last observation up to then, however long ago.
        before: Option<Timestamp>,
        /// The first observation later.
        after: Option<Timestamp>,
    }

    /// Of which time does the store keep increments, or a rollup?
    Kept(Source::Function("jobstats_internal.kept")) {
        /// `increments`, which is the default, or a rollup: `10m`, `1h` or `1d`.
        level: Option<String>,
        cluster: Option<Vec<String>>,
        filesystem: Option<Vec<String>>,
    }
    /// The times of a store that say what it has.
    -> KeptRow {
        now: Timestamp,
        /// The time since which the level is kept.
        since: Timestamp,
        /// The first observation; `None` if there is none.
        first: Option<Timestamp>,
        /// The time up to which all targets that still report have been observed; `None` if none reports.
        complete: Option<Timestamp>,
        targets: i64,
    }

    /// Does the text of each target come in time, from a correct clock and readable?
    Health(Source::View("jobstats.health")) {}
    /// The state of a target, of a target or server that is expected and has never reported, or of the store's maintenance,
    /// which has neither.
    -> HealthRow {
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

    /// How good is the data of the hours from `since` on and before `until`?
    Quality(Source::Part {
        view: "jobstats.quality",
        condition: "hour >= $since AND hour < $until",
    }) {
        /// The start of the first hour.
        since: Timestamp,
        /// The end of the last hour.
        until: Timestamp,
    }
    /// An hour of a target.
    -> QualityRow {
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

    /// Whose files fill a file system?
    Space(Source::Function("jobstats_space")) {
        /// A day of the past; `None` for now.
        at: Option<Timestamp>,
        /// `user`, `uid` and `account`, or `group` and `gid`, or `project`, and dimensions of targets.
        by: Option<String>,
        /// The day to compare with.
        since: Option<Timestamp>,
        n: Option<i32>,
        filter: Filters,
    }
    /// The space of an owner.
    -> SpaceRow {
        name: String,
        formatted: Option<String>,
        bytes: Decimal,
        /// The inodes of MDTs; `None` if no MDT named the owner.
        inodes: Option<Decimal>,
        /// The space more than on the day of `since`; `None`, as `added_inodes`, if that is not known.
        added_bytes: Option<Decimal>,
        added_inodes: Option<Decimal>,
        /// The number of targets in the sum.
        targets: Option<i64>,
        /// The number of targets of the file system.
        of_targets: Option<i64>,
        /// The time at which the oldest list in the sum was read.
        time: Option<Timestamp>,
        /// The owner. The account of a user is that for which the user worked last.
        group: Group,
    }

    /// How long did requests wait for a thread of a server?
    Queues(Source::Function("jobstats_queues")) {
        window: Window,
        step: Option<Interval>,
        /// Servers and clusters.
        filter: Filters,
    }
    /// A service of a server in a step.
    -> QueueRow {
        time: Timestamp,
        server: String,
        service: String,
        requests: Decimal,
        /// The seconds that a request waited on average; `None`, as `depth`, if there was no request.
        wait: Option<f64>,
        /// The mean number of requests that waited at a time.
        waiting: f64,
        /// The mean number of requests that a request found in the queue.
        depth: Option<f64>,
        group: Group,
    }
}
