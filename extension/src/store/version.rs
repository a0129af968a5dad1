//! Whether the store exists, which version of the extension made it, and where the functions of the extension are.

use pgrx::prelude::*;
use pgrx::spi::{SpiClient, quote_identifier};

use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, connect};

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
    let found = client.select("SELECT s.version FROM jobstats.settings s", Some(1), &[])?;
    let version = found.into_iter().next().map(|row| row.get::<String>(1));
    Ok(version.transpose()?.flatten())
}

/// Returns the [`Error::StoreVersion`] of a store that another version of the extension made.
pub fn disagreement(store: String) -> Option<Error> {
    (store != VERSION).then(|| Error::StoreVersion {
        newer: numbers(&store) > numbers(VERSION),
        store,
        extension: VERSION,
    })
}

/// Returns the numbers of a version, for comparison.
pub fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map_while(|it| it.parse().ok()).collect()
}

/// The query whether a relation `jobstats.settings` is ours; it returns no row if there is no such relation.
pub const IS_OURS: &str = "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'version' AND NOT a.attisdropped \
    WHERE c.oid = s.oid AND c.relkind = 'r') AS ours \
    FROM (SELECT pg_catalog.to_regclass('jobstats.settings') AS oid) s WHERE s.oid IS NOT NULL";

/// Returns whether this database has a store. Fails with [`Error::ForeignSchema`] if another schema has its name.
pub fn exists(client: &SpiClient<'_>) -> Result<bool, Error> {
    let found = client.select(IS_OURS, Some(1), &[])?;
    let ours = found.into_iter().next().map(|row| row.get::<bool>(1));
    match ours.transpose()?.flatten() {
        Some(false) => Err(Error::ForeignSchema),
        ours => Ok(ours.is_some()),
    }
}

/// Returns the schema of the extension's functions, quoted.
pub fn extension_schema() -> Result<String, Error> {
    // `Spi::get_one` would give the transaction an id, which a standby or a parallel query cannot do.
    let name = connect(|client| {
        let found = client.select(
            "SELECT n.nspname::text FROM pg_catalog.pg_extension e \
             JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'jobstats'",
            Some(1),
            &[],
        )?;
        Ok(found.first().get_one::<String>()?)
    })?;
    name.map(quote_identifier)
        .ok_or_else(|| Error::Damaged("the extension is not installed".to_owned()))
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.require_store() RETURNS void
LANGUAGE c STABLE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.require_store() IS
'Internal: fails with 55000 where the store is missing.';
"#)]
fn jobstats_require_store() -> SqlResult<()> {
    Ok(connect(require)?)
}
