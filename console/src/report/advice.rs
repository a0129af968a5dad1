//! Advice about the jobs that did most, as the page of each of them has it.

use jobstats_client::answers::{Dimension, SummaryRow, exactly};

use super::vocabulary::*;
use crate::subject::findings;

/// The number of jobs that are looked at.
const JOBS: i32 = 8;

/// Returns the advice, or nothing if there is none.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let work = scope.work();
    let top = work.top(store, scope.measure.name(), &[Dimension::Job], JOBS)?;
    let jobs = top.rows.iter().filter_map(|row| row.group.job.as_deref());
    let jobs = jobs.map(exactly).collect();
    let work = work.part(|filters| filters.job = Some(jobs));
    let owner = [Dimension::Job, Dimension::UserName, Dimension::Uid];
    let of_jobs = work.summary(store, &owner)?.rows;
    let of_targets = [&owner[..], &[Dimension::Target]].concat();
    let of_targets = work.summary(store, &of_targets)?.rows;
    let said = of_jobs.iter().flat_map(|job| {
        let targets = of_targets.iter().filter(|row| is_of(row, job)).cloned();
        let findings = findings::of_summary(job, &targets.collect::<Vec<_>>());
        let name = shown(job.group.job.as_deref().unwrap_or_default());
        let user = user(&job.group);
        let said = move |finding| format!("Job {name} of {user}: {finding}");
        findings.into_iter().map(said)
    });
    let text = "What would keep the servers less busy, of the jobs with most work.";
    Ok(match Block::list(said) {
        Some(list) => vec![Block::text(text), list],
        None => Vec::new(),
    })
}

/// Returns true for the work of a job on a target.
fn is_of(row: &SummaryRow, job: &SummaryRow) -> bool {
    let (one, other) = (&row.group, &job.group);
    (&one.job, &one.user_name, one.uid) == (&other.job, &other.user_name, other.uid)
}
