//! Compares readings and keeps the state of all targets: whose work it is, the load over time, and the rows that follow.

pub mod board;
pub mod interval;
pub mod order;
pub mod rows;
pub mod sums;
pub mod track;
pub mod user_names;
pub mod view;
pub mod who;
