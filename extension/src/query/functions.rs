//! The reading functions as they are called from SQL.

mod balance;
mod densities;
mod job;
mod last_work;
mod metrics;
mod now;
mod rates;
mod share;
mod summary;
mod top;
mod totals;
