//! `jobstats_totals()`.

use rust_decimal::Decimal;

use super::{Dimension, Filters, Group, Source, Window, answer, question};

question! {
    /// How much was used in a window?
    Totals(Source::Function("jobstats_totals")) -> TotalRow {
        /// The window.
        window: Window,
        /// The operations; by default all counts and bytes that occurred, and `metadata`.
        operations: Option<Vec<String>>,
        /// The dimensions that make the groups; `target` by default.
        by: Option<Vec<Dimension>>,
        /// The filters.
        filters: Filters,
    }
}

answer! {
    /// The total of an operation of a group.
    TotalRow {
        /// The group.
        group: Group,
        /// The operation.
        operation: String,
        /// Calls, bytes or seconds (`service_time`, `open_time`, …), exact; `None` if nothing was observed.
        total: Option<Decimal>,
        /// The number of calls that the total consists of.
        calls: Option<Decimal>,
        /// Bytes or seconds per call; `None` under ten calls.
        per_call: Option<f64>,
        /// The observed part of all time of all targets in the group, 0 to 1.
        coverage: f64,
    }
}
