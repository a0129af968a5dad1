//! `jobstats_maintain()`: partitions, rollups and retention, step by step.

mod lock;
pub mod schedule;

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::guc;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call, values};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::store::rights::owner::{Rights, current_user};
pub use lock::register_memory;

/// Waits for a setup or a step of maintenance, and makes the next one wait until the transaction ends.
pub fn lock(client: &mut SpiClient<'_>) -> Result<(), Error> {
    client.run("SELECT jobstats_internal.lock_store()", &[])
}

/// The sessions that hold locks of a feed, for a role that may read health or feed.
const FEEDING: &str = "\
    SELECT a.pid, a.usename::text AS role, a.xact_start AS since, CASE WHEN a.state LIKE 'idle in transaction%' THEN a.state_change END AS idle_since \
    FROM pg_catalog.pg_stat_activity a \
    WHERE a.datname = pg_catalog.current_database() AND a.pid <> pg_catalog.pg_backend_pid() AND EXISTS ( \
            SELECT FROM pg_catalog.pg_locks l \
            WHERE l.pid = a.pid AND l.granted AND l.relation = pg_catalog.to_regclass('jobstats.targets') AND l.mode = 'RowShareLock') \
        AND (pg_catalog.has_table_privilege($1, pg_catalog.to_regclass('jobstats.health')::oid, 'SELECT') \
            OR pg_catalog.has_table_privilege($1, pg_catalog.to_regclass('jobstats.feed')::oid, 'INSERT')) \
    ORDER BY a.xact_start";

#[pg_extern(sql = false)]
fn jobstats_feeding(mut rows: Rows) -> SqlResult<()> {
    let caller = current_user();
    // The owner of the function is a superuser: PostgreSQL shows other roles no start of a transaction.
    let owner = "SELECT p.proowner FROM pg_catalog.pg_proc p WHERE p.oid = 'jobstats_internal.feeding()'::pg_catalog.regprocedure";
    let _rights = Rights::of(connect_as_of_call(|client| client.query_value(owner, &[]))?);
    Ok(connect_as_of_call(|client| {
        for row in client.query(FEEDING, &values![caller])? {
            let (pid, role): (i32, String) = (row.get("pid")?, row.get("role")?);
            let since: Option<TimestampWithTimeZone> = row.get("since")?;
            let idle_since: Option<TimestampWithTimeZone> = row.get("idle_since")?;
            rows.put(|| [pid.cell(), role.cell(), since.cell(), idle_since.cell()]);
        }
        Ok(())
    })?)
}

#[pg_extern(sql = false)]
fn jobstats_require_top_level(routine: &str) -> SqlResult<()> {
    guc::require_writable()?;
    // SAFETY: reads a variable of this backend.
    #[allow(unsafe_code)]
    let in_block = unsafe { pgrx::pg_sys::IsTransactionBlock() };
    if in_block {
        return Err(Error::TransactionBlock(routine.to_owned()).into());
    }
    Ok(())
}
