//! Sums of rates: the total of each target, divided by the observed time of the target.
//!
//! Totals are added exactly, separately for each length of time. There are few of these, because most targets are
//! observed for the same time. Only then are the totals divided, and the sum is rounded once. The sum therefore does
//! not depend on the order of the targets.

#[cfg(test)]
mod tests;

use super::UsageError;
use crate::base::instant::{Micros, SECOND};

/// The number of bits that the sum of the quotients may take: all but the sign.
const BITS: u32 = i128::BITS - 1;

/// A sum of rates. A total without observed time has no rate.
#[derive(Debug, Clone, Default)]
pub struct Rates {
    /// The totals by length of time, in order.
    parts: Vec<(Micros, i128)>,
}

impl Rates {
    /// Adds a total. `observed` is 0 if there was no time.
    ///
    /// # Errors
    /// [`UsageError::Overflow`]
    pub fn push(&mut self, total: i128, observed: Micros) -> Result<(), UsageError> {
        if observed <= 0 {
            return Ok(());
        }
        match self.parts.binary_search_by_key(&observed, |it| it.0) {
            Ok(place) => {
                let sum = &mut self.parts[place].1;
                *sum = sum.checked_add(total).ok_or(UsageError::Overflow)?;
            }
            Err(place) => self.parts.insert(place, (observed, total)),
        }
        Ok(())
    }

    /// Returns the sum of the totals per second, in a unit with so many parts; `None` without observed time. With a single length of
    /// time, this is the nearest number there is.
    pub fn rate(&self, unit: i128) -> Option<f64> {
        if self.parts.is_empty() {
            return None;
        }
        let second = i128::from(SECOND);
        let (scale, unit) = match unit {
            // Parts of a unit that is no smaller than a microsecond divide without a factor.
            unit if unit >= second => (1, unit / second),
            unit => (second / unit, 1),
        };
        let scaled = |total: i128| total.checked_mul(scale);
        let widest = self.parts.iter().try_fold(0, |most: u32, &(_, total)| {
            let bits = u128::BITS - scaled(total)?.unsigned_abs().leading_zeros();
            Some(most.max(bits))
        });
        // This many bits per quotient leave room for the sum.
        let room = BITS - (usize::BITS - self.parts.len().leading_zeros());
        let Some(shift) = widest.and_then(|bits| room.checked_sub(bits)) else {
            let rounded = |&(observed, total): &(Micros, i128)| {
                total as f64 / observed as f64 / unit as f64 * scale as f64
            };
            return Some(self.parts.iter().map(rounded).sum());
        };
        let mut rate = 0;
        let mut rest = false;
        for &(observed, total) in &self.parts {
            let total = scaled(total).unwrap_or_default() << shift;
            let observed = i128::from(observed) * unit;
            rate += total / observed;
            rest |= total % observed != 0;
        }
        // The sum has at least one bit more than a double holds, so that a change of its last bit distinguishes it from
        // a number half way between two doubles.
        if rest {
            rate += rate.signum();
        }
        Some(rate as f64 * 0.5f64.powi(shift as i32))
    }
}

/// Returns the number that is nearest to a quotient, where one is so many parts; `None` if the divisor is 0.
pub(super) fn quotient(number: i128, by: i128, unit: i128) -> Option<f64> {
    let mut quotient = Rates::default();
    quotient.push(number, Micros::try_from(by).ok()?).ok()?;
    quotient.rate(unit * i128::from(SECOND))
}
