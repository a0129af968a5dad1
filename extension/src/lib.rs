//! pgrx glue: one file per SQL feature. The logic is in `jobstats-core`.
//!
//! # The rooms
//!
//! A room uses only rooms below it.
//!
//! | room | task |
//! |---|---|
//! | `events` | finds events in what was read, keeps them and tells of them |
//! | `audit` | computes stored values again, compares them, puts them right |
//! | `query` | answers questions |
//! | `feed` | stores texts: of targets, of `getent`, of schedulers |
//! | `matching` | finds the jobs that entries belong to |
//! | `summaries` | makes the types and aggregates for any counter and any values |
//! | `text` | parses, unpacks and identifies text, for who has no store too |
//! | `store` | makes the tables and views, and maintains them |
//! | `pg` | has what PostgreSQL itself is about: statements, rows, errors, memory, types, SQL templates |

// PostgreSQL's `COMMENT ON` documents what is in SQL; these modules are private.
#![allow(missing_docs)]
// pgrx's error report is large, and made once per failed statement.
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
    pg::receive::register_memory();
    text::zstd::register_memory();
    feed::register_memory();
}
