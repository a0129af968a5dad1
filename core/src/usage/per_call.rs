//! Finds the bounds and the standard deviation of single calls: of their bytes, or of the microseconds of the server.
//!
//! Lustre prints the bounds since an entry was made, and the sum of the squares modulo 2^64. The `detail` of an increment
//! has the growth of these, without values that follow from the columns (see [`Detail`]).

use crate::rules::increment::Detail;

#[cfg(test)]
mod tests;

/// The calls of one operation: of a counter, which one entry has on one target, or of many.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calls {
    calls: u128,
    sum: u128,
    squares: u128,
    min: Option<u64>,
    max: Option<u64>,
    /// Set if the first increment of a counter does not have the bounds before it, or a bound does not follow.
    has_unknown_bounds: bool,
    /// Set if an increment lacks its squares.
    has_unknown_squares: bool,
}

impl Calls {
    /// Counts the increment of a counter between two observations, in order of time: the growth of the calls and of their sum, and
    /// the `detail` of the operation. `has_squares` is set if the server prints sums of squares.
    pub fn count(&mut self, calls: u64, sum: u64, detail: Option<&Detail>, has_squares: bool) {
        let (calls, sum) = (u128::from(calls), u128::from(sum));
        if calls == 0 {
            return;
        }
        let are_alike = detail.is_some_and(Detail::is_empty);
        let (min, max) = if are_alike {
            // A call of all alike ones is a whole number.
            let each = (sum % calls == 0).then(|| u64::try_from(sum / calls).ok());
            (each.flatten(), each.flatten())
        } else {
            detail.map_or((None, None), |it| (it.min, it.max))
        };
        let is_first = self.calls == 0;
        self.has_unknown_bounds |= (is_first || are_alike) && min.zip(max).is_none();
        self.has_unknown_squares |= !has_squares;
        let squares = detail.and_then(|it| it.sumsq).map(u128::from);
        self.add_sums(calls, sum, squares.unwrap_or(sum * sum / calls));
        self.add_bounds(min, max);
    }

    /// Adds the calls of a counter.
    pub fn add(&mut self, counter: &Self) {
        if counter.calls > 0 {
            self.has_unknown_bounds |= counter.bounds().is_none();
            self.has_unknown_squares |= counter.has_unknown_squares || counter.may_have_wrapped();
            self.add_sums(counter.calls, counter.sum, counter.squares);
            self.add_bounds(counter.min, counter.max);
        }
    }

    fn add_sums(&mut self, calls: u128, sum: u128, squares: u128) {
        self.calls += calls;
        self.sum += sum;
        // No true sum is as large as a u128.
        self.squares = self.squares.saturating_add(squares);
    }

    fn add_bounds(&mut self, min: Option<u64>, max: Option<u64>) {
        self.min = min.into_iter().chain(self.min).min();
        self.max = self.max.max(max);
    }

    /// Returns the smallest and the largest call; `None` unless they are known for all calls.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        let bounds = self.min.zip(self.max);
        bounds.filter(|_| !self.has_unknown_bounds)
    }

    /// Returns whether the sum of the squares of a counter may have been 2^64 or more.
    fn may_have_wrapped(&self) -> bool {
        let most = self
            .bounds()
            .and_then(|it| self.calls.checked_mul(u128::from(it.1).pow(2)));
        most.is_none_or(|it| it >= 1 << 64)
    }

    /// Returns the standard deviation of the calls; `None` if the sum of the squares is not known, or contradicts the
    /// sum.
    pub fn deviation(&self) -> Option<f64> {
        if self.has_unknown_squares || self.calls == 0 {
            return None;
        }
        // The variance is (calls · squares − sum²) / calls². Where the products do not fit, they are rounded.
        let exact = self
            .calls
            .checked_mul(self.squares)
            .zip(self.sum.checked_mul(self.sum));
        let spread = match exact {
            Some((squares, square)) => squares.checked_sub(square)? as f64,
            None => self.calls as f64 * self.squares as f64 - (self.sum as f64).powi(2),
        };
        (spread >= 0.0).then(|| spread.sqrt() / self.calls as f64)
    }
}
