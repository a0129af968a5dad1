//! Shows who uses a Lustre file system.
//!
//! | module | what it has |
//! |---|---|
//! | [`options`], [`config`] | the command line and the configuration file |
//! | [`source`] | where readings come from: [commands](`process`), or a [recording](`recording`) |
//! | [`track`] | compares each text of a target with the one before |
//! | [`who`], [`interval`] | whose work it is, and what happened between two texts of a target |
//! | [`board`] | the state of all targets: last work, late ones, the load over time |
//! | [`view`], [`rows`], [`order`] | what is looked at, the rows that follow, and their places |
//! | [`number`], [`text`] | numbers and names in cells |

pub mod board;
pub mod columns;
pub mod config;
pub mod interval;
pub mod number;
pub mod options;
pub mod order;
pub mod process;
pub mod recording;
pub mod rows;
pub mod source;
#[cfg(test)]
mod testing;
pub mod text;
pub mod track;
pub mod view;
pub mod who;
