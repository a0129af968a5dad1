//! Keeps `jobstats.entry_jobs` up to date: the jobs of each entry by days.

use std::collections::HashMap;

use jobstats_core::accounting::matching::{
    Activity, Entry, FOREVER, Owner, Range, Verdict, day_of, ranges,
};
use jobstats_core::base::instant::Micros;
use jobstats_core::identity::entry_id::user_may_be_forged;
use pgrx::spi::SpiClient;

use crate::matching::{Jobs, NumberJobs, Store};
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{Row, Statements, connect_mut, values};
use crate::pg::time::{EARLIEST, timestamptz};
use crate::store::rollup;

/// The number of entries that are matched at a time.
const AT_A_TIME: usize = 5_000;

/// The number of job numbers in a batch, and the largest number of their entries. A job has one on each of its nodes; entries beyond the
/// limit get no job.
const NUMBERS: usize = 50;
const ENTRIES_MAX: i64 = 1_000_000;

/// An entry with the fields of its identifier.
struct IdentifiedEntry {
    id: i64,
    number: String,
    user: Option<Owner>,
    is_system: bool,
    scheduler: Option<String>,
    node: Option<String>,
    first_seen: Micros,
    /// Set if it claims the job of another user.
    is_claimed: bool,
}

impl IdentifiedEntry {
    fn entry(&self) -> Entry<'_> {
        Entry {
            user: self.user.as_ref(),
            is_system: self.is_system,
            scheduler: self.scheduler.as_deref(),
            node: self.node.as_deref(),
        }
    }
}

/// The active days of entries, in order.
type Days = HashMap<i64, Vec<Activity>>;

/// Matches all entries of these job numbers. Returns those whose claim of another user's job begins or ends.
pub fn renew(
    client: &mut SpiClient<'_>,
    numbers: &[String],
    jobs: &Jobs,
    store: &Store,
) -> Result<Vec<i64>, Error> {
    let mut claims = Vec::new();
    for numbers in numbers.chunks(NUMBERS) {
        // A forgotten entry has lost its identity, and keeps its job.
        let ids: Option<Vec<i64>> = client.execute_value(
            "SELECT array_agg(e.entry_id) FROM (\
             SELECT e.entry_id FROM jobstats.entries e WHERE (e.job = ANY ($1) OR e.claimed = ANY ($1)) AND (e.status <> 'forgotten' \
             OR NOT EXISTS (SELECT FROM jobstats.entry_jobs m JOIN jobstats.job_ids i ON i.job_no = m.job_no WHERE m.entry_id = e.entry_id)) LIMIT $2) e",
            &values![numbers.to_vec(), ENTRIES_MAX],
        )?;
        for ids in ids.unwrap_or_default().chunks(AT_A_TIME) {
            // The end of the connection frees the rows that were read.
            claims.extend(connect_mut(|client| renew_some(client, ids, jobs, store))?);
        }
    }
    Ok(claims)
}

fn renew_some(
    client: &mut SpiClient<'_>,
    ids: &[i64],
    jobs: &Jobs,
    store: &Store,
) -> Result<Vec<i64>, Error> {
    let entries = identified(client, ids)?;
    let mut days = days(client, ids, jobs, store)?;
    let (mut rows, mut claims) = (Vec::new(), Vec::new());
    for entry in &entries {
        pause();
        let Some(known) = jobs.get(&entry.number) else {
            continue;
        };
        let first_seen = Activity {
            day: day_of(entry.first_seen),
            first: entry.first_seen,
            last: entry.first_seen,
        };
        let days = days.remove(&entry.id);
        let days = days.unwrap_or_else(|| vec![first_seen]);
        let found = ranges(entry.entry(), &days, &known.jobs, store.late);
        // A user who had a job of this number at another time makes no claim.
        let claims_all = found.iter().all(|it| it.verdict == Verdict::Claimed);
        let is_claimed = claims_all && !found.is_empty();
        if is_claimed != entry.is_claimed {
            claims.push(entry.id);
        }
        // A day without activity of the entry must not count for the job of another day.
        let has = |range: &Range| {
            let range = range.from..range.until;
            days.iter().all(|activity| range.contains(&activity.day))
        };
        let is_alone = found.len() == 1 && found.iter().all(has);
        let found = found.into_iter();
        rows.extend(found.map(|range| EntryJob::new(entry.id, range, known, is_alone)));
    }
    write(client, ids, &rows)?;
    Ok(claims)
}

