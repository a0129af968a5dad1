//! Shows who uses a Lustre file system.
//!
//! # The rooms
//!
//! A room uses only rooms that stand below it.
//!
//! | room | task |
//! |---|---|
//! | `commands` | reads the command line, and runs its commands |
//! | `terminal` | runs the screen, or prints tables instead, and ends the program at a signal |
//! | `export` | writes files of Parquet, one for each day |
//! | `serve` | answers users of this machine over HTTP at a socket, and asks there |
//! | `report` | makes reports of a store, part by part |
//! | `subject` | asks a store about a job, a user or a target, and prints the answers as text and JSON |
//! | `show` | shows readings as lines of text and as JSON, and has the pages of HTML and their charts |
//! | `source` | brings readings: of commands, of a recording, or of a store |
//! | `live` | compares readings and keeps the state of all targets, whose work it is, and the rows that follow |
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
pub use live::history::History;
pub use source::stored::Scope;
pub use source::{Source, Step, StoreSource, Update};
