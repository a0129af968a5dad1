//! `jobstats_sizes()`.

use rust_decimal::Decimal;

use super::{Dimension, Filters, Group, Source, Window, answer, question};

question! {
    /// How large were reads and writes?
    Sizes(Source::Function("jobstats_sizes")) -> SizeRow {
        /// The window.
        window: Window,
        /// The dimensions that make the groups; none by default.
        by: Option<Vec<Dimension>>,
        /// The filters.
        filters: Filters,
    }
}

answer! {
    /// The calls of a size, or those whose sizes are known as sums only.
    SizeRow {
        /// The group.
        group: Group,
        /// `read_bytes` or `write_bytes`.
        operation: String,
        /// `histogram`, or `sums` for targets before Lustre 2.16.
        known_from: String,
        /// Calls of this many bytes are too small; `None` for sums.
        lower: Option<i64>,
        /// The size in bytes of the largest calls; `None` for sums.
        upper: Option<i64>,
        /// The number of calls.
        count: Decimal,
        /// The part of all calls of the group and operation, 0 to 1.
        share: f64,
        /// The mean size in bytes; `None` for histograms.
        mean: Option<f64>,
        /// The standard deviation of the sizes; `None` for histograms and before Lustre 2.14.
        stddev: Option<f64>,
    }
}
