//! Plays the `job_stats` of a whole Lustre cluster from a seed, and knows the truth about them.
//!
//! # The rooms
//!
//! A room uses only rooms below it.
//!
//! | room | task |
//! |---|---|
//! | `commands` | runs the commands of the command line |
//! | `store` | loads a cluster into a store, queries it, and compares its answers with the truth |
//! | `truth` | sums up all requests and the share that texts cannot show, and attributes identifiers to jobs |
//! | `accounting` | lists the jobs in accounting at a time, and prints the texts of each scheduler |
//! | `printing` | prints the texts of servers, with all faults that occur in them |
//! | `world` | a cluster, its disturbances, its users and programs, and its targets as time goes by |
//! | `jobs` | draws the people of a site, their jobs, and the activities of these; has the interface of a scheduler |
//! | `lustre` | lists requests and counters, and the form that each release gives them |
//! | `random`, `time`, `failure` | draw by a seed, keep the time of the simulated world, and describe why a command failed |

// A test may be a long table.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod accounting;
mod commands;
mod failure;
mod jobs;
mod lustre;
mod printing;
mod random;
mod store;
#[cfg(test)]
mod tests;
mod time;
mod truth;
mod world;

pub use commands::cli::Cli;

/// The things that judges of events need: a busy file system, its incidents, and what its readings show.
pub mod watch {
    pub use crate::lustre::service::Service;
    pub use crate::lustre::{Layout, TargetKind};
    pub use crate::random::Seed;
    pub use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span};
    pub use crate::truth::queues::Waits;
    pub use crate::truth::series::{Growth, Player, Series, Usage, WIDTH};
    pub use crate::world::busy::{account_name, people};
    pub use crate::world::incident::{Incident, Kind, draw};
    pub use crate::world::queue::main_service;
    pub use crate::world::{Cluster, Preset, ServerIndex, TargetIndex};
}
