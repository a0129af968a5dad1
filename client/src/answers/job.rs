//! `jobstats_job()`.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Source, Window, answer, question};

question! {
    /// What did one job do?
    Job(Source::Function("jobstats_job")) -> JobRow {
        /// The job.
        job: String,
        /// The window; without its bounds the time of the job.
        window: Window,
    }
}

answer! {
    /// The usage of a job by one operation on one target.
    JobRow {
        /// The name of the target's cluster.
        cluster: String,
        /// The name of the target's file system.
        filesystem: String,
        /// The kind of the target: `MDT` or `OST`.
        kind: String,
        /// The name of the target.
        target: String,
        /// The operation.
        operation: String,
        /// Calls, bytes or seconds (`service_time`), exact.
        total: Decimal,
        /// The number of calls that the total consists of.
        calls: Option<Decimal>,
        /// Bytes or seconds per call; `None` under ten calls.
        per_call: Option<f64>,
        /// The total per second that the target was observed.
        rate: Option<f64>,
        /// The time after which the job did so.
        first: Timestamp,
        /// The time at which the job was last active here.
        last_active: Timestamp,
        /// The number of nodes, as far as identifiers name them.
        nodes: i64,
        /// The observed part of the time, 0 to 1.
        coverage: Option<f64>,
    }
}
