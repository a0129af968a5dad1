//! Texts as servers print them, and as they arrive → the snapshots read from them.

#![allow(clippy::unwrap_used, clippy::panic)]

mod comparisons;
mod events;
mod generate;
mod invariants;
mod job_stats;
mod lctl;
mod pauses;
mod properties;
mod readings;
mod snapshot;

use events::events;
use readings::reading;
