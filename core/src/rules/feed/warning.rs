//! The warning to the sender about texts that were not stored as they came.
//!
//! An INSERT fails only if no part could be stored. Without the warning, a sender would not notice that its text is
//! rejected, or is placed before a newer text from another sender.

use std::collections::BTreeMap;

use super::{Action, Outcome, reason};

/// The number of targets that the detail names.
const NAMED: usize = 10;

/// A warning for the sender of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The number of rejected texts, by reason, and of placed ones.
    pub message: String,
    /// The first of these texts and the outcome of each.
    pub detail: String,
    /// The next thing that the sender should do.
    pub hint: &'static str,
}

impl Warning {
    /// Returns the warning about texts that end too early, if any.
    pub fn of_cut(outcomes: &[Outcome]) -> Option<Self> {
        let cut = || outcomes.iter().filter(|outcome| outcome.ends_early);
        let targets = cut().filter_map(|outcome| outcome.target.clone());
        let (count, all) = (cut().count(), outcomes.len());
        (count > 0).then(|| Self {
            message: format!("the end of {count} of {all} texts is missing"),
            detail: list(targets) + ": the previous text ended with active entries.",
            hint: "Make sure that the whole output of lctl is sent.",
        })
    }

    /// Returns the notice about a text whose records users can forge, if any.
    pub fn of_forgeable(outcomes: &[Outcome]) -> Option<Self> {
        outcomes.iter().any(|outcome| outcome.is_forgeable).then(|| Self {
            message: "users can forge rows of this sacct text through job names".to_owned(),
            detail: "The delimiter is a single typeable character, and sacct does not quote its output.".to_owned(),
            hint: "Use a delimiter that users cannot guess: --delimiter=\"|$(od -An -N8 -tx1 /dev/urandom | tr -d ' \\n')|\".",
        })
    }

    /// Returns the warning for a feed; `None` if no text was rejected or placed.
    pub fn of(outcomes: &[Outcome]) -> Option<Self> {
        Some(Self {
            message: message(outcomes)?,
            detail: detail(outcomes),
            hint: hint(outcomes),
        })
    }
}

fn reasons(outcomes: &[Outcome]) -> impl Iterator<Item = &'static str> {
    outcomes
        .iter()
        .filter_map(|outcome| outcome.action.reason())
}

fn hint(outcomes: &[Outcome]) -> &'static str {
    let has = |wanted| reasons(outcomes).any(|reason| reason == wanted);
    if has(reason::NO_TARGET) {
        "Print the text without the option -n of lctl get_param."
    } else if has(reason::NO_HEADER) {
        "Run sacct without --noheader or --json, with these fields: -o JobIDRaw,JobID,Cluster,Submit,Start,End,UID,User,GID,Group,Account,Partition,QOS,State,ExitCode,NNodes,NCPUS,JobName,NodeList."
    } else if has(reason::NO_TIMES) {
        "No record has the time when its job was submitted or started. The default columns of sacct have no times: add Submit, Start and End."
    } else if has(reason::WRONG_SOURCE) {
        "Name the source of the text in the column source of the feed."
    } else if has(reason::NOT_WANTED) {
        "The owner of the store can select metrics by name: SELECT jobstats_setup(metrics => '{node_rapl_*}');"
    } else if has(reason::TOO_LATE) {
        "Text older than raw_retention is accepted only if it continues the newest text of its target. For other old text, the owner of the store must raise raw_retention first: SELECT jobstats_setup(raw_retention => '7 days');"
    } else if has(reason::NOT_YOURS) {
        "The owner of the store can let this role feed more: see jobstats_grant_writer() and jobstats.writers."
    } else if reasons(outcomes).next().is_some() {
        "The owner of the store can find rejected text in jobstats.rejects."
    } else {
        "Newer text of this target has already arrived. Make sure that no other server feeds this target."
    }
}

fn message(outcomes: &[Outcome]) -> Option<String> {
    let mut counts = BTreeMap::<_, usize>::new();
    for reason in reasons(outcomes) {
        *counts.entry(reason).or_default() += 1;
    }
    let rejected: usize = counts.values().sum();
    let placed = outcomes
        .iter()
        .filter(|outcome| outcome.action == Action::Placed);
    let (placed, all) = (placed.count(), outcomes.len());
    let counts = counts
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let message = format!("jobstats rejected {rejected} of {all} texts ({counts})");
    match (rejected, placed) {
        (0, 0) => None,
        (0, _) => Some(format!(
            "jobstats placed {placed} of {all} texts before newer ones"
        )),
        (_, 0) => Some(message),
        _ => Some(format!("{message} and placed {placed} before newer ones")),
    }
}

