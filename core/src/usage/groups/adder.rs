//! Adds up the cells of a group.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashSet;

use super::{Amount, GroupKey, Line};
use crate::base::instant::{Micros, Span};
use crate::usage::cells::{Activity, Cells};
use crate::usage::measure::Term;
use crate::usage::measure_plan::MeasurePlan;
use crate::usage::rates::Rates;
use crate::usage::scope::{Observed, Scope};
use crate::usage::times::{TargetTimes, reports_times};
use crate::usage::{UsageError, add};

/// A cell of a group, or a target without one.
pub(super) struct Item {
    pub step: u32,
    pub group: GroupKey,
    pub target: u32,
    pub cell: Option<u32>,
    pub node: Option<u32>,
}

/// Adds up the sums of cells.
pub(super) struct Adder<'a> {
    plan: &'a MeasurePlan<'a>,
    scope: &'a Scope,
    cells: &'a Cells,
    /// By measure and target: set if it is not 0 there; `None` unless cells have the activity of sums.
    used: Option<Vec<Vec<bool>>>,
}

impl<'a> Adder<'a> {
    /// Takes these cells.
    pub fn new(plan: &'a MeasurePlan<'a>, scope: &'a Scope, cells: &'a Cells) -> Self {
        let mut adder = Self {
            plan,
            scope,
            cells,
            used: None,
        };
        if cells.activity == Activity::OfSums {
            let of_measures = 0..plan.measures.len();
            adder.used = Some(of_measures.map(|it| adder.used(it)).collect());
        }
        adder
    }

