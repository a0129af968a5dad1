//! The part of `jobstats_convert()` that is not SQL: finds the relations of the store that are not what TimescaleDB, as
//! it is installed now, would have made of them, and the objects that stand in the way, and creates the successors of
//! the relations. The steps themselves are in `sql/convert.sql`.

use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use semver::Version;

use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_mut};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::store;
use crate::store::growing::GROWING;
use crate::store::installation::{Installation, divide_by_time, installation};
use crate::store::rollup::{ROLLUPS, Rollup};

/// The oldest TimescaleDB with suitable continuous aggregates: columns can be added to them from this version on.
const OLDEST_WITH_AGGREGATES: Version = Version::new(2, 28, 0);

/// A relation of the store that is to be converted.
struct Pending {
    relation: String,
    /// The time column.
    key: &'static str,
    /// The span of the rows that are copied at once.
    unit: &'static str,
    /// The width of chunks of a hypertable, as an SQL expression.
    chunk_width: String,
    /// The rollup that becomes a continuous aggregate; `None` if the relation becomes a hypertable.
    aggregate: Option<&'static Rollup>,
}

/// Returns the relations that are not yet as `installation` makes them, each after the relations that it is made from.
fn pending(client: &SpiClient<'_>, installation: &Installation) -> Result<Vec<Pending>, Error> {
    let Installation::Timescale { community, .. } = installation else {
        return Ok(Vec::new());
    };
    let growing = GROWING.iter().map(|(table, _)| Pending {
        relation: (*table).to_owned(),
        key: "time",
        unit: "day",
        chunk_width: "(SELECT s.chunk_interval FROM jobstats.settings s)".to_owned(),
        aggregate: None,
    });
    let sums = |level: &'static Rollup, relation: String| Pending {
        key: "bucket",
        unit: level.unit,
        chunk_width: level.chunk_width(&relation),
        aggregate: (*community && relation == level.relation()).then_some(level),
        relation,
    };
    let rollups = ROLLUPS.iter().map(|it| sums(it, it.relation()));
    let owned = ROLLUPS.iter();
    let owned = owned.flat_map(|it| it.owners().map(move |owner| sums(it, it.owned(owner))));
    let wholes = ROLLUPS.iter().map(|it| sums(it, it.wholes()));
    let mut found = Vec::new();
    for it in growing.chain(rollups).chain(owned).chain(wholes) {
        let is_pending = match store::kind(client, &it.relation)? {
            Some('p') => true,
            Some('r') => it.aggregate.is_some(),
            _ => false,
        };
        if is_pending {
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

/// Fails if TimescaleDB is missing, or too old for the continuous aggregates of its edition.
fn require_timescale(installation: &Installation) -> Result<(), Error> {
    match installation {
        Installation::Plain => Err(Error::NoTimescale),
        Installation::Timescale {
            community: true,
            version,
            ..
        } if Version::parse(version).is_ok_and(|it| it < OLDEST_WITH_AGGREGATES) => {
            Err(Error::OldTimescale(version.clone()))
        }
        Installation::Timescale { .. } => Ok(()),
    }
}

/// Fails if an object depends on a relation and would not survive its replacement.
fn require_free(client: &SpiClient<'_>, relation: &str) -> Result<(), Error> {
    let found = client.query_opt(include_str!("convert/dependents.sql"), &[relation.into()])?;
    match found {
        Some(row) => Err(Error::InTheWay {
            relation: relation.to_owned(),
            dependent: row.get("dependent")?,
        }),
        None => Ok(()),
    }
}

#[pg_extern(sql = false)]
fn jobstats_to_convert(mut rows: Rows) -> SqlResult<()> {
    let found = connect_mut(|client| -> Result<Vec<Pending>, Error> {
        store::require(client)?;
        let installation = installation(client)?;
        require_timescale(&installation)?;
        let found = pending(client, &installation)?;
        for it in &found {
            require_free(client, &it.relation)?;
        }
        Ok(found)
    })?;
    for it in found {
        rows.put(|| {
            [
                it.relation.cell(),
                it.key.cell(),
                it.unit.cell(),
                it.aggregate.is_some().cell(),
            ]
        });
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn jobstats_create_successor(relation: &str) -> SqlResult<Option<String>> {
    Ok(connect_mut(|client| create_successor(client, relation))?)
}

fn create_successor(client: &mut SpiClient<'_>, relation: &str) -> Result<Option<String>, Error> {
    let installation = installation(client)?;
    let Installation::Timescale { schema, .. } = &installation else {
        return Ok(None);
    };
    let mut pending = pending(client, &installation)?.into_iter();
    let Some(it) = pending.find(|it| it.relation == relation) else {
        return Ok(None);
    };
    client.execute(include_str!("convert/converting.sql"), &[])?;
    let successor = format!("new_{relation}");
    if let Some(level) = it.aggregate {
        level.create_aggregate(client, schema, &successor)?;
        return client.query_value(
            "SELECT format('%I.%I', a.materialization_hypertable_schema, a.materialization_hypertable_name) \
             FROM timescaledb_information.continuous_aggregates a WHERE a.view_schema = 'jobstats' AND a.view_name = $1",
            &[successor.into()],
        );
    }
    client.execute(
        &format!("CREATE TABLE jobstats.{successor} (LIKE jobstats.{relation} INCLUDING ALL)"),
        &[],
    )?;
    divide_by_time(client, &installation, &successor, it.key, &it.chunk_width)?;
    client.execute("SELECT jobstats_internal.give_replica_identity()", &[])?;
    Ok(Some(format!("jobstats.{successor}")))
}
