//! Separates a snapshot from the text from which it was made.

use std::collections::TryReserveError;

use super::Snapshot;
use crate::base::target::TargetName;

/// The memory that a snapshot borrows once it is [detached](Snapshot::detach).
#[derive(Debug, Default)]
pub struct Words {
    /// The names of operations.
    words: String,
    target: Vec<u8>,
}

impl Snapshot<'_> {
    /// Makes the snapshot borrow from `words` alone, so that the text, which is mostly zeros, can be freed. The
    /// problems are left behind.
    pub fn detach(self, words: &mut Words) -> Result<Snapshot<'_>, TryReserveError> {
        let names = || self.unlisted.iter().copied();
        words.words.try_reserve(names().map(str::len).sum())?;
        words.words.extend(names());
        if let Some(target) = &self.target {
            words.target.try_reserve(target.name.len())?;
            words.target.extend_from_slice(target.name);
        }
        let Words { words, target } = words;
        let mut rest = words.as_str();
        let mut next = |len: usize| {
            let (word, after) = rest.split_at(len);
            rest = after;
            word
        };
        Ok(Snapshot {
            unlisted: self.unlisted.iter().map(|name| next(name.len())).collect(),
            target: self.target.map(|named| TargetName {
                kind: named.kind,
                name: target,
            }),
            problems: Vec::new(),
            ..self
        })
    }

    /// Makes the snapshot own its data, so that it can be kept as the one before another. The target's name and the
    /// problems are left out, because a comparison does not need them. Returns `None` if the snapshot has unlisted
    /// operations.
    pub fn keep(mut self) -> Option<Snapshot<'static>> {
        if !self.unlisted.is_empty() {
            return None;
        }
        self.records.shrink_to_fit();
        self.ids.shrink_to_fit();
        self.counters.shrink_to_fit();
        Some(Snapshot {
            unlisted: Vec::new(),
            target: None,
            problems: Vec::new(),
            ..self
        })
    }

    /// Returns the approximate number of bytes that the snapshot takes.
    pub fn memory(&self) -> usize {
        self.ids.memory() + size_of_val(&*self.records) + self.counters.memory()
    }
}
