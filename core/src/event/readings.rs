//! Readings of counters in order of time.

use crate::instant::{Micros, Span};

/// The growth of counters between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<T> {
    /// The time between the two.
    pub span: Span,
    /// The growth.
    pub value: T,
}

impl<T> Reading<T> {
    /// Returns the middle of the time.
    pub(super) fn middle(&self) -> Micros {
        self.span.0 + (self.span.1 - self.span.0) / 2
    }

    /// Returns the length of the time in seconds.
    pub(super) fn seconds(&self) -> f64 {
        (self.span.1 - self.span.0) as f64 / 1e6
    }
}

/// Returns the reading that an instant lies in, of readings in order of time.
pub(super) fn at<T>(readings: &[Reading<T>], instant: Micros) -> Option<&Reading<T>> {
    let next = readings.partition_point(|it| it.span.1 < instant);
    readings.get(next).filter(|it| it.span.0 < instant)
}

/// Returns the median of amounts, which are put in order; `None` if there is none.
pub(super) fn median(amounts: &mut [f64]) -> Option<f64> {
    amounts.sort_by(f64::total_cmp);
    let middle = amounts.len() / 2;
    let upper = *amounts.get(middle)?;
    if amounts.len() % 2 == 1 {
        Some(upper)
    } else {
        Some((amounts[middle - 1] + upper) / 2.0)
    }
}
