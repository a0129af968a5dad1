//! `jobstats_rates()`.

use jiff::Timestamp;

use super::{Dimension, Filters, Group, Interval, Source, Window, answer, question};

question! {
    /// How fast was usage, in a window or in its steps?
    Rates(Source::Function("jobstats_rates")) -> RateRow {
        /// The window.
        window: Window,
        /// The operations; by default all counts and bytes that occurred, and `metadata`.
        operations: Option<Vec<String>>,
        /// The dimensions that make the groups; `target` by default.
        by: Option<Vec<Dimension>>,
        /// The width of the steps; `None` for one step.
        step: Option<Interval>,
        /// The filters.
        filters: Filters,
    }
}

answer! {
    /// The rate of an operation of a group in a step.
    RateRow {
        /// The start of the step.
        time: Timestamp,
        /// The width of the step in seconds.
        seconds: f64,
        /// The group.
        group: Group,
        /// The operation.
        operation: String,
        /// Calls, bytes or seconds of service per second; `None` if nothing was observed.
        rate: Option<f64>,
        /// The observed part of all time of all targets in the group, 0 to 1.
        coverage: f64,
    }
}
