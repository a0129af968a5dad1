//! Counters: by how much did one grow?
//!
//! [`Series`] takes the readings of one counter in any order and gives their [`Summary`]; summaries of spans that lie one
//! after the other merge into that of the whole, what happened between them included.

mod form;
mod rollup;
mod series;
mod summary;
#[cfg(test)]
mod tests;

use thiserror::Error;

pub use form::TEXT_EXAMPLE;
pub use rollup::Rollup;
pub use series::Series;
pub use summary::Summary;

use crate::increment::Micros;

/// Why there is no summary.
#[derive(Debug, Error)]
pub enum CounterError {
    /// Counters count up from zero.
    #[error("a counter is never negative: {0}")]
    Negative(i64),
    /// Readings without order need memory.
    #[error("over {0} readings of one counter are not in the order of time")]
    TooMany(usize),
    /// What lies around it is no longer known.
    #[error("a reading comes after over {0} later ones")]
    TooLate(usize),
    /// Nobody knows which reading followed which.
    #[error("summaries overlap: one ends when or after another begins")]
    Overlap,
    /// More than anything counts.
    #[error("the increase is out of range")]
    Range,
    /// Not enough memory.
    #[error("out of memory")]
    Memory,
    /// Text that is no summary.
    #[error("not the text of a counter's summary")]
    Text,
    /// Bytes that are no summary.
    #[error("not the bytes of a counter's summary")]
    Bytes,
}

/// A counter read at one time. Of two readings of the same time the greater one counts: that of the later life, then the
/// one with the larger value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reading {
    /// When it was read.
    pub time: Micros,
    start: Start,
    value: i64,
}

impl Reading {
    /// What was read, with the beginning of the counter's life where that is known.
    pub fn new(time: Micros, value: i64, start: Option<Micros>) -> Result<Self, CounterError> {
        if value < 0 {
            return Err(CounterError::Negative(value));
        }
        Ok(Self {
            time,
            start: Start::new(start),
            value,
        })
    }

    /// The counter's value.
    pub fn value(&self) -> i64 {
        self.value
    }

    /// When its life began.
    pub fn start(&self) -> Option<Micros> {
        self.start.known()
    }

    /// Both readings are known to be of one life.
    fn is_of_life(&self, other: &Self) -> bool {
        self.start == other.start && self.start.known().is_some()
    }
}

/// When a counter's life began. An `Option` would make every reading a third larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Start(Micros);

impl Start {
    /// Before all that are known.
    const UNKNOWN: Self = Self(Micros::MIN);

    fn new(start: Option<Micros>) -> Self {
        start.map_or(Self::UNKNOWN, Self)
    }

    fn known(self) -> Option<Micros> {
        (self != Self::UNKNOWN).then_some(self.0)
    }
}
