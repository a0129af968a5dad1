//! Findings: the judgements of the store's rules on the work of a subject.

use jobstats_client::answers::FindingRow;
use ratatui::crossterm::style::Stylize;

use super::Subject;
use crate::ask::store::{Error, Store};
use crate::values::number::percent;
use crate::values::text::{cut, shown};

/// Adds findings about the usage of a subject, if it has any.
pub(super) fn add(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    if subject.usage.is_empty() {
        return Ok(());
    }
    let findings = subject.work.findings(store, &[])?;
    subject.note("What could be better", &findings);
    subject.findings = findings.rows;
    Ok(())
}

/// Returns the word for a level, which may be coloured in addition.
pub fn level(finding: &FindingRow, is_coloured: bool) -> String {
    let word = cut(&shown(&finding.level), 4);
    match (is_coloured, finding.level.as_str()) {
        (false, _) => word,
        (true, "bad") => word.red().bold().to_string(),
        (true, _) => word.yellow().to_string(),
    }
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
