//! Jobs and their usage.

use jiff::Timestamp;
use rust_decimal::Decimal;
use serde_json::Value;

use super::{Filters, Group, Interval, Source, Window, questions};

questions! {
    /// Jobs of a window with their totals, by `jobstats_jobs()`.
    Jobs(Source::Function("jobstats_jobs")) {
        window: Window,
        n: Option<i32>,
        filter: Filters,
    }
    /// A job with its totals, so far if it still runs.
    -> JobsRow {
        /// The job as users type it.
        job: String,
        job_name: Option<String>,
        user_name: Option<String>,
        account: Option<String>,
        state: Option<String>,
        started: Option<Timestamp>,
        ended: Option<Timestamp>,
        /// `None` until the totals are complete.
        run_time: Option<Interval>,
        nodes: Option<i64>,
        read_bytes: Option<Decimal>,
        write_bytes: Option<Decimal>,
        metadata: Option<Decimal>,
        /// Server time in seconds; `None` before Lustre 2.14.
        service_time: Option<Decimal>,
        /// The job number in entry IDs.
        labels: Group,
    }

    /// A job by number or label, by `jobstats_job()`.
    Job(Source::Function("jobstats_job")) {
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
        /// `None`, like the next columns up to `cpus`, if there is no accounting record, or if the runs differ.
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
        /// A filter for the job: its number in entry IDs, or a list of the elements' numbers.
        labels: Option<Value>,
    }

    /// Usage of a job, by `jobstats_job_usage()`.
    JobUsage(Source::Function("jobstats_job_usage")) {
        job: String,
        window: Window,
        scheduler: Option<String>,
    }
    /// The usage of a job, or of a group of it, by an operation.
    -> JobUsageRow {
        /// An operation; `energy` and `energy_per_gb` are in joules. `attributed_…` is usage without a job number that is likely
        /// this job's, `claimed_…` usage of other users under this job's number; other rows include neither.
        operation: String,
        calls: Option<Decimal>,
        per_call: Option<f64>,
        time: Option<Timestamp>,
        last_active: Option<Timestamp>,
        total: Option<Decimal>,
        rate: Option<f64>,
        labels: Group,
    }

    /// Rates of several jobs since the start of each, by `jobstats_compare()`.
    Compare(Source::Function("jobstats_compare")) {
        jobs: Vec<String>,
        step: Option<Interval>,
        operations: Option<String>,
        scheduler: Option<String>,
    }
    /// The rate of a job by an operation in a step.
    -> CompareRow {
        job: String,
        since_start: Interval,
        operation: String,
        rate: Option<f64>,
    }
}
