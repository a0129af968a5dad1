//! `jobstats_top()`.

use rust_decimal::Decimal;

use super::{Dimension, Filters, Group, Source, Window, answer, question};

question! {
    /// Which groups have the largest total of an operation?
    Top(Source::Function("jobstats_top")) -> TopRow {
        /// The window.
        window: Window,
        /// The operation that ranks. By default it is `service_time` or, if no server reports times, there is a ranking by
        /// `metadata` of MDTs and another by `bytes` of OSTs.
        operation: Option<String>,
        /// The dimensions that make the groups; `uid` and `workload` by default.
        by: Option<Vec<Dimension>>,
        /// The number of rows; ten by default.
        n: Option<i32>,
        /// The rate per second below which groups are left out.
        min_rate: Option<f64>,
        /// The filters.
        filters: Filters,
    }
}

answer! {
    /// A group with its rank.
    TopRow {
        /// The rank among the rows of the operation, from 1.
        rank: i64,
        /// The group.
        group: Group,
        /// The operation.
        operation: String,
        /// Calls, bytes or seconds (`service_time`, `open_time`, …), exact.
        total: Option<Decimal>,
        /// The total per second.
        rate: Option<f64>,
        /// The part of the total of all groups that the filters let through, 0 to 1.
        share: Option<f64>,
        /// The number of calls that the total consists of.
        calls: Option<Decimal>,
        /// Bytes or seconds per call; `None` under ten calls.
        per_call: Option<f64>,
        /// The observed part of all time of all targets in the group, 0 to 1.
        coverage: f64,
    }
}
