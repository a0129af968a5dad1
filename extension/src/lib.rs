//! pgrx glue: one file per SQL feature. The logic is in `jobstats-core`.

// PostgreSQL's `COMMENT ON` documents what is in SQL; these modules are private.
#![allow(missing_docs)]
// pgrx's error report is large, and made once per failed statement.
#![allow(clippy::result_large_err)]

use pgrx::prelude::*;

mod audit;
mod ballast;
mod by_pointer;
mod columns;
mod convert;
mod counter;
mod density;
mod error;
mod identify;
mod ingest;
mod internal;
mod jsonb;
mod maintenance;
mod memory;
mod metrics;
mod observed;
mod operations;
mod owner;
mod parse;
mod pause;
mod pinned;
mod prepared;
mod rate;
mod reading;
mod reidentify;
mod reprocess;
mod reserve;
mod rollup;
mod rows;
mod schedule;
mod settings;
mod setup;
mod short;
mod staged;
mod store;
mod time;
mod unpack;
mod zstd_text;

pg_module_magic!();

/// Prepares a session. PostgreSQL calls this when the session loads the library.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    ballast::prepare();
    ingest::register_memory();
    prepared::register_memory();
    staged::register_memory();
    zstd_text::register_memory();
}

extension_sql_file!("sql/internal.sql", name = "internal", bootstrap);
extension_sql_file!("sql/put_view.sql", name = "put_view");
extension_sql_file!("sql/locks.sql", name = "locks");
extension_sql_file!("sql/timescale.sql", name = "timescale");
extension_sql_file!(
    "sql/refresh.sql",
    name = "refresh",
    requires = ["timescale"]
);
extension_sql_file!("sql/maintain.sql", name = "maintain");
extension_sql_file!("sql/sweep.sql", name = "sweep");
extension_sql_file!(
    "sql/steps.sql",
    name = "steps",
    requires = ["maintain", "refresh", "sweep", "locks"]
);
extension_sql_file!("sql/settings.sql", name = "settings");
extension_sql_file!("sql/jobs.sql", name = "jobs");
extension_sql_file!("sql/convert.sql", name = "convert");
extension_sql_file!("sql/grants.sql", name = "grants");
extension_sql_file!("sql/privileges.sql", name = "privileges", finalize);
