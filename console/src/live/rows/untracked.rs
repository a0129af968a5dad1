//! Untracked usage: a row below the others, outside their sums.

use jobstats_core::usage::times::reports_times;

use super::{Group, Row, is_in_scope};
use crate::live::history::TargetStates;
use crate::live::interval::Interval;
use crate::live::owner::Owner;
use crate::live::sums::{RunningSums, SERVICE, Totals};
use crate::live::view::{By, Key, Sort, View};

/// The name of the row.
const NAME: &str = "without identifier";

/// Returns the row of the untracked usage of the selected targets, with its part of their target counters. `None` if rows are filtered by
/// entry, if target counters are missing, or if there was no usage.
pub fn row(history: &TargetStates, view: &View, sort: Sort) -> Option<Row> {
    let is_of_targets = view.scope.iter().all(|(by, _)| *by == By::Target);
    if !is_of_targets || !view.filter.is_empty() {
        return None;
    }
    let (mut whole, mut rest) = (RunningSums::default(), Group::default());
    let no_owner = Owner::default();
    let targets = history.targets();
    let targets = targets.filter(|it| view.kind.is_none_or(|kind| kind == it.snapshot.kind));
    for target in targets.filter(|it| is_in_scope(view, &no_owner, it)) {
        let observed = target.window(view.window).map(Interval::length).sum();
        for interval in target.window(view.window) {
            let counters = interval.counters.as_ref()?;
            whole.add_totals(&counters.all, observed);
            rest.sums.add_totals(&counters.rest, observed);
            let is_timed = interval.timed == Some(true) || reports_times([counters.all[SERVICE]]);
            whole.is_untimed |= counters.all != Totals::default() && !is_timed;
            rest.is_late |= target.is_late();
        }
    }
    rest.sums.is_untimed = whole.is_untimed;
    let whole = whole.sums();
    let row = rest.row(Key::Name(NAME.into()));
    let all = whole.rank(sort).filter(|all| *all > 0.0);
    let share = all.and_then(|all| Some(row.sums.rank(sort)? / all));
    (whole.requests.total > 0.0).then_some(Row { share, ..row })
}
