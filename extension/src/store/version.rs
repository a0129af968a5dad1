//! Finds the store, the version of the extension that made it, and the schema of the extension.

use pgrx::prelude::*;
use pgrx::spi::{SpiClient, quote_identifier};
use semver::Version;

use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call};

/// The version of the extension, and of the store that it makes.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Fails with [`Error::NoStore`] if there is no store, with [`Error::StoreVersion`] if another version made it.
pub fn require(client: &SpiClient<'_>) -> Result<(), Error> {
    if !exists(client)? {
        return Err(Error::NoStore);
    }
    let store = version(client)?.ok_or(Error::NoRow("settings"))?;
    disagreement(store).map_or(Ok(()), Err)
}

/// Returns the version of the extension that made the store, or brought it up to date last; `None` if the row of
/// settings is lost.
pub fn version(client: &SpiClient<'_>) -> Result<Option<String>, Error> {
    plans::query_value(client, "SELECT s.version FROM jobstats.settings s")
}

/// Returns the [`Error::StoreVersion`] of a store that another version of the extension made.
pub fn disagreement(store: String) -> Option<Error> {
    (store != VERSION).then(|| Error::StoreVersion {
        newer: is_newer(&store),
        store,
        extension: VERSION,
    })
}

/// Returns whether a version is later than this one; false for an invalid version, which no release has.
fn is_newer(version: &str) -> bool {
    match (Version::parse(version), Version::parse(VERSION)) {
        (Ok(other), Ok(this)) => other > this,
        _ => false,
    }
}

/// The query whether a relation `jobstats.settings` is ours; it returns no row if there is no such relation.
pub const IS_OURS: &str = "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'version' AND NOT a.attisdropped \
    WHERE c.oid = s.oid AND c.relkind = 'r') AS ours \
    FROM (SELECT pg_catalog.to_regclass('jobstats.settings') AS oid) s WHERE s.oid IS NOT NULL";

/// Returns whether this database has a store. Fails with [`Error::ForeignSchema`] if another schema has its name.
pub fn exists(client: &SpiClient<'_>) -> Result<bool, Error> {
    match plans::query_value(client, IS_OURS)? {
        Some(false) => Err(Error::ForeignSchema),
        ours => Ok(ours.is_some()),
    }
}

/// Returns the schema of the extension's functions, quoted.
pub fn extension_schema() -> Result<String, Error> {
    // `Spi::get_one` would give the transaction an id, which a standby or a parallel query cannot do.
    let name: Option<String> = connect_as_of_call(|client| {
        client.query_value(
            "SELECT n.nspname::text FROM pg_catalog.pg_extension e \
             JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'jobstats'",
            &[],
        )
    })?;
    name.map(quote_identifier)
        .ok_or_else(|| Error::Damaged("the extension is not installed".to_owned()))
}

#[pg_extern(sql = false)]
fn jobstats_require_store() -> SqlResult<()> {
    Ok(connect_as_of_call(require)?)
}
