//! The texts of `job_stats`: observations and increments of their entries.

pub mod cache;
pub mod compute;
pub mod entries;
pub mod place;
mod reidentify;
pub mod rows;
pub mod stored;

/// Registers thread-local memory with the C library, which ends the process if it cannot do so on first use.
pub fn register_memory() {
    cache::register_memory();
    rows::register_memory();
}
