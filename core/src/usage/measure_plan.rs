//! The measures of a question, and the sums that they are made of.

use super::measure::{Measure, Term};
use crate::usage::columns::sum::Sum;

/// The sums of a measure, as positions among all.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub total: Vec<(usize, &'a Term)>,
    pub calls: Option<usize>,
    pub spent: Option<usize>,
}

impl Parts<'_> {
    /// Returns the sums that show usage, each alone: the total and the calls.
    pub fn usage(&self) -> impl Iterator<Item = usize> + Clone {
        self.total.iter().map(|it| it.0).chain(self.calls)
    }
}

/// The measures of a question, with the sums that they are made of.
#[derive(Debug)]
pub struct MeasurePlan<'a> {
    /// The measures.
    pub measures: &'a [Measure],
    pub(super) parts: Vec<Parts<'a>>,
    /// The sums that rows must have.
    pub sums: Vec<Sum>,
    /// The sum that shows whether a target reports times, if the answer depends on that.
    pub probe: Option<usize>,
    /// The sums that show which target was used most: the time, and the calls if there are no times.
    pub(super) load: Option<[usize; 2]>,
}

impl<'a> MeasurePlan<'a> {
    /// Plans these measures; with `calls` also the calls and the spent bytes or time, with `busiest` the busiest target and the
    /// number of nodes.
    pub fn new(measures: &'a [Measure], calls: bool, busiest: bool) -> Self {
        let mut sums: Vec<Sum> = Vec::new();
        let mut place = |sum: &Sum| position(&mut sums, sum);
        let parts = measures.iter().map(|it| Parts {
            total: it
                .total
                .iter()
                .map(|term| (place(&term.sum), term))
                .collect(),
            calls: it.calls.as_ref().filter(|_| calls).map(&mut place),
            spent: it.spent.as_ref().filter(|_| calls).map(&mut place),
        });
        let parts = parts.collect();
        let load =
            busiest.then(|| [Sum::service_time(), Sum::service_calls()].map(|it| place(&it)));
        let has_times = sums.iter().any(|it| it.time);
        let probe = has_times.then(|| position(&mut sums, &Sum::service_time()));
        Self {
            measures,
            parts,
            sums,
            probe,
            load,
        }
    }
}

/// Returns the position of something in a list. If it is not there, it is added at the end.
pub(super) fn position<T: PartialEq + Clone>(list: &mut Vec<T>, it: &T) -> usize {
    let known = list.iter().position(|known| known == it);
    known.unwrap_or_else(|| {
        list.push(it.clone());
        list.len() - 1
    })
}
