//! Untracked usage: a row below the others, outside their sums.

use jobstats_core::usage::times::reports_times;

use super::{Group, Row, is_in_scope};
use crate::live::history::{Target, TargetStates};
use crate::live::interval::{Interval, TargetCounters};
use crate::live::owner::Owner;
use crate::live::sums::{RunningSums, SERVICE, Totals};
use crate::live::view::{By, Key, Sort, View};

/// The name of the row.
const NAME: &str = "without identifier";

/// The untracked usage of targets, and their target counters.
#[derive(Default)]
pub struct Untracked {
    all: RunningSums,
    rest: RunningSums,
    is_late: bool,
}

impl Untracked {
    /// Returns the untracked usage of the selected targets. `None` if rows are filtered by entry, if target counters are missing, or if
    /// there was no usage.
    pub fn of(history: &TargetStates, view: &View) -> Option<Self> {
        let is_of_targets = view.scope.iter().all(|(by, _)| *by == By::Target);
        if !is_of_targets || !view.filter.is_empty() {
            return None;
        }
        let mut found = Self::default();
        let no_owner = Owner::default();
        let targets = history.targets();
        let targets = targets.filter(|it| view.kind.is_none_or(|kind| kind == it.snapshot.kind));
        for target in targets.filter(|it| is_in_scope(view, &no_owner, it)) {
            found.add(target, view)?;
        }
        (found.all.sums().requests.total > 0.0).then_some(found)
    }

    fn add(&mut self, target: &Target, view: &View) -> Option<()> {
        let observed = target.window(view.window).map(Interval::length).sum();
        for interval in target.window(view.window) {
            let TargetCounters { all, rest } = interval.counters.as_ref()?;
            self.all.add_totals(all, observed);
            self.rest.add_totals(rest, observed);
            let is_timed = interval.timed == Some(true) || reports_times([all[SERVICE]]);
            let is_untimed = *all != Totals::default() && !is_timed;
            self.all.is_untimed |= is_untimed;
            self.rest.is_untimed |= is_untimed;
            self.is_late |= target.is_late();
        }
        Some(())
    }

    /// Returns the row, with its part of all that the targets did.
    pub fn row(self, sort: Sort) -> Row {
        let all = self.all.sums().rank(sort).filter(|all| *all > 0.0);
        let group = Group {
            sums: self.rest,
            is_late: self.is_late,
            ..Group::default()
        };
        let row = group.row(Key::Name(NAME.into()));
        let share = all.and_then(|all| Some(row.sums.rank(sort)? / all));
        Row { share, ..row }
    }
}
