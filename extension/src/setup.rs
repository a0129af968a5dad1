//! `jobstats_setup()`: creates the store, or brings it up to date.

use std::fmt::Write as _;

use pgrx::datum::Interval;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use pgrx::spi::{SpiClient, quote_literal};

use crate::ballast::connect_mut;
use crate::columns::{meaning, operation_columns};
use crate::convert;
use crate::error::Error;
use crate::reading;
use crate::rollup;
use crate::schedule;
use crate::settings::{self, Wanted};
use crate::store;

/// The tables that grow with time.
pub const GROWING: [&str; 3] = ["raw", "observations", "increments"];

/// The plain views, which only show what is in the tables.
const VIEWS: [(&str, &str); 5] = [
    ("raw_text", include_str!("sql/raw_text.sql")),
    ("rates", include_str!("sql/rates.sql")),
    (
        "maintenance_state",
        include_str!("sql/maintenance_state.sql"),
    ),
    ("health", include_str!("sql/health.sql")),
    ("quality", include_str!("sql/quality.sql")),
];

/// The statement that turns off compression of raw text, which is packed before it is stored: trying to compress it
/// again would cost more than it saves.
const PACKED: &str = "ALTER TABLE jobstats.raw \
    ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN carried SET STORAGE EXTERNAL";

/// The formats that a new store knows, with the node label where the identifier names no node.
const FORMATS: &str =
    "INSERT INTO jobstats.entry_formats VALUES (1, '%j:%u:%H', NULL), (2, '%e.%u', 'login')";

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

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_setup(
    raw_retention interval DEFAULT NULL,
    retention interval DEFAULT NULL,
    rejects_retention interval DEFAULT NULL,
    rollup_10m_retention interval DEFAULT NULL,
    rollup_1h_retention interval DEFAULT NULL,
    rollup_1d_retention interval DEFAULT NULL,
    chunk_interval interval DEFAULT NULL,
    compress_after interval DEFAULT NULL,
    refresh_lag interval DEFAULT NULL
) RETURNS text
LANGUAGE c VOLATILE
SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_setup IS
'Creates the store in the schema jobstats, or brings it up to date; may be run again at any time. A setting that is NULL stays as it is (at first: raw text 2 days, increments 90 days, rejects 14 days; rollups of ten minutes 90 days, of hours 2 years, of days for ever, which is jobstats_forever(), each at least as long as what it sums; with TimescaleDB chunks of 1 day, in the Community edition kept in columns after 7 days; rollups stay 20 minutes behind). Returns what was chosen and how to schedule maintenance. Errors: 0A000 where the database is not UTF8, 55000 where a foreign schema jobstats is in the way, 22023 for a setting that is out of range, 23514 for settings that contradict each other.';
"#)]
#[allow(clippy::too_many_arguments)]
fn jobstats_setup(
    raw_retention: Option<Interval>,
    retention: Option<Interval>,
    rejects_retention: Option<Interval>,
    rollup_10m_retention: Option<Interval>,
    rollup_1h_retention: Option<Interval>,
    rollup_1d_retention: Option<Interval>,
    chunk_interval: Option<Interval>,
    compress_after: Option<Interval>,
    refresh_lag: Option<Interval>,
) -> Result<String, pgrx::pg_sys::panic::ErrorReport> {
    let wanted = Wanted {
        raw_retention,
        retention,
        rejects_retention,
        rollup_10m_retention,
        rollup_1h_retention,
        rollup_1d_retention,
        chunk_interval,
        compress_after,
        refresh_lag,
    };
    let message = connect_mut(|client| -> Result<String, Error> {
        require_utf8(client)?;
        let schema = store::extension_schema()?;
        let new = prepare_schema(client)?;
        if !new {
            lock_out_others(client)?;
        }
        let outdated = !new && is_outdated(client)?;
        let installation = installation(client)?;
        create_tables(client, &installation)?;
        if new || outdated {
            client.update(include_str!("sql/added.sql"), None, &[])?;
        }
        if new {
            client.update(FORMATS, None, &[])?;
            client.update(PACKED, None, &[])?;
            make_growing(client, &installation)?;
        }
        client.update("SELECT jobstats_internal.forget_writers()", None, &[])?;
        rollup::create(client, &installation)?;
        if !new {
            restore_settings(client)?;
        }
        client.update(
            "INSERT INTO jobstats.settings (version) VALUES ($1) ON CONFLICT (one) DO UPDATE SET version = $1",
            None,
            &[store::VERSION.into()],
        )?;
        wanted.apply(client)?;
        if let Installation::Timescale {
            schema, community, ..
        } = &installation
        {
            set_chunk_interval(client, schema)?;
            if *community {
                enable_columnstore(client)?;
            }
        }
        create_views(client, &schema)?;
        let share = "SELECT jobstats_internal.share_functions_on_text()";
        client.update(share, None, &[])?;
        comment(client)?;
        message(client, &installation, &schema)
    })?;
    Ok(message)
}

