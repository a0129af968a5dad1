//! pgrx glue: one file per SQL feature. The logic is in `jobstats-core`.
//!
//! # The rooms
//!
//! A room uses only rooms below it.
//!
//! | room | task |
//! |---|---|
//! | `events` | detects events, stores them and sends alerts |
//! | `audit` | recomputes stored values, compares and repairs them |
//! | `query` | answers queries |
//! | `feed` | stores texts of targets, `getent` and schedulers |
//! | `matching` | matches entries with jobs |
//! | `summaries` | defines types and aggregates for any counters and values |
//! | `text` | parses, unpacks and identifies text, also without a store |
//! | `store` | creates and maintains tables and views |
//! | `pg` | wraps PostgreSQL: statements, rows, errors, memory, types, SQL templates |

// SQL objects are documented by `COMMENT ON`; these modules are private.
#![allow(missing_docs)]
// An error report of pgrx is large, and made once per failed statement.
#![allow(clippy::result_large_err)]
#![warn(clippy::too_many_lines)]

use pgrx::prelude::*;

mod audit;
mod events;
mod feed;
mod matching;
mod pg;
mod query;
mod store;
mod summaries;
mod text;

pg_module_magic!();

/// Prepares a session. PostgreSQL calls this when the session loads the library.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    pg::ballast::prepare();
    pg::plans::register_memory();
    text::zstd::register_memory();
    feed::register_memory();
    store::register_memory();
}
