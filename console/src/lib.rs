//! Shows who uses a Lustre file system.
//!
//! | module | what it has |
//! |---|---|
//! | [`options`], [`config`], [`generate`] | the command line, the configuration file, manual pages and completions |
//! | [`source`] | where readings come from: [commands](`process`), a [recording](`recording`), or a [store](`source::stored`) |
//! | [`track`] | compares each text of a target with the one before |
//! | [`who`], [`users`], [`interval`] | whose work it is, and what happened between two texts of a target |
//! | [`board`] | the state of all targets: last work, late ones, the load over time |
//! | [`view`], [`rows`], [`order`] | what is looked at, the rows that follow, and their places |
//! | [`number`], [`text`], [`columns`] | numbers and names in cells, and the columns that fit |
//! | [`page`] | the text of the whole screen |
//! | [`app`], [`keys`], [`screen`], [`signals`] | what keys do, the terminal, and how the program is ended |
//! | [`mod@print`], [`json`] | tables without a screen |
//! | [`store`], [`when`] | the connection to a store, and times as people type them |
//! | [`report`], [`html`], [`chart`] | reports, the pages that show them, and charts in pages |
//! | [`export`] | files of Parquet, one for each day |
//! | [`inquiry`], [`error`], [`subject`] | the commands that ask a store once, why they fail, and what they show: a job, a user, a target |

pub mod app;
pub mod board;
pub mod chart;
pub mod columns;
pub mod config;
pub mod error;
pub mod export;
pub mod generate;
pub mod html;
pub mod inquiry;
pub mod interval;
pub mod json;
pub mod keys;
pub mod number;
pub mod options;
pub mod order;
pub mod page;
pub mod print;
pub mod process;
pub mod recording;
pub mod report;
pub mod rows;
pub mod screen;
pub mod signals;
pub mod source;
pub mod store;
pub mod subject;
#[cfg(test)]
mod testing;
pub mod text;
pub mod track;
pub mod users;
pub mod view;
pub mod when;
pub mod who;