    /// Returns what the items of a group did.
    pub fn line(&self, items: &[Item], observed: Observed) -> Result<Line, UsageError> {
        let plan = self.plan;
        let amounts = (0..plan.measures.len()).map(|measure| self.amount(measure, items));
        let spans = items.iter().filter_map(|it| self.cells.span(it.cell?));
        let nodes = items.iter().filter_map(|it| it.node);
        Ok(Line {
            step: items[0].step as usize,
            group: items[0].group,
            amounts: amounts.collect::<Result<_, _>>()?,
            active: spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))),
            nodes: match self.used {
                Some(_) => self.activity(items.iter(), 0..plan.sums.len()).1,
                None => nodes.collect::<HashSet<_>>().len(),
            },
            busiest: plan.load.and_then(|load| self.busiest(load, items)),
            observed,
        })
    }

    /// Returns whether a sum counts on a target.
    fn is_of(&self, sum: usize, target: u32) -> bool {
        self.plan.sums[sum].is_of(self.scope.targets[target as usize].target.kind)
    }

    /// Returns a sum of a cell of a target; 0 if it does not count there.
    fn sum(&self, sum: usize, target: u32, cell: Option<u32>) -> i128 {
        let cell = cell.filter(|_| self.is_of(sum, target));
        cell.map_or(0, |it| self.cells.sum(it, sum))
    }

    /// Returns a sum of an item: zero if the target was observed without such usage, `None` if that is not known.
    fn value(&self, sum: usize, item: &Item) -> Option<i128> {
        let value = self.sum(sum, item.target, item.cell);
        let is_timed = || {
            let target = &self.scope.targets[item.target as usize].target;
            self.scope.times.are_reported_by(target.id)
        };
        let is_known = self.used.is_some()
            || self.observed(item) > 0 && (!self.plan.sums[sum].time || is_timed());
        (value != 0 || is_known).then_some(value)
    }

    fn observed(&self, item: &Item) -> Micros {
        self.scope.targets[item.target as usize].observed[item.step as usize]
    }

    /// Returns by target whether a measure is not 0 there.
    fn used(&self, measure: usize) -> Vec<bool> {
        let mut used = vec![false; self.scope.targets.len()];
        let total = &self.plan.parts[measure].total;
        for (place, cell) in self.cells.iter() {
            let is_any = |it: &(usize, &Term)| self.sum(it.0, place.target, Some(cell)) > 0;
            used[place.target as usize] |= total.iter().any(is_any);
        }
        used
    }

    /// Returns whether an item has usage by a measure that counts.
    fn counts(&self, measure: usize, item: &Item) -> bool {
        let Some(used) = &self.used else {
            return true;
        };
        let is_any = |sum| self.sum(sum, item.target, item.cell) > 0;
        used[measure][item.target as usize] && self.plan.parts[measure].usage().any(is_any)
    }

    /// Returns the times between which there was activity of any of these sums, and the number of their nodes, if sums have any.
    fn activity<'i>(
        &self,
        items: impl Iterator<Item = &'i Item>,
        sums: impl Iterator<Item = usize> + Clone,
    ) -> (Option<Span>, usize) {
        let mut nodes: FxHashSet<u32> = FxHashSet::default();
        let items = items.filter(|_| self.used.is_some());
        let found = items.flat_map(|it| sums.clone().map(move |sum| (sum, it)));
        let found = found.filter(|(sum, it)| self.is_of(*sum, it.target));
        let found = found.filter_map(|(sum, it)| self.cells.activity(it.cell?, sum));
        let spans = found.map(|(span, of_sum)| {
            nodes.extend(of_sum);
            span
        });
        let active = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        (active, nodes.len())
    }

    /// Returns the amount of a measure of a group.
    fn amount(&self, measure: usize, items: &[Item]) -> Result<Amount, UsageError> {
        let parts = &self.plan.parts[measure];
        let items = || items.iter().filter(|it| self.counts(measure, it));
        let measure = &self.plan.measures[measure];
        let mut total = Some(0_i128);
        let mut rates = Rates::default();
        for (sum, term) in &parts.total {
            let factor = measure.factor(term);
            let mut of_term = None;
            for item in items() {
                let Some(value) = self.value(*sum, item) else {
                    continue;
                };
                let value = value.checked_mul(factor).ok_or(UsageError::Overflow)?;
                add(&mut of_term, Some(value))?;
                rates.push(value, self.observed(item))?;
            }
            let sum = total.zip(of_term).map(|(total, it)| total.checked_add(it));
            total = sum.map(|it| it.ok_or(UsageError::Overflow)).transpose()?;
        }
        let sum = |sum: Option<usize>| {
            let mut all = None;
            for value in items().map(|it| self.value(sum?, it)) {
                add(&mut all, value)?;
            }
            Ok::<_, UsageError>(all.filter(|it| *it != 0 || self.used.is_none()))
        };
        let (active, nodes) = self.activity(items(), parts.usage());
        Ok(Amount {
            total,
            rate: rates.rate(measure.unit()).filter(|_| total.is_some()),
            calls: sum(parts.calls)?,
            spent: sum(parts.spent)?,
            active,
            nodes,
        })
    }

    /// Returns the target with most time or, where no time is known, most calls; of equal ones the first by name.
    fn busiest(&self, load: [usize; 2], items: &[Item]) -> Option<String> {
        let mut loads: HashMap<u32, [i128; 2]> = HashMap::new();
        for item in items {
            if let Some(cell) = item.cell {
                let sums = loads.entry(item.target).or_default();
                for (sum, place) in sums.iter_mut().zip(load) {
                    *sum += self.cells.sum(cell, place);
                }
            }
        }
        let name = |target: u32| &self.scope.targets[target as usize].target.name;
        let most = loads.into_iter().max_by(|one, other| {
            let by_load = one.1.cmp(&other.1);
            by_load.then_with(|| name(other.0).cmp(name(one.0)))
        });
        most.map(|it| name(it.0).clone())
    }
}

impl MeasurePlan<'_> {
    /// Notes which targets have calls, and whether these came with times.
    pub fn note_times(&self, scope: &mut Scope, cells: &Cells) {
        let Some(probe) = self.probe else {
            return;
        };
        let mut times = TargetTimes::default();
        for (place, cell) in cells.iter() {
            let id = scope.targets[place.target as usize].target.id;
            times.note(id, reports_times([cells.sum(cell, probe)]));
        }
        scope.times = times;
    }
}
