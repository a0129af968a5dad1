//! Connects to a store that the configuration or the command line names, and says why a command cannot ask it.

pub mod config;
pub mod error;
pub mod store;
