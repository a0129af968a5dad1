//! pgrx glue: one file per SQL feature. The logic is in `jobstats-core`.

// PostgreSQL's `COMMENT ON` documents what is in SQL; these modules are private.
#![allow(missing_docs)]

use pgrx::prelude::*;

mod columns;
mod error;
mod identify;
mod ingest;
mod operations;
mod parse;
mod reidentify;
mod setup;
mod staged;
mod store;
mod time;
mod unpack;
mod zstd_text;

pg_module_magic!();

extension_sql_file!("sql/maintain.sql", name = "maintain");
extension_sql_file!(
    "sql/grants.sql",
    name = "grants",
    requires = [store::jobstats_require_store]
);
