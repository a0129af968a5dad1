//! Adds up the cells of a group.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashSet;

use super::{Amount, Line, NO_ENTRIES};
use crate::instant::{Micros, Span};
use crate::target::TargetKind;
use crate::usage::UsageError;
use crate::usage::asked::Asked;
use crate::usage::cells::Cells;
use crate::usage::scope::{Observed, Scope};
use crate::window::Rates;

/// A cell of a group, or a target without one.
pub(super) struct Item {
    pub step: u32,
    pub targets: u32,
    pub entries: u32,
    pub target: u32,
    pub cell: Option<u32>,
    pub node: Option<u32>,
}

impl Item {
    /// Returns a cell of a target, of no group.
    pub fn of(target: u32, cell: Option<u32>) -> Self {
        Self {
            step: 0,
            targets: 0,
            entries: NO_ENTRIES,
            target,
            cell,
            node: None,
        }
    }

    /// Returns the step and the groups.
    pub fn key(&self) -> (u32, u32, u32) {
        (self.step, self.targets, self.entries)
    }
}

/// Adds up the sums of cells.
pub(super) struct Adding<'a> {
    asked: &'a Asked<'a>,
    pub scope: &'a Scope,
    pub cells: &'a Cells,
    /// Set if no more than the amounts are wanted.
    pub is_brief: bool,
    /// By target and measure: set if it is not 0 there, if each has activity of its own.
    used: Vec<bool>,
}

impl<'a> Adding<'a> {
    /// Takes these cells.
    pub fn new(asked: &'a Asked<'a>, scope: &'a Scope, cells: &'a Cells) -> Self {
        let mut adding = Self {
            asked,
            scope,
            cells,
            is_brief: false,
            used: Vec::new(),
        };
        if asked.by_measure {
            adding.find_used();
        }
        adding
    }

    /// Returns what the items of a group did.
    pub fn line(&self, items: &[Item], observed: Observed) -> Result<Line, UsageError> {
        let (asked, cells) = (self.asked, self.cells);
        let amounts = (0..asked.len()).map(|measure| self.amount(measure, items));
        let spans = items
            .iter()
            .filter_map(|it| it.cell)
            .filter(|_| cells.has_spans());
        let spans = spans.map(|it| cells.span(it as usize));
        let active = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let nodes = items.iter().filter_map(|it| it.node);
        let nodes = match asked.by_measure {
            _ if self.is_brief => 0,
            true => self.activity(items.iter(), 0..asked.sums.len()).1,
            false => nodes.collect::<HashSet<_>>().len(),
        };
        Ok(Line {
            step: items[0].step as usize,
            group: (items[0].targets as usize, items[0].entries),
            amounts: amounts.collect::<Result<_, _>>()?,
            active,
            nodes,
            busiest: asked
                .load
                .filter(|_| !self.is_brief)
                .and_then(|load| self.busiest(load, items)),
            observed,
        })
    }

    /// Returns the cell of an item, unless a sum does not count on its target.
    fn cell(&self, sum: usize, item: &Item) -> Option<usize> {
        let kind = self.scope.targets[item.target as usize].target.kind;
        let counts = !self.asked.sums[sum].mdt_only || kind == TargetKind::Mdt;
        item.cell.filter(|_| counts).map(|it| it as usize)
    }

    /// Returns a sum of an item: zero if the target was observed without such usage, `None` if that is not known.
    fn value(&self, sum: usize, item: &Item) -> Option<i128> {
        let cell = self.cell(sum, item);
        let value = cell.map_or(0, |it| self.cells.sum(it, sum));
        let is_timed = || self.scope.is_timed(item.target as usize);
        let is_known = self.asked.by_measure
            || self.observed(item) > 0 && (!self.asked.sums[sum].time || is_timed());
        (value != 0 || is_known).then_some(value)
    }

    fn observed(&self, item: &Item) -> Micros {
        self.scope.targets[item.target as usize].observed[item.step as usize]
    }

