//! Reads and writes rows of `jobstats.jobs`.
//!
//! A text may have a million records, most of them known. So statements are planned once in a session, and rows are passed as
//! arrays of columns.

mod columns;

use std::ffi::CStr;

use jobstats_core::accounting::Job;
use jobstats_core::accounting::merge::{
    Change, Form, Merged, Provenance, Value, merge as merged, repeated,
};
use jobstats_core::base::instant::Micros;
use pgrx::spi::SpiClient;
use serde::de::DeserializeOwned;

use crate::feed::accounting::{Batch, COPIES, RUNS_MAX};
use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::memory::require_room;
use crate::pg::pause::pause;
use crate::pg::plans;
use crate::pg::receive::{self, ONCE, Received, Type, are};
use crate::pg::spi::values;
use crate::pg::time::{from_postgres, timestamptz};
use columns::{arguments, keys};

/// The largest size of a stored submission, in bytes of its values.
const SUBMISSION_MAX: usize = 256 << 10;

/// The settings for planning: a plan that was made for a small table must still use an index when the table is large.
const SETTINGS: [(&CStr, &CStr); 4] = [
    (c"enable_seqscan", c"off"),
    (c"enable_sort", c"off"),
    (c"enable_hashjoin", c"off"),
    (c"enable_mergejoin", c"off"),
];

/// The submission of a job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Submission {
    pub scheduler: String,
    job: String,
    label: String,
    submitted: Option<Micros>,
}

impl Submission {
    /// Returns the submission of a job, whose scheduler is the cluster of the feed if the text does not name one.
    pub fn of(job: &Job<'_>, cluster: &str) -> Self {
        Self {
            scheduler: job.scheduler.as_deref().unwrap_or(cluster).to_owned(),
            job: job.job.clone().into_owned(),
            label: job.label.clone().into_owned(),
            submitted: job.submitted,
        }
    }
}

/// The numbers of rows that were written.
#[derive(Default)]
pub struct WriteCounts {
    /// The rows that are new or changed.
    pub changed: i32,
    /// The rows that are new.
    pub added: i32,
    /// The submissions that were refused: too many runs, or too large ones.
    pub refused: i32,
}

/// A stored row.
struct StoredRow {
    /// Its place in the table, as text.
    at: String,
    form: Form,
}

/// The rows to be written of some submissions.
#[derive(Default)]
struct Changes<'b> {
    rows: Vec<(&'b Submission, Form)>,
    /// The places of rows that a later text confirms.
    confirmed: Vec<String>,
    /// The places of rows that are replaced.
    gone: Vec<String>,
    /// The job numbers to match; a number may occur several times in a row.
    jobs: Vec<&'b str>,
}

/// Merges the records of a text into the rows of their submissions.
pub fn merge(
    client: &mut SpiClient<'_>,
    source: &str,
    time: Micros,
    batch: &Batch<'_>,
) -> Result<WriteCounts, Error> {
    let _pinned = Pinned::new(SETTINGS);
    let mut stored = read(batch)?;
    let (mut changes, mut written) = (Changes::default(), WriteCounts::default());
    for ((submission, records), stored) in batch.iter().zip(&mut stored) {
        pause();
        if let ([(job, text)], [only]) = (records.as_slice(), stored.as_slice())
            && let Some(change) = repeated(&only.form, job, *text)
        {
            if change == Change::Confirmed {
                changes.confirmed.push(only.at.clone());
            }
            continue;
        }
        let is_much = |stored: &[StoredRow]| {
            let bytes: usize = stored.iter().map(|it| it.form.text_len()).sum();
            stored.len() >= RUNS_MAX || bytes > 2 * SUBMISSION_MAX
        };
        let (places, forms): (Vec<String>, Vec<Form>) = if is_much(stored) {
            written.refused += 1;
            continue;
        } else {
            stored.drain(..).map(|it| (it.at, it.form)).unzip()
        };
        let result = merged(&forms, records);
        let sizes = result.forms.iter().map(|(form, _)| form.text_len());
        if sizes.sum::<usize>() > SUBMISSION_MAX {
            written.refused += 1;
            continue;
        }
        let result = changes.confirm(&places, &forms, result, time);
        let is_gone = |form: &Form| result.gone.contains(&form.started);
        let gone = places.into_iter().zip(&forms);
        let gone = gone.filter(|(_, form)| is_gone(form));
        changes.gone.extend(gone.map(|(place, _)| place));
        changes.add(submission, result, &mut written);
    }
    changes.write(client, source, time)?;
    Ok(written)
}