fn detail(outcomes: &[Outcome]) -> String {
    let listed = outcomes.iter().filter_map(|outcome| {
        let what = match outcome.action {
            Action::Placed => "placed",
            action => action.reason()?,
        };
        let target = outcome.target.as_deref().unwrap_or("text without a target");
        Some(format!("{target}: {what}"))
    });
    list(listed) + "."
}

/// Returns the first items, separated by semicolons.
fn list(items: impl Iterator<Item = String>) -> String {
    let mut named: Vec<String> = items.take(NAMED + 1).collect();
    if named.len() > NAMED {
        named[NAMED] = "…".to_owned();
    }
    named.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(actions: &[(&str, Action)]) -> Vec<Outcome> {
        let outcome = |(target, action): &(&str, Action)| {
            Outcome::new((!target.is_empty()).then_some(*target), *action)
        };
        actions.iter().map(outcome).collect()
    }

    #[test]
    fn there_is_no_warning_of_texts_that_were_stored() {
        let stored = [
            ("a", Action::Stored),
            ("b", Action::Repeated),
            ("c", Action::Interval),
        ];
        assert_eq!(Warning::of(&outcomes(&stored)), None);
        assert_eq!(Warning::of(&[]), None);
    }

    #[test]
    fn reasons_are_counted_in_alphabetical_order() {
        let warning = Warning::of(&outcomes(&[
            ("a", Action::Rejected(reason::TOO_LATE)),
            ("b", Action::Rejected(reason::CLOCK)),
            ("c", Action::Stored),
            ("d", Action::Rejected(reason::TOO_LATE)),
            ("e", Action::Placed),
        ]));
        let warning = warning.expect("a warning");
        assert_eq!(
            warning.message,
            "jobstats rejected 3 of 5 texts (1 clock, 2 too late) and placed 1 before newer ones"
        );
        assert_eq!(
            warning.detail,
            "a: too late; b: clock; d: too late; e: placed."
        );
        assert!(warning.hint.contains("raw_retention => '7 days'"));
    }

    #[test]
    fn a_text_that_was_only_placed_hints_at_another_sender() {
        let warning = Warning::of(&outcomes(&[("a", Action::Placed), ("b", Action::Stored)]));
        let warning = warning.expect("a warning");
        assert_eq!(
            warning.message,
            "jobstats placed 1 of 2 texts before newer ones"
        );
        assert!(warning.hint.starts_with("Newer text of this target"));
    }

    #[test]
    fn the_hint_is_what_the_sender_can_do_itself() {
        let warning = |reason| {
            let rejected = [
                ("", Action::Rejected(reason)),
                ("a", Action::Rejected(reason::CLOCK)),
            ];
            Warning::of(&outcomes(&rejected)).expect("a warning")
        };
        let nameless = warning(reason::NO_TARGET);
        assert!(nameless.hint.contains("without the option -n"));
        assert_eq!(
            nameless.detail,
            "text without a target: no target; a: clock."
        );
        assert!(warning(reason::NO_HEADER).hint.contains("JobIDRaw"));
        assert!(
            warning(reason::NO_TIMES)
                .hint
                .contains("Submit, Start and End")
        );
        assert!(warning(reason::WRONG_SOURCE).hint.contains("column source"));
        assert!(warning(reason::NOT_WANTED).hint.contains("metrics =>"));
        let different = warning(reason::DIFFERENT);
        assert!(different.hint.contains("jobstats.rejects"));
    }

    #[test]
    fn texts_that_end_too_early_are_named() {
        let mut outcomes = outcomes(&[("a", Action::Stored), ("b", Action::Stored)]);
        assert_eq!(Warning::of_cut(&outcomes), None);
        outcomes[1].ends_early = true;
        let warning = Warning::of_cut(&outcomes).expect("a warning");
        assert_eq!(warning.message, "the end of 1 of 2 texts is missing");
        assert!(warning.detail.starts_with("b: the previous text ended"));
        assert_eq!(Warning::of(&outcomes), None);
    }

    #[test]
    fn a_text_whose_rows_can_be_forged_gets_a_notice() {
        let mut outcomes = outcomes(&[("", Action::Jobs)]);
        assert_eq!(Warning::of_forgeable(&outcomes), None);
        outcomes[0].is_forgeable = true;
        let notice = Warning::of_forgeable(&outcomes).expect("a notice");
        assert!(notice.hint.contains("--delimiter="));
    }

    #[test]
    fn the_detail_names_ten_targets_at_most() {
        let names: Vec<String> = (0..12).map(|number| format!("t{number}")).collect();
        let placed: Vec<_> = names
            .iter()
            .map(|name| (name.as_str(), Action::Placed))
            .collect();
        let detail = |count: usize| {
            Warning::of(&outcomes(&placed[..count]))
                .expect("a warning")
                .detail
        };
        assert!(detail(10).ends_with("; t9: placed."));
        assert!(detail(11).ends_with("; t9: placed; …."));
        assert_eq!(detail(12), detail(11));
    }
}
