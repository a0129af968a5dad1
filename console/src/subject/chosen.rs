//! Chooses the job that is meant by a number.

use jobstats_client::answers::{JobRow, Window};
use jobstats_core::usage::filter::meant;

use super::{Kind, Subject, job};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::values::text;
use crate::values::when::Clock;

/// Returns the usage of the job of a number and, if given, a scheduler, and its row of accounting. Fails if the job is unknown or ambiguous.
pub fn chosen(
    store: &mut Store,
    job: &str,
    scheduler: Option<&str>,
    window: Window,
    clock: &Clock,
) -> Result<(Subject, JobRow), Error> {
    let found = job::find(store, job, window)?;
    let candidates = &found.rows;
    let list = || -> Vec<_> { candidates.iter().map(|it| described(it, clock)).collect() };
    let job = meaning(job, candidates);
    if scheduler.is_none() && candidates.len() > 1 {
        let (job, list) = (text::shown(&job), text::listed(&list()));
        let message = format!("several schedulers have a job {job}, choose one:{list}");
        return Err(Error::Usage(message));
    }
    let is_meant = |it: &&JobRow| scheduler.is_none() || it.scheduler.as_deref() == scheduler;
    let Some(choice) = candidates.iter().find(is_meant) else {
        return Err(match scheduler {
            Some(of) => unknown(Kind::Job, &format!("{job} of scheduler {of}"), &list()),
            None => unknown(Kind::Job, &job, &found.notes),
        });
    };
    let subject = job::ask(store, &job, window, &found, choice)?;
    Ok((subject, choice.clone()))
}

/// Returns the name that a job was found by: the name as typed, or the one that it is short for.
fn meaning(job: &str, found: &[JobRow]) -> String {
    let is_name = |row: &JobRow| row.job == job || row.label.as_deref() == Some(job);
    let short = meant("job", job).filter(|_| !found.is_empty() && !found.iter().any(is_name));
    short.unwrap_or_else(|| job.to_owned())
}

/// Returns the option that selects a job, with distinguishing facts.
fn described(candidate: &JobRow, clock: &Clock) -> String {
    let started = candidate.started;
    let started = started.map(|time| format!("started {}", clock.stamp(time)));
    let texts = [
        &candidate.user_name,
        &candidate.account,
        &candidate.job_name,
        &candidate.state,
        &started,
    ];
    let texts = texts.into_iter().flatten().map(|text| text::shown(text));
    let texts = text::joined(texts).unwrap_or_default();
    let scheduler = text::shown(candidate.scheduler.as_deref().unwrap_or_default());
    format!("--scheduler {scheduler}: {texts}")
}

/// Returns the error that a subject is unknown.
pub(super) fn unknown(kind: Kind, name: &str, notes: &[String]) -> Error {
    Error::unknown(kind.name(), &text::shown(name), notes)
}
