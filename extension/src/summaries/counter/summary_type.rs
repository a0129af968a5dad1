//! The type `jobstats_counter`.

use jobstats_core::series::counter::{CounterError, Summary};

summary_type!(Summary, CounterError, counter_in, counter_out, counter_recv);
