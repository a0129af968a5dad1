//! The steps of a window.
//!
//! Steps lie on multiples of their width, wherever the window begins. So the steps of adjacent windows fit together, and
//! steps of ten minutes, hours and days are buckets of rollups: only the rims of a window are read from finer sources.
//! Multiples are counted from a Monday, so that weeks begin on Mondays, and multiples of months from a January.

use thiserror::Error;

use crate::base::instant::{DAY, Micros, Span};

#[cfg(test)]
mod tests;

/// The time at which clocks show Monday, 2000-01-03 00:00.
const MONDAY: Micros = 10_959 * DAY;

/// The time at which clocks show 2000-03-01 00:00.
const MARCH: Micros = 11_017 * DAY;

/// The mean length of a month: 400 years, which are 4,800 months, have 146,097 days.
const MONTH: Micros = 146_097 * (DAY / 4_800);

/// The width of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepWidth {
    /// A length of time, whatever clocks show.
    Time(Micros),
    /// Days, and a rest shorter or longer than a day, as clocks show them.
    Days(Micros),
    /// Months of the calendar.
    Months(i64),
}

/// An interval that cannot be the width of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StepError {
    /// A part is negative, or all are zero. With parts of both signs, a step may go backwards, depending on the month.
    #[error("step must be positive")]
    NotPositive,
    /// Months are mixed with days or time: there is no counting how often such a width fits into a span.
    #[error("step mixes months with days or hours")]
    Mixed,
    /// The width is longer than time is counted.
    #[error("step is too long")]
    TooLong,
}

/// The clocks of a time zone. Their time is counted in microseconds since they showed 1970-01-01 00:00.
pub trait Clocks {
    /// Returns the time that clocks show at an instant.
    fn shown(&self, instant: Micros) -> Micros;

    /// Returns the instant at which clocks show this. If they do so twice or never, it is one nearby.
    fn instant(&self, shown: Micros) -> Micros;
}

impl StepWidth {
    /// Returns the width of an interval of so many months, days and microseconds.
    ///
    /// # Errors
    /// See [`StepError`].
    pub fn new(months: i32, days: i32, micros: Micros) -> Result<Self, StepError> {
        let (months, days) = (i64::from(months), i64::from(days));
        let parts = [months, days, micros];
        if parts.iter().any(|&part| part < 0) || parts == [0; 3] {
            return Err(StepError::NotPositive);
        }
        if months > 0 && (days > 0 || micros > 0) {
            return Err(StepError::Mixed);
        }
        let length = [(months, MONTH), (days, DAY), (micros, 1)];
        let length = length.into_iter().try_fold(0_i64, |sum, (count, unit)| {
            sum.checked_add(count.checked_mul(unit)?)
        });
        match length.ok_or(StepError::TooLong)? {
            _ if months > 0 => Ok(Self::Months(months)),
            length if days > 0 => Ok(Self::Days(length)),
            length => Ok(Self::Time(length)),
        }
    }

    /// Returns the time that clocks show at a multiple of the width, or the last time that can be counted.
    fn multiple(self, number: i64) -> Micros {
        match self {
            Self::Time(width) | Self::Days(width) => {
                number.saturating_mul(width).saturating_add(MONDAY)
            }
            Self::Months(months) => first_of_month(number.saturating_mul(months)),
        }
    }

    /// Returns the number of a multiple that clocks show before this, not far from it.
    fn number_before(self, shown: Micros) -> i64 {
        let number = match self {
            Self::Time(width) | Self::Days(width) => shown.saturating_sub(MONDAY).div_euclid(width),
            // A month begins less than three days from where it would if all were of the same length.
            Self::Months(months) => shown
                .saturating_sub(MARCH)
                .div_euclid(MONTH)
                .div_euclid(months),
        };
        number - 2
    }
}

/// Returns the first time that clocks show in a month, which is counted from January 2000.
fn first_of_month(number: i64) -> Micros {
    // In years that begin in March, the day that some of them lack comes last.
    let number = number.saturating_sub(2);
    let (years, months) = (number.div_euclid(12), number.rem_euclid(12));
    let leap_days = years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    let days = years
        .saturating_mul(365)
        .saturating_add(leap_days + (153 * months + 2) / 5);
    days.saturating_mul(DAY).saturating_add(MARCH)
}

/// Returns the edges of the steps of a window (since, until]: the start of the window, every multiple of the width inside,
/// and the end. Returns `None` if there are more than `limit` steps.
///
/// Multiples of a length of time are counted on clocks that agree with the zone at the start of the window, other
/// multiples on clocks of the zone.
pub fn step_edges(
    (since, until): Span,
    width: StepWidth,
    zone: &impl Clocks,
    limit: usize,
) -> Option<Vec<Micros>> {
    let shown = zone.shown(since);
    let offset = shown.saturating_sub(since);
    let instant = |shown: Micros| match width {
        StepWidth::Time(_) => shown.saturating_sub(offset),
        StepWidth::Days(_) | StepWidth::Months(_) => zone.instant(shown),
    };
    let numbers = width.number_before(shown)..;
    let multiples = numbers.map(|number| instant(width.multiple(number)));
    let mut edges = vec![since];
    let mut last = since;
    for edge in multiples.take_while(|&edge| edge < until) {
        if edge > last {
            edges.push(edge);
            last = edge;
        }
        if edges.len() > limit {
            return None;
        }
    }
    edges.push(until);
    Some(edges)
}
