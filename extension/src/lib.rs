//! pgrx glue: one file per SQL feature. The logic is in `jobstats-core`.

// PostgreSQL's `COMMENT ON` documents what is in SQL; these modules are private.
#![allow(missing_docs)]
// pgrx's error report is large, and made once per failed statement.
#![allow(clippy::result_large_err)]

use pgrx::prelude::*;

mod audit;
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
}
