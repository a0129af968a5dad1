//! A store of jobstats: loads the texts of a cluster into it, queries it, and compares its answers with the truth.

pub mod compare;
pub mod database;
pub mod feed;
pub mod labels;
mod question;
pub mod queues;
pub mod target_counters;
pub mod used;