impl<'b> Changes<'b> {
    /// Takes the rows of which only the time changes, and returns the others.
    fn confirm(
        &mut self,
        places: &[String],
        stored: &[Form],
        mut merged: Merged,
        time: Micros,
    ) -> Merged {
        merged.forms.retain(|(form, change)| {
            let is_same = |it: &(&String, &Form)| it.1.started == form.started;
            let row = places.iter().zip(stored).find(is_same);
            match row {
                Some((place, row))
                    if *change == Change::Confirmed
                        && form.updated == time
                        && form.provenance == row.provenance =>
                {
                    self.confirmed.push(place.clone());
                    false
                }
                _ => true,
            }
        });
        merged
    }

    fn add(&mut self, submission: &'b Submission, merged: Merged, written: &mut WriteCounts) {
        let mut is_changed = false;
        for (form, change) in merged.forms {
            written.changed += i32::from(matches!(change, Change::New | Change::Changed));
            written.added += i32::from(change == Change::New);
            is_changed |= matches!(change, Change::New | Change::Changed);
            if change != Change::Same {
                self.rows.push((submission, form));
            }
        }
        if is_changed && self.jobs.last() != Some(&submission.job.as_str()) {
            self.jobs.push(&submission.job);
        }
    }

    fn write(self, client: &mut SpiClient<'_>, source: &str, time: Micros) -> Result<(), Error> {
        if !self.confirmed.is_empty() {
            let arguments = values![self.confirmed, timestamptz(time)?];
            plans::update(client, include_str!("confirm.sql"), &arguments)?;
        }
        if !self.gone.is_empty() {
            plans::update(client, include_str!("delete.sql"), &values![self.gone])?;
        }
        if !self.rows.is_empty() {
            plans::update(client, &columns::write(), &arguments(&self.rows, source)?)?;
        }
        if !self.jobs.is_empty() {
            let queue = "INSERT INTO jobstats.to_match (job) SELECT c.job FROM unnest($1::text[]) AS c (job)";
            plans::update(client, queue, &values![self.jobs])?;
        }
        Ok(())
    }
}

/// Records the time at which accounting named these schedulers.
pub fn note_schedulers(
    client: &mut SpiClient<'_>,
    schedulers: &[&str],
    time: Micros,
) -> Result<(), Error> {
    let arguments = values![schedulers.to_vec(), timestamptz(time)?];
    plans::run(client, include_str!("schedulers.sql"), &arguments)
}

/// Returns the rows of the submissions of a batch, in the order of the batch.
fn read(batch: &Batch<'_>) -> Result<Vec<Vec<StoredRow>>, Error> {
    let of_column = |value: &Value| match value {
        Value::Text(..) => Type::Text,
        Value::Time(..) => Type::Time,
        Value::Number(..) => Type::Integer,
    };
    let mut types = vec![Type::Integer, Type::Text];
    types.extend(Form::COLUMNS.iter().map(|it| of_column(&it.value)));
    types.extend([Type::Text, Type::Time, Type::Text]);
    let mut stored = Vec::new();
    stored.resize_with(batch.len(), Vec::new);
    let keys = keys(batch.keys())?;
    receive::run(
        ONCE,
        &columns::read(),
        &keys,
        &mut are(&types),
        &mut |row| {
            let place = row.integer(0).and_then(|it| usize::try_from(it).ok());
            if let Some(forms) = place.and_then(|place| stored.get_mut(place)) {
                forms.push(stored_row(row)?);
            }
            Ok(true)
        },
    )?;
    Ok(stored)
}

fn stored_row(row: &Received) -> Result<StoredRow, Error> {
    let [extra, updated, provenance] = columns::AFTER;
    let (extra, provenance) = (row.text(extra), row.text(provenance));
    require_room(extra.as_ref().map_or(0, String::len), COPIES)?;
    require_room(provenance.as_ref().map_or(0, String::len), COPIES)?;
    let time = |place: usize| row.integer(place).and_then(from_postgres);
    let mut form = Form {
        extra: from_json(extra)?,
        updated: time(updated).unwrap_or(0),
        provenance: from_json::<Provenance>(provenance)?,
        ..Form::default()
    };
    for (place, column) in (columns::FIRST..).zip(Form::COLUMNS) {
        match column.value {
            Value::Time(_, value) => *value(&mut form) = time(place),
            Value::Number(_, value) => {
                let number = row.integer(place);
                *value(&mut form) = number.and_then(|it| u32::try_from(it).ok());
            }
            Value::Text(_, value) => *value(&mut form) = row.text(place),
        }
    }
    let at = row.text(1);
    let at = at.ok_or_else(|| Error::Damaged("a row has no place".to_owned()))?;
    Ok(StoredRow { at, form })
}

fn from_json<T: DeserializeOwned + Default>(text: Option<String>) -> Result<T, Error> {
    let value = text.map(|text| serde_json::from_str(&text).map_err(Error::damaged_row("jobs")));
    Ok(value.transpose()?.unwrap_or_default())
}
