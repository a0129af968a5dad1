//! `jobstats_job()`.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Dimension, Interval, Source, Window, answer, question};

question! {
    /// What did one job do?
    Job(Source::Function("jobstats_job")) -> JobRow {
        /// The job.
        job: String,
        /// The window; without its bounds the time of the job.
        window: Window,
        /// The width of the steps; `None` for the window as a whole.
        step: Option<Interval>,
        /// The dimensions that make the groups after the whole job: `cluster`, `filesystem`, `kind`, `target` or `node`;
        /// `target` by default.
        by: Option<Vec<Dimension>>,
        /// The scheduler, if several have a job with this number; without it, they are listed then.
        scheduler: Option<String>,
    }
}

answer! {
    /// A run of a job, as accounting has it, or the usage of the job by one operation: of the whole job, or of a group.
    JobRow {
        /// The start of the step, or of the window; of a run its start, `None` if it has not begun.
        time: Option<Timestamp>,
        /// The width of the step, or of the window, in seconds; of a run the time for which it ran.
        seconds: Option<f64>,
        /// The name of the target's cluster; `None` for the whole job, or if targets make no groups.
        cluster: Option<String>,
        /// The name of the target's file system; likewise.
        filesystem: Option<String>,
        /// The kind of the target: `MDT` or `OST`; likewise.
        kind: Option<String>,
        /// The name of the target; likewise.
        target: Option<String>,
        /// The name of the node; `None` for the whole job, or if nodes make no groups.
        node: Option<String>,
        /// The operation; `run` for a run, whose usage is `None`; with `attributed_` before it for work without a job that this job is
        /// likely to have done, which is in none of the other rows.
        operation: String,
        /// Calls, bytes or seconds (`service_time`), exact.
        total: Option<Decimal>,
        /// The number of calls that the total consists of.
        calls: Option<Decimal>,
        /// Bytes or seconds per call; `None` under ten calls.
        per_call: Option<f64>,
        /// Bytes or seconds of the smallest call, if all calls of the job are known.
        min: Option<Decimal>,
        /// Bytes or seconds of the largest call; likewise.
        max: Option<Decimal>,
        /// The standard deviation of bytes or seconds per call, if the sum of squares cannot have wrapped.
        stddev: Option<f64>,
        /// The total per second that the targets were observed.
        rate: Option<f64>,
        /// The smallest rate in a bucket of ten minutes.
        min_rate: Option<f64>,
        /// The median of the rates in buckets of ten minutes.
        median_rate: Option<f64>,
        /// The mean of the rates in buckets of ten minutes.
        mean_rate: Option<f64>,
        /// The largest rate in a bucket of ten minutes.
        max_rate: Option<f64>,
        /// The time after which the job did so.
        first: Option<Timestamp>,
        /// The time at which the job was last active here.
        last_active: Option<Timestamp>,
        /// The number of nodes, as far as identifiers name them; of a run the number that the scheduler gave it.
        nodes: Option<i64>,
        /// The observed part of the time of all targets, 0 to 1.
        coverage: Option<f64>,
        /// The scheduler that accounts for the job; this and the following are `None` if accounting does not know it, or if its
        /// runs differ.
        scheduler: Option<String>,
        /// The job as users type it.
        label: Option<String>,
        /// The name of the user.
        user_name: Option<String>,
        /// The account or project that pays.
        account: Option<String>,
        /// The partition or queue.
        partition: Option<String>,
        /// The name that the user gave to the job.
        job_name: Option<String>,
        /// The state of the run, or of the last run.
        state: Option<String>,
        /// The exit code of the run, or of the last run.
        exit_code: Option<String>,
        /// The time of the submission.
        submitted: Option<Timestamp>,
        /// The start of the run, or of the first run.
        started: Option<Timestamp>,
        /// The end of the run, or of the last run; `None` if it is not over.
        ended: Option<Timestamp>,
        /// The time for which the run ran; of a job the sum of its runs.
        run_time: Option<Interval>,
        /// The number of processors.
        cpus: Option<i64>,
        /// The mean number of requests in service per node, for `service_time`.
        in_service: Option<f64>,
    }
}
