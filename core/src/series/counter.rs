//! The increase and the resets of a counter.
//!
//! [`Series`] takes the readings of one counter in any order and returns their [`Summary`]. Summaries of spans that
//! follow each other merge into a summary of the whole, which includes the increase between the spans.

mod encoding;
mod growth;
mod modulus;
mod rollup;
mod series;
mod summary;
#[cfg(test)]
mod tests;

use std::fmt;

use thiserror::Error;

pub use encoding::TEXT_EXAMPLE;
pub use growth::Growth;
pub use modulus::Modulus;
pub use rollup::Rollup;
pub use series::Series;
pub use summary::Summary;

use crate::base::instant::Micros;

/// An error that prevents a summary.
#[derive(Debug, Error)]
pub enum CounterError {
    /// A value is negative, but counters count up from zero.
    #[error("a counter must not be negative: {0}")]
    Negative(i64),
    /// A modulus is not positive.
    #[error("a counter cannot wrap at {0}")]
    Modulus(i64),
    /// A value is not less than the modulus.
    #[error("a counter that wraps at {} cannot have the value {value}", modulus.get())]
    BeyondModulus {
        /// The value.
        value: i64,
        /// The modulus of the counter.
        modulus: Modulus,
    },
    /// Readings or summaries have different moduli, so that they are of different counters.
    #[error("one counter {}, the other {}", shown(*.0), shown(*.1))]
    Moduli(Option<Modulus>, Option<Modulus>),
    /// There are too many readings out of order, or too many summaries: all of them must be kept in memory.
    #[error("more than {0} readings of one counter are out of order")]
    TooMany(usize),
    /// A reading comes so late that the readings around it have already been summed up.
    #[error("a reading comes after more than {0} later ones")]
    TooLate(usize),
    /// The spans of summaries overlap, so that the order of their readings is unknown.
    #[error("summaries overlap or share an end")]
    Overlap,
    /// The summary that should be the previous one does not end before the other begins.
    #[error("the previous summary does not end before the other one begins")]
    NotPrevious,
    /// The increase or the number of resets is too large.
    #[error("the increase is out of range")]
    Range,
    /// There is not enough memory.
    #[error("out of memory")]
    Memory,
    /// The text is not a summary.
    #[error("invalid text for a counter summary")]
    Text,
    /// The bytes are not a summary.
    #[error("invalid binary data for a counter summary")]
    Bytes,
}

fn shown(modulus: Option<Modulus>) -> impl fmt::Display {
    modulus.map_or("never wraps".into(), |it| format!("wraps at {}", it.get()))
}

/// A reading of a counter at one time. Of two readings of the same time the greater one counts: the reading of the
/// later epoch, then the reading with the larger value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reading {
    /// The time of the reading.
    pub time: Micros,
    start: Start,
    /// The counter's value.
    pub value: i64,
}

impl Reading {
    /// Creates a reading. `start` is the time at which the counter's epoch began, if known. A negative value is an
    /// error.
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

    /// Returns the time at which the counter's epoch began, if known.
    pub fn start(&self) -> Option<Micros> {
        self.start.known()
    }

    /// Returns true if both readings are known to be of the same epoch.
    fn is_of_epoch(&self, other: &Self) -> bool {
        self.start == other.start && self.start.known().is_some()
    }

    /// Returns true if both readings are known to be of different epochs.
    fn is_of_other_epoch(&self, other: &Self) -> bool {
        self.start != other.start && self.start().is_some() && other.start().is_some()
    }
}

/// The time at which a counter's epoch began. An `Option` would make every reading a third larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Start(Micros);

impl Start {
    /// The value of an unknown start, which sorts before all known ones.
    const UNKNOWN: Self = Self(Micros::MIN);

    fn new(start: Option<Micros>) -> Self {
        start.map_or(Self::UNKNOWN, Self)
    }

    fn known(self) -> Option<Micros> {
        (self != Self::UNKNOWN).then_some(self.0)
    }
}
