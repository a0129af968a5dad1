//! Keeps `jobstats.job_ids` up to date: the jobs that consist of the runs of a number.

use std::collections::BTreeMap;

use jobstats_core::accounting::matching::{Job, Run, Values, add};
use jobstats_core::base::instant::Micros;
use pgrx::spi::SpiClient;
use serde_json::Value;

use crate::matching::{Jobs, NumberJobs, RUNS_MAX, Store, entries};
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::pause;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::store::columns::list;

/// The memory in bytes for each byte of a run as JSON.
const COPIES: usize = 4;

/// The key of a stored job, and its row without NULLs.
type StoredJob = (i64, Value);

/// Brings the jobs of these numbers up to date, and returns them.
pub fn renew(client: &mut SpiClient<'_>, numbers: &[String], store: &Store) -> Result<Jobs, Error> {
    let mut stored = stored(client, numbers)?;
    let (mut rows, mut of_others, mut all) = (Vec::new(), Vec::new(), Jobs::new());
    let read = read(client, numbers, store)?;
    let mut keys = NewKeys::default();
    for (number, jobs) in read {
        let stored = stored.entry(number.clone()).or_default();
        let mut known = NumberJobs::default();
        for job in jobs {
            let mut row =
                without_nulls(serde_json::to_value(&job).map_err(Error::damaged_row("job_ids"))?);
            let found = find(stored, &job).map(|position| stored.swap_remove(position));
            let (job_no, before) = match found {
                Some((job_no, before)) => (job_no, Some(before)),
                None => (keys.next(client)?, None),
            };
            if before.as_ref().is_some_and(|it| differ_in_owner(it, &row)) {
                of_others.push(job_no);
            }
            if before.is_none_or(|before| before != row) {
                row["job_no"] = job_no.into();
                row["job"] = number.as_str().into();
                rows.push(row.to_string());
            }
            known.keys.push(job_no);
            known.jobs.push(job);
        }
        all.insert(number, known);
    }
    let gone: Vec<i64> = stored.values().flatten().map(|it| it.0).collect();
    if !gone.is_empty() {
        let delete = "DELETE FROM jobstats.job_ids i WHERE i.job_no = ANY ($1)";
        client.execute(delete, &values![gone])?;
    }
    if !rows.is_empty() {
        let rows = format!("[{}]", rows.join(","));
        client.execute(&write_jobs(), &values![rows])?;
    }
    if !of_others.is_empty() {
        let days = "SELECT j.entry_id, j.valid_from, j.valid_to FROM jobstats.entry_jobs j WHERE j.job_no = ANY ($1)";
        let changed = client.execute_rows(days, &values![of_others])?;
        entries::note_changed(client, changed)?;
    }
    Ok(all)
}

/// The list of assignments that a conflict makes.
pub const UPDATE: &str = "{name} = excluded.{name}";

fn write_jobs() -> String {
    sql!(
        "write_jobs.sql",
        names = list(&Values::COLUMNS, "{name}"),
        values = list(&Values::COLUMNS, "f.{name}"),
        definitions = list(&Values::COLUMNS, "{name} {type}"),
        updates = list(&Values::COLUMNS, UPDATE),
    )
}

/// Keys for jobs that are new.
#[derive(Default)]
struct NewKeys {
    left: Vec<i64>,
    /// The number of keys that were taken so far.
    taken: i64,
}

impl NewKeys {
    /// Returns the next key. Each statement takes as many keys as all before, so that few are lost.
    fn next(&mut self, client: &mut SpiClient<'_>) -> Result<i64, Error> {
        if self.left.is_empty() {
            let wanted = self.taken.clamp(1, KEYS_MAX);
            let keys: Option<Vec<i64>> = client.execute_value(NEW_KEYS, &values![wanted])?;
            self.left = keys.unwrap_or_default();
            self.taken += wanted;
        }
        let key = self.left.pop();
        key.ok_or_else(|| {
            Error::Damaged("the sequence of jobstats.job_ids gives no key".to_owned())
        })
    }
}

/// The largest number of keys that a statement takes.
const KEYS_MAX: i64 = 1_000;

const NEW_KEYS: &str = "SELECT array_agg(k.key ORDER BY k.key DESC) FROM ( \
     SELECT nextval(s.name::regclass) AS key \
     FROM pg_get_serial_sequence(text 'jobstats.job_ids', text 'job_no') s (name), generate_series(bigint '1', $1)) k";

/// Returns whether jobs differ in a column that sums by user depend on: one from the user to the partition.
fn differ_in_owner(one: &Value, other: &Value) -> bool {
    let mut columns = Values::COLUMNS[..6].iter();
    columns.any(|(column, _)| one.get(column) != other.get(column))
}

/// Returns the position of the stored job of the same scheduler that begins with a job, or else overlaps with it.
fn find(stored: &[StoredJob], job: &Job) -> Option<usize> {
    let is_of_scheduler = |row: &Value| row["scheduler"] == job.scheduler;
    let is_same = |(_, row): &StoredJob| is_of_scheduler(row) && row["started"] == job.started;
    let overlaps = |(_, row): &StoredJob| {
        let time = |name: &str| row[name].as_i64();
        is_of_scheduler(row)
            && time("started") <= Some(job.ended.unwrap_or(Micros::MAX))
            && time("ended").is_none_or(|ended| job.started <= ended)
    };
    let same = stored.iter().position(is_same);
    same.or_else(|| stored.iter().position(overlaps))
}

/// Returns the jobs of these numbers, built from their runs.
fn read(
    client: &mut SpiClient<'_>,
    numbers: &[String],
    store: &Store,
) -> Result<BTreeMap<String, Vec<Job>>, Error> {
    let rows = client.execute_rows(
        // Without the number of the user.
        &sql!("runs.sql", values = list(&Values::COLUMNS[1..], "n.{name}")),
        &values![numbers.to_vec(), RUNS_MAX],
    )?;
    let mut jobs = BTreeMap::<String, Vec<Job>>::new();
    for row in rows {
        pause();
        let (number, run): (String, String) = (row.at(1)?, row.at(2)?);
        require_room(run.len(), COPIES)?;
        let run: Run = serde_json::from_str(&run).map_err(Error::damaged_row("job_ids"))?;
        let newest = store.newest.get(&run.scheduler).copied();
        let newest = newest.unwrap_or(run.updated);
        add(run, jobs.entry(number).or_default(), newest);
    }
    Ok(jobs)
}

/// Returns the stored jobs of these numbers.
fn stored(
    client: &mut SpiClient<'_>,
    numbers: &[String],
) -> Result<BTreeMap<String, Vec<StoredJob>>, Error> {
    let rows = client.execute_rows(
        &sql!("stored.sql", values = list(&Values::COLUMNS, "i.{name}")),
        &values![numbers.to_vec()],
    )?;
    let mut stored = BTreeMap::<String, Vec<StoredJob>>::new();
    for row in rows {
        let (job_no, number, text): (i64, String, String) = (row.at(1)?, row.at(2)?, row.at(3)?);
        let row = serde_json::from_str(&text).map_err(Error::damaged_row("job_ids"))?;
        stored.entry(number).or_default().push((job_no, row));
    }
    Ok(stored)
}

fn without_nulls(mut row: Value) -> Value {
    if let Some(row) = row.as_object_mut() {
        row.retain(|_, value| !value.is_null());
    }
    row
}
