//! `jobstats_attributed()`.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Source, Window, answer, question};

question! {
    /// Which work without a job is a job likely to have done?
    Attributed(Source::Function("jobstats_attributed")) -> AttributedRow {
        /// The job: its number, or what users type.
        job: String,
        /// The window; without its bounds all that is known.
        window: Window,
    }
}

answer! {
    /// The work of an identifier on a target in adjacent buckets of ten minutes, by one operation.
    AttributedRow {
        /// The name of the scheduler.
        scheduler: String,
        /// The job as users type it; `None` if several elements of an array share the number.
        label: Option<String>,
        /// The name of the target's cluster.
        cluster: String,
        /// The name of the target.
        target: String,
        /// The kind of the target: `MDT` or `OST`.
        kind: String,
        /// The identifier.
        entry: String,
        /// The node that the identifier names.
        node: String,
        /// The start of the buckets.
        first: Timestamp,
        /// The end of the buckets.
        last: Timestamp,
        /// The operation.
        operation: String,
        /// Calls or bytes.
        total: Decimal,
    }
}
