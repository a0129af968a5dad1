//! `jobstats_setup()`: creates the store, or brings it up to date.

use std::fmt::Write as _;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::guc;
use crate::pg::spi::{SqlResult, Statements, connect_mut, values};
use crate::store;
use crate::store::comments;
use crate::store::formats;
use crate::store::installation::{Installation, installation};
use crate::store::maintain::schedule;
use crate::store::relations;
use crate::store::repair::{self, CheckResult};
use crate::store::rollup;
use crate::store::settings;
use crate::store::{convert, realtime, tables, version, views};

#[pg_extern(sql = false)]
fn jobstats_set_up(mut arguments: Arguments<'_>) -> SqlResult<String> {
    let requested = settings::parameters(&mut arguments)?;
    let message = connect_mut(|client| -> Result<String, Error> {
        let encoding = guc::setting(client, "server_encoding")?;
        if encoding != "UTF8" {
            return Err(Error::Encoding(encoding));
        }
        let schema = store::extension_schema()?;
        let new = prepare_schema(client)?;
        if !new {
            store::require_rows(client)?;
            lock_out_others(client)?;
            refuse_later(client)?;
        }
        let installation = installation(client)?;
        let lacks_spans = !new && relations::kind(client, "spans")?.is_none();
        tables::create(client, &installation)?;
        if new {
            formats::insert_default(client)?;
        }
        client.execute("SELECT jobstats_internal.forget_roles()", &[])?;
        rollup::create(client, &installation)?;
        if !new {
            settings::restore(client)?;
            client.execute("SELECT jobstats_internal.drop_copies()", &[])?;
        }
        client.execute(
            "INSERT INTO jobstats.settings (version) VALUES ($1) ON CONFLICT (one) DO UPDATE SET version = $1",
            &values![store::VERSION],
        )?;
        settings::apply(client, &requested)?;
        client.execute(include_str!("rollup/heal.sql"), &[])?;
        tables::tune(client, &installation)?;
        realtime::create(client, &installation)?;
        client.execute("SELECT jobstats_internal.give_replica_identity()", &[])?;
        // Direct changes of settings are checked, too.
        client.execute(include_str!("settings/checked.sql"), &[])?;
        views::create(client, &schema)?;
        if lacks_spans {
            let all = "SELECT jobstats_internal.note_spans('-infinity', 'infinity')";
            client.execute(all, &[])?;
        }
        let share = "SELECT jobstats_internal.share_functions_on_text()";
        client.execute(share, &[])?;
        let checked = repair::check(client)?;
        comments::set(client)?;
        if let Some(damage) = &checked.damage {
            warn_of(damage);
        }
        message(client, &installation, &schema, &checked)
    })?;
    Ok(message)
}

/// Creates the schema. Returns whether it is new. Refuses a foreign schema, whose content would run with our rights.
fn prepare_schema(client: &mut SpiClient<'_>) -> Result<bool, Error> {
    loop {
        // This statement takes a new snapshot: another setup may just have made the schema.
        let ours = client.execute_value(
            &format!(
                "SELECT pg_get_userbyid(n.nspowner) = current_user AND coalesce(({}), false) \
                 FROM pg_namespace n WHERE n.nspname = 'jobstats'",
                version::IS_OURS
            ),
            &[],
        )?;
        match ours {
            Some(true) => return Ok(false),
            Some(false) => return Err(Error::ForeignSchema),
            None => {}
        }
        if client.execute_value("SELECT jobstats_internal.create_schema()", &[])? {
            return Ok(true);
        }
    }
}

/// Fails if a later version made the store.
fn refuse_later(client: &SpiClient<'_>) -> Result<(), Error> {
    match version::version(client)?.and_then(version::disagreement) {
        Some(error @ Error::StoreVersion { newer: true, .. }) => Err(error),
        _ => Ok(()),
    }
}

/// Waits for running feeds and maintenance and locks out new ones, to avoid deadlocks over tables. A missing relation cannot be
/// locked.
///
/// On a busy store a feed is always running, so setup waits longer for feeds than for queries, which may take hours.
fn lock_out_others(client: &mut SpiClient<'_>) -> Result<(), Error> {
    client.execute("SET LOCAL lock_timeout = '2s'", &[])?;
    for (relation, lock) in [
        (
            "jobstats.locks",
            "INSERT INTO jobstats.locks VALUES ('store') ON CONFLICT DO NOTHING; \
             SELECT jobstats_internal.lock_store()",
        ),
        ("jobstats.feed", "LOCK TABLE jobstats.feed"),
    ] {
        if client.execute_value("SELECT to_regclass($1) IS NOT NULL", &values![relation])? {
            client.execute(lock, &[])?;
        }
    }
    client.run("SET LOCAL lock_timeout = '300ms'", &[])
}

fn warn_of(damage: &str) {
    let problem = format!("the store of jobstats is damaged: {damage}");
    ErrorReport::new(PgSqlErrorCode::ERRCODE_DATA_CORRUPTED, problem, "jobstats_setup")
        .set_hint(
            "Restore it from a backup, or recompute increments with jobstats_reprocess() as far as raw text is retained.",
        )
        .report(PgLogLevel::WARNING);
}

fn message(
    client: &SpiClient<'_>,
    installation: &Installation,
    schema: &str,
    checked: &CheckResult,
) -> Result<String, Error> {
    let pending = convert::pending_names(client, installation)?;
    let mut kind = match installation {
        Installation::Plain => {
            "tables partitioned by day (TimescaleDB is not installed in this database)".to_owned()
        }
        Installation::Timescale { .. } if pending.iter().any(|it| it == "increments") => {
            "tables partitioned by day, created before TimescaleDB was installed".to_owned()
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
            ".\nCALL {schema}.jobstats_convert() converts {} to the installed TimescaleDB",
            pending.join(", ")
        );
    }
    let mended = checked.mended.as_ref();
    let mended = mended.map_or_else(String::new, |mended| format!("\nRepaired: {mended}."));
    let state = match checked.damage {
        Some(_) => "is damaged",
        None => "is ready",
    };
    Ok(format!(
        "The store of jobstats {version} {state}: {kind}.{mended}\n{kept}\n{schedule}",
        version = store::VERSION,
        kept = settings::retention_summary(client)?,
        schedule = schedule::advice(client, installation, schema)?,
    ))
}
