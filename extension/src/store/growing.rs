//! The tables that grow with time. They are divided by time, and old parts of them are dropped.

use pgrx::prelude::*;

const RAW: &str = "raw_retention";
const SUMMED: &str = "retention";

/// The tables that grow with time, whose time column is `time`, with the setting of their retention. Rows are retained at least
/// until rollups have summed them.
pub const GROWING: [(&str, &str); 7] = [
    ("raw", RAW),
    ("observations", SUMMED),
    ("increments", SUMMED),
    ("target_snapshots", RAW),
    ("target_increments", SUMMED),
    ("server_snapshots", RAW),
    ("server_increments", SUMMED),
];

#[pg_extern(sql = false)]
fn jobstats_growing_tables()
-> TableIterator<'static, (name!(relation, &'static str), name!(kept, &'static str))> {
    TableIterator::new(GROWING)
}
