//! The tables that grow with time. They are divided by time, and old parts of them are dropped.

use pgrx::prelude::*;

/// A table that grows with time.
pub struct Growing {
    /// The name in the schema `jobstats`. Its time column is `time`.
    pub table: &'static str,
    /// The setting that says how long its rows are kept. What rollups sum is kept at least until they have done so.
    kept: &'static str,
}

const RAW: &str = "raw_retention";
const SUMMED: &str = "retention";

pub const GROWING: [Growing; 7] = [
    growing("raw", RAW),
    growing("observations", SUMMED),
    growing("increments", SUMMED),
    growing("target_readings", RAW),
    growing("target_increments", SUMMED),
    growing("server_readings", RAW),
    growing("server_increments", SUMMED),
];

const fn growing(table: &'static str, kept: &'static str) -> Growing {
    Growing { table, kept }
}

#[pg_extern(sql = false)]
fn jobstats_growing_tables()
-> TableIterator<'static, (name!(relation, &'static str), name!(kept, &'static str))> {
    TableIterator::new(GROWING.iter().map(|it| (it.table, it.kept)))
}
