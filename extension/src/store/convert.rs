//! The part of `jobstats_convert()` that is not SQL: finds the tables of the store that are partitioned although TimescaleDB is
//! installed, and the objects that stand in the way, and makes hypertables to copy them into. The rest is in `sql/convert.sql`.

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_mut, values};
use crate::store;
use crate::store::growing::GROWING;
use crate::store::installation::{Installation, divide_by_time, installation};
use crate::store::rollup::ROLLUPS;

/// A table to convert.
struct PendingTable {
    relation: String,
    /// The time column.
    key: &'static str,
    /// The width of chunks, as an SQL expression.
    chunk_width: String,
}

/// Returns the tables that are not yet hypertables, each after its sources.
fn pending(
    client: &SpiClient<'_>,
    installation: &Installation,
) -> Result<Vec<PendingTable>, Error> {
    if *installation == Installation::Plain {
        return Ok(Vec::new());
    }
    let growing = GROWING.iter().map(|(table, _)| PendingTable {
        relation: (*table).to_owned(),
        key: "time",
        chunk_width: "(SELECT s.chunk_interval FROM jobstats.settings s)".to_owned(),
    });
    let rollups = ROLLUPS.iter().flat_map(|rollup| {
        let relations = rollup.relations().into_iter();
        relations.map(|relation| PendingTable {
            key: "bucket",
            chunk_width: rollup.chunk_width(&relation),
            relation,
        })
    });
    let mut found = Vec::new();
    for it in growing.chain(rollups) {
        if store::kind(client, &it.relation)? == Some('p') {
            found.push(it);
        }
    }
    Ok(found)
}

/// Returns the names of the relations that `jobstats_convert()` would convert.
pub fn pending_names(
    client: &SpiClient<'_>,
    installation: &Installation,
) -> Result<Vec<String>, Error> {
    let found = pending(client, installation)?;
    Ok(found.into_iter().map(|it| it.relation).collect())
}

/// Fails if an object depends on a relation and would not survive its replacement.
fn require_free(client: &SpiClient<'_>, relation: &str) -> Result<(), Error> {
    let found = client.query_opt(include_str!("convert/dependents.sql"), &values![relation])?;
    match found {
        Some(row) => Err(Error::InTheWay {
            relation: relation.to_owned(),
            dependent: row.get("dependent")?,
        }),
        None => Ok(()),
    }
}

#[pg_extern(sql = false)]
fn jobstats_to_convert() -> SqlResult<Vec<String>> {
    Ok(connect_mut(|client| {
        store::require(client)?;
        let installation = installation(client)?;
        if installation == Installation::Plain {
            return Err(Error::NoTimescale);
        }
        let found = pending_names(client, &installation)?;
        for relation in &found {
            require_free(client, relation)?;
        }
        Ok(found)
    })?)
}

#[pg_extern(sql = false)]
fn jobstats_create_successor(relation: &str) -> SqlResult<()> {
    Ok(connect_mut(|client| -> Result<(), Error> {
        let installation = installation(client)?;
        let mut pending = pending(client, &installation)?.into_iter();
        let Some(it) = pending.find(|it| it.relation == relation) else {
            return Ok(());
        };
        let successor = format!("new_{relation}");
        client.execute(
            &format!(
                "DROP TABLE IF EXISTS jobstats.{successor}; \
                 CREATE TABLE jobstats.{successor} (LIKE jobstats.{relation} INCLUDING ALL)"
            ),
            &[],
        )?;
        divide_by_time(client, &installation, &successor, it.key, &it.chunk_width)?;
        client.run("SELECT jobstats_internal.give_replica_identity()", &[])
    })?)
}
