//! Targets and servers: observations, health, quality, space and queues.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Filters, Group, Interval, Source, Window, questions};

questions! {
    /// The last observation of each target, by `jobstats_targets()`.
    Targets(Source::Function("jobstats_targets")) {
        at: Option<Timestamp>,
        filter: Filters,
    }
    /// A target and its last observation, whose columns are `None` if it is older than a day.
    -> TargetRow {
        target_id: i32,
        cluster: String,
        filesystem: Option<String>,
        kind: String,
        target: String,
        server: Option<String>,
        /// The time of the previous observation, at most an hour before this one; `None` for a first observation.
        since: Option<Timestamp>,
        time: Option<Timestamp>,
        /// The typical time between observations.
        usual_interval: Option<Interval>,
        /// The number of entries in the snapshot.
        entries: Option<i32>,
        /// The number of unreadable lines and values.
        problems: Option<i32>,
        /// The number of new entries.
        added: Option<i32>,
        /// The number of entries with a counter reset.
        resets: Option<i32>,
        /// The number of entries that disappeared.
        removed: Option<i32>,
    }

    /// The observations of each target around a time, by `jobstats_targets()`.
    Nearest(Source::Function("jobstats_targets")) {
        at: Option<Timestamp>,
        filter: Filters,
    }
    /// The observations of a target around a time.
    -> NearestRow {
        /// The last observation up to the time.
        before: Option<Timestamp>,
        /// The first observation after the time.
        after: Option<Timestamp>,
    }

    /// The retained time of increments or of a rollup, by `jobstats_internal.kept()`.
    Retained(Source::Function("jobstats_internal.kept")) {
        /// `increments` (the default), or a rollup: `10m`, `1h` or `1d`.
        level: Option<String>,
        cluster: Option<Vec<String>>,
        filesystem: Option<Vec<String>>,
    }
    /// The retained time of a store.
    -> RetainedRow {
        now: Timestamp,
        /// The start of the retained time.
        since: Timestamp,
        /// The first observation.
        first: Option<Timestamp>,
        /// The time up to which all reporting targets have been observed.
        complete: Option<Timestamp>,
        targets: i64,
    }

    /// The health of targets and servers, by the view `jobstats.health`.
    Health(Source::Query("jobstats.health")) {}
    /// The health of a target, an expected server, or the maintenance of the store.
    -> HealthRow {
        cluster: Option<String>,
        target: Option<String>,
        kind: Option<String>,
        server: Option<String>,
        /// `ok`, or all that apply, such as `silent`, `late` and `full`.
        states: Vec<String>,
        last_observation: Option<Timestamp>,
        /// The time from the last scrape to its arrival.
        delay: Option<Interval>,
        /// The typical time between observations.
        usual_interval: Option<Interval>,
        /// The `job_cleanup_interval` of Lustre.
        cleanup_interval: Option<Interval>,
        remedy: Option<String>,
        /// The number of scrapes missing in the last hour; `None` if scrapes are irregular.
        missed: Option<i64>,
    }

    /// The quality of the data of each hour, by the view `jobstats.quality`.
    Quality(Source::Query("jobstats.quality WHERE hour >= $since AND hour < $until")) {
        /// The start of the first hour.
        since: Timestamp,
        /// The end of the last hour.
        until: Timestamp,
    }
    /// An hour of a target.
    -> QualityRow {
        cluster: String,
        target: String,
        observations: i64,
        /// Active entries by the status of their entry IDs.
        ok: i64,
        missing_job: i64,
        truncated: i64,
        malformed: i64,
        partial: i64,
        /// Entries with a counter reset.
        resets: i64,
        /// Late observations.
        gaps: i64,
        /// Entries whose first value may include earlier usage.
        unknown: i64,
        /// Unreadable lines and values.
        problems: i64,
        /// The share of calls without a job.
        operations_without_job: Option<f64>,
        /// The share of calls without a user.
        operations_without_user: Option<f64>,
        /// Missing scrapes.
        missed: Option<i64>,
    }

    /// Space of owners, by `jobstats_space()`.
    Space(Source::Function("jobstats_space")) {
        /// A past day; `None` for now.
        at: Option<Timestamp>,
        by: Option<String>,
        /// The day to compare with.
        since: Option<Timestamp>,
        n: Option<i32>,
        filter: Filters,
    }
    /// The space of an owner.
    -> SpaceRow {
        bytes: Decimal,
        /// The inodes of MDTs.
        inodes: Option<Decimal>,
        /// The growth since the day of `since`; `None` if unknown.
        added_bytes: Option<Decimal>,
        added_inodes: Option<Decimal>,
        /// The number of targets in the sum.
        targets: Option<i64>,
        /// The number of targets of the file system.
        of_targets: Option<i64>,
        /// The time of the oldest quota list in the sum.
        time: Option<Timestamp>,
        /// The owner. The account of a user's last job.
        labels: Group,
    }

    /// Request queues of servers, by `jobstats_queues()`.
    Queues(Source::Function("jobstats_queues")) {
        window: Window,
        step: Option<Interval>,
        filter: Filters,
    }
    /// A service of a server in a step.
    -> QueueRow {
        time: Timestamp,
        server: String,
        service: String,
        requests: Decimal,
        /// The mean time in the queue in seconds; `None` without requests.
        wait: Option<f64>,
        /// The mean number of queued requests.
        waiting: f64,
    }
}
