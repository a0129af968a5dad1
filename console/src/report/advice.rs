//! Advice about the jobs that did most, as the page of each of them has it.

use jobstats_client::answers::{Dimension, Filters, SummaryRow, exactly};

use super::{Scope, standout, user};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::show::html::Block;
use crate::subject::findings;
use crate::subject::questions::ask_summary;
use crate::values::text::shown;

/// The number of jobs that are looked at.
const JOBS: i32 = 8;

/// Returns the advice, or nothing if there is none.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let by = vec![Dimension::Job];
    let top = standout::top(store, scope, scope.window, JOBS, by, &scope.filters())?;
    let jobs = top.iter().filter_map(|row| row.group.job.as_deref());
    let filters = Filters {
        job: Some(jobs.map(exactly).collect()),
        ..scope.filters()
    };
    let owner = [Dimension::Job, Dimension::UserName, Dimension::Uid];
    let of_jobs = ask_summary(store, scope.window, owner.to_vec(), &filters)?.rows;
    let of_targets = [&owner[..], &[Dimension::Target]].concat();
    let of_targets = ask_summary(store, scope.window, of_targets, &filters)?.rows;
    let said = of_jobs.iter().flat_map(|job| {
        let targets = of_targets.iter().filter(|row| is_of(row, job)).cloned();
        let findings = findings::of_summary(job, targets.collect());
        let name = shown(job.group.job.as_deref().unwrap_or_default());
        let user = user(&job.group);
        let said = move |finding| format!("Job {name} of {user}: {finding}");
        findings.into_iter().map(said)
    });
    let said: Vec<_> = said.collect();
    if said.is_empty() {
        return Ok(Vec::new());
    }
    let text = "What would keep the servers less busy, of the jobs with most work.";
    Ok(vec![Block::Text(text.to_owned()), Block::List(said)])
}

/// Returns true for the work of a job on a target.
fn is_of(row: &SummaryRow, job: &SummaryRow) -> bool {
    let (one, other) = (&row.group, &job.group);
    (&one.job, &one.user_name, one.uid) == (&other.job, &other.user_name, other.uid)
}
