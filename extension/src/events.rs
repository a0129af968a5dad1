//! Events: what went wrong on a file system, since when, and whose work that was.
//!
//! [`watch`] reads what targets and servers did, lets core find events in it, and keeps them in `jobstats.events`.

mod alertmanager;
mod baseline;
mod culprits;
mod describe;
mod detection;
mod detectors;
mod list;
mod readings;
mod record;
mod rules;
mod severity;
