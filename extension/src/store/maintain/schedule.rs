//! Advice on how to schedule maintenance with the installed software.

use pgrx::spi::{SpiClient, quote_literal};

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::store::installation::Installation;

/// Returns how to have `jobstats_maintain()` called every ten minutes, or the job that calls it already. Jobs of TimescaleDB
/// are not recommended where they are recorded as failed.
pub fn advice(
    client: &SpiClient<'_>,
    installation: &Installation,
    schema: &str,
) -> Result<String, Error> {
    let call = format!("CALL {schema}.jobstats_maintain()");
    let timescale = match installation {
        Installation::Timescale {
            schema,
            community: true,
            ..
        } => Some(schema),
        _ => None,
    };
    let failing: Option<String> = match timescale {
        Some(_) => client.query_value("SELECT jobstats_internal.failing_jobs()", &[])?,
        None => None,
    };
    let has_pg_cron = has_pg_cron(client)?;
    if timescale.is_some()
        && let Some(job) = job(client, BY_TIMESCALE)?
    {
        let problem = failing.map(|problem| {
            format!(" {problem}: call it from cron or pg_cron, then SELECT delete_job({job});")
        });
        return Ok(format!(
            "Maintenance is scheduled: job {job} of TimescaleDB.{}",
            problem.unwrap_or_default()
        ));
    }
    if has_pg_cron && let Some(job) = job(client, BY_PG_CRON)? {
        return Ok(format!("Maintenance is scheduled: job {job} of pg_cron."));
    }
    let how = if let (Some(timescale), None) = (timescale, &failing) {
        format!(
            "Schedule maintenance:\nSELECT {timescale}.add_job({}, '10 minutes');",
            quote_literal("jobstats_internal.maintain_job")
        )
    } else if has_pg_cron {
        format!(
            "Schedule maintenance:\nSELECT cron.schedule('jobstats', '*/10 * * * *', {});",
            quote_literal(call)
        )
    } else {
        let database =
            client.query_value::<String>("SELECT pg_catalog.current_database()::text", &[])?;
        format!(
            "Schedule maintenance, for example in cron every 10 minutes:\n\
             */10 * * * * psql -X -d {database} -c '{call}'"
        )
    };
    let reason = failing.map(|problem| format!("{problem}, so its jobs are not recommended.\n"));
    Ok(reason.unwrap_or_default() + &how)
}

/// The query for the job of TimescaleDB that runs maintenance already.
const BY_TIMESCALE: &str = "SELECT min(job_id) FROM timescaledb_information.jobs \
    WHERE proc_schema = 'jobstats_internal' AND proc_name = 'maintain_job' AND scheduled";

/// The query for the job of pg_cron that runs maintenance already.
const BY_PG_CRON: &str = "SELECT min(jobid)::integer FROM cron.job \
    WHERE command LIKE '%jobstats\\_maintain%' AND database = current_database() AND active";

/// Returns the number of the job that a query finds.
fn job(client: &SpiClient<'_>, query: &str) -> Result<Option<i32>, Error> {
    client.query_value(query, &[])
}

/// Returns whether pg_cron is in this database and we may read its tables.
fn has_pg_cron(client: &SpiClient<'_>) -> Result<bool, Error> {
    client.query_value(
        "SELECT coalesce(bool_or(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')), false) \
         FROM pg_extension e, pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'job' \
         WHERE e.extname = 'pg_cron' AND n.nspname = 'cron'",
        &[],
    )
}
