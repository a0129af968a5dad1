//! The texts of servers: a record, the dump of a target with all that can go wrong in it, and the output of lctl.

pub mod gauges;
pub mod lctl;
pub mod render;
pub mod services;
pub mod snapshot;
pub mod stats;
pub mod target_counters;
