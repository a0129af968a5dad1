//! The grammar of the lines of `job_stats`, each regardless of the lines around it.

pub(super) mod counter;
pub(super) mod histogram;
pub(super) mod identifier;
pub(super) mod line;
pub(super) mod time;
