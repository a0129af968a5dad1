//! `jobstats_compare()`.

use jiff::Timestamp;

use super::{Interval, Source, answer, question};

question! {
    /// How do jobs compare over the time since each began?
    Compare(Source::Function("jobstats_compare")) -> CompareRow {
        /// The jobs.
        jobs: Vec<String>,
        /// The width of the steps; ten minutes by default.
        step: Option<Interval>,
        /// The operations; bytes read and written, `metadata` and `service_time` by default.
        operations: Option<Vec<String>>,
        /// The scheduler of all jobs; any by default.
        scheduler: Option<String>,
    }
}

answer! {
    /// The rate of a job by one operation in a step.
    CompareRow {
        /// The time from the start of the job to that of the step.
        since_start: Interval,
        /// The start of the step.
        time: Timestamp,
        /// The width of the step in seconds.
        seconds: f64,
        /// The job as it was asked for.
        job: String,
        /// The operation.
        operation: String,
        /// The total per second that the targets were observed; `None` if none was, or if it is not known.
        rate: Option<f64>,
        /// The observed part of the time of all targets, 0 to 1; `None` if there were no targets.
        coverage: Option<f64>,
    }
}
