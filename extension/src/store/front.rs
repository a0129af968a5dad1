//! Stores of several machines as one: a front has no rows of its own, and shows those of its nodes.
//!
//! A front has the relations of a store. Those that keep rows are parents of foreign tables: partitions by ranges of `target_id`, where
//! rows belong to targets, so that PostgreSQL can sum them where they lie; children elsewhere. So all questions are asked as of a store.

use std::panic::AssertUnwindSafe;

use pgrx::pg_sys::panic::{CaughtError, ErrorReport};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call, connect_mut};
use crate::pg::{deadline, plans};
use crate::store::installation::Installation;
use crate::store::{self, comments, realtime, rollup, tables, views};

/// Makes the relations of a front anew, of the tables and views that a new store of this version gets.
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
        &[store::VERSION.into()],
    )?;
    views::create(client, &store::extension_schema()?)?;
    client.execute("SELECT jobstats_internal.make_front()", &[])?;
    comments::set(client)
}

#[pg_extern(sql = false)]
fn jobstats_build_front() -> SqlResult<()> {
    Ok(connect_mut(build)?)
}

/// Returns whether the store is a front. Asks the catalog alone, which everybody may read.
pub fn is_front(client: &SpiClient<'_>) -> Result<bool, Error> {
    plans::query_value(
        client,
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = 'jobstats' AND c.relname = 'targets' AND c.relkind = 'p')",
    )
}

/// Returns whether the front answers without some of its nodes.
pub fn leaves_out(client: &SpiClient<'_>) -> Result<bool, Error> {
    plans::query_value(
        client,
        "SELECT EXISTS (SELECT FROM jobstats.attached a WHERE a.left_out_since IS NOT NULL)",
    )
}

/// The message where the limit ended the waiting.
const IS_OVER: &str = "settings.node_timeout has passed";

/// Limits how long what follows waits for nodes, until [`on_nodes`] ends. Returns whether nothing around has limited it.
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

/// Raises a notice if the front answers without some of its nodes, and limits how long the question waits for the others.
///
/// # Errors
/// [`Error::Node`] if no node is left, and while a node is about to be left out: a waiting question would hold the locks that this needs.
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
        format!("the answer is without nodes that do not answer: {missing}"),
        "jobstats",
    )
    .set_hint("Their targets lower the coverage. jobstats.health says why.")
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

/// Asks nodes. An error of a connection becomes an [`Error::Node`]. The limit ends with the question, after an error with the transaction.
pub fn on_nodes<T>(read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let is_outermost = !deadline::is_running();
    let answer = PgTryBuilder::new(AssertUnwindSafe(read))
        .catch_others(|caught| match &caught {
            CaughtError::PostgresError(report) if is_of_connection(report.sql_error_code()) => {
                let said = match deadline::is_over() {
                    true => IS_OVER,
                    false => report.message().lines().next().unwrap_or_default(),
                };
                Err(Error::Node(said.to_owned()))
            }
            _ => caught.rethrow(),
        })
        .execute()?;
    if is_outermost {
        deadline::stop();
    }
    Ok(answer)
}

/// Returns whether only a connection to a node can fail so: one to this session ends the session.
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

/// Fails with [`Error::Front`] in a front, which has no rows that could be fed, kept or computed again.
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
