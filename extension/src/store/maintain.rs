//! `jobstats_maintain()`: partitions, rollups and retention, step by step.

mod lock;
pub mod schedule;

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::guc;
use crate::pg::spi::{SqlResult, Statements};

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
