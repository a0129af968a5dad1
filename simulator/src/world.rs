//! The simulated world: a cluster, its disturbances, its users and programs, and its targets as time goes by. It is independent of the
//! output format.

pub mod busy;
pub mod cluster;
pub mod disturbances;
pub mod given_work;
pub mod incident;
mod overload;
pub mod parallel;
mod profile;
pub mod queue;
pub mod scrape_times;
mod service;
mod sessions;
pub mod space;
pub mod target;
pub mod target_counters;
pub mod workload;

pub use cluster::{Cluster, Preset, ServerIndex, Target, TargetIndex};
pub use disturbances::{Plan, Upheaval};
pub use parallel::{all, each};
pub use scrape_times::Due;
pub use target::{Change, Epoch, TargetState};
pub use target_counters::{TargetCounters, Walk};
pub use workload::Workload;
