//! The identifiers of many records, one after the other.

use std::collections::TryReserveError;
use std::ops::Range;

/// A list of identifiers, with access by place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identifiers(pub(super) String);

impl Identifiers {
    /// Adds an identifier and returns its place. The identifiers of the longest text that is read end below 2^32.
    pub(crate) fn push(&mut self, id: &str) -> Result<Range<u32>, TryReserveError> {
        self.0.try_reserve(id.len())?;
        let begin = self.0.len() as u32;
        self.0.push_str(id);
        Ok(begin..self.0.len() as u32)
    }

    /// Returns the identifier at a place, or ''.
    pub fn get(&self, place: &Range<u32>) -> &str {
        let place = place.start as usize..place.end as usize;
        self.0.get(place).unwrap_or_default()
    }
}
