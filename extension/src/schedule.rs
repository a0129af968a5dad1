//! How maintenance is to be scheduled with what is installed.

use pgrx::spi::{SpiClient, quote_literal};

use crate::error::Error;
use crate::setup::{Installation, one_text};

/// What to do so that `jobstats_maintain()` is called every ten minutes; or by what it is called already.
pub fn advice(
    client: &SpiClient<'_>,
    installation: &Installation,
    schema: &str,
) -> Result<String, Error> {
    let call = format!("CALL {schema}.jobstats_maintain()");
    if let Installation::Timescale {
        schema: timescale,
        community: true,
        ..
    } = installation
    {
        let scheduled = "SELECT min(job_id) FROM timescaledb_information.jobs WHERE proc_name = 'jobstats_maintain_job' AND scheduled";
        if let Some(job) = job(client, scheduled)? {
            return Ok(format!(
                "Maintenance is scheduled: job {job} of TimescaleDB."
            ));
        }
        return Ok(format!(
            "Schedule maintenance:\nSELECT {timescale}.add_job('{schema}.jobstats_maintain_job', '10 minutes');"
        ));
    }
    if has_pg_cron(client)? {
        let scheduled = "SELECT min(jobid)::integer FROM cron.job \
            WHERE command LIKE '%jobstats\\_maintain%' AND database = current_database() AND active";
        if let Some(job) = job(client, scheduled)? {
            return Ok(format!("Maintenance is scheduled: job {job} of pg_cron."));
        }
        return Ok(format!(
            "Schedule maintenance:\nSELECT cron.schedule('jobstats', '*/10 * * * *', {});",
            quote_literal(call)
        ));
    }
    let database = one_text(client, "SELECT pg_catalog.current_database()::text")?;
    Ok(format!(
        "Schedule maintenance, for example in cron every 10 minutes:\n*/10 * * * * psql -X -d {database} -c '{call}'"
    ))
}

/// The number of the job that a query finds.
fn job(client: &SpiClient<'_>, query: &str) -> Result<Option<i32>, Error> {
    Ok(client
        .select(query, Some(1), &[])?
        .first()
        .get_one::<i32>()?)
}

/// Whether pg_cron is in this database, and its tables are ours to read.
fn has_pg_cron(client: &SpiClient<'_>) -> Result<bool, Error> {
    let found = client.select(
        "SELECT coalesce(bool_or(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')), false) \
         FROM pg_extension e, pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'job' \
         WHERE e.extname = 'pg_cron' AND n.nspname = 'cron'",
        Some(1),
        &[],
    )?;
    Ok(found.first().get_one::<bool>()?.unwrap_or(false))
}
