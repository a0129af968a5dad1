//! Quantiles: compares an amount with other days, and describes values.

#[cfg(test)]
mod tests;

/// The least observed share of a time that counts as typical.
pub const LEAST_COVERAGE: f64 = 0.8;

/// The usual amounts, and how one compares with them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Typical {
    /// The amounts that a quarter, half and three quarters of the days do not exceed, between two days in proportion.
    pub quartiles: [f64; 3],
    /// The amount ÷ the median; `None` if that is zero.
    pub times_usual: Option<f64>,
    /// The share of the days that had less; equal ones count half.
    pub percentile: f64,
}

impl Typical {
    /// Compares an amount with days, which are put in order; `None` without days.
    pub fn of(amount: f64, days: &mut [f64]) -> Option<Self> {
        days.sort_by(f64::total_cmp);
        let last = days.len().checked_sub(1)?;
        let quartiles = [0.25, 0.5, 0.75].map(|part| quantile(days, last, part));
        let count = days.len() as f64;
        let below = days.iter().filter(|it| **it < amount).count() as f64;
        let equal = days.iter().filter(|it| **it == amount).count() as f64;
        Some(Self {
            quartiles,
            times_usual: (quartiles[1] > 0.0).then(|| amount / quartiles[1]),
            percentile: (below + equal / 2.0) / count,
        })
    }

    /// Returns by how much an amount is more than usual.
    pub fn excess(&self, amount: f64) -> f64 {
        amount - self.quartiles[1]
    }
}

/// Returns the median of amounts, which are put in order; `None` without amounts.
pub fn median(amounts: &mut [f64]) -> Option<f64> {
    amounts.sort_by(f64::total_cmp);
    let last = amounts.len().checked_sub(1)?;
    Some(quantile(amounts, last, 0.5))
}

/// The smallest, the median and the largest of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// The smallest value.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest value.
    pub max: f64,
}

impl Distribution {
    /// Describes finite values, which are put in order; `None` without values.
    pub fn of(values: &mut [f64]) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        Some(Self {
            min: values[0],
            median: f64::midpoint(values[last / 2], values[values.len() / 2]),
            max: values[last],
        })
    }
}

/// Returns the amount that a part of ordered amounts does not exceed, between two of them in proportion.
fn quantile(ordered: &[f64], last: usize, part: f64) -> f64 {
    let place = part * last as f64;
    let (low, high) = (
        ordered[place.floor() as usize],
        ordered[place.ceil() as usize],
    );
    low + (high - low) * place.fract()
}
