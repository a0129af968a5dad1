//! The simulated world: a cluster, what goes wrong in it, who works on it, and its targets as time goes by. It knows nothing of
//! how any of it is printed.

pub mod cluster;
pub mod parallel;
pub mod plan;
mod profile;
pub mod schedule;
pub mod target;
pub mod work;
pub mod workload;
