//! The edges of buckets: the powers of a base as floating-point numbers.

use std::sync::OnceLock;

use super::powers::{powers_below_one, powers_from_one};

/// The smallest base.
pub const MIN_BASE: i32 = 2;
/// The largest base.
pub const MAX_BASE: i32 = 100;

/// The edges of all buckets of one base.
///
/// Bucket y begins at the double nearest to base^y. People and programs write this double when they mean the power:
/// 0.001 is not 10^-3 but the double nearest to it, and it is the first value of bucket -3.
#[derive(Debug)]
pub struct Edges {
    /// The base.
    pub base: u8,
    /// The bucket that begins at the first of `lower`.
    lowest: i32,
    /// The lower edges of the buckets, ascending, above zero and finite.
    lower: Vec<f64>,
}

impl Edges {
    /// Returns the edges of a base from 2 to 100, or `None` for another base.
    pub fn of(base: i32) -> Option<&'static Self> {
        // The edges depend on the base alone, and finding them takes milliseconds.
        static EDGES: [OnceLock<Edges>; (MAX_BASE + 1) as usize] =
            [const { OnceLock::new() }; (MAX_BASE + 1) as usize];
        let base = u8::try_from(base).ok().filter(|_| base >= MIN_BASE)?;
        let place = EDGES.get(usize::from(base))?;
        Some(place.get_or_init(|| Self::find(base)))
    }

    fn find(base: u8) -> Self {
        let mut lower: Vec<f64> = powers_below_one(base).collect();
        let lowest = -(lower.len() as i32);
        lower.reverse();
        lower.extend(powers_from_one(base));
        Self {
            base,
            lowest,
            lower,
        }
    }

    /// Returns the bucket of a finite value above zero: the last bucket that does not begin above the value.
    pub fn bucket(&self, value: f64) -> i32 {
        let begun = self.lower.partition_point(|&lower| lower <= value);
        // There are at most some two thousand edges.
        self.lowest - 1 + begun as i32
    }

    /// Returns the lower edge of a bucket. The edge is zero below the smallest double above zero, and infinity above
    /// the largest.
    pub fn lower(&self, bucket: i32) -> f64 {
        match usize::try_from(bucket - self.lowest) {
            Ok(index) => self.lower.get(index).copied().unwrap_or(f64::INFINITY),
            Err(_) => 0.0,
        }
    }

    /// Returns the upper edge of a bucket, which is the lower edge of the next one. The edge is infinity if no double
    /// is so large.
    pub fn upper(&self, bucket: i32) -> f64 {
        self.lower(bucket + 1)
    }

    /// Returns the first and the last bucket in which a value can be.
    pub fn buckets(&self) -> (i32, i32) {
        (self.bucket(f64::from_bits(1)), self.bucket(f64::MAX))
    }
}
