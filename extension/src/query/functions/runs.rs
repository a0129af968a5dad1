//! `jobstats_runs()` and `jobstats_summaries()` list what is known of jobs beside their work: runs by accounting, and jobs that are done.

use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::spi::SqlResult;
use crate::pg::template::sql;
use crate::pg::tuplestore::Rows;
use crate::query::answer::{read, write_rows};
use crate::query::functions::job::required;
use crate::query::functions::top::rows_wanted;
use crate::store;
use crate::store::rights::caller::{own_parameters, seen};

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_runs(
    job text, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, scheduler text DEFAULT NULL
) RETURNS TABLE (
    scheduler text, job text, label text, parent text, submitted timestamptz, started timestamptz, ended timestamptz, uid bigint,
    user_name text, account text, partition text, job_name text, state text, exit_code text, nodes bigint, cpus bigint, to_come boolean
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_runs IS
'Lists the runs of a job, and of the elements of an array. The job is named by its number or as users type it, such as 123_4; the number of an array stands for all of its elements. Returns what accounting says of the last 10,000 runs of it, of any scheduler or of one, that ended after since or have not ended, and that began at until or before; the newest first. parent is the array or the leader to which a run belongs. to_come is true while a run has not ended, or is not in jobstats_summaries() yet; false if no text has named it for two days, or if it ended more than a day ago. NULL bounds are none. Errors: 22023 where job is NULL, 55000 where there is no store.';
"#)]
fn jobstats_runs(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let job = required(arguments.take()?)?;
    let since: Option<TimestampWithTimeZone> = arguments.take()?;
    let until: Option<TimestampWithTimeZone> = arguments.take()?;
    let scheduler: Option<String> = arguments.take()?;
    read(|client, own| {
        store::require(client)?;
        let [uids, accounts] = own_parameters(own);
        let parameters: [DatumWithOid<'_>; 6] = [
            job.into(),
            since.into(),
            until.into(),
            scheduler.into(),
            uids,
            accounts,
        ];
        write_rows(
            client,
            &sql!("runs/runs.sql", jobs = seen("jobs", own, ["$5", "$6"])),
            &parameters,
            &mut rows,
        )?;
        Ok(())
    })
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_summaries(
    job text DEFAULT NULL, uid bigint DEFAULT NULL, scheduler text DEFAULT NULL, since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL, n integer DEFAULT 10
) RETURNS TABLE (
    scheduler text, job text, label text, runs bigint, submitted timestamptz, started timestamptz, ended timestamptz, run_time interval,
    uid bigint, user_name text, gid bigint, group_name text, account text, partition text, qos text, job_name text, state text, exit_code text,
    nodes bigint, cpus bigint, first timestamptz, last_active timestamptz, active_nodes bigint, targets bigint,
    read_bytes numeric, write_bytes numeric, read numeric, write numeric, opens numeric, metadata numeric, service_time numeric,
    in_service double precision, busiest_target text
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_summaries IS
'Lists finished jobs with their totals. Returns the last n rows of jobstats.job_summaries, the newest first, with this number or label, of this user and scheduler, that ended in (since, until]; an argument that is NULL selects all. in_service is the mean number of requests in service per node. Errors: 22023 for a negative n, 55000 where there is no store.';
"#)]
fn jobstats_summaries(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let job: Option<String> = arguments.take()?;
    let uid: Option<i64> = arguments.take()?;
    let scheduler: Option<String> = arguments.take()?;
    let since: Option<TimestampWithTimeZone> = arguments.take()?;
    let until: Option<TimestampWithTimeZone> = arguments.take()?;
    let n = rows_wanted(arguments.take()?)?;
    read(|client, own| {
        store::require(client)?;
        let [uids, accounts] = own_parameters(own);
        let parameters: [DatumWithOid<'_>; 8] = [
            job.into(),
            uid.into(),
            scheduler.into(),
            since.into(),
            until.into(),
            n.into(),
            uids,
            accounts,
        ];
        write_rows(
            client,
            &sql!(
                "runs/summaries.sql",
                summaries = seen("job_summaries", own, ["$7", "$8"])
            ),
            &parameters,
            &mut rows,
        )?;
        Ok(())
    })
}
