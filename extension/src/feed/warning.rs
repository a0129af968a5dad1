//! The warning to the sender about texts that were not stored as they came.
//!
//! An INSERT fails only if nothing could be stored. Without the warning, a sender would not notice that its text is
//! rejected, or is placed before a newer text from another sender.

use std::collections::BTreeMap;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode};

use crate::feed::outcome::{Action, Outcome, reason};

/// The number of targets that the detail names.
const NAMED: usize = 10;

/// Warns the sender once per feed, if a text was rejected or placed.
pub fn warn(outcomes: &[Outcome]) {
    let Some(message) = message(outcomes) else {
        return;
    };
    ErrorReport::new(PgSqlErrorCode::ERRCODE_WARNING, message, "jobstats")
        .set_detail(detail(outcomes))
        .set_hint(hint(outcomes))
        .report(PgLogLevel::WARNING);
}

/// Returns the hint of the warning.
fn hint(outcomes: &[Outcome]) -> &'static str {
    let mut reasons = outcomes
        .iter()
        .filter_map(|outcome| outcome.action.reason());
    if reasons.clone().any(|it| it == reason::NO_TARGET) {
        "Print the text without the option -n of lctl get_param."
    } else if reasons.clone().any(|it| it == reason::WRONG_SOURCE) {
        "Name the source of the text in the column source of the feed."
    } else if reasons.next().is_some() {
        "The owner of the store finds rejected text in jobstats.rejects."
    } else {
        "Newer text of the target came before: see that no other server is fed for it."
    }
}

/// Returns the number of rejected texts, by reason, and of placed ones; `None` if there are neither.
fn message(outcomes: &[Outcome]) -> Option<String> {
    let mut reasons = BTreeMap::<_, usize>::new();
    for reason in outcomes
        .iter()
        .filter_map(|outcome| outcome.action.reason())
    {
        *reasons.entry(reason).or_default() += 1;
    }
    let rejected: usize = reasons.values().sum();
    let placed = outcomes
        .iter()
        .filter(|outcome| outcome.action == Action::Placed);
    let (placed, all) = (placed.count(), outcomes.len());
    let reasons = reasons
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    match (rejected, placed) {
        (0, 0) => None,
        (0, _) => Some(format!(
            "jobstats placed {placed} of {all} texts before newer ones"
        )),
        (_, 0) => Some(format!(
            "jobstats rejected {rejected} of {all} texts ({reasons})"
        )),
        _ => Some(format!(
            "jobstats rejected {rejected} of {all} texts ({reasons}) and placed {placed} before newer ones"
        )),
    }
}

/// Returns the detail of the warning: the first of these texts and the outcome of each.
fn detail(outcomes: &[Outcome]) -> String {
    let told = outcomes.iter().filter_map(|outcome| {
        let what = match outcome.action {
            Action::Placed => "placed",
            action => action.reason()?,
        };
        let target = outcome.target.as_deref().unwrap_or("text without a target");
        Some(format!("{target}: {what}"))
    });
    let mut named: Vec<String> = told.take(NAMED + 1).collect();
    if named.len() > NAMED {
        named[NAMED] = "…".to_owned();
    }
    named.join("; ") + "."
}
