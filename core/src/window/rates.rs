//! Sums of rates: the total of each target, divided by the time for which the target was observed.
//!
//! Totals are added exactly, separately for each length of time. There are few of these, because most targets are
//! observed for the same time. Only then are the totals divided, and the sum is rounded once. The sum therefore does
//! not depend on the order of the targets.

#[cfg(test)]
mod tests;

use allocator_api2::alloc::{Allocator, Global};
use allocator_api2::vec::Vec;
use thiserror::Error;

use crate::instant::Micros;

/// The number of bits that the sum of the quotients may take: all but the sign.
const BITS: u32 = i128::BITS - 1;

/// An error that prevents adding a total.
#[derive(Debug, Error)]
pub enum RateError {
    /// The sum is larger than any sum of bigints.
    #[error("a sum is out of range")]
    Overflow,
    /// There is not enough memory.
    #[error("out of memory")]
    Memory,
}

/// The total of one length of time. The part is packed because PostgreSQL aligns memory to 8 bytes, where an i128 needs
/// 16.
#[derive(Debug, Clone, Copy)]
#[repr(Rust, packed(8))]
struct ObservedTotal {
    observed: Micros,
    total: i128,
}

impl ObservedTotal {
    fn add(&mut self, total: i128) -> Result<(), RateError> {
        self.total = self.total.checked_add(total).ok_or(RateError::Overflow)?;
        Ok(())
    }
}

/// A sum of rates. A total without observed time has no rate and belongs to the total only.
#[derive(Debug, Clone)]
pub struct Rates<A: Allocator = Global> {
    /// The factor by which a total per microsecond is multiplied.
    scale: i64,
    /// The length of time met last, to whose total more is being added.
    latest: ObservedTotal,
    /// The lengths of time met before, in order, each once.
    parts: Vec<ObservedTotal, A>,
}

impl<A: Allocator> Rates<A> {
    /// Creates an empty sum. The first total is expected to be of the length of time `observed`.
    pub fn new_in(scale: i64, observed: Micros, memory: A) -> Self {
        Self {
            scale,
            latest: ObservedTotal { observed, total: 0 },
            parts: Vec::new_in(memory),
        }
    }

    /// Adds a total. `observed` is 0 if there was no time.
    pub fn push(&mut self, total: i128, observed: Micros) -> Result<(), RateError> {
        if observed != self.latest.observed {
            self.keep()?;
            self.latest = ObservedTotal { observed, total: 0 };
        }
        self.latest.add(total)
    }

    /// Adds a total if it is of the length of time met last and there is room. Returns true if the total was added.
    #[inline]
    pub fn push_to_latest(&mut self, total: i64, observed: Micros) -> bool {
        observed == self.latest.observed && self.latest.add(total.into()).is_ok()
    }

    /// Adds the total of the length of time met last to the parts.
    fn keep(&mut self) -> Result<(), RateError> {
        let ObservedTotal { observed, total } = self.latest;
        match self.parts.binary_search_by_key(&observed, |it| it.observed) {
            Ok(place) => self.parts[place].add(total),
            Err(place) => {
                let room = self.parts.try_reserve(1);
                room.map_err(|_| RateError::Memory)?;
                self.parts.insert(place, self.latest);
                Ok(())
            }
        }
    }

    /// Returns the sum of all totals.
    pub fn total(&self) -> Result<i128, RateError> {
        let mut sum = self.latest;
        for part in &self.parts {
            sum.add(part.total)?;
        }
        Ok(sum.total)
    }

    /// Returns the total of each length of time, except 0.
    fn observed(&self) -> impl Iterator<Item = ObservedTotal> {
        let ObservedTotal { observed, total } = self.latest;
        let known = self.parts.iter().any(|it| it.observed == observed);
        let parts = self.parts.iter().map(move |part| ObservedTotal {
            total: if part.observed == observed {
                part.total.saturating_add(total)
            } else {
                part.total
            },
            ..*part
        });
        let parts = parts.chain((!known).then_some(self.latest));
        parts.filter(|it| it.observed > 0)
    }

    /// Returns the sum of the totals per microsecond, multiplied by the scale, or `None` if nothing was observed. With
    /// a single length of time, this is the nearest number there is.
    pub fn rate(&self) -> Option<f64> {
        let count = self.observed().count();
        if count == 0 {
            return None;
        }
        let scaled = |part: ObservedTotal| part.total.checked_mul(self.scale.into());
        let widest = self.observed().try_fold(0, |most: u32, part| {
            let bits = u128::BITS - scaled(part)?.unsigned_abs().leading_zeros();
            Some(most.max(bits))
        });
        // This many bits per quotient leave room for the sum.
        let room = BITS - (usize::BITS - count.leading_zeros());
        let Some(shift) = widest.and_then(|bits| room.checked_sub(bits)) else {
            let rates = self.observed().map(|it| it.rounded_rate(self.scale));
            return Some(rates.sum());
        };
        let mut rate = 0;
        let mut rest = false;
        for part in self.observed() {
            let total = scaled(part).unwrap_or_default() << shift;
            let observed = i128::from(part.observed);
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

impl ObservedTotal {
    /// Returns a rounded rate, for totals that are too large to be divided exactly.
    fn rounded_rate(&self, scale: i64) -> f64 {
        self.total as f64 / self.observed as f64 * scale as f64
    }
}
