//! Reads and writes rows of `jobstats.jobs`.
//!
//! Rows travel as JSON, by the names of their columns, with times in microseconds.

use std::collections::BTreeMap;

use jobstats_core::accounting::Job;
use jobstats_core::accounting::merge::{Change, Form, merge as merged};
use jobstats_core::instant::Micros;
use pgrx::spi::SpiClient;
use serde::Serialize;

use crate::feed::accounting::RUNS_MAX;
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::Statements;

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
    /// The submissions of which nothing was written, because they have too many runs already.
    pub refused: i32,
}

/// A row to be written.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    submission: &'a Submission,
    #[serde(flatten)]
    form: Form,
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
    for (number, (submission, said)) in batch.iter().enumerate() {
        pause();
        let stored = stored.remove(&number).unwrap_or_default();
        if stored.len() >= RUNS_MAX {
            written.refused += 1;
            continue;
        }
        let result = merged(&stored, said);
        gone.extend(result.gone.into_iter().map(|started| Gone {
            submission,
            started,
        }));
        for (form, change) in result.forms {
            written.changed += i32::from(matches!(change, Change::New | Change::Changed));
            written.added += i32::from(change == Change::New);
            if change != Change::Same {
                rows.push(Row { submission, form });
            }
        }
    }
    if !gone.is_empty() {
        client.execute(include_str!("delete.sql"), &[json(&gone)?.into()])?;
    }
    if !rows.is_empty() {
        client.execute(
            include_str!("write.sql"),
            &[json(&rows)?.into(), source.into()],
        )?;
    }
    Ok(written)
}

/// Returns the rows of submissions by the position of their submission.
fn read(
    client: &mut SpiClient<'_>,
    submissions: &[&Submission],
) -> Result<BTreeMap<usize, Vec<Form>>, Error> {
    let rows = client.execute_rows(include_str!("read.sql"), &[json(submissions)?.into()])?;
    let mut stored = BTreeMap::<usize, Vec<Form>>::new();
    for row in rows {
        let (number, form): (i64, String) = (row.at(1)?, row.at(2)?);
        let form = serde_json::from_str(&form).map_err(damaged)?;
        let number = usize::try_from(number).unwrap_or(0);
        stored.entry(number).or_default().push(form);
    }
    Ok(stored)
}

fn json(value: &(impl Serialize + ?Sized)) -> Result<String, Error> {
    serde_json::to_string(value).map_err(damaged)
}

fn damaged(error: serde_json::Error) -> Error {
    Error::Damaged(format!("a row of jobstats.jobs: {error}"))
}
