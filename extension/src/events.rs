//! Events: what went wrong on a file system, since when, and whose work that was.
//!
//! [`watch`] reads what targets and servers did, lets core find events in it, and keeps them in `jobstats.events`.

mod alerts;
mod baseline;
mod culprits;
mod detect;
mod explain;
mod list;
mod notify;
mod readings;
mod record;
mod rules;
mod watch;
