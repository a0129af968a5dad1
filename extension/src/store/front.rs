//! Stores of several machines as one: a front has no rows of its own, and shows those of its nodes.
//!
//! A front has the relations of a store. Those that keep rows are parents of foreign tables: partitions by ranges of `target_id`, where
//! rows belong to targets, so that PostgreSQL can sum them where they lie; children elsewhere. So all questions are asked as of a store.

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect, connect_mut};
use crate::store::installation::Installation;
use crate::store::{self, comments, rollup, tables, views};

extension_sql_file!("front/relations.sql", name = "front_relations");
extension_sql_file!("front/number.sql", name = "front_number");
extension_sql_file!("front/attach.sql", name = "front_attach");
extension_sql_file!("front/nodes.sql", name = "front_nodes");

/// Makes the relations of a front anew, of the tables and views that a new store of this version gets.
fn build(client: &mut SpiClient<'_>) -> Result<(), Error> {
    if is_front(client)? {
        client.execute("SELECT jobstats_internal.unmake_front()", &[])?;
    } else {
        rollup::drop_aggregates(client)?;
    }
    tables::create(client, &Installation::Plain)?;
    tables::add_columns(client)?;
    rollup::create(client, &Installation::Plain)?;
    client.execute(
        "UPDATE jobstats.settings SET version = $1",
        &[store::VERSION.into()],
    )?;
    views::create(client, &store::extension_schema()?)?;
    client.execute("SELECT jobstats_internal.make_front()", &[])?;
    comments::set(client)
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.build_front() RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.build_front() IS
'Internal: makes the relations of a front, with those of all attached nodes.';
"#)]
fn jobstats_build_front() -> SqlResult<()> {
    Ok(connect_mut(build)?)
}

/// Returns whether the store is a front. Asks the catalog alone, which everybody may read, also of a store of an earlier version.
pub fn is_front(client: &SpiClient<'_>) -> Result<bool, Error> {
    client.query_value(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = 'jobstats' AND c.relname = 'targets' AND c.relkind = 'p')",
        &[],
    )
}

/// Fails with [`Error::Front`] in a front, which has no rows that could be fed, kept or computed again.
pub fn require_rows(client: &SpiClient<'_>) -> Result<(), Error> {
    if is_front(client)? {
        return Err(Error::Front);
    }
    Ok(())
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.require_own_rows() RETURNS void
LANGUAGE c STABLE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.require_own_rows() IS
'Internal: fails with 55000 where the store is missing, and in a front, which has no rows of its own.';
"#)]
fn jobstats_require_own_rows() -> SqlResult<()> {
    Ok(connect(|client| {
        store::require(client)?;
        require_rows(client)
    })?)
}
