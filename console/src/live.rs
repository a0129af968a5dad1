//! Compares readings and keeps the state of all targets: whose work it is, the load over time, and the rows that follow.

pub mod history;
pub mod interval;
pub mod owner;
pub mod rows;
pub mod state;
pub mod steady_order;
pub mod sums;
pub mod user_names;
pub mod view;
