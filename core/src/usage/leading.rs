//! Targets compared with others of their kind, and who leads on them.

use std::collections::HashMap;

use super::groups::{Groups, Line};
use super::scope::Scope;
use crate::series::typical::median;

/// The number of dimensions that compared targets have in common: cluster, file system and kind.
const IN_COMMON: usize = 3;

/// A target, with the group of entries that did most on it.
#[derive(Debug)]
pub struct Leading {
    /// The work of the group.
    pub line: Line,
    /// The rate of the target; `None` if it was not observed.
    pub rate: Option<f64>,
    /// The ratio to the median of targets of its kind; `None` if that is 0.
    pub ratio: Option<f64>,
    /// The part of the group in what the target did; `None` if the target did no work.
    pub share: Option<f64>,
}

/// Finds who leads on each target, of the lines of one step with a measure of this unit. Targets furthest above the median come first.
pub fn leading(groups: &Groups<'_>, scope: &Scope, lines: Vec<Line>, unit: i128) -> Vec<Leading> {
    let mut of_targets: HashMap<u32, Vec<Line>> = HashMap::new();
    for line in lines {
        of_targets.entry(line.group.0).or_default().push(line);
    }
    let leader = |lines: Vec<Line>| {
        let known: Vec<i128> = lines.iter().filter_map(Line::total).collect();
        let whole = (!known.is_empty()).then(|| known.iter().sum::<i128>());
        let first = lines.into_iter().reduce(|one, other| {
            let by_total = one.total().cmp(&other.total()).reverse();
            let order = by_total.then_with(|| groups.compare(scope, one.group, other.group));
            if order.is_le() { one } else { other }
        })?;
        let seconds = first.observed.micros as f64 / 1e6;
        let rate = whole.filter(|_| seconds > 0.0);
        Some(Leading {
            rate: rate.map(|total| total as f64 / unit as f64 / seconds),
            ratio: None,
            share: whole
                .filter(|it| *it != 0)
                .zip(first.total())
                .map(|(whole, it)| it as f64 / whole as f64),
            line: first,
        })
    };
    let mut leading: Vec<Leading> = of_targets.into_values().filter_map(leader).collect();
    let mut rates: HashMap<&[Option<String>], Vec<f64>> = HashMap::new();
    let kind = |line: &Line| {
        let values = &scope.groups[line.group.0 as usize];
        &values[..IN_COMMON.min(values.len())]
    };
    for it in &leading {
        rates.entry(kind(&it.line)).or_default().extend(it.rate);
    }
    let medians: HashMap<_, Option<f64>> = rates
        .into_iter()
        .map(|(kind, mut rates)| (kind, median(&mut rates)))
        .collect();
    let with_median = |it: &Leading| it.rate.zip(*medians.get(kind(&it.line))?);
    for it in &mut leading {
        let comparable = with_median(it).filter(|it| it.1 != 0.0);
        it.ratio = comparable.map(|(rate, median)| rate / median);
    }
    // If the median is 0, any target above it is out of balance all the same.
    let excess =
        |it: &Leading| with_median(it).map_or(f64::NEG_INFINITY, |(rate, median)| rate - median);
    leading.sort_by(|one, other| {
        let by_excess = excess(other).total_cmp(&excess(one));
        by_excess.then_with(|| groups.compare(scope, one.line.group, other.line.group))
    });
    leading
}
