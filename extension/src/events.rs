//! Events: what went wrong on a file system, since when, and whose work that was.
//!
//! [`watch`] reads what targets and servers did, lets core find events in it, and keeps them in `jobstats.events`.

mod alerts;
mod culprits;
mod explain;
mod judge;
mod keep;
mod list;
mod readings;
mod rules;
mod tell;
mod usual;
mod watch;
