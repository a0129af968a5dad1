//! Merges the summaries of spans into a summary of the whole.

use allocator_api2::alloc::Allocator;
use allocator_api2::vec::Vec;

use crate::base::pause::Pause;

use super::{CounterError, Summary};

/// The number of summaries that fit into a gigabyte.
const MOST: usize = (1 << 30) / size_of::<Summary>();

/// Summaries in any order, in memory of `A`.
///
/// A rollup keeps all summaries until the end, because a later summary may belong between any two.
#[derive(Debug)]
pub struct Rollup<A: Allocator, const LIMIT: usize = MOST> {
    summaries: Vec<Summary, A>,
}

impl<A: Allocator, const LIMIT: usize> Rollup<A, LIMIT> {
    /// Creates an empty rollup.
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

    /// Returns the summary of the whole, or `None` if the rollup is empty. More summaries can be added afterwards.
    /// Calls `pause` regularly, which may unwind.
    pub fn summary(&mut self, pause: Pause<'_>) -> Result<Option<Summary>, CounterError> {
        self.summaries.sort_unstable_by(|one, other| {
            pause.now();
            one.first.time.cmp(&other.first.time)
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
