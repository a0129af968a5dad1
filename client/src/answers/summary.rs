//! `jobstats_summary()`.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Dimension, Filters, Group, Source, Window, answer, question};

question! {
    /// What did each job, user, node or target do?
    Summary(Source::Function("jobstats_summary")) -> SummaryRow {
        /// The window.
        window: Window,
        /// The dimensions that make the groups; `job` by default.
        by: Option<Vec<Dimension>>,
        /// The filters.
        filters: Filters,
    }
}

answer! {
    /// The most important totals of a group. Totals are exact, and `None` if they are not known.
    SummaryRow {
        /// The group.
        group: Group,
        /// The time after which the group was active.
        first: Option<Timestamp>,
        /// The time at which the group was last active.
        last_active: Option<Timestamp>,
        /// The number of nodes, as far as identifiers name them.
        nodes: Option<i64>,
        /// Bytes read.
        read_bytes: Option<Decimal>,
        /// Bytes written.
        write_bytes: Option<Decimal>,
        /// Calls of read.
        read: Option<Decimal>,
        /// Calls of write.
        write: Option<Decimal>,
        /// Calls of open.
        opens: Option<Decimal>,
        /// Calls of all metadata operations.
        metadata: Option<Decimal>,
        /// The seconds that servers spent on all calls; `None` before Lustre 2.14.
        service_time: Option<Decimal>,
        /// The target that spent most time on the group.
        busiest_target: Option<String>,
    }
}