/// A row of `jobstats.entry_jobs`.
struct EntryJob {
    entry: i64,
    first_day: i64,
    last_day: Option<i64>,
    job_no: Option<i64>,
    status: &'static str,
    is_alone: bool,
}

impl EntryJob {
    fn new(entry: i64, range: Range, known: &NumberJobs, is_alone: bool) -> Self {
        let (job_no, status) = match range.verdict {
            Verdict::Job(position) => (Some(known.keys[position]), "known"),
            Verdict::Ambiguous => (None, "ambiguous"),
            Verdict::Claimed => (None, "claimed"),
            Verdict::Stale | Verdict::Unknown => (None, "stale"),
        };
        Self {
            entry,
            first_day: range.from,
            last_day: (range.until != FOREVER).then_some(range.until),
            job_no,
            status,
            is_alone,
        }
    }
}

fn write(client: &mut SpiClient<'_>, ids: &[i64], rows: &[EntryJob]) -> Result<(), Error> {
    let changed = client.execute_rows(
        include_str!("write_entries.sql"),
        &values![
            ids.to_vec(),
            rows.iter().map(|it| it.entry).collect::<Vec<_>>(),
            rows.iter().map(|it| it.first_day).collect::<Vec<_>>(),
            rows.iter().map(|it| it.last_day).collect::<Vec<_>>(),
            rows.iter().map(|it| it.job_no).collect::<Vec<_>>(),
            rows.iter().map(|it| it.status).collect::<Vec<_>>(),
            rows.iter().map(|it| it.is_alone).collect::<Vec<_>>()
        ],
    )?;
    note_changed(client, changed)
}

/// Marks ranges of days in which the job of entries has changed.
pub(super) fn note_changed<'conn>(
    client: &mut SpiClient<'_>,
    changed: impl Iterator<Item = Row<'conn>>,
) -> Result<(), Error> {
    let (mut entries, mut since, mut until) = (Vec::new(), Vec::new(), Vec::new());
    for row in changed {
        entries.push(row.at(1)?);
        since.push(row.at(2)?);
        until.push(row.at(3)?);
    }
    rollup::note_changed(client, entries, since, until)
}

fn identified(client: &mut SpiClient<'_>, ids: &[i64]) -> Result<Vec<IdentifiedEntry>, Error> {
    let rows = client.execute_rows(include_str!("entries.sql"), &values![ids.to_vec()])?;
    let identified = rows.map(|row| {
        let (uid, user_name): (Option<i64>, Option<String>) = (row.at(3)?, row.at(4)?);
        let (name, format): (String, Option<String>) = (row.at(9)?, row.at(10)?);
        // System processes do I/O for any job, so users must not be able to forge their user ID.
        let is_system = row.at::<Option<bool>>(5)?.unwrap_or(false)
            && !format.is_some_and(|format| user_may_be_forged(&format, &name));
        Ok(IdentifiedEntry {
            id: row.at(1)?,
            number: row.at(2)?,
            user: uid.map(|uid| Owner {
                uid: Some(uid),
                user_name,
            }),
            is_system,
            node: row.at(6)?,
            scheduler: row.at(7)?,
            first_seen: row.at(8)?,
            is_claimed: row.at(11)?,
        })
    });
    identified.collect()
}

/// Returns the active days of entries since the start of the first of these jobs.
fn days(
    client: &mut SpiClient<'_>,
    ids: &[i64],
    jobs: &Jobs,
    store: &Store,
) -> Result<Days, Error> {
    let starts = jobs.values().flat_map(|it| &it.jobs).map(|it| it.started);
    let since = day_of(starts.min().unwrap_or(0)).saturating_sub(1);
    let since = since
        .saturating_mul(jobstats_core::base::instant::DAY)
        .max(EARLIEST);
    let rows = client.execute_rows(
        include_str!("activity.sql"),
        &values![ids.to_vec(), timestamptz(since)?, store.days],
    )?;
    let mut days = Days::new();
    for row in rows {
        let (first, last, day) = (row.at(2)?, row.at(3)?, row.at(4)?);
        let of_entry = days.entry(row.at(1)?).or_default();
        of_entry.push(Activity { day, first, last });
    }
    Ok(days)
}