/// Puts the row of settings back if it was lost: the defaults, with retentions that keep everything that is stored, so that
/// the next maintenance does not drop what an earlier setting kept. Nobody knows either how large the stored values are.
fn restore_settings(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let restored = client.update(
        "INSERT INTO jobstats.settings (version, limited_since) VALUES ($1, now()) ON CONFLICT (one) DO NOTHING",
        None,
        &[store::VERSION.into()],
    )?;
    if restored.is_empty() {
        return Ok(());
    }
    client.update(include_str!("sql/keep_stored.sql"), None, &[])?;
    ErrorReport::new(
        PgSqlErrorCode::ERRCODE_WARNING,
        "the settings of the store had been lost and are the defaults again",
        "jobstats",
    )
    .set_hint("Set them again: the retentions are as long as what is stored is old.")
    .report(PgLogLevel::WARNING);
    Ok(())
}

fn require_utf8(client: &SpiClient<'_>) -> Result<(), Error> {
    let encoding = one_text(
        client,
        "SELECT pg_catalog.current_setting('server_encoding')",
    )?;
    if encoding == "UTF8" {
        Ok(())
    } else {
        Err(Error::Encoding(encoding))
    }
}

/// Creates the schema. Returns whether it is new. Refuses a schema that somebody else has made, because its content
/// would run with our rights.
fn prepare_schema(client: &mut SpiClient<'_>) -> Result<bool, Error> {
    loop {
        // This statement takes a new snapshot: another setup may just have made the schema.
        let found = client.update(
            &format!(
                "SELECT pg_get_userbyid(n.nspowner) = current_user AND coalesce(({}), false) \
                 FROM pg_namespace n WHERE n.nspname = 'jobstats'",
                store::IS_OURS
            ),
            Some(1),
            &[],
        )?;
        let ours = found.into_iter().next().map(|row| row.get::<bool>(1));
        match ours.transpose()?.flatten() {
            Some(true) => return Ok(false),
            Some(false) => return Err(Error::ForeignSchema),
            None => {}
        }
        let made = client.update("SELECT jobstats_internal.create_schema()", Some(1), &[])?;
        if made.first().get_one::<bool>()? == Some(true) {
            return Ok(true);
        }
    }
}

/// Returns whether an earlier version made the store. Fails if a later version made it, because this one does not know
/// all of it.
fn is_outdated(client: &SpiClient<'_>) -> Result<bool, Error> {
    // A store that has lost its settings may be of any version.
    let Some(version) = store::version(client)? else {
        return Ok(true);
    };
    match store::disagreement(version) {
        Some(error @ Error::StoreVersion { newer: true, .. }) => Err(error),
        other => Ok(other.is_some()),
    }
}

