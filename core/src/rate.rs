//! Sums of rates: what each target counted, divided by the time for which it was observed.
//!
//! Totals are added exactly, apart for each length of time, of which there are few: most targets are observed for the same
//! time. Only then is anything divided and rounded, once for all. So the sum does not depend on the order of the targets.

#[cfg(test)]
mod tests;

use allocator_api2::alloc::{Allocator, Global};
use allocator_api2::vec::Vec;
use thiserror::Error;

use crate::increment::Micros;

/// Bits of a magnitude that quotients may take together: all but the sign.
const BITS: u32 = i128::BITS - 1;

/// Why a total cannot be added.
#[derive(Debug, Error)]
pub enum RateError {
    /// No total of bigints is that large.
    #[error("a sum is out of range")]
    Overflow,
    /// Not enough memory.
    #[error("out of memory")]
    Memory,
}

/// What was counted in a time. PostgreSQL's memory begins at multiples of eight bytes, where an i128 wants sixteen.
#[derive(Debug, Clone, Copy)]
#[repr(Rust, packed(8))]
struct Part {
    observed: Micros,
    total: i128,
}

impl Part {
    fn add(&mut self, total: i128) -> Result<(), RateError> {
        self.total = self.total.checked_add(total).ok_or(RateError::Overflow)?;
        Ok(())
    }
}

/// The sum of some rates. What was counted in no time at all has none, and belongs to the total only.
#[derive(Debug, Clone)]
pub struct Rates<A: Allocator = Global> {
    /// By how much a total per microsecond is multiplied.
    scale: i64,
    /// The time met last, to which more is being added.
    latest: Part,
    /// All before it, in order of the time, each once.
    parts: Vec<Part, A>,
}

impl<A: Allocator> Rates<A> {
    /// Of nothing yet; the first total is expected to be of this time.
    pub fn new_in(scale: i64, observed: Micros, memory: A) -> Self {
        Self {
            scale,
            latest: Part { observed, total: 0 },
            parts: Vec::new_in(memory),
        }
    }

    /// Adds a total; `observed` is 0 where there was no time.
    pub fn push(&mut self, total: i128, observed: Micros) -> Result<(), RateError> {
        if observed != self.latest.observed {
            self.keep()?;
            self.latest = Part { observed, total: 0 };
        }
        self.latest.add(total)
    }

    /// Adds a total of the time met last, if this is one and there is room; tells whether it did.
    #[inline]
    pub fn push_to_latest(&mut self, total: i64, observed: Micros) -> bool {
        observed == self.latest.observed && self.latest.add(total.into()).is_ok()
    }

    /// Puts the time met last to the others.
    fn keep(&mut self) -> Result<(), RateError> {
        let Part { observed, total } = self.latest;
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

    /// What was counted in all.
    pub fn total(&self) -> Result<i128, RateError> {
        let mut sum = self.latest;
        for part in &self.parts {
            sum.add(part.total)?;
        }
        Ok(sum.total)
    }

    /// What was counted in each time observed.
    fn observed(&self) -> impl Iterator<Item = Part> {
        let Part { observed, total } = self.latest;
        let known = self.parts.iter().any(|it| it.observed == observed);
        let parts = self.parts.iter().map(move |part| Part {
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

    /// The sum of what was counted by microsecond, each time the scale: of one length of time the nearest number there is.
    /// None where nothing was observed.
    pub fn rate(&self) -> Option<f64> {
        let count = self.observed().count();
        if count == 0 {
            return None;
        }
        let scaled = |part: Part| part.total.checked_mul(self.scale.into());
        let widest = self.observed().try_fold(0, |most: u32, part| {
            let bits = u128::BITS - scaled(part)?.unsigned_abs().leading_zeros();
            Some(most.max(bits))
        });
        // So many that their sum has room.
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
        // Beyond what a double holds there is a bit at least, so that this tells a number from what is half way between two.
        if rest {
            rate += rate.signum();
        }
        Some(rate as f64 * 0.5f64.powi(shift as i32))
    }
}

impl Part {
    /// Where totals are too large to be divided exactly.
    fn rounded_rate(&self, scale: i64) -> f64 {
        self.total as f64 / self.observed as f64 * scale as f64
    }
}
