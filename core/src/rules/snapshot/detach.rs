//! Separates a snapshot from the text from which it was made.

use std::borrow::Cow;
use std::collections::TryReserveError;

use super::Snapshot;

impl Snapshot<'_> {
    /// Makes the snapshot own its data, so that it can be kept as the one before another, and the text, which is mostly zeros, can be
    /// freed. The target's name and the problems are left out, because a comparison does not need them.
    pub fn keep(mut self) -> Result<Snapshot<'static>, TryReserveError> {
        self.records.shrink_to_fit();
        self.ids.0.shrink_to_fit();
        self.counters.words.shrink_to_fit();
        let owned = |name: &Cow<'_, str>| {
            let mut owned = String::new();
            owned.try_reserve_exact(name.len())?;
            owned.push_str(name);
            Ok(Cow::Owned(owned))
        };
        let unlisted: Result<_, TryReserveError> = self.unlisted.iter().map(owned).collect();
        Ok(Snapshot {
            unlisted: unlisted?,
            target: None,
            problems: Vec::new(),
            ..self
        })
    }

    /// Returns the approximate number of bytes that the snapshot takes.
    pub fn memory(&self) -> usize {
        self.ids.0.len() + size_of_val(&*self.records) + size_of_val(&*self.counters.words)
    }
}
