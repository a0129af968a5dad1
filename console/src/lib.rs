//! Shows who uses a Lustre file system.
//!
//! # The rooms
//!
//! A room uses only rooms that stand below it.
//!
//! | room | task |
//! |---|---|
//! | [`commands`] | reads the command line, and answers `job`, `user`, `target`, `compare` and `report` |
//! | [`terminal`] | runs the screen: what keys do, the terminal, and how the program is ended |
//! | [`export`] | writes files of Parquet, one for each day |
//! | [`report`] | makes reports of a store, part by part |
//! | [`subject`] | asks a store about a job, a user or a target, and prints what it says as text and JSON |
//! | [`show`] | shows readings on a screen, as tables, as JSON, and has the pages of HTML and their charts |
//! | [`source`] | brings readings: of commands, of a recording, or of a store |
//! | [`live`] | compares readings and keeps the state of all targets, whose work it is, and the rows that follow |
//! | [`ask`] | connects to the store that the configuration or the command line names |
//! | [`values`] | prints and reads numbers, names and times |

pub mod ask;
pub mod commands;
pub mod export;
pub mod live;
pub mod report;
pub mod show;
pub mod source;
pub mod subject;
pub mod terminal;
#[cfg(test)]
mod testing;
pub mod values;
