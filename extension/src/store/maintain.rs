//! `jobstats_maintain()`: partitions, rollups and retention, step by step.

mod lock;
pub mod schedule;

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::guc;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call};
use crate::pg::tuplestore::Rows;
use crate::store::rights::owner::{Rights, current_user};

extension_sql_file!("maintain/locks.sql", name = "locks");
extension_sql_file!("maintain/maintain.sql", name = "maintain");
extension_sql_file!("maintain/sweep.sql", name = "sweep");
extension_sql_file!("maintain/samples.sql", name = "maintain_samples");
extension_sql_file!(
    "maintain/steps.sql",
    name = "steps",
    requires = ["maintain", "refresh", "sweep", "locks"]
);
extension_sql_file!("maintain/jobs.sql", name = "jobs");
extension_sql_file!("maintain/advice.sql", name = "advice");
extension_sql_file!("maintain/findings.sql", name = "findings");

/// Waits for a setup or a step of maintenance, and makes the next one wait until the transaction ends.
pub fn lock(client: &mut SpiClient<'_>) -> Result<(), Error> {
    client.execute("SELECT jobstats_internal.lock_store()", &[])?;
    Ok(())
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

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.feeding() RETURNS TABLE (pid integer, role text, since timestamptz, idle_since timestamptz)
LANGUAGE c STABLE SET search_path = pg_catalog, pg_temp
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.feeding() IS
'Internal: the sessions that hold locks of a feed, the oldest transaction first, for who may read health or feed; idle_since NULL: at work.';
"#)]
fn jobstats_feeding(mut rows: Rows) -> SqlResult<()> {
    let caller = current_user();
    // The owner of the function is a superuser: PostgreSQL shows other roles no start of a transaction.
    let owner = "SELECT p.proowner FROM pg_catalog.pg_proc p WHERE p.oid = 'jobstats_internal.feeding()'::pg_catalog.regprocedure";
    let _rights = Rights::of(connect_as_of_call(|client| client.query_value(owner, &[]))?);
    Ok(connect_as_of_call(|client| {
        for row in client.query(FEEDING, &[caller.into()])? {
            let (pid, role): (i32, String) = (row.get("pid")?, row.get("role")?);
            let since: Option<TimestampWithTimeZone> = row.get("since")?;
            let idle_since: Option<TimestampWithTimeZone> = row.get("idle_since")?;
            rows.put(|| {
                [
                    pid.into_datum(),
                    role.into_datum(),
                    since.into_datum(),
                    idle_since.into_datum(),
                ]
            });
        }
        Ok(())
    })?)
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.require_top_level(routine text) RETURNS void
LANGUAGE c VOLATILE STRICT AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.require_top_level(text) IS
'Internal: fails with 25001 inside of a transaction block, and with 25006 on a standby.';
"#)]
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
