//! Connects to a store, which the configuration or the command line names, and explains failures.

pub mod config;
pub mod error;
pub mod store;
