//! The relations of the store, as they are in this database.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::store::columns::operation_columns;

/// Returns the kind of a relation of the store, as in `pg_class.relkind`; `None` if there is no relation of this name.
pub fn kind(client: &SpiClient<'_>, relation: &str) -> Result<Option<char>, Error> {
    let kind: Option<String> = client.query_value(
        "SELECT c.relkind::text FROM pg_catalog.pg_class c \
         WHERE c.oid = pg_catalog.to_regclass(pg_catalog.format('jobstats.%I', $1))",
        &values![relation],
    )?;
    Ok(kind.and_then(|kind| kind.chars().next()))
}

/// Adds the columns of operations that a table or a continuous aggregate lacks because Lustre did not count them when they were made. They are
/// NULL in rows that exist already.
pub fn add_operations(client: &mut SpiClient<'_>, relation: &str) -> Result<(), Error> {
    let names: Vec<String> = operation_columns().map(|(_, name)| name).collect();
    let missing: Vec<String> = client.execute_value(
        "SELECT ARRAY(SELECT wanted.name FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, position) \
         WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = to_regclass(format('jobstats.%I', $2)) \
         AND a.attname = wanted.name AND NOT a.attisdropped) ORDER BY wanted.position)",
        &values![names, relation],
    )?;
    let kind = kind(client, relation)?;
    for name in missing {
        let statement = match kind {
            Some('v') => format!(
                "ALTER MATERIALIZED VIEW jobstats.{relation} ADD COLUMN \"{name}\" bigint \
                 GENERATED ALWAYS AS (sum(\"{name}\")::bigint) STORED"
            ),
            _ => format!("ALTER TABLE jobstats.{relation} ADD COLUMN \"{name}\" bigint"),
        };
        client.execute(&statement, &[])?;
    }
    Ok(())
}
