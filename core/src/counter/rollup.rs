//! Summaries of spans, to be merged into that of the whole.

use allocator_api2::alloc::Allocator;
use allocator_api2::vec::Vec;

use crate::pause::Pause;

use super::{CounterError, Summary};

/// So many fit into a gigabyte.
const MOST: usize = (1 << 30) / size_of::<Summary>();

/// Summaries in any order. They lie in memory of `A`.
///
/// All are kept until the end: one that comes later may belong between any two.
#[derive(Debug)]
pub struct Rollup<A: Allocator, const LIMIT: usize = MOST> {
    summaries: Vec<Summary, A>,
}

impl<A: Allocator, const LIMIT: usize> Rollup<A, LIMIT> {
    /// Nothing to merge yet.
    pub fn new_in(memory: A) -> Self {
        Self {
            summaries: Vec::new_in(memory),
        }
    }

    /// Adds the summary of a span.
    pub fn push(&mut self, summary: Summary) -> Result<(), CounterError> {
        let len = self.summaries.len();
        if len >= LIMIT {
            return Err(CounterError::TooMany(LIMIT));
        }
        if len == self.summaries.capacity() {
            let room = self.summaries.try_reserve_exact(len.clamp(1, LIMIT - len));
            room.map_err(|_| CounterError::Memory)?;
        }
        self.summaries.push(summary);
        Ok(())
    }

    /// The summary of the whole; None if there is nothing. More can be added afterwards. `pause` is called every now and
    /// then, and may unwind.
    pub fn summary(&mut self, pause: Pause<'_>) -> Result<Option<Summary>, CounterError> {
        self.summaries.sort_unstable_by(|one, other| {
            pause.now();
            one.since().cmp(&other.since())
        });
        let mut summaries = self.summaries.iter();
        let Some(mut whole) = summaries.next().copied() else {
            return Ok(None);
        };
        summaries.try_for_each(|next| {
            pause.now();
            whole.append(next)
        })?;
        Ok(Some(whole))
    }
}
