//! Randomness that depends only on the seed and on the subject of a draw, never on the order of draws.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A generator of random numbers that gives identical numbers on every machine.
pub type Random = Xoshiro256PlusPlus;

/// The source of randomness for a branch of the simulated world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// Returns the seed of a part of this branch, such as day 7 or target 3.
    pub fn of(self, label: &str, numbers: &[i64]) -> Self {
        let mut hash = xxh3_64_with_seed(label.as_bytes(), self.0);
        for number in numbers {
            hash = xxh3_64_with_seed(&number.to_le_bytes(), hash);
        }
        Self(hash)
    }

    /// Returns the seed of a part that has a name.
    pub fn named(self, label: &str, name: &[u8]) -> Self {
        Self(xxh3_64_with_seed(name, self.of(label, &[]).0))
    }

    /// Returns a generator that starts from this seed.
    pub fn random(self) -> Random {
        Random::seed_from_u64(self.0)
    }

    /// Returns a number from 0 to `n` − 1.
    pub fn below(self, n: u64) -> u64 {
        self.0 % n.max(1)
    }

    /// Returns a number from 0 up to, but not including, 1.
    pub fn unit(self) -> f64 {
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns true in this share of all cases.
    pub fn chance(self, share: f64) -> bool {
        self.unit() < share
    }
}

/// Draws a log-normal number with this median: most numbers are near the median, a few are far above.
pub fn log_normal(random: &mut Random, median: f64, sigma: f64) -> f64 {
    LogNormal::new(median.max(f64::MIN_POSITIVE).ln(), sigma)
        .map_or(median, |distribution| distribution.sample(random))
}

/// Draws one of the items, each with a probability proportional to its weight.
pub fn weighted<T>(
    random: &mut Random,
    items: impl Iterator<Item = (T, f64)> + Clone,
) -> Option<T> {
    let total: f64 = items.clone().map(|(_, weight)| weight).sum();
    let mut rest = random.random::<f64>() * total;
    let mut last = None;
    for (item, weight) in items {
        if rest < weight {
            return Some(item);
        }
        rest -= weight;
        last = Some(item);
    }
    last
}

/// Positions that are drawn in proportion to their weights: the weight of each position and all positions before.
#[derive(Debug, Clone)]
pub struct Weights(Vec<f64>);

impl Weights {
    /// Takes the weights of all positions.
    pub fn new(weights: impl Iterator<Item = f64>) -> Self {
        let sums = weights.scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self(sums.collect())
    }

    /// Draws a position.
    pub fn draw(&self, random: &mut Random) -> usize {
        let total = self.0.last().copied().unwrap_or(0.0);
        let drawn = random.random::<f64>() * total;
        let position = self.0.partition_point(|sum| *sum <= drawn);
        position.min(self.0.len() - 1)
    }
}
