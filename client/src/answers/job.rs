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
    }
}

answer! {
    /// The usage of a job by one operation: of the whole job, or of a group.
    JobRow {
        /// The start of the step, or of the window.
        time: Timestamp,
        /// The width of the step, or of the window, in seconds.
        seconds: f64,
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
        /// The operation.
        operation: String,
        /// Calls, bytes or seconds (`service_time`), exact.
        total: Decimal,
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
        first: Timestamp,
        /// The time at which the job was last active here.
        last_active: Timestamp,
        /// The number of nodes, as far as identifiers name them.
        nodes: i64,
        /// The observed part of the time of all targets, 0 to 1.
        coverage: f64,
    }
}
