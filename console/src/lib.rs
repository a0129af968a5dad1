//! Shows who uses a Lustre file system.
//!
//! # The rooms
//!
//! A room uses only rooms below it.
//!
//! | room | task |
//! |---|---|
//! | `commands` | reads the command line, and runs its commands |
//! | `terminal` | runs the screen, or prints tables instead, and ends the program at a signal |
//! | `export` | writes files of Parquet, one for each day |
//! | `serve` | serves users of this machine over HTTP, and is the client of that service |
//! | `report` | makes documents about a file system, jobs, users and targets, part by part |
//! | `subject` | queries a store about a job, a user or a target, and prints the answers as JSON |
//! | `show` | prints rounds as text and JSON, and documents as text and HTML with charts |
//! | `source` | reads rounds from commands, a recording or a store |
//! | `live` | compares snapshots, and keeps the state of targets, owners and rows |
//! | `ask` | connects to the store that the configuration or the command line names |
//! | `values` | prints and reads numbers, names and times |

// A test may be a long table.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod ask;
mod commands;
mod export;
mod live;
mod report;
mod serve;
mod show;
mod source;
mod subject;
mod terminal;
#[cfg(test)]
mod testing;
mod values;

pub use commands::run;
pub use live::history::TargetStates;
pub use source::{Source, Step, StoreSource, Update};
