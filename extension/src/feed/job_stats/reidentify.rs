//! `jobstats_reidentify()`: identifies the stored entries anew after a change of the formats.

use jobstats_core::entry_id::likely_format;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::matching;
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{SqlResult, Statements, connect_mut};
use crate::store::formats::{SAMPLE, configured_formats, identity_columns, notice};
use crate::store::rights::owner::as_owner_of_store;
use crate::store::rollup;

/// The number of entries that are in memory at once.
const BATCH: i64 = 20_000;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_reidentify() RETURNS bigint
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_reidentify() IS
'Identifies all stored entries again, and returns how many changed. The formats are those in jobstats.entry_formats. If most entries match no format, a NOTICE names the likely format. Errors: 22023 for an invalid format, 42501 for roles other than the owner of the store, 55000 where there is no store.';
"#)]
fn jobstats_reidentify() -> SqlResult<i64> {
    Ok(as_owner_of_store(|| {
        connect_mut(|client| {
            let changed = reidentify(client)?;
            if changed > 0 {
                rollup::forget_users(client)?;
            }
            matching::forget(client)?;
            notice_if_most_unmatched(client)?;
            Ok(changed)
        })
    })?)
}

fn reidentify(client: &mut SpiClient<'_>) -> Result<i64, Error> {
    let formats = configured_formats(client)?;
    let (mut changed, mut after) = (0, None);
    loop {
        pause();
        let (ids, names) = batch(client, after)?;
        let Some(last) = ids.last().copied() else {
            return Ok(changed);
        };
        after = Some(last);
        let mut values = vec![ids.into()];
        values.extend(identity_columns(&formats, names.iter()));
        let updated = client.execute(
            "UPDATE jobstats.entries e SET job = n.job, uid = n.uid, gid = n.gid, node = n.node, \
             executable = n.executable, pid = n.pid, format = n.format, status = n.status, workload = n.workload \
             FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], \
             $8::bigint[], $9::text[], $10::text[], $11::text[]) \
             AS n (entry_id, name, job, uid, gid, node, executable, pid, format, status, workload) \
             WHERE e.entry_id = n.entry_id AND \
             (e.job, e.uid, e.gid, e.node, e.executable, e.pid, e.format, e.status, e.workload) IS DISTINCT FROM \
             (n.job, n.uid, n.gid, n.node, n.executable, n.pid, n.format, n.status, n.workload)",
            &values,
        )?;
        changed += updated as i64;
    }
}

/// Returns the next entries in the order of their keys.
fn batch(client: &mut SpiClient<'_>, after: Option<i64>) -> Result<(Vec<i64>, Vec<String>), Error> {
    let rows = client.execute_rows(
        "SELECT entry_id, name FROM jobstats.entries WHERE $1 IS NULL OR entry_id > $1 ORDER BY entry_id LIMIT $2",
        &[after.into(), BATCH.into()],
    )?;
    let (mut ids, mut names) = (
        Vec::with_capacity(rows.len()),
        Vec::with_capacity(rows.len()),
    );
    for row in rows {
        ids.push(row.at(1)?);
        names.push(row.at(2)?);
    }
    Ok((ids, names))
}

fn notice_if_most_unmatched(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let counts = client.execute_opt(
        "SELECT count(*) FILTER (WHERE status = 'malformed') AS unmatched, count(*) AS all FROM jobstats.entries",
        &[],
    )?;
    let (unmatched, all): (i64, i64) = match counts {
        Some(counts) => (counts.get("unmatched")?, counts.get("all")?),
        None => return Ok(()),
    };
    if unmatched * 2 <= all {
        return Ok(());
    }
    let rows = client.execute_rows(
        "SELECT name FROM jobstats.entries WHERE status = 'malformed' ORDER BY entry_id LIMIT $1",
        &[(SAMPLE as i64).into()],
    )?;
    let names: Vec<String> = rows.map(|row| row.get("name")).collect::<Result<_, _>>()?;
    let likely = likely_format(names.iter().map(String::as_str));
    notice(
        "the store",
        usize::try_from(unmatched).unwrap_or(0),
        usize::try_from(all).unwrap_or(0),
        likely,
    );
    Ok(())
}