    /// Finds the measures that are not 0 on each target.
    fn find_used(&mut self) {
        self.used = vec![false; self.scope.targets.len() * self.asked.len()];
        for (place, cell) in self.cells.iter() {
            for (measure, parts) in self.asked.parts.iter().enumerate() {
                let item = Item::of(place.target, Some(cell));
                let mut total = parts.total.iter();
                if total.any(|(sum, _)| self.value(*sum, &item) > Some(0)) {
                    let place = self.place(place.target, measure);
                    self.used[place] = true;
                }
            }
        }
    }

    fn place(&self, target: u32, measure: usize) -> usize {
        target as usize * self.asked.len() + measure
    }

    /// Returns whether an item has usage by a measure that counts.
    fn counts(&self, measure: usize, item: &Item) -> bool {
        let parts = &self.asked.parts[measure];
        let mut sums = parts.total.iter().map(|it| it.0).chain(parts.calls);
        !self.asked.by_measure
            || self.used[self.place(item.target, measure)]
                && sums.any(|sum| self.value(sum, item) > Some(0))
    }

    /// Returns the times between which there was activity of any of these sums, and the number of their nodes.
    fn activity<'i>(
        &self,
        items: impl Iterator<Item = &'i Item>,
        sums: impl Iterator<Item = usize> + Clone,
    ) -> (Option<Span>, usize) {
        let mut nodes: FxHashSet<u32> = FxHashSet::default();
        let found = items.flat_map(|it| sums.clone().map(move |sum| (sum, it)));
        let found = found.filter_map(|(sum, it)| self.cells.activity(self.cell(sum, it)?, sum));
        let spans = found.map(|(span, of_sum)| {
            nodes.extend(of_sum);
            span
        });
        let active = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        (active, nodes.len())
    }

    fn amount(&self, measure: usize, items: &[Item]) -> Result<Amount, UsageError> {
        let (asked, parts) = (self.asked, &self.asked.parts[measure]);
        let items = || items.iter().filter(|it| self.counts(measure, it));
        if asked.by_measure && items().next().is_none() {
            return Ok(Amount::default());
        }
        let measure = &asked.measures[measure];
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
                add(&mut of_term, value)?;
                rates.push(value, self.observed(item))?;
            }
            total = match total.zip(of_term) {
                Some((total, of_term)) => {
                    Some(total.checked_add(of_term).ok_or(UsageError::Overflow)?)
                }
                None => None,
            };
        }
        let sum = |sum: Option<usize>| {
            let mut all = None;
            for value in items().filter_map(|it| self.value(sum?, it)) {
                add(&mut all, value)?;
            }
            Ok::<_, UsageError>(all.filter(|it| *it != 0 || !asked.by_measure))
        };
        let sums = parts.total.iter().map(|it| it.0).chain(parts.calls);
        let (active, nodes) = match asked.by_measure {
            true => self.activity(items(), sums),
            false => (None, 0),
        };
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
                    *sum += self.cells.sum(cell as usize, place);
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

fn add(sum: &mut Option<i128>, value: i128) -> Result<(), UsageError> {
    *sum = Some(
        sum.unwrap_or(0)
            .checked_add(value)
            .ok_or(UsageError::Overflow)?,
    );
    Ok(())
}

impl Asked<'_> {
    /// Says which targets have calls, and whether these came with times.
    pub fn note_times(&self, scope: &mut Scope, cells: &Cells) {
        let Some(probe) = self.probe else {
            return;
        };
        let mut timed = vec![None; scope.targets.len()];
        for (place, cell) in cells.iter() {
            let timed: &mut Option<bool> = &mut timed[place.target as usize];
            *timed = Some(*timed == Some(true) || cells.sum(cell as usize, probe) > 0);
        }
        for (position, timed) in timed.into_iter().enumerate() {
            if let Some(timed) = timed {
                scope.set_timed(scope.targets[position].target.id, timed);
            }
        }
    }
}