/// Waits for running feeds and maintenance to end and makes new ones wait, so that no deadlock over tables can arise. A
/// store of version 0.1 has no table of locks; setup waits there for the lock of the feed alone.
fn lock_out_others(client: &mut SpiClient<'_>) -> Result<(), Error> {
    for (relation, lock) in [
        (
            "jobstats.locks",
            "INSERT INTO jobstats.locks VALUES ('store') ON CONFLICT DO NOTHING; \
             SELECT jobstats_internal.lock_store()",
        ),
        ("jobstats.feed", "LOCK TABLE jobstats.feed"),
    ] {
        let found = client.update(
            "SELECT to_regclass($1) IS NOT NULL",
            Some(1),
            &[relation.into()],
        )?;
        if found.first().get_one::<bool>()? == Some(true) {
            client.update(lock, None, &[])?;
        }
    }
    Ok(())
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

fn create_tables(client: &mut SpiClient<'_>, installation: &Installation) -> Result<(), Error> {
    let partitioned = match installation {
        Installation::Plain => "PARTITION BY RANGE (\"time\")",
        Installation::Timescale { .. } => "",
    };
    let columns: Vec<String> = operation_columns()
        .map(|(_, name)| format!("    \"{name}\" bigint"))
        .collect();
    let statements = include_str!("sql/store.sql")
        .replace("@partitioned@", partitioned)
        .replace("@operation_columns@", &columns.join(",\n"));
    client.update(&statements, None, &[])?;
    store::add_operations(client, "increments")
}

/// Turns the growing tables into hypertables, or creates their first partitions.
fn make_growing(client: &mut SpiClient<'_>, installation: &Installation) -> Result<(), Error> {
    for table in GROWING {
        divide_by_time(client, installation, table, "time", "interval '1 day'")?;
    }
    client.update(
        "SELECT jobstats_internal.add_partitions(relation, text 'day', now(), now() + interval '3 days') \
         FROM unnest($1::text[]) AS relation",
        None,
        &[GROWING.to_vec().into()],
    )?;
    Ok(())
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

/// Sets the width of chunks that are made from now on.
fn set_chunk_interval(client: &mut SpiClient<'_>, timescale: &str) -> Result<(), Error> {
    client.update(
        &format!(
            "SELECT {timescale}.set_chunk_time_interval(format('jobstats.%I', relation)::regclass, s.chunk_interval) \
             FROM jobstats.settings s, unnest($1::text[]) AS relation \
             JOIN pg_class c ON c.oid = to_regclass(format('jobstats.%I', relation)) AND c.relkind = 'r'"
        ),
        None,
        &[GROWING.to_vec().into()],
    )?;
    Ok(())
}

/// Enables the columnstore for chunks that are old enough, segmented by target, so that replacing one observation
/// unpacks little. Relations that are not yet hypertables or continuous aggregates stay as they are.
fn enable_columnstore(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let off: Vec<String> = client
        .update(
            "SELECT h.hypertable_name::text FROM timescaledb_information.hypertables h \
             WHERE h.hypertable_schema = 'jobstats' AND NOT h.compression_enabled \
             UNION ALL \
             SELECT a.view_name::text FROM timescaledb_information.continuous_aggregates a \
             WHERE a.view_schema = 'jobstats' AND NOT a.compression_enabled",
            None,
            &[],
        )?
        .filter_map(|row| row.get::<String>(1).transpose())
        .collect::<Result<_, _>>()?;
    let rollups = rollup::LEVELS
        .iter()
        .map(|level| ("MATERIALIZED VIEW", level.relation(), "entry_id, bucket"));
    let users = rollup::LEVELS
        .iter()
        .map(|level| ("TABLE", level.users(), "bucket"));
    let increments = ("TABLE", "increments".to_owned(), "\"time\"");
    for (kind, relation, order) in std::iter::once(increments).chain(rollups).chain(users) {
        // A rollup that is still a hypertable of its own is no view.
        if off.contains(&relation)
            && (store::kind(client, &relation)? == Some('v')) == (kind != "TABLE")
        {
            client.update(
                &format!(
                    "ALTER {kind} jobstats.{relation} SET (timescaledb.enable_columnstore = true, \
                     timescaledb.segmentby = 'target_id', timescaledb.orderby = '{order}')"
                ),
                None,
                &[],
            )?;
        }
    }
    Ok(())
}

/// Creates the feed and the views. Existing ones are replaced in place, so that grants and views on top of them stay.
fn create_views(client: &mut SpiClient<'_>, schema: &str) -> Result<(), Error> {
    client.update(include_str!("sql/feed.sql"), None, &[])?;
    client.update(include_str!("sql/checked_settings.sql"), None, &[])?;
    let rates: Vec<String> = operation_columns()
        .map(|(_, name)| format!("    i.\"{name}\" / s.seconds AS \"{name}\""))
        .collect();
    for (name, definition) in rollup::LEVELS.iter().flat_map(rollup::Level::views) {
        client.update(
            "SELECT jobstats_internal.put_view($1, $2)",
            None,
            &[name.into(), definition.into()],
        )?;
    }
    for (name, definition) in VIEWS {
        let definition = reading::views::complete(definition)
            .replace("@extschema@", schema)
            .replace("@operation_rates@", &rates.join(",\n"));
        client.update(
            "SELECT jobstats_internal.put_view($1, $2)",
            None,
            &[name.into(), definition.into()],
        )?;
    }
    Ok(())
}

fn comment(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let mut statements = include_str!("sql/comments.sql").to_owned();
    for (column, name) in operation_columns() {
        let text = quote_literal(meaning(column));
        let _ = writeln!(
            statements,
            "COMMENT ON COLUMN jobstats.increments.\"{name}\" IS {text};"
        );
    }
    client.update(&statements, None, &[])?;
    rollup::comment(client)
}

fn message(
    client: &SpiClient<'_>,
    installation: &Installation,
    schema: &str,
) -> Result<String, Error> {
    let pending = convert::pending_names(client, installation)?;
    let mut kind = match installation {
        Installation::Plain => {
            "tables partitioned by day (TimescaleDB is not installed in this database)".to_owned()
        }
        Installation::Timescale { .. } if pending.iter().any(|it| it == "increments") => {
            "tables partitioned by day, made before TimescaleDB was installed".to_owned()
        }
        Installation::Timescale {
            version, community, ..
        } => format!(
            "hypertables of TimescaleDB {version} ({})",
            if *community {
                "Community edition"
            } else {
                "Apache edition"
            }
        ),
    };
    if !pending.is_empty() {
        let _ = write!(
            kind,
            ".\nCALL {schema}.jobstats_convert() makes of {} what TimescaleDB has now",
            pending.join(", ")
        );
    }
    Ok(format!(
        "The store of jobstats {version} is ready: {kind}.\n{kept}\n{schedule}",
        version = store::VERSION,
        kept = settings::told(client)?,
        schedule = schedule::advice(client, installation, schema)?,
    ))
}

/// Returns the single text that a query returns.
pub fn one_text(client: &SpiClient<'_>, query: &str) -> Result<String, Error> {
    let value = client
        .select(query, Some(1), &[])?
        .first()
        .get_one::<String>()?;
    value.ok_or_else(|| Error::Damaged(format!("no answer to: {query}")))
}
