//! `jobstats_counter_agg()`: computes exactly by how much a counter grew, from any table of readings.

mod accessors;
mod aggregate;

use jobstats_core::series::counter::{CounterError, Summary};

summary_type!(Summary, CounterError, counter_in, counter_out, counter_recv);
