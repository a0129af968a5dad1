//! By how much a counter grew, alone or since an earlier summary.

use super::{CounterError, Summary};

/// The growth of a counter in a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth {
    /// By how much the counter grew.
    pub increase: u128,
    /// The number of resets.
    pub resets: u64,
    /// The length of the span in microseconds, which may exceed an i64.
    pub elapsed: u64,
}

impl Growth {
    /// Returns the increase per second, or `None` if the span has no length.
    pub fn rate(&self) -> Option<f64> {
        (self.elapsed > 0).then(|| self.increase as f64 * 1e6 / self.elapsed as f64)
    }
}

impl Summary {
    /// Returns the growth of the counter from the first reading to the last.
    pub fn growth(&self) -> Growth {
        Growth {
            increase: self.increase(),
            resets: self.resets,
            elapsed: self.last.time.abs_diff(self.first.time),
        }
    }

    /// Returns the growth of the counter from the last reading of `previous` to the last reading of this summary. It is an
    /// error if `previous` does not end before this summary begins.
    ///
    /// The step between the two spans is included. Over consecutive spans the increases add up to the increase of the
    /// whole span as long as no value falls within a known epoch. A fall makes their sum larger: a summary knows only
    /// its own readings, so the value that the counter had reached in an epoch before `previous` counts once more.
    pub fn growth_after(&self, previous: &Self) -> Result<Growth, CounterError> {
        if self.first.time <= previous.last.time {
            return Err(CounterError::NotPrevious);
        }
        let mut both = *previous;
        both.append(self)?;
        let (both, before) = (both.growth(), previous.growth());
        // Appending a summary never takes away any growth.
        Ok(Growth {
            increase: both.increase - before.increase,
            resets: both.resets - before.resets,
            elapsed: both.elapsed - before.elapsed,
        })
    }
}
