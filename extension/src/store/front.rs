//! A front combines stores of several machines: it has no rows, and shows the rows of its nodes.
//!
//! A front has the relations of a store as parents of foreign tables: partitions by ranges of `target_id` for rows of targets,
//! so that nodes aggregate them, and children otherwise. So queries are the same as on a store.

use std::panic::AssertUnwindSafe;

use pgrx::pg_sys::panic::{CaughtError, ErrorReport};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call, connect_mut, values};
use crate::pg::{deadline, plans};
use crate::store::installation::Installation;
use crate::store::{self, comments, realtime, rollup, tables, views};

/// Rebuilds the relations of a front from the tables and views of this version.
fn build(client: &mut SpiClient<'_>) -> Result<(), Error> {
    if is_front(client)? {
        client.execute("SELECT jobstats_internal.unmake_front()", &[])?;
    } else {
        realtime::drop(client)?;
    }
    tables::create(client, &Installation::Plain)?;
    rollup::create(client, &Installation::Plain)?;
    client.execute(
        "UPDATE jobstats.settings SET version = $1",
        &values![store::VERSION],
    )?;
    views::create(client, &store::extension_schema()?)?;
    client.execute("SELECT jobstats_internal.make_front()", &[])?;
    comments::set(client)
}

#[pg_extern(sql = false)]
fn jobstats_build_front() -> SqlResult<()> {
    Ok(connect_mut(build)?)
}

/// Returns whether the store is a front. Reads the catalog only, which every role may read.
pub fn is_front(client: &SpiClient<'_>) -> Result<bool, Error> {
    plans::query_value(
        client,
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = 'jobstats' AND c.relname = 'targets' AND c.relkind = 'p')",
    )
}

/// Returns whether the front currently omits nodes.
pub fn leaves_out(client: &SpiClient<'_>) -> Result<bool, Error> {
    plans::query_value(
        client,
        "SELECT EXISTS (SELECT FROM jobstats.attached a WHERE a.left_out_since IS NOT NULL)",
    )
}

/// The message at the end of the time limit.
const IS_OVER: &str = "settings.node_timeout has passed";

/// Limits the waiting for nodes until [`on_nodes`] ends. Returns false if an outer limit exists.
pub fn limit(client: &SpiClient<'_>) -> Result<bool, Error> {
    deadline::start(plans::query_value(
        client,
        "SELECT (extract(epoch FROM s.node_timeout) * 1000)::integer FROM jobstats.settings s",
    )?)
}

#[pg_extern(sql = false)]
fn jobstats_limit_wait() -> SqlResult<bool> {
    Ok(connect_as_of_call(limit)?)
}

#[pg_extern(sql = false)]
fn jobstats_end_wait(limited: Option<bool>) -> Option<&'static str> {
    if limited == Some(true) {
        deadline::stop();
    }
    deadline::is_over().then_some(IS_OVER)
}

/// Raises a notice if the front omits nodes, and limits the waiting for the others.
///
/// # Errors
/// [`Error::Node`] if no node is left, and while maintenance is about to omit a node, which needs locks that a waiting query would hold.
pub fn note_left_out(client: &SpiClient<'_>) -> Result<(), Error> {
    limit(client)?;
    let row = plans::query_opt(
        client,
        "SELECT string_agg(format('%s (since %s)', a.name, date_trunc('second', a.left_out_since)), ', ' ORDER BY a.node) \
         FILTER (WHERE a.left_out_since IS NOT NULL) AS missing, bool_and(a.left_out_since IS NOT NULL) AS all_are, \
         string_agg(format('%s (%s)', a.name, a.problem), ', ' ORDER BY a.node) \
         FILTER (WHERE a.left_out_since IS NULL AND a.problem LIKE 'does not answer:%' AND s.leave_out_nodes) AS silent \
         FROM jobstats.attached a, jobstats.settings s",
    )?;
    let row = row.ok_or(Error::NoRow("attached"))?;
    if let Some(silent) = row.get("silent")? {
        return Err(Error::Node(silent));
    }
    let Some(missing) = row.get::<Option<String>>("missing")? else {
        return Ok(());
    };
    if row.get("all_are")? {
        return Err(Error::Node(missing));
    }
    ErrorReport::new(
        PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
        format!("the answer excludes nodes that do not answer: {missing}"),
        "jobstats",
    )
    .set_hint("Their targets lower the coverage. See jobstats.health.")
    .report(PgLogLevel::NOTICE);
    Ok(())
}

/// Reads from the store, which may be a front.
pub fn read<T>(read: impl FnOnce(&SpiClient<'_>) -> Result<T, Error>) -> Result<T, Error> {
    if !connect_as_of_call(is_front)? {
        return connect_as_of_call(read);
    }
    on_nodes(|| {
        connect_as_of_call(|client| {
            note_left_out(client)?;
            read(client)
        })
    })
}

/// Reads from nodes. A connection error becomes an [`Error::Node`]. The time limit ends with the query, or after an error with
/// the transaction.
pub fn on_nodes<T>(read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let is_outermost = !deadline::is_running();
    let answer = PgTryBuilder::new(AssertUnwindSafe(read))
        .catch_others(|caught| match &caught {
            CaughtError::PostgresError(report) if is_of_connection(report.sql_error_code()) => {
                let problem = match deadline::is_over() {
                    true => IS_OVER,
                    false => report.message().lines().next().unwrap_or_default(),
                };
                Err(Error::Node(problem.to_owned()))
            }
            _ => caught.rethrow(),
        })
        .execute()?;
    if is_outermost {
        deadline::stop();
    }
    Ok(answer)
}

/// Returns whether an error concerns the connection to a node: a broken connection of the session itself ends the session.
fn is_of_connection(code: PgSqlErrorCode) -> bool {
    matches!(
        code,
        PgSqlErrorCode::ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION
            | PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE
            | PgSqlErrorCode::ERRCODE_CONNECTION_DOES_NOT_EXIST
            | PgSqlErrorCode::ERRCODE_CONNECTION_EXCEPTION
            | PgSqlErrorCode::ERRCODE_ADMIN_SHUTDOWN
            | PgSqlErrorCode::ERRCODE_CRASH_SHUTDOWN
            | PgSqlErrorCode::ERRCODE_CANNOT_CONNECT_NOW
            | PgSqlErrorCode::ERRCODE_DATABASE_DROPPED
    )
}

/// Fails with [`Error::Front`] in a front, which has no rows to feed, retain or recompute.
pub fn require_rows(client: &SpiClient<'_>) -> Result<(), Error> {
    if is_front(client)? {
        return Err(Error::Front);
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn jobstats_require_own_rows() -> SqlResult<()> {
    Ok(connect_as_of_call(|client| {
        store::require(client)?;
        require_rows(client)
    })?)
}
