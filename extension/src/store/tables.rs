//! The tables of the store, and how they are partitioned.

use jobstats_core::accounting::matching::Values;
use jobstats_core::identity::entry_id::Identity;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::store::columns::{list, operation_columns};
use crate::store::growing::GROWING;
use crate::store::installation::{Installation, divide_by_time};
use crate::store::relations;
use crate::store::rollup;

/// The columns with packed values, and their tables: compressing them again would cost more than it saves.
const PACKED: [(&str, &str); 3] = [
    ("raw", "body"),
    ("raw", "carried"),
    ("target_snapshots", "body"),
];

/// The tables of increments, and the columns that group their rows in the columnstore.
const INCREMENTS: [(&str, &str); 3] = [
    ("increments", "target_id"),
    ("target_increments", "target_id"),
    ("server_increments", "cluster, server, service"),
];

/// Creates missing tables, and divides the growing ones into hypertables or partitions. New tables of a partitioned store are
/// partitioned, whatever is installed.
pub fn create(client: &mut SpiClient<'_>, installation: &Installation) -> Result<(), Error> {
    let installation = match relations::kind(client, "increments")? {
        Some('p') => &Installation::Plain,
        _ => installation,
    };
    let all_hidden: bool = client.query_value(
        "SELECT bool_and(h.relation IS NOT NULL) FROM jobstats_internal.hidden_tables() h",
        &[],
    )?;
    let mut new = Vec::new();
    for (table, _) in GROWING {
        if relations::kind(client, table)?.is_none() {
            new.push(table);
        }
    }
    client.execute(&definitions(&installation.partitioned("\"time\"")), &[])?;
    if !all_hidden {
        // Readers may read every table that is made.
        client.execute("SELECT jobstats_internal.hide_from_readers()", &[])?;
    }
    divide(client, installation, &new)?;
    relations::add_operations(client, "increments")?;
    relations::add_operations(client, "target_increments")
}

/// Turns new tables into hypertables, or creates their first partitions.
fn divide(
    client: &mut SpiClient<'_>,
    installation: &Installation,
    new: &[&str],
) -> Result<(), Error> {
    for table in new {
        for column in PACKED.iter().filter(|(packed, _)| packed == table) {
            let storage = format!(
                "ALTER TABLE jobstats.{table} ALTER COLUMN {} SET STORAGE EXTERNAL",
                column.1
            );
            client.execute(&storage, &[])?;
        }
        divide_by_time(client, installation, table, "time", "interval '1 day'")?;
        client.execute(
            "SELECT jobstats_internal.add_partitions($1, text 'day', now(), now() + interval '3 days')",
            &values![*table],
        )?;
    }
    Ok(())
}

/// Returns the statements that create all tables except rollups. `partitioned` is the clause for growing tables.
pub fn definitions(partitioned: &str) -> String {
    let columns: Vec<String> = operation_columns()
        .map(|(_, name)| format!("\"{name}\" bigint"))
        .collect();
    let observations = sql!(
        "tables/observations.sql",
        partitioned = partitioned,
        operation_columns = columns.join(",\n"),
    );
    let tables = sql!(
        "tables/tables.sql",
        identity = list(&Identity::COLUMNS, "{name} {type}"),
    );
    let jobs = sql!(
        "tables/jobs.sql",
        job_columns = list(&Values::COLUMNS, "{name} {type}"),
    );
    [
        &tables,
        &jobs,
        include_str!("tables/events.sql"),
        &observations,
    ]
    .concat()
}

/// Applies the settings on chunks, if TimescaleDB is installed.
pub fn tune(client: &mut SpiClient<'_>, installation: &Installation) -> Result<(), Error> {
    if let Installation::Timescale {
        schema, community, ..
    } = installation
    {
        // Of chunks that are made from now on.
        let growing = format!(
            "SELECT {schema}.set_chunk_time_interval(format('jobstats.%I', t.relation)::regclass, s.chunk_interval) \
             FROM jobstats.settings s, jobstats_internal.growing_tables() t \
             JOIN pg_class c ON c.oid = to_regclass(format('jobstats.%I', t.relation)) AND c.relkind = 'r'"
        );
        client.execute(&growing, &[])?;
        if *community {
            enable_columnstore(client)?;
        }
    }
    Ok(())
}

/// Enables the columnstore for old chunks. A batch has rows of one target in the order of time, so replacing an observation, or
/// recomputing a few buckets, unpacks little. Other tables and packed chunks stay unchanged.
fn enable_columnstore(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let increments = INCREMENTS.into_iter();
    let increments = increments.map(|(it, unit)| (it.to_owned(), unit, "\"time\""));
    let rollups = rollup::ROLLUPS.iter();
    let rollups = rollups.flat_map(|it| it.relations().into_iter());
    let rollups = rollups.map(|name| (name, "target_id", "bucket"));
    for (relation, unit, order) in increments.chain(rollups) {
        let lacks: bool = client.query_value(
            "SELECT EXISTS (SELECT FROM jobstats_internal.hypertables() h WHERE h.relation = $1 AND h.packed_by IS DISTINCT FROM $2)",
            &values![relation.as_str(), order],
        )?;
        if lacks {
            client.execute(
                &format!(
                    "ALTER TABLE jobstats.{relation} SET (timescaledb.enable_columnstore = true, \
                     timescaledb.segmentby = '{unit}', timescaledb.orderby = '{order}')"
                ),
                &[],
            )?;
        }
    }
    Ok(())
}
