//! Connects programs to a jobstats store, reads the answers of its functions as typed rows, and spools scrapes until they are sent.
//!
//! A room uses only rooms below it.
//!
//! | room | task |
//! |---|---|
//! | [`program`] | exit codes, durations in options, child processes, manual pages and shell completions |
//! | [`answers`] | a struct for each question, and a struct for the rows of its answer |
//! | [`database`] | settings as in libpq, TLS, connections, failures and retries |
//! | [`spool`] | scrapes on disk until the database has stored them |
//! | [`files`] | safe reading and writing of files: permissions, symbolic links, errors that name the path |
//!
//! A program flattens [`Options`] into its command line, makes a [`Connector`] of them, and runs questions:
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
//!         println!("job {:?}: {:?}", row.labels.job, row.total);
//!     }
//!     Ok(())
//! }
//! ```

// A test may be a long table.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod answers;
pub mod spool;

/// Connections to a store.
pub mod database {
    pub mod connection;
    pub(crate) mod error;
    pub mod failure;
    pub mod retry;
    pub mod settings;
    pub mod tls;
}

/// Files that only their owner may change.
pub mod files {
    pub mod file;
    pub mod own_file;
    pub mod trust;
    pub mod variables;
}

/// Shared code of command-line programs.
pub mod program {
    pub mod duration;
    pub mod exit;
    pub mod generate;
    pub mod process;
}

pub use answers::ask;
pub use database::connection::{Connector, Notice, Session};
pub use database::error::Error;
pub use database::failure::Kind;
pub use database::settings::{Options, Settings, SslMode};
pub use files::file::FileError;
pub use rust_decimal::Decimal;
