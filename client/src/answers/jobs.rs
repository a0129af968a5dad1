//! Jobs: `jobstats_job()`, `jobstats_compare()`, `jobstats_attributed()`, and the tables `jobstats.jobs` and
//! `jobstats.job_summaries`.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Dimension, Interval, Source, Window, answer, question};

question! {
    /// What did one job do?
    Job(Source::Function("jobstats_job")) -> JobRow {
        job: String,
        window: Window,
        step: Option<Interval>,
        by: Option<Vec<Dimension>>,
        scheduler: Option<String>,
    }
}

answer! {
    /// A run of a job, as accounting has it, or the usage of the job by one operation: of the whole job, or of a group.
    JobRow {
        /// The start of the step or window; of a run its start, `None` if it has not begun.
        time: Option<Timestamp>,
        seconds: Option<f64>,
        /// The target; `None` for the whole job, or if targets make no groups.
        cluster: Option<String>,
        filesystem: Option<String>,
        kind: Option<String>,
        target: Option<String>,
        node: Option<String>,
        /// The operation; `run` for a run; `energy` and `energy_per_gb` for joules; with `attributed_` before it for work without a job that
        /// this job is likely to have done, with `claimed_` for that of other users who name this job. Both are in none of the other rows.
        operation: String,
        total: Option<Decimal>,
        calls: Option<Decimal>,
        per_call: Option<f64>,
        /// Bytes or seconds of the smallest and the largest call, if all calls are known, and their standard deviation.
        min: Option<Decimal>,
        max: Option<Decimal>,
        stddev: Option<f64>,
        rate: Option<f64>,
        /// The rates in buckets of ten minutes.
        min_rate: Option<f64>,
        median_rate: Option<f64>,
        mean_rate: Option<f64>,
        max_rate: Option<f64>,
        /// The time after which the job did so, and the last time.
        first: Option<Timestamp>,
        last_active: Option<Timestamp>,
        /// The nodes that identifiers name; of a run the number that the scheduler gave it.
        nodes: Option<i64>,
        coverage: Option<f64>,
        /// This and what follows is `None` if accounting does not know the job, or if its runs differ.
        scheduler: Option<String>,
        /// The job as users type it.
        label: Option<String>,
        user_name: Option<String>,
        account: Option<String>,
        partition: Option<String>,
        job_name: Option<String>,
        state: Option<String>,
        exit_code: Option<String>,
        submitted: Option<Timestamp>,
        started: Option<Timestamp>,
        ended: Option<Timestamp>,
        run_time: Option<Interval>,
        cpus: Option<i64>,
        /// The mean number of requests in service per node, for `service_time`.
        in_service: Option<f64>,
    }
}

question! {
    /// How do jobs compare over the time since each began?
    Compare(Source::Function("jobstats_compare")) -> CompareRow {
        jobs: Vec<String>,
        step: Option<Interval>,
        operations: Option<Vec<String>>,
        scheduler: Option<String>,
    }
}

answer! {
    /// The rate of a job by one operation in a step.
    CompareRow {
        since_start: Interval,
        time: Timestamp,
        seconds: f64,
        job: String,
        operation: String,
        rate: Option<f64>,
        coverage: Option<f64>,
    }
}

question! {
    /// Which work without a job is a job likely to have done?
    Attributed(Source::Function("jobstats_attributed")) -> AttributedRow {
        job: String,
        window: Window,
    }
}

answer! {
    /// The work of an identifier on a target in adjacent buckets of ten minutes, by one operation.
    AttributedRow {
        scheduler: String,
        label: Option<String>,
        cluster: String,
        target: String,
        kind: String,
        entry: String,
        node: String,
        /// The start and the end of the buckets.
        first: Timestamp,
        last: Timestamp,
        operation: String,
        /// Calls or bytes.
        total: Decimal,
    }
}

question! {
    /// Which runs of jobs with this number or label, and of the elements of this array, does accounting know, the last 10,000 of them?
    JobRuns(Source::Function("jobstats_runs")) -> JobRunRow {
        /// The job: its number, or what users type.
        job: String,
        /// The window that the runs touch.
        window: Window,
        /// The scheduler; `None` for any.
        scheduler: Option<String>,
    }
}

answer! {
    /// A run of a job.
    JobRunRow {
        scheduler: String,
        /// The number that `job_stats` shows.
        job: String,
        /// The job as users type it.
        label: String,
        /// The array that it is an element of, or the leader that it belongs to.
        parent: Option<String>,
        /// The time of the start; `None` if it has not begun.
        started: Option<Timestamp>,
        /// The time of the end; `None` if it is not over.
        ended: Option<Timestamp>,
        uid: Option<i64>,
        user_name: Option<String>,
        account: Option<String>,
        partition: Option<String>,
        job_name: Option<String>,
        state: Option<String>,
        /// True while it is not over, or not summed up and may still be.
        to_come: bool,
    }
}

question! {
    /// What did jobs do that are done?
    JobSummaries(Source::Function("jobstats_summaries")) -> JobSummaryRow {
        /// The job: its number, or what users type.
        job: Option<String>,
        /// The user whose jobs they are.
        uid: Option<i64>,
        scheduler: Option<String>,
        /// The window in which they ended; without bounds all.
        window: Window,
        /// The largest number of jobs, the last ones; 10 without one.
        n: Option<i32>,
    }
}

answer! {
    /// A job that is done.
    JobSummaryRow {
        scheduler: String,
        /// The number that `job_stats` shows.
        job: String,
        /// The job as users type it.
        label: Option<String>,
        /// The time of the first start.
        started: Timestamp,
        /// The time of the last end.
        ended: Timestamp,
        user_name: Option<String>,
        account: Option<String>,
        partition: Option<String>,
        job_name: Option<String>,
        state: Option<String>,
        exit_code: Option<String>,
        nodes: Option<i64>,
        cpus: Option<i64>,
        read_bytes: Decimal,
        write_bytes: Decimal,
        read: Decimal,
        write: Decimal,
        opens: Decimal,
        metadata: Decimal,
        /// The seconds that servers spent on all calls; `None` before Lustre 2.14.
        service_time: Option<Decimal>,
        /// The mean number of requests in service per node.
        in_service: Option<f64>,
        busiest_target: Option<String>,
    }
}
