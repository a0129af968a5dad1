//! The reading functions as they are called from SQL.
//!
//! They are not parallel-safe, nor restricted: a function that runs statements fails in a parallel plan whose statement
//! writes, as `CREATE TABLE … AS SELECT` does. Their own statements have parallel plans.

mod balance;
mod changes;
mod densities;
mod findings;
mod format;
mod job;
mod last_work;
mod metrics;
mod now;
mod queues;
mod rates;
mod runs;
mod share;
mod sizes;
mod summary;
mod top;
mod totals;
mod unaccounted;
mod used;
mod usual;
mod work;

// These are plain SQL, which PostgreSQL plans together with the statement that calls them.
