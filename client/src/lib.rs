//! Connects programs to a jobstats store, reads the answers of its functions as typed rows, and keeps readings until they
//! are sent. Programs also share exit codes, durations, files that nobody else may change, programs that are run, and manual pages.
//!
//! | module | content |
//! |---|---|
//! | [`settings`] | the settings of a connection, from the command line, the environment, and files, as libpq has them |
//! | [`tls`] | TLS with the modes of libpq |
//! | [`connection`] | clients that block, and sessions in a tokio runtime |
//! | [`failure`] | kinds of failures: which may pass, and which are of the settings, the rights or the data |
//! | [`retry`] | retries with exponential backoff, and its pauses with jitter |
//! | [`exit`] | exit codes, also those of failures |
//! | [`duration`] | durations in options and files |
//! | [`file`](mod@file) | errors that name a path, and paths that may lead nowhere |
//! | [`own_file`] | files that a program keeps for itself, which are no links |
//! | [`process`] | programs that run to their end or to a time limit, and pipes that are read until a deadline |
//! | [`trust`] | files with commands or secrets, and directories, which nobody else may change |
//! | [`generate`] | manual pages and completions of shells |
//! | [`answers`] | a struct for each question, and one for the rows of its answer |
//! | [`spool`] | readings on disk that wait until the database has stored them |
//!
//! A program flattens [`Options`] into its command line, makes a [`Connector`] of them, and asks:
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use jobstats_client::answers::{Dimension, Top, words};
//! use jobstats_client::{Connector, Error, Options, ask};
//!
//! fn main() -> Result<(), Error> {
//!     // Without options, the environment and the files of libpq name the database.
//!     let settings = Options::default().settings("example")?;
//!     let mut client = Connector::new(settings, Duration::from_secs(10))?.client()?;
//!     let question = Top {
//!         operation: Some("write_bytes".to_owned()),
//!         by: words([Dimension::Job]),
//!         n: Some(3),
//!         ..Top::default()
//!     };
//!     for row in ask(&mut client, &question)? {
//!         println!("job {}: {:?}", row.name, row.formatted);
//!     }
//!     Ok(())
//! }
//! ```

// A test may be a long table.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod answers;
pub mod connection;
pub mod duration;
mod error;
pub mod exit;
pub mod failure;
pub mod file;
pub mod generate;
pub mod own_file;
pub mod process;
pub mod retry;
pub mod settings;
pub mod spool;
pub mod tls;
pub mod trust;
pub mod variables;

pub use answers::ask;
pub use connection::{Connector, Notice, Session};
pub use error::Error;
pub use failure::Kind;
pub use file::FileError;
pub use retry::{Backoff, Retry};
pub use rust_decimal::Decimal;
pub use settings::{Options, Settings, SslMode};
