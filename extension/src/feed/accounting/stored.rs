//! Reads and writes rows of `jobstats.jobs`.
//!
//! Rows travel as JSON, by the names of their columns, with times in microseconds.

use std::collections::{BTreeMap, BTreeSet};

use jobstats_core::accounting::Job;
use jobstats_core::accounting::merge::{Change, Form, Merged, merge as merged};
use jobstats_core::instant::Micros;
use pgrx::spi::SpiClient;
use serde::Serialize;

use crate::feed::accounting::{COPIES, RUNS_MAX};
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::pause;
use crate::pg::spi::Statements;

/// The largest size of what is stored of a submission, in bytes of JSON.
const SUBMISSION_MAX: usize = 256 << 10;

/// The submission of a job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Submission {
    scheduler: String,
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
pub struct Written {
    /// The rows that are new, or say something else than before.
    pub changed: i32,
    /// The rows that are new.
    pub added: i32,
    /// The submissions of which nothing was written, because they have too many runs, or too large ones.
    pub refused: i32,
}

/// A row to be written.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    submission: &'a Submission,
    #[serde(flatten)]
    form: &'a Form,
}

/// A row to be deleted.
#[derive(Serialize)]
struct Gone<'a> {
    #[serde(flatten)]
    submission: &'a Submission,
    started: Option<Micros>,
}

/// Merges what a text says of some submissions into their rows.
pub fn merge(
    client: &mut SpiClient<'_>,
    source: &str,
    batch: &BTreeMap<Submission, Vec<(Job<'_>, Micros)>>,
) -> Result<Written, Error> {
    let submissions: Vec<&Submission> = batch.keys().collect();
    let mut stored = read(client, &submissions)?;
    let (mut rows, mut gone, mut written) = (Vec::new(), Vec::new(), Written::default());
    let mut changed_jobs = BTreeSet::new();
    for (number, (submission, said)) in batch.iter().enumerate() {
        pause();
        let result = match stored.remove(&number).unwrap_or_default() {
            Stored::Forms(forms) if forms.len() < RUNS_MAX => merged(&forms, said),
            _ => {
                written.refused += 1;
                continue;
            }
        };
        let Some(changed) = rows_of(submission, &result)? else {
            written.refused += 1;
            continue;
        };
        rows.extend(changed);
        gone.extend(result.gone.into_iter().map(|started| Gone {
            submission,
            started,
        }));
        let is_changed =
            |(_, change): &(Form, Change)| matches!(change, Change::New | Change::Changed);
        if result.forms.iter().any(is_changed) {
            changed_jobs.insert(submission.job.as_str());
        }
        for (_, change) in &result.forms {
            written.changed += i32::from(matches!(change, Change::New | Change::Changed));
            written.added += i32::from(*change == Change::New);
        }
    }
    if !gone.is_empty() {
        client.execute(include_str!("delete.sql"), &[json(&gone)?.into()])?;
    }
    if !rows.is_empty() {
        let rows = format!("[{}]", rows.join(","));
        client.execute(include_str!("write.sql"), &[rows.into(), source.into()])?;
    }
    if !changed_jobs.is_empty() {
        let jobs: Vec<&str> = changed_jobs.into_iter().collect();
        let queue =
            "INSERT INTO jobstats.to_match (job) SELECT c.job FROM unnest($1::text[]) AS c (job)";
        client.execute(queue, &[jobs.into()])?;
    }
    Ok(written)
}

/// Returns the rows that are to be written, as JSON; `None` if all that would be stored of the submission is too much to be
/// merged again.
fn rows_of(submission: &Submission, merged: &Merged) -> Result<Option<Vec<String>>, Error> {
    let (mut rows, mut bytes) = (Vec::new(), 0);
    for (form, change) in &merged.forms {
        let row = json(&Row { submission, form })?;
        bytes += row.len();
        if *change != Change::Same {
            rows.push(row);
        }
    }
    Ok((bytes <= SUBMISSION_MAX).then_some(rows))
}

/// The rows of a submission.
enum Stored {
    Forms(Vec<Form>),
    /// They are too large to be merged.
    TooMuch,
}

impl Default for Stored {
    fn default() -> Self {
        Self::Forms(Vec::new())
    }
}

/// Returns the rows of submissions by the position of their submission.
fn read(
    client: &mut SpiClient<'_>,
    submissions: &[&Submission],
) -> Result<BTreeMap<usize, Stored>, Error> {
    let most = i64::try_from(2 * SUBMISSION_MAX).unwrap_or(i64::MAX);
    let rows = client.execute_rows(
        include_str!("read.sql"),
        &[json(submissions)?.into(), most.into()],
    )?;
    let mut stored = BTreeMap::<usize, Stored>::new();
    for row in rows {
        let (number, form): (i64, Option<String>) = (row.at(1)?, row.at(2)?);
        let forms = stored
            .entry(usize::try_from(number).unwrap_or(0))
            .or_default();
        let Some(form) = form else {
            *forms = Stored::TooMuch;
            continue;
        };
        require_room(form.len(), COPIES)?;
        if let Stored::Forms(forms) = forms {
            forms.push(serde_json::from_str(&form).map_err(damaged)?);
        }
    }
    Ok(stored)
}

fn json(value: &(impl Serialize + ?Sized)) -> Result<String, Error> {
    serde_json::to_string(value).map_err(damaged)
}

fn damaged(error: serde_json::Error) -> Error {
    Error::Damaged(format!("a row of jobstats.jobs: {error}"))
}
