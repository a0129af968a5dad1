//! Densities: how many values lie in each power of a base.
//!
//! Bucket y counts the values x with base^y ≤ x < base^(y+1); [`Edges`] says what that means to the last digit. Zeros,
//! which no bucket holds, are counted apart.

mod edges;
mod form;
#[cfg(test)]
mod tests;
mod wide;

use allocator_api2::alloc::{Allocator, Global};
use allocator_api2::vec::Vec;
use thiserror::Error;

pub use edges::{Edges, MAX_BASE, MIN_BASE};
pub use form::TEXT_EXAMPLE;

/// As many values can be counted: what PostgreSQL's bigint holds.
const MAX_TOTAL: u64 = i64::MAX as u64;

/// Why there is no density, or none with this value.
#[derive(Debug, Error)]
pub enum DensityError {
    /// No base of ours.
    #[error("the base of a density must be from {MIN_BASE} to {MAX_BASE}, not {0}")]
    Base(i32),
    /// Two bases in one density.
    #[error("a density has one base: here are {0} and {1}")]
    Bases(u8, i32),
    /// No power of the base is below it, or none above.
    #[error("a density counts finite values that are not negative, not {0}")]
    Value(f64),
    /// More values than can be counted.
    #[error("a density counts {MAX_TOTAL} values at most")]
    TooMany,
    /// Not enough memory.
    #[error("out of memory")]
    Memory,
    /// Text that is no density.
    #[error("not the text of a density")]
    Text,
    /// Bytes that are no density.
    #[error("not the bytes of a density")]
    Bytes,
}

/// Values counted by bucket. The counts lie in memory of `A`.
#[derive(Debug, Clone)]
pub struct Density<A: Allocator = Global> {
    edges: &'static Edges,
    zeros: u64,
    /// All values: the sum of `zeros` and `buckets`, [`MAX_TOTAL`] at most.
    total: u64,
    /// Those that hold something, ascending.
    buckets: Vec<Bucket, A>,
}

/// What one bucket holds: a value at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// The power y.
    pub bucket: i32,
    /// The values in it.
    pub count: u64,
}

impl<A: Allocator> Density<A> {
    /// Nothing counted yet.
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
        // Negative zero too.
        if value == 0.0 {
            self.add_zeros(1)
        } else {
            self.add(self.edges.bucket(value), 1)
        }
    }

    /// Fails for another base than its own.
    pub fn require_base(&self, base: i32) -> Result<(), DensityError> {
        let own = self.base();
        match i32::from(own) == base {
            true => Ok(()),
            false => Err(DensityError::Bases(own, base)),
        }
    }

    /// Counts what another density has counted.
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

    /// The base.
    pub fn base(&self) -> u8 {
        self.edges.base()
    }

    /// Where buckets begin and end.
    pub fn edges(&self) -> &'static Edges {
        self.edges
    }

    /// The buckets that hold something, ascending.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Values in buckets: those above zero.
    pub fn count(&self) -> u64 {
        self.total - self.zeros
    }

    /// Values that are zero.
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
