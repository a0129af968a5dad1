//! Limits the work that all entries of a target can have done together.
//!
//! An increment of 2^53 or more is not believed, but 1,024 smaller ones can make a sum that no column of a rollup can
//! hold. Real sums are far below either number, so that a sum above the limit is an error or an attack.

use std::collections::TryReserveError;

use super::{Column, Comparison, Increment, Problem, Reason};
use crate::base::instant::Micros;
use crate::base::operation::OPERATIONS;

#[cfg(test)]
mod tests;

/// The largest rate per second that may be configured. A rollup of days then sums less than 2^58 per column and target,
/// with room for a sum over all columns.
pub const MAX_RATE: u64 = 1 << 40;

/// The sum that a column may have in any text, however soon the text follows the one before.
const AT_LEAST: u64 = 1 << 30;

/// The number of columns that increments can have.
const COLUMNS: usize = 2 * OPERATIONS.len();

/// Returns the position of a column among all columns.
const fn position(column: Column) -> usize {
    match column {
        Column::Total(index) => 2 * index,
        Column::Usecs(index) => 2 * index + 1,
    }
}

/// A dropped value: the position of its increment, the column and the growth.
type Dropped = (usize, Column, i64);

impl Comparison<'_> {
    /// Drops the largest values of every column whose sum over all entries exceeds the limit, until the others fit. The
    /// limit is `max_rate` per second of the gap between the two observations, and at least 2^30. Each dropped value
    /// becomes a problem.
    ///
    /// The next text is compared with this text as it is, so that dropped values are not counted later either.
    ///
    /// # Errors
    /// [`TryReserveError`] if the problems do not fit into memory.
    pub fn limit(&mut self, gap: Micros, max_rate: u64) -> Result<(), TryReserveError> {
        let limit = limit(gap, max_rate);
        let mut dropped = largest(&self.increments, limit)?;
        if dropped.is_empty() {
            return Ok(());
        }
        dropped.sort_unstable_by_key(|(increment, column, _)| (*increment, *column));
        for (position, column, growth) in dropped {
            let increment = &mut self.increments[position];
            increment.totals.retain(|(of, _)| *of != column);
            let problem = problem(increment, column, growth, limit);
            self.report(problem)?;
        }
        self.increments.retain(Increment::has_grown);
        self.active = active(&self.increments);
        Ok(())
    }
}

/// Returns the largest sum that a column may have after a gap.
fn limit(gap: Micros, max_rate: u64) -> u128 {
    let gap = u128::try_from(gap).unwrap_or(0);
    (gap * u128::from(max_rate) / 1_000_000).max(AT_LEAST.into())
}

/// Returns the largest values of each column, so that the others sum up to the limit at most. Of equal values, the first in the text
/// are returned.
fn largest(increments: &[Increment<'_>], limit: u128) -> Result<Vec<Dropped>, TryReserveError> {
    let mut sums = [0; COLUMNS];
    for (column, value) in increments.iter().flat_map(|increment| &increment.totals) {
        sums[position(*column)] += u128::from(value.unsigned_abs());
    }
    let above = sums.map(|sum| sum > limit);
    let values = increments.iter().enumerate().flat_map(|(at, increment)| {
        let totals = increment.totals.iter();
        totals.map(move |(column, value)| (at, *column, *value))
    });
    let values = values.filter(|(_, column, _)| above[position(*column)]);
    let mut largest = Vec::new();
    largest.try_reserve_exact(values.clone().count())?;
    largest.extend(values);
    largest.sort_unstable_by_key(|(at, _, value)| (-value, *at));
    largest.retain(|(_, column, value)| {
        let rest = &mut sums[position(*column)];
        let is_above = *rest > limit;
        *rest -= u128::from(value.unsigned_abs());
        is_above
    });
    Ok(largest)
}

fn problem<'a>(increment: &Increment<'a>, column: Column, growth: i64, limit: u128) -> Problem<'a> {
    Problem {
        line: increment.line,
        entry: increment.id,
        operation: Some(OPERATIONS[column.operation()].name),
        reason: Reason::Impossible {
            counted: column.unit(),
            growth: growth.unsigned_abs(),
            limit,
        },
    }
}

/// Returns the number of entries of the text that have increments.
pub(super) fn active(increments: &[Increment<'_>]) -> u64 {
    let lines = increments.iter().map(|increment| increment.line);
    let before = std::iter::once(None).chain(lines.clone().map(Some));
    lines
        .zip(before)
        .filter(|(line, before)| Some(*line) != *before)
        .count() as u64
}
