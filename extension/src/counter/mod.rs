//! `jobstats_counter_agg()`: by how much a counter grew, exactly, over any table of readings.

mod accessors;
mod aggregate;
mod fast;
mod summary_type;
