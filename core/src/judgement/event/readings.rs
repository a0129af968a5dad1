//! Readings of counters in order of time.

use crate::base::instant::{Micros, Span};

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

/// Returns the readings that lie between two times.
pub(super) fn within<T>(
    readings: &[Reading<T>],
    (since, until): Span,
) -> impl Iterator<Item = &Reading<T>> {
    let readings = readings.iter();
    readings.filter(move |it| it.span.0 >= since && it.span.1 <= until)
}

/// Returns the least of the values that reach a threshold: a single high one makes no other one higher.
pub(super) fn least(values: impl Iterator<Item = f64>, threshold: f64) -> f64 {
    let high = values.filter(|it| *it >= threshold);
    high.fold(f64::INFINITY, f64::min)
}
