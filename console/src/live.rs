//! Compares snapshots, and has the state of all targets: their owners, the load over time, and the rows that follow.

pub mod history;
pub mod interval;
pub mod owner;
pub mod rows;
pub mod state;
pub mod steady_order;
pub mod sums;
pub mod user_names;
pub mod view;
