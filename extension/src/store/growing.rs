//! The tables that grow with time. They are divided by time, and old parts of them are dropped.

use pgrx::prelude::*;

const RAW: &str = "raw_retention";
const SUMMED: &str = "retention";

/// The tables of the schema `jobstats` that grow with time, whose time column is `time`, each with the setting that says how long its rows
/// are kept. What rollups sum is kept at least until they have done so.
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
