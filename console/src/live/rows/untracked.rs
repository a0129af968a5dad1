//! The work of targets that is in no entry: a row below the others, which counts in none of their sums.

use jobstats_core::operation::OPERATIONS;

use super::{Group, Row, Sums, is_in_scope};
use crate::live::board::{Board, Target};
use crate::live::interval::{Counter, Interval};
use crate::live::view::{By, Key, Sort, View};
use crate::live::who::Who;

/// The name of the row.
const NAME: &str = "without identifier";

/// The work of targets that is in no entry, beside all that they did.
#[derive(Default)]
pub struct Untracked {
    all: Sums,
    rest: Sums,
    is_late: bool,
}

impl Untracked {
    /// Returns the work of the targets that are looked at. `None` if rows are limited to some entries, if the own counters of one of
    /// the targets are not known, and if nothing was done.
    pub fn of(board: &Board, view: &View) -> Option<Self> {
        let is_of_targets = view.scope.iter().all(|(by, _)| *by == By::Target);
        if !is_of_targets || !view.filter.is_empty() {
            return None;
        }
        let mut found = Self::default();
        let nobody = Who::default();
        let targets = board.targets();
        let targets = targets.filter(|it| view.kind.is_none_or(|kind| kind == it.text.kind));
        for target in targets.filter(|it| is_in_scope(view, &nobody, it)) {
            found.add(target, view)?;
        }
        (found.all.requests.total > 0.0).then_some(found)
    }

    fn add(&mut self, target: &Target, view: &View) -> Option<()> {
        let length: i64 = target.window(view.window).map(Interval::length).sum();
        let seconds = length as f64 / 1e6;
        for interval in target.window(view.window) {
            let whole = interval.whole.as_deref()?;
            for it in whole {
                self.all.add_whole(it.counter, it.total, seconds);
                self.rest.add_whole(it.counter, it.untracked, seconds);
            }
            let mut counters = whole.iter().map(|it| it.counter);
            let is_timed =
                interval.timed == Some(true) || counters.any(|it| it == Counter::Service);
            if !whole.is_empty() && !is_timed {
                (self.all.service.0, self.rest.service.0) = (None, None);
            }
            self.is_late |= target.is_late();
        }
        Some(())
    }

    /// Returns the row, with its part of all that the targets did.
    pub fn row(self, sort: Sort) -> Row {
        let all = self.all.rank(sort).filter(|all| *all > 0.0);
        let share = all.and_then(|all| Some(self.rest.rank(sort)? / all));
        let group = Group {
            sums: self.rest,
            is_late: self.is_late,
            ..Group::default()
        };
        Row {
            share,
            ..group.row(Key::Name(NAME.into()), &[])
        }
    }
}

impl Sums {
    fn add_whole(&mut self, counter: Counter, total: f64, seconds: f64) {
        match (counter, &mut self.service.0) {
            (Counter::Service, Some(service)) => service.add(total, seconds),
            (Counter::Service, None) => {}
            (Counter::Metadata, _) => self.metadata.add(total, seconds),
            (Counter::Operation(index), _) => {
                if OPERATIONS[index].in_service_time() {
                    self.requests.add(total, seconds);
                }
                self.add_io(index, total, seconds);
            }
        }
    }
}
