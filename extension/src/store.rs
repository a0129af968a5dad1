//! The store as every function needs it: whether it exists, its settings, and the schema of our functions.

use jobstats_core::increment::Micros;
use pgrx::prelude::*;
use pgrx::spi::{SpiClient, SpiHeapTupleData, SpiTupleTable, quote_identifier};

use crate::ballast::connect;
use crate::columns::operation_columns;
use crate::error::Error;

/// The version of the extension, and of the store that it makes.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The row of `jobstats.settings`, as far as ingest needs it.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The retention period of raw text.
    pub raw_retention: Micros,
    /// The time since which increments and observations are kept.
    pub kept_since: Micros,
    /// The largest time that the clock of a text may be ahead.
    pub max_ahead: Micros,
    /// The largest size of one target's text in bytes.
    pub max_text: u64,
    /// The largest number of targets of one text.
    pub max_targets: usize,
    /// The number of milliseconds that a feed waits for another one.
    pub feed_wait: i64,
    /// The largest rate of one operation, per second, that all entries of a target can reach together.
    pub max_rate: u64,
}

/// Reads the settings. Fails with [`Error::NoStore`] if there is no store.
pub fn settings(client: &SpiClient<'_>) -> Result<Settings, Error> {
    require(client)?;
    let row = only_row(
        client.select(
            "SELECT (extract(epoch FROM raw_retention) * 1000000)::bigint, \
             max_rate, (extract(epoch FROM max_ahead) * 1000000)::bigint, max_text, \
             (SELECT (extract(epoch FROM dropped) * 1000000)::bigint FROM jobstats.refresh), \
             max_targets::bigint, (extract(epoch FROM feed_wait) * 1000)::bigint FROM jobstats.settings",
            Some(1),
            &[],
        )?,
        "settings",
    )?;
    // Every setting is NOT NULL; the only other value comes from jobstats.refresh.
    let number = |position| row.get::<i64>(position)?.ok_or(Error::NoRow("refresh"));
    Ok(Settings {
        raw_retention: number(1)?,
        max_rate: u64::try_from(number(2)?).unwrap_or(0),
        max_ahead: number(3)?,
        max_text: u64::try_from(number(4)?).unwrap_or(0),
        kept_since: number(5)?,
        max_targets: usize::try_from(number(6)?).unwrap_or(0),
        feed_wait: number(7)?,
    })
}

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

/// Returns the row of a query on a table that has one. Fails with [`Error::NoRow`] if somebody has deleted it.
pub fn only_row<'c>(
    found: SpiTupleTable<'c>,
    table: &'static str,
) -> Result<SpiHeapTupleData<'c>, Error> {
    found.into_iter().next().ok_or(Error::NoRow(table))
}

/// Returns the numbers of a version, for comparison.
pub fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map_while(|it| it.parse().ok()).collect()
}

/// Waits for a setup or a step of maintenance, and makes the next one wait until the transaction ends.
pub fn lock(client: &mut SpiClient<'_>) -> Result<(), Error> {
    client.update("SELECT jobstats_internal.lock_store()", None, &[])?;
    Ok(())
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

/// Returns the kind of a relation of the store, as in `pg_class.relkind`; `None` if there is no relation of this name.
pub fn kind(client: &SpiClient<'_>, relation: &str) -> Result<Option<char>, Error> {
    let found = client.select(
        "SELECT c.relkind::text FROM pg_catalog.pg_class c \
         WHERE c.oid = pg_catalog.to_regclass(pg_catalog.format('jobstats.%I', $1))",
        Some(1),
        &[relation.into()],
    )?;
    let kind = found.into_iter().next().map(|row| row.get::<String>(1));
    Ok(kind
        .transpose()?
        .flatten()
        .and_then(|kind| kind.chars().next()))
}

/// Adds the columns of operations that increments, or a rollup, lack because an older version made them. They are NULL
/// in rows that exist already.
pub fn add_operations(client: &mut SpiClient<'_>, relation: &str) -> Result<(), Error> {
    let names: Vec<String> = operation_columns().map(|(_, name)| name).collect();
    let missing: Vec<(String, bool)> = client
        .update(
            "SELECT wanted.name, c.relkind = 'v' FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, position) \
             JOIN pg_class c ON c.oid = to_regclass(format('jobstats.%I', $2)) \
             WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid \
             AND a.attname = wanted.name AND NOT a.attisdropped) ORDER BY wanted.position",
            None,
            &[names.into(), relation.into()],
        )?
        .map(|row| Ok(row.get::<String>(1)?.zip(row.get::<bool>(2)?)))
        .filter_map(Result::transpose)
        .collect::<Result<_, Error>>()?;
    for (name, is_aggregate) in missing {
        let statement = if is_aggregate {
            format!(
                "ALTER MATERIALIZED VIEW jobstats.{relation} ADD COLUMN \"{name}\" bigint \
                 GENERATED ALWAYS AS (sum(\"{name}\")::bigint) STORED"
            )
        } else {
            format!("ALTER TABLE jobstats.{relation} ADD COLUMN \"{name}\" bigint")
        };
        client.update(&statement, None, &[])?;
    }
    Ok(())
}

/// Returns the value of a GUC in this transaction.
pub fn setting(client: &SpiClient<'_>, name: &str) -> Result<String, Error> {
    let value = client
        .select(
            "SELECT pg_catalog.current_setting($1)",
            Some(1),
            &[name.into()],
        )?
        .first()
        .get_one::<String>()?;
    Ok(value.unwrap_or_default())
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
fn jobstats_require_store() -> Result<(), pgrx::pg_sys::panic::ErrorReport> {
    Ok(connect(require)?)
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.require_top_level(routine text) RETURNS void
LANGUAGE c VOLATILE STRICT AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.require_top_level(text) IS
'Internal: fails with 25001 inside of a transaction block.';
"#)]
fn jobstats_require_top_level(routine: &str) -> Result<(), pgrx::pg_sys::panic::ErrorReport> {
    // SAFETY: reads a variable of this backend.
    #[allow(unsafe_code)]
    let in_block = unsafe { pgrx::pg_sys::IsTransactionBlock() };
    if in_block {
        return Err(Error::TransactionBlock(routine.to_owned()).into());
    }
    Ok(())
}
