//! Counters of limited width, which wrap.

use std::num::NonZero;

use super::CounterError;

/// The modulus of a counter that wraps: all values are less, and after the largest the counter goes on with 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulus(NonZero<i64>);

impl Modulus {
    /// Creates a modulus, such as 2^32 for a counter of 32 bits. A number that is not positive is an error.
    pub fn new(wraps_at: i64) -> Result<Self, CounterError> {
        NonZero::new(wraps_at)
            .filter(|it| it.is_positive())
            .map(Self)
            .ok_or(CounterError::Modulus(wraps_at))
    }

    /// Returns the modulus as a number.
    pub fn get(self) -> i64 {
        self.0.get()
    }

    /// Returns true if a counter with this modulus can have the value.
    #[inline]
    pub fn admits(self, value: i64) -> bool {
        (0..self.get()).contains(&value)
    }

    /// Returns by how much a counter grows from one value to the next if it wraps at most once.
    pub(super) fn distance(self, from: i64, to: i64) -> u64 {
        (to - from).rem_euclid(self.get()).unsigned_abs()
    }
}
