//! Jobs: `jobstats_jobs()`, `jobstats_job()`, `jobstats_job_usage()` and `jobstats_compare()`.

use jiff::Timestamp;
use rust_decimal::Decimal;
use serde_json::Value as Json;

use super::{Filters, Group, Interval, Source, Window, questions};

questions! {
    /// Which jobs ran in a window, and what did they do?
    Jobs(Source::Function("jobstats_jobs")) {
        window: Window,
        /// The operation of which those with most come first; `None`: the newest.
        operation: Option<String>,
        n: Option<i32>,
        /// Dimensions of jobs and their users.
        filter: Filters,
    }
    /// A job. If it still runs, its sums are those so far.
    -> JobsRow {
        /// The job as users type it.
        job: String,
        job_name: Option<String>,
        user_name: Option<String>,
        account: Option<String>,
        state: Option<String>,
        started: Option<Timestamp>,
        ended: Option<Timestamp>,
        /// The time for which it ran; `None` until it is summed up.
        run_time: Option<Interval>,
        nodes: Option<i64>,
        read_bytes: Option<Decimal>,
        write_bytes: Option<Decimal>,
        metadata: Option<Decimal>,
        /// The seconds that servers spent on all calls; `None` before Lustre 2.14.
        service_time: Option<Decimal>,
        /// The joules of a job that had its metered nodes for itself.
        energy: Option<Decimal>,
        /// The number that `job_stats` shows.
        group: Group,
    }

    /// What is known of a job as a whole?
    Job(Source::Function("jobstats_job")) {
        /// The job: its number, or what users type.
        job: String,
        scheduler: Option<String>,
    }
    /// A job of a scheduler. An array is one job.
    -> JobRow {
        job: String,
        job_name: Option<String>,
        user_name: Option<String>,
        account: Option<String>,
        state: Option<String>,
        started: Option<Timestamp>,
        ended: Option<Timestamp>,
        run_time: Option<Interval>,
        nodes: Option<i64>,
        read_bytes: Option<Decimal>,
        write_bytes: Option<Decimal>,
        metadata: Option<Decimal>,
        service_time: Option<Decimal>,
        energy: Option<Decimal>,
        /// A filter for the job, or for all elements of an array.
        labels: Json,
        /// This and what follows, up to `cpus`, is `None` if accounting does not know the job, or if its runs differ.
        scheduler: Option<String>,
        /// The job as users type it.
        label: Option<String>,
        runs: Option<i64>,
        partition: Option<String>,
        submitted: Option<Timestamp>,
        exit_code: Option<String>,
        cpus: Option<i64>,
        /// The mean number of requests in service per node.
        in_service: Option<f64>,
        busiest_target: Option<String>,
        /// The service time of others who name this job, which is in no sum.
        claimed: Option<Decimal>,
        coverage: Option<f64>,
    }

    /// What did a job do where, or when?
    JobUsage(Source::Function("jobstats_job_usage")) {
        /// The job: its number, or what users type.
        job: String,
        /// `node`, and dimensions of targets.
        by: Option<String>,
        step: Option<Interval>,
        window: Window,
        /// Dimensions of targets.
        filter: Filters,
        scheduler: Option<String>,
    }
    /// The usage of the whole job by one operation, or of a group.
    -> JobUsageRow {
        /// The name of the group; `all` for the whole job.
        name: String,
        /// The operation; `energy` and `energy_per_gb` for joules; with `attributed_` before it for work without a job that this job is
        /// likely to have done, with `claimed_` for that of other users who name this job. Both are in none of the other rows.
        operation: String,
        formatted: Option<String>,
        calls: Option<Decimal>,
        per_call: Option<f64>,
        /// The number of nodes that identifiers name.
        nodes: Option<i64>,
        /// The start of the step or window.
        time: Option<Timestamp>,
        /// The time after which the job did so, and the last time.
        first: Option<Timestamp>,
        last_active: Option<Timestamp>,
        total: Option<Decimal>,
        rate: Option<f64>,
        /// The rates in buckets of ten minutes.
        min_rate: Option<f64>,
        median_rate: Option<f64>,
        max_rate: Option<f64>,
        /// Bytes or seconds of the smallest and the largest call, if all calls are known, and their standard deviation.
        min: Option<Decimal>,
        max: Option<Decimal>,
        stddev: Option<f64>,
        coverage: Option<f64>,
        group: Group,
    }

    /// How do jobs compare over the time since each began?
    Compare(Source::Function("jobstats_compare")) {
        jobs: Vec<String>,
        step: Option<Interval>,
        operations: Option<String>,
        /// Dimensions of targets.
        filter: Filters,
        scheduler: Option<String>,
    }
    /// The rate of a job by one operation in a step.
    -> CompareRow {
        job: String,
        since_start: Interval,
        operation: String,
        formatted: Option<String>,
        rate: Option<f64>,
        total: Option<Decimal>,
        coverage: Option<f64>,
        time: Timestamp,
        group: Group,
    }
}
