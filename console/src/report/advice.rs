//! Advice to jobs, or to the subject of a page.

use jobstats_client::answers::{Dimension, FindingRow};

use super::vocabulary::*;
use crate::subject::findings;

/// The largest number of findings that are shown.
const SHOWN: usize = 12;

/// Returns advice for the jobs of a file system, if it matters.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let by = [Dimension::Job, Dimension::User];
    let found = scope.work().findings(store, &by)?;
    // Usage without a job may belong to many jobs.
    let of_jobs = found.rows.iter().filter(|it| it.labels.job.is_some());
    let of_jobs: Vec<_> = of_jobs.collect();
    if of_jobs.is_empty() {
        return Ok(Block::notes(&found.notes).into_iter().collect());
    }
    let rows = of_jobs.iter().take(SHOWN).map(|it| {
        let job = it.labels.job.as_deref().unwrap_or_default();
        let who = [
            ("Job", Cell::text(job)),
            ("User", Cell::text(&user(&it.labels))),
        ];
        who.into_iter().chain(cells(it))
    });
    let text = "Changes that would reduce server load. A level compares a job with a threshold and with the jobs of the last 30 days.";
    let table = Table {
        more: of_jobs.len().saturating_sub(SHOWN),
        ..Table::new("Worst first, then by server time", rows)
    };
    Ok(vec![
        Block::text(text),
        table.into(),
        Block::statement("Findings", found.statement),
    ])
}

/// Returns the findings of a subject, if there are any.
pub fn of_subject(findings: &[FindingRow]) -> Option<Block> {
    let rows = findings.iter().map(cells);
    (!findings.is_empty()).then(|| Table::new("Worst first", rows).into())
}

/// Returns the cells of a finding.
fn cells(finding: &FindingRow) -> [(&'static str, Cell); 3] {
    [
        ("Level", Cell::level(&finding.level)),
        ("Finding", Cell::sentences(&findings::said(finding))),
        (
            "What to change",
            Cell::sentences(finding.advice.as_deref().unwrap_or_default()),
        ),
    ]
}
