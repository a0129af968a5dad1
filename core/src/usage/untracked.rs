//! The counters of targets, compared with the work of their entries.

use std::collections::BTreeMap;

use super::cells::Cells;
use super::measure_plan::MeasurePlan;
use super::scope::Scope;
use super::{UsageError, add};
use crate::base::instant::Micros;
use crate::base::target::TargetKind;
use crate::usage::columns::sum::Sum;
use crate::usage::times::reports_times;

/// The column of whole targets that sums the microseconds in which their counters were read.
const READ: &str = "observed_usecs";

/// The entries' observed time, in percent, for which the target counters must have been read, or the difference is unknown. The two
/// are read a moment apart.
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

/// Returns the sums that rows of whole targets must have for this question: the time in which they were read and the time spent come last.
pub fn target_counter_sums(plan: &MeasurePlan<'_>) -> Vec<Sum> {
    let mut sums = plan.sums.clone();
    sums.extend([Sum::column(READ), Sum::service_time()]);
    sums
}

/// Returns the work of a target that is in its own counters and in no entry. Work of entries beyond these counters, which were
/// read a moment apart, is no work of another target.
pub fn in_no_entry(all: i128, accounted: i128) -> i128 {
    (all - accounted).max(0)
}

/// The work on a target in a step, by its entries or by its own counters.
struct Work<'a> {
    cells: &'a Cells,
    cell: Option<u32>,
    /// The microseconds in which it was observed.
    observed: i128,
    /// Set if it has times.
    has_times: bool,
}

impl Work<'_> {
    /// Returns the total of a measure on a target of this kind; `None` if it is not known.
    fn total(
        &self,
        plan: &MeasurePlan<'_>,
        measure: usize,
        kind: TargetKind,
    ) -> Result<Option<i128>, UsageError> {
        let mut total = Some(0);
        let terms = plan.parts[measure].total.iter();
        for (sum, term) in terms.filter(|it| it.1.sum.is_of(kind)) {
            let value = self.cell.map_or(0, |it| self.cells.sum(it, *sum));
            let is_known = self.observed > 0 && (self.has_times || !term.sum.time);
            if value == 0 && !is_known {
                return Ok(None);
            }
            let value = value.checked_mul(plan.measures[measure].factor(term));
            add(&mut total, Some(value.ok_or(UsageError::Overflow)?))?;
        }
        Ok(total)
    }
}

impl Untracked {
    /// Adds the total of a target by its own counters, and by its entries. `is_known` is set if the two can be compared.
    fn add(
        &mut self,
        all: Option<i128>,
        accounted: Option<i128>,
        is_known: bool,
    ) -> Result<(), UsageError> {
        add(&mut self.total, all)?;
        add(&mut self.accounted, accounted)?;
        let rest = all.filter(|_| is_known);
        let rest = rest.map(|all| in_no_entry(all, accounted.unwrap_or(0)));
        self.untracked = self.untracked.zip(rest).map(|(sum, rest)| sum + rest);
        Ok(())
    }
}

/// Compares the cells of whole targets with the cells of their entries, one for each target in each step.
///
/// # Errors
/// [`UsageError::Overflow`]
pub fn untracked(
    plan: &MeasurePlan<'_>,
    scope: &Scope,
    entries: &Cells,
    own: &Cells,
) -> Result<Vec<Untracked>, UsageError> {
    let (read, time) = (plan.sums.len(), plan.sums.len() + 1);
    // Each with the microseconds in which the counters were read, and in which its targets were in use.
    let mut groups: BTreeMap<(usize, u32, usize), (Untracked, [i128; 2])> = BTreeMap::new();
    let targets = scope.targets.iter().enumerate();
    let all = (0..scope.steps()).flat_map(|step| targets.clone().map(move |it| (step, it)));
    for (step, (target, it)) in all.filter(|(step, it)| scope.is_in(it.0, *step)) {
        let of_entries = Work {
            cells: entries,
            cell: entries.of_all(step, target),
            observed: it.observed[step].into(),
            has_times: true,
        };
        let cell = own.of_all(step, target);
        let cell = cell.filter(|it| own.sum(*it, read) > 0);
        let of_targets = Work {
            cells: own,
            cell,
            observed: cell.map_or(0, |it| own.sum(it, read)),
            has_times: reports_times(cell.map(|it| own.sum(it, time))),
        };
        let is_known = of_entries.observed > 0
            && of_targets.observed * 100 >= PERCENT_READ * of_entries.observed;
        let end = it.target.retired.unwrap_or(Micros::MAX);
        let end = end.min(scope.edges[step + 1]);
        for measure in 0..plan.measures.len() {
            let [all, accounted] =
                [&of_targets, &of_entries].map(|work| work.total(plan, measure, it.target.kind));
            let sums = groups.entry((step, it.group, measure));
            let (sums, [read, width]) = sums.or_insert_with(|| {
                let group = scope.groups[it.group as usize].clone();
                let none = Untracked {
                    step,
                    group,
                    measure,
                    untracked: Some(0),
                    ..Untracked::default()
                };
                (none, [0, 0])
            });
            sums.add(all?, accounted?, is_known)?;
            *read += of_targets.observed;
            *width += i128::from(end - scope.edges[step]);
        }
    }
    let is_any = |it: Option<i128>| it.is_some_and(|it| it != 0);
    let found = groups.into_values();
    let found = found.filter(|(it, _)| is_any(it.total) || is_any(it.accounted));
    let found = found.map(|(it, [read, width])| Untracked {
        coverage: read as f64 / width as f64,
        ..it
    });
    Ok(found.collect())
}
