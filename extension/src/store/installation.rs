//! The software that keeps the growing tables: PostgreSQL alone, or TimescaleDB.

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;

extension_sql_file!("installation/timescale.sql", name = "timescale");

/// The software that keeps the growing tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installation {
    /// PostgreSQL alone.
    Plain,
    /// TimescaleDB, with its functions in this schema.
    Timescale {
        schema: String,
        community: bool,
        version: String,
    },
}

/// Returns the software that is installed in this database.
pub fn installation(client: &SpiClient<'_>) -> Result<Installation, Error> {
    let found = client.select(
        "SELECT jobstats_internal.timescale_schema(), e.extversion, \
         current_setting('timescaledb.license', true) = 'timescale' \
         FROM pg_extension e WHERE e.extname = 'timescaledb'",
        Some(1),
        &[],
    )?;
    let Some(row) = found.into_iter().next() else {
        return Ok(Installation::Plain);
    };
    Ok(Installation::Timescale {
        schema: row.get::<String>(1)?.unwrap_or_default(),
        version: row.get::<String>(2)?.unwrap_or_default(),
        community: row.get::<bool>(3)?.unwrap_or(false),
    })
}

/// Turns a new relation of the store into a hypertable with chunks of `width`, an SQL expression, or creates its
/// default partition.
pub fn divide_by_time(
    client: &mut SpiClient<'_>,
    installation: &Installation,
    relation: &str,
    key: &str,
    width: &str,
) -> Result<(), Error> {
    let statement = match installation {
        Installation::Plain => format!(
            "CREATE TABLE jobstats.{relation}_default PARTITION OF jobstats.{relation} DEFAULT"
        ),
        Installation::Timescale { schema, .. } => format!(
            "SELECT {schema}.create_hypertable('jobstats.{relation}'::regclass, '{key}'::name, \
             chunk_time_interval => {width}, create_default_indexes => false)"
        ),
    };
    client.update(&statement, None, &[])?;
    Ok(())
}
