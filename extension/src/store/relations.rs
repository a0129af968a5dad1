//! The relations of the store, as they are in this database.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::store::columns::operation_columns;

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
