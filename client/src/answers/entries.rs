//! Entries: their owners and totals.

use jiff::Timestamp;

use super::{Source, questions};

questions! {
    /// The owners of entries, by `jobstats_internal.entries()`.
    Entries(Source::Query("jobstats_internal.entries($at) WHERE entry_id = ANY ($entry_id)")) {
        at: Option<Timestamp>,
        entry_id: Vec<i64>,
    }
    /// An entry, with its job and names at a time.
    -> EntryRow {
        entry_id: i64,
        /// The `job_id` of the entry.
        entry: String,
        job: Option<String>,
        uid: Option<i64>,
        user_name: Option<String>,
        account: Option<String>,
        node: Option<String>,
        executable: Option<String>,
    }

    /// The totals of entries in the last observations or in a bucket of a rollup, by `jobstats_internal.work()`.
    EntryTotals(Source::Function("jobstats_internal.work")) {
        at: Option<Timestamp>,
        /// `increments` (the default), or a rollup: `10m`, `1h` or `1d`.
        level: Option<String>,
        /// `None` for all targets.
        target_id: Option<Vec<i32>>,
    }
    /// The totals of an entry on a target, in the order of `jobstats_operations()`.
    -> EntryTotalsRow {
        target_id: i32,
        entry_id: i64,
        /// Calls or bytes.
        totals: Vec<Option<i64>>,
        /// Microseconds of server time.
        usecs: Vec<Option<i64>>,
    }
}
