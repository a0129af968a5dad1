//! Where buckets begin: the powers of a base as floating-point numbers.

use std::sync::OnceLock;

use super::wide::Wide;

/// The smallest base.
pub const MIN_BASE: i32 = 2;
/// The largest base.
pub const MAX_BASE: i32 = 100;

/// The edges of all buckets of one base.
///
/// Bucket y begins at the number nearest to base^y that a double can hold. That is what people and programs write when
/// they mean it: 0.001 is not 10^-3 but as near as a double comes, and it is the first value of bucket -3.
#[derive(Debug)]
pub struct Edges {
    base: u8,
    /// The bucket that begins at the first of `lower`.
    lowest: i32,
    /// Ascending, above zero, finite.
    lower: Vec<f64>,
}

impl Edges {
    /// The edges of a base from 2 to 100.
    pub fn of(base: i32) -> Option<&'static Self> {
        // They depend on nothing but the base, and take some ten thousand divisions to find.
        static EDGES: [OnceLock<Edges>; (MAX_BASE + 1) as usize] =
            [const { OnceLock::new() }; (MAX_BASE + 1) as usize];
        if base < MIN_BASE {
            return None;
        }
        let place = EDGES.get(usize::try_from(base).ok()?)?;
        let base = u8::try_from(base).ok()?;
        Some(place.get_or_init(|| Self::find(base)))
    }

    fn find(base: u8) -> Self {
        let mut below_one: Vec<f64> = Wide::powers_below_one(base).collect();
        let lowest = -(below_one.len() as i32);
        below_one.reverse();
        below_one.extend(Wide::powers_from_one(base));
        Self {
            base,
            lowest,
            lower: below_one,
        }
    }

    /// The base.
    pub fn base(&self) -> u8 {
        self.base
    }

    /// The bucket of a finite value above zero: the last one that does not begin above it.
    pub fn bucket(&self, value: f64) -> i32 {
        let begun = self.lower.partition_point(|&lower| lower <= value);
        // Not more than some two thousand.
        self.lowest - 1 + begun as i32
    }

    /// Where a bucket begins. Below the smallest number that a double can hold, that is zero.
    pub fn lower(&self, bucket: i32) -> f64 {
        match usize::try_from(bucket - self.lowest) {
            Ok(index) => self.lower.get(index).copied().unwrap_or(f64::INFINITY),
            Err(_) => 0.0,
        }
    }

    /// Where the next bucket begins; infinity where that is more than a double can hold.
    pub fn upper(&self, bucket: i32) -> f64 {
        self.lower(bucket + 1)
    }

    /// The buckets that a value can be in, from and including the first to and including the last.
    pub fn buckets(&self) -> (i32, i32) {
        (self.bucket(f64::from_bits(1)), self.bucket(f64::MAX))
    }
}
