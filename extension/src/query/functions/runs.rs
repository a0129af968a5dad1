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

#[pg_extern(sql = false)]
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

#[pg_extern(sql = false)]
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
