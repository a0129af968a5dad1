//! `jobstats_counter_agg()`: computes exactly by how much a counter grew, from any table of readings.

mod accessors;
mod aggregate;
mod summary_type;
