//! Own counters of targets, beside what their entries did.

use std::collections::{BTreeMap, HashMap};

use super::asked::Asked;
use super::cells::{Cells, Place};
use super::scope::Scope;
use super::{UsageError, add};
use crate::columns::sum::Sum;
use crate::instant::Micros;
use crate::target::TargetKind;

/// The column of whole targets that sums the microseconds in which their counters were read.
const READ: &str = "observed_usecs";

/// The part of the time in which the entries of a target were observed, in percent, for which its own counters must have been read, or
/// nothing is told of the difference. The two are read a moment apart.
const PERCENT_READ: i128 = 98;

/// The work of a group of targets by one measure in a step, in parts of its [unit](super::Measure::unit).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Untracked {
    /// The step, counted from 0.
    pub step: usize,
    /// The values of the dimensions of targets.
    pub group: Vec<Option<String>>,
    /// The position of the measure.
    pub measure: usize,
    /// The total of the targets' own counters.
    pub total: Option<i128>,
    /// The total of their entries.
    pub accounted: Option<i128>,
    /// The work that is in no entry; `None` if the counters of a target were read for much less time than its entries.
    pub untracked: Option<i128>,
    /// The part of the time in which the counters of targets were read.
    pub coverage: f64,
}

/// The sums of a group.
#[derive(Default)]
struct Sums {
    total: Option<i128>,
    accounted: Option<i128>,
    untracked: i128,
    is_unknown: bool,
    read: i128,
    width: i128,
}

/// Returns the sums that rows of whole targets must have for this question: the time in which they were read and the time spent come last.
pub fn sums_of_wholes(asked: &Asked<'_>) -> Vec<Sum> {
    let mut sums = asked.sums().to_vec();
    sums.extend([Sum::column(READ), Sum::service_time()]);
    sums
}

/// Returns the part of what a target did by its own counters that is in no entry. What its entries did beyond these counters, which were
/// read a moment apart, is no work of another target.
pub fn in_no_entry(all: i128, accounted: i128) -> i128 {
    (all - accounted).max(0)
}

/// The work on a target in a step, by its entries and by its own counters.
struct Compared<'a> {
    asked: &'a Asked<'a>,
    kind: TargetKind,
    /// The time in which its entries were observed, and in which its own counters were read.
    observed: Micros,
    read: i128,
    /// Set if its own counters have times.
    has_times: bool,
    entries: (&'a Cells, Option<u32>),
    whole: (&'a Cells, Option<u32>),
}

impl Compared<'_> {
    /// Returns the total of a measure by rows; `has_none` tells whether a sum without rows is 0.
    fn total(
        &self,
        measure: usize,
        (cells, cell): (&Cells, Option<u32>),
        has_none: impl Fn(&Sum) -> bool,
    ) -> Result<Option<i128>, UsageError> {
        self.asked.total(measure, |place, sum| {
            if !sum.is_of(self.kind) {
                return Some(0);
            }
            let value = cell.map_or(0, |it| cells.sum(it, place));
            (value != 0 || has_none(sum)).then_some(value)
        })
    }

    fn add_to(&self, sums: &mut Sums, measure: usize) -> Result<(), UsageError> {
        let is_read = |sum: &Sum| self.read > 0 && (self.has_times || !sum.time);
        let all = self.total(measure, self.whole, is_read)?;
        let accounted = self.total(measure, self.entries, |_| self.observed > 0)?;
        add(&mut sums.total, all)?;
        add(&mut sums.accounted, accounted)?;
        let observed = i128::from(self.observed);
        let is_known = observed > 0 && self.read * 100 >= PERCENT_READ * observed;
        match all.filter(|_| is_known) {
            Some(all) => sums.untracked += in_no_entry(all, accounted.unwrap_or(0)),
            None => sums.is_unknown = true,
        }
        sums.read += self.read;
        Ok(())
    }
}

/// Returns the cells of targets as wholes by step and target.
fn places(cells: &Cells) -> HashMap<(usize, usize), u32> {
    let place = |(it, cell): (Place, u32)| ((it.step as usize, it.target as usize), cell);
    cells.iter().map(place).collect()
}

/// Compares the cells of whole targets with the cells of their entries, one for each target in each step.
///
/// # Errors
/// [`UsageError::Overflow`]
pub fn untracked(
    asked: &Asked<'_>,
    scope: &Scope,
    entries: &Cells,
    wholes: &Cells,
) -> Result<Vec<Untracked>, UsageError> {
    let (read, times) = (asked.sums().len(), asked.sums().len() + 1);
    let (of_entries, of_wholes) = (places(entries), places(wholes));
    let mut groups: BTreeMap<(usize, u32, usize), Sums> = BTreeMap::new();
    let targets = 0..scope.targets.len();
    let all = (0..scope.steps()).flat_map(|step| targets.clone().map(move |it| (step, it)));
    for (step, target) in all.filter(|(step, target)| scope.is_in(*target, *step)) {
        let (place, it) = ((step, target), &scope.targets[target]);
        let whole = of_wholes.get(&place).copied();
        let whole = whole.filter(|cell| wholes.sum(*cell, read) > 0);
        let compared = Compared {
            asked,
            kind: it.target.kind,
            observed: it.observed[step],
            read: whole.map_or(0, |cell| wholes.sum(cell, read)),
            has_times: whole.is_some_and(|cell| wholes.sum(cell, times) > 0),
            entries: (entries, of_entries.get(&place).copied()),
            whole: (wholes, whole),
        };
        let end = it.target.retired.unwrap_or(Micros::MAX);
        let end = end.min(scope.edges[step + 1]);
        for measure in 0..asked.measures() {
            let sums = groups.entry((step, it.group, measure)).or_default();
            compared.add_to(sums, measure)?;
            sums.width += i128::from(end - scope.edges[step]);
        }
    }
    let is_any = |it: Option<i128>| it.is_some_and(|it| it != 0);
    let found = groups
        .into_iter()
        .filter(|(_, it)| is_any(it.total) || is_any(it.accounted));
    let found = found.map(|((step, group, measure), it)| Untracked {
        step,
        group: scope.groups[group as usize].clone(),
        measure,
        total: it.total,
        accounted: it.accounted,
        untracked: (!it.is_unknown).then_some(it.untracked),
        coverage: it.read as f64 / it.width as f64,
    });
    Ok(found.collect())
}
