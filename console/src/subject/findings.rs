//! Findings: the judgements of the store's rules on the jobs of a subject.

use std::collections::BTreeSet;

use jobstats_client::answers::{Dimension, FindingRow};

use super::{Kind, Subject};
use crate::ask::store::{Error, Store};
use crate::values::number::percent;

/// Adds findings about the jobs of a subject, if it has any usage. Each job is judged alone, so that it has the same level on all
/// pages.
pub(super) fn add(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    if subject.usage.is_empty() {
        return Ok(());
    }
    let findings = subject.work.findings(store, &[Dimension::Job])?;
    subject.note("Findings", &findings);
    let jobs: BTreeSet<_> = findings.rows.iter().map(|it| &it.name).collect();
    let is_one = subject.kind == Kind::Job && jobs.len() < 2;
    subject.findings = match is_one {
        true => findings.rows,
        false => worst_of_each_rule(findings.rows),
    };
    Ok(())
}

/// Keeps the worst finding of each rule, and adds its job and the number of other jobs. The worst ones come first.
fn worst_of_each_rule(rows: Vec<FindingRow>) -> Vec<FindingRow> {
    let mut worst: Vec<(FindingRow, usize)> = Vec::new();
    for row in rows {
        match worst.iter_mut().find(|(it, _)| it.finding == row.finding) {
            Some((_, others)) => *others += 1,
            None => worst.push((row, 0)),
        }
    }
    let named = worst.into_iter().map(|(mut row, others)| {
        let job = match &row.labels.job {
            Some(_) => format!("Job {}", row.name),
            None => "I/O without a job".to_owned(),
        };
        let others = match others {
            0 => String::new(),
            1 => " and 1 more job".to_owned(),
            others => format!(" and {others} more jobs"),
        };
        row.text = format!("{job}{others}: {}", row.text);
        row
    });
    named.collect()
}

/// Returns what servers saw and, where the value is not that already, how much of their time it took.
pub fn said(finding: &FindingRow) -> String {
    let text = &finding.text;
    match (finding.share, finding.service_time) {
        (None, _) => format!("{text}."),
        // A share has four decimals.
        (Some(share), _) if (share - finding.value).abs() < 1e-4 => format!("{text}."),
        (share, Some(_)) => format!("{text}, in {} of its server time.", percent(share)),
        (share, None) => format!("{text}, in {} of its requests.", percent(share)),
    }
}

#[cfg(test)]
mod tests {
    use jobstats_client::answers::Group;

    use super::*;

    #[test]
    fn many_jobs_show_the_worst_finding_of_each_rule() {
        let row = |finding: &str, job: Option<&str>| FindingRow {
            finding: finding.to_owned(),
            name: job.unwrap_or("-").to_owned(),
            text: "it syncs".to_owned(),
            labels: Group {
                job: job.map(str::to_owned),
                ..Group::default()
            },
            ..FindingRow::default()
        };
        let rows = vec![
            row("syncs", Some("1")),
            row("opens", None),
            row("syncs", Some("2")),
            row("syncs", Some("3")),
            row("opens", Some("4")),
            row("getattrs", Some("4")),
        ];
        let texts: Vec<_> = worst_of_each_rule(rows)
            .into_iter()
            .map(|it| it.text)
            .collect();
        let expected = [
            "Job 1 and 2 more jobs: it syncs",
            "I/O without a job and 1 more job: it syncs",
            "Job 4: it syncs",
        ];
        assert_eq!(texts, expected);
    }
}
