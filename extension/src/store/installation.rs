//! The software that keeps the growing tables: PostgreSQL alone, or TimescaleDB.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;

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

impl Installation {
    /// Returns how a new table is divided by a column of time: by PostgreSQL, if not by TimescaleDB.
    pub fn partitioned(&self, key: &str) -> String {
        match self {
            Self::Plain => format!("PARTITION BY RANGE ({key})"),
            Self::Timescale { .. } => String::new(),
        }
    }
}

/// Returns the software that is installed in this database.
pub fn installation(client: &SpiClient<'_>) -> Result<Installation, Error> {
    let found = client.query_opt(
        "SELECT jobstats_internal.timescale_schema() AS schema, e.extversion AS version, \
         coalesce(current_setting('timescaledb.license', true) = 'timescale', false) AS community \
         FROM pg_extension e WHERE e.extname = 'timescaledb'",
        &[],
    )?;
    let Some(row) = found else {
        return Ok(Installation::Plain);
    };
    Ok(Installation::Timescale {
        schema: row.get("schema")?,
        version: row.get("version")?,
        community: row.get("community")?,
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
    client.run(&statement, &[])
}
