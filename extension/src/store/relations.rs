//! The relations of the store, as they are in this database.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::store::columns::operation_columns;

/// Returns the kind of a relation of the store, as in `pg_class.relkind`; `None` if there is no relation of this name.
pub fn kind(client: &SpiClient<'_>, relation: &str) -> Result<Option<char>, Error> {
    let kind: Option<String> = client.query_value(
        "SELECT c.relkind::text FROM pg_catalog.pg_class c \
         WHERE c.oid = pg_catalog.to_regclass(pg_catalog.format('jobstats.%I', $1))",
        &[relation.into()],
    )?;
    Ok(kind.and_then(|kind| kind.chars().next()))
}

/// Adds the columns of operations that increments, or a rollup, lack because Lustre did not count them when they were made. They are
/// NULL in rows that exist already.
pub fn add_operations(client: &mut SpiClient<'_>, relation: &str) -> Result<(), Error> {
    let names: Vec<String> = operation_columns().map(|(_, name)| name).collect();
    let missing = client
        .execute_rows(
            "SELECT wanted.name, c.relkind = 'v' AS is_aggregate FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, position) \
             JOIN pg_class c ON c.oid = to_regclass(format('jobstats.%I', $2)) \
             WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid \
             AND a.attname = wanted.name AND NOT a.attisdropped) ORDER BY wanted.position",
            &[names.into(), relation.into()],
        )?
        .map(|row| Ok((row.get("name")?, row.get("is_aggregate")?)))
        .collect::<Result<Vec<(String, bool)>, Error>>()?;
    for (name, is_aggregate) in missing {
        let statement = if is_aggregate {
            format!(
                "ALTER MATERIALIZED VIEW jobstats.{relation} ADD COLUMN \"{name}\" bigint \
                 GENERATED ALWAYS AS (sum(\"{name}\")::bigint) STORED"
            )
        } else {
            format!("ALTER TABLE jobstats.{relation} ADD COLUMN \"{name}\" bigint")
        };
        client.execute(&statement, &[])?;
    }
    Ok(())
}
