//! The simulated world: a cluster, its disturbances, its users and programs, and its targets as time goes by. It is independent of the
//! output format.

pub mod busy;
pub mod cluster;
pub mod given_work;
pub mod incident;
mod overload;
pub mod parallel;
pub mod plan;
mod profile;
pub mod queue;
pub mod schedule;
mod service;
mod sessions;
pub mod space;
pub mod target;
pub mod target_counters;
pub mod workload;

pub use cluster::{Cluster, Preset, ServerIndex, Target, TargetIndex};
pub use parallel::{all, each};
pub use plan::{Plan, Upheaval};
pub use schedule::Due;
pub use target::{Change, Epoch, TargetState};
pub use target_counters::{TargetCounters, Walk};
pub use workload::Workload;
