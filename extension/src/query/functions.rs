//! The reading functions as they are called from SQL.
//!
//! They are not parallel-safe, nor restricted: a function that runs statements fails in a parallel plan whose statement
//! writes, as `CREATE TABLE … AS SELECT` does. Their own statements have parallel plans.

mod baseline;
mod changes;
mod findings;
mod format;
mod io_sizes;
mod job;
mod jobs;
mod metrics;
mod now;
mod queues;
mod share;
mod space;
mod totals;
mod untracked;
mod work;
