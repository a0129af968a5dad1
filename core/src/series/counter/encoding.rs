//! The two forms in which a summary is stored: text for people and bytes for tables. Each summary has exactly one text
//! and one sequence of bytes, so that equal summaries are equal in either form.
//!
//! Both forms have versions. Version 1 is for counters that do not wrap, version 2 for counters that do.

mod bytes;
mod text;

pub use text::TEXT_EXAMPLE;

use super::summary::MAX_RESETS;
use super::{Modulus, Summary};

impl Summary {
    /// Returns true if the summary has all properties of summaries of readings on which the other functions rely.
    fn is_consistent(&self) -> bool {
        match self.modulus {
            Some(modulus) => self.is_consistent_wrapping(modulus),
            None => self.is_consistent_plain(),
        }
    }

    fn is_consistent_wrapping(&self, modulus: Modulus) -> bool {
        let one = self.first == self.last;
        modulus.admits(self.first.value)
            && modulus.admits(self.last.value)
            && self.resets <= MAX_RESETS
            && (one || self.first.time < self.last.time)
            && (!one || self.growth().increase == 0 && self.resets == 0)
    }

    fn is_consistent_plain(&self) -> bool {
        let Ok(opening) = self.opening() else {
            return false;
        };
        let values_are_possible = self.peak >= self.first.value
            && self.known >= self.last.value
            && self.resets <= MAX_RESETS
            && (self.first.start().is_some() || self.peak == self.first.value)
            && (self.last.start().is_some() || self.known == self.last.value);
        let rest_is_possible = match self.turn {
            Some(turn) => {
                !self.first.is_of_epoch(&turn)
                    && self.first.time < turn.time
                    && turn.time <= self.last.time
                    && (turn.time < self.last.time || self.last == turn)
                    && self.increase() >= opening.increase()
                    && self.resets >= opening.resets
                    && (turn != self.last || self.ends_like(&opening))
            }
            None => {
                let one = self.first == self.last;
                (one || self.first.is_of_epoch(&self.last) && self.first.time < self.last.time)
                    && self.ends_like(&opening)
                    && (!one || self.peak == self.first.value)
            }
        };
        values_are_possible && rest_is_possible
    }

    /// Returns true if the known value, the increase and the resets equal those in the opening, so that nothing follows
    /// it.
    fn ends_like(&self, opening: &Self) -> bool {
        self.known == opening.known
            && self.increase == opening.increase
            && self.resets == opening.resets
    }
}
