//! Densities: counts of values by power of a base.
//!
//! Bucket y counts the values x with base^y ≤ x < base^(y+1); [`Edges`] defines the edges to the last digit. Zeros
//! belong to no bucket and are counted separately.

mod edges;
mod encoding;
mod powers;
#[cfg(test)]
mod tests;

use allocator_api2::alloc::{Allocator, Global};
use allocator_api2::vec::Vec;
use thiserror::Error;

pub use edges::{Edges, MAX_BASE, MIN_BASE};
pub use encoding::TEXT_EXAMPLE;

/// The largest number of values that can be counted, which is the largest bigint of PostgreSQL.
const MAX_TOTAL: u64 = i64::MAX as u64;

/// An error in making a density or in counting a value.
#[derive(Debug, Error)]
pub enum DensityError {
    /// The base is out of range.
    #[error("the base of a density must be from {MIN_BASE} to {MAX_BASE}, not {0}")]
    Base(i32),
    /// One density would have two bases.
    #[error("densities have different bases: {0} and {1}")]
    Bases(u8, i32),
    /// The value is negative, infinite or not a number.
    #[error("a density counts finite, non-negative values, not {0}")]
    Value(f64),
    /// There are more values than can be counted.
    #[error("a density cannot count more than {MAX_TOTAL} values")]
    TooMany,
    /// There is not enough memory.
    #[error("out of memory")]
    Memory,
    /// The text is not a density.
    #[error("invalid text for a density")]
    Text,
    /// The bytes are not a density.
    #[error("invalid binary data for a density")]
    Bytes,
}

/// Values counted by bucket, in memory of `A`.
#[derive(Debug, Clone)]
pub struct Density<A: Allocator = Global> {
    edges: &'static Edges,
    zeros: u64,
    /// The number of all values: the sum of `zeros` and `buckets`, at most [`MAX_TOTAL`].
    total: u64,
    /// The buckets that are not empty, ascending.
    buckets: Vec<Bucket, A>,
}

/// A bucket that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// The power y.
    pub bucket: i32,
    /// The number of values in the bucket.
    pub count: u64,
}

impl<A: Allocator> Density<A> {
    /// Creates an empty density. A base that is out of range is an error.
    pub fn new_in(base: i32, memory: A) -> Result<Self, DensityError> {
        Ok(Self {
            edges: Edges::of(base).ok_or(DensityError::Base(base))?,
            zeros: 0,
            total: 0,
            buckets: Vec::new_in(memory),
        })
    }

    /// Counts a value.
    pub fn push(&mut self, value: f64) -> Result<(), DensityError> {
        if !(0.0..=f64::MAX).contains(&value) {
            return Err(DensityError::Value(value));
        }
        // This includes negative zero.
        if value == 0.0 {
            self.add_zeros(1)
        } else {
            self.add(self.edges.bucket(value), 1)
        }
    }

    /// Fails if `base` is not the base of this density.
    pub fn require_base(&self, base: i32) -> Result<(), DensityError> {
        let own = self.base();
        match i32::from(own) == base {
            true => Ok(()),
            false => Err(DensityError::Bases(own, base)),
        }
    }

    /// Adds the counts of another density.
    pub fn merge<B: Allocator>(&mut self, other: &Density<B>) -> Result<(), DensityError> {
        self.require_base(other.base().into())?;
        self.add_zeros(other.zeros)?;
        for &Bucket { bucket, count } in &other.buckets {
            self.add(bucket, count)?;
        }
        Ok(())
    }

    fn add_zeros(&mut self, count: u64) -> Result<(), DensityError> {
        self.total = self.total_with(count)?;
        self.zeros += count;
        Ok(())
    }

    fn add(&mut self, bucket: i32, count: u64) -> Result<(), DensityError> {
        let total = self.total_with(count)?;
        match self.buckets.binary_search_by_key(&bucket, |it| it.bucket) {
            Ok(index) => self.buckets[index].count += count,
            Err(index) => {
                let room = self.buckets.try_reserve(1);
                room.map_err(|_| DensityError::Memory)?;
                self.buckets.insert(index, Bucket { bucket, count });
            }
        }
        self.total = total;
        Ok(())
    }

    fn total_with(&self, more: u64) -> Result<u64, DensityError> {
        let total = self.total.checked_add(more);
        total
            .filter(|&total| total <= MAX_TOTAL)
            .ok_or(DensityError::TooMany)
    }

    /// Returns the base.
    pub fn base(&self) -> u8 {
        self.edges.base
    }

    /// Returns the edges of the buckets.
    pub fn edges(&self) -> &'static Edges {
        self.edges
    }

    /// Returns the buckets that are not empty, ascending.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Returns the number of values above zero, which are all in buckets.
    pub fn count(&self) -> u64 {
        self.total - self.zeros
    }

    /// Returns the number of values that are zero.
    pub fn zeros(&self) -> u64 {
        self.zeros
    }
}

impl<A: Allocator, B: Allocator> PartialEq<Density<B>> for Density<A> {
    fn eq(&self, other: &Density<B>) -> bool {
        self.base() == other.base()
            && self.zeros == other.zeros
            && self.buckets[..] == other.buckets[..]
    }
}
