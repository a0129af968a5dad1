//! `jobstats_densities()`.

use jiff::Timestamp;

use super::{Dimension, Filters, Interval, Source, Window, answer, question};

question! {
    /// How many groups have a rate of which size?
    Densities(Source::Function("jobstats_densities")) -> DensityRow {
        /// The window.
        window: Window,
        /// The operation. By default it is `service_time` or, if no server reports times, `metadata` of MDTs and `bytes` of
        /// OSTs.
        operation: Option<String>,
        /// The dimensions that make the groups; `uid` by default.
        by: Option<Vec<Dimension>>,
        /// The ratio of the edges of a bucket, 2 to 100; ten by default.
        base: Option<i32>,
        /// The width of the steps; `None` for one step.
        step: Option<Interval>,
        /// The filters.
        filters: Filters,
    }
}

answer! {
    /// A bucket of rates in a step.
    DensityRow {
        /// The start of the step.
        time: Timestamp,
        /// The width of the step in seconds.
        seconds: f64,
        /// The operation.
        operation: String,
        /// The number of the bucket: the exponent of its lower edge.
        bucket: i32,
        /// The lower edge, per second, which belongs to the bucket.
        lower: f64,
        /// The upper edge, per second, which does not belong to the bucket.
        upper: f64,
        /// The number of groups with such a rate.
        count: i64,
    }
}
