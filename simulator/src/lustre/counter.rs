//! The counters of one entry.

use strum::EnumCount;

use crate::lustre::{Layout, Op, Request, TargetKind, Unit};

/// The number of elements of a histogram; the last element is open-ended.
pub const BUCKETS: usize = 32;

/// Calls of one kind that one entry made at one moment, all of the same size and cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    pub request: Request,
    pub count: u32,
    /// The number of bytes per call, for calls that move bytes.
    pub bytes: u32,
    /// The duration of each call in microseconds.
    pub usecs: u32,
}

impl Calls {
    /// Returns this number of calls, with the bytes and the microseconds of each.
    pub const fn new(request: Request, count: u32, bytes: u32, usecs: u32) -> Self {
        Self {
            request,
            count,
            bytes,
            usecs,
        }
    }

    /// Returns the amount that each call adds to a counter.
    pub fn amount(&self, op: Op) -> u64 {
        u64::from(if op.is_bytes() {
            self.bytes
        } else {
            self.usecs
        })
    }
}

/// One counter of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counter {
    /// The number of calls.
    pub samples: u64,
    /// The smallest amount of a call, or 0 without calls.
    pub min: u64,
    /// The largest amount of a call.
    pub max: u64,
    /// The sum of all amounts.
    pub sum: u64,
    /// The sum of the squares of all amounts.
    pub squares: u128,
}

impl Counter {
    /// Returns a counter of samples that are all alike.
    pub fn of(count: u64, amount: u64) -> Self {
        let mut counter = Self::default();
        counter.add(count, amount);
        counter
    }

    /// Counts samples with a known mean. Their sum is rounded to an integer.
    pub fn add_mean(&mut self, count: u64, mean: f64) {
        if count == 0 {
            return;
        }
        let (samples, sum, squares) = (self.samples, self.sum, self.squares);
        self.add(count, mean.round() as u64);
        self.samples = samples + count;
        self.sum = sum + (count as f64 * mean).round() as u64;
        self.squares = squares + (count as f64 * mean * mean).round() as u128;
    }

    fn add(&mut self, count: u64, amount: u64) {
        self.min = if self.samples == 0 {
            amount
        } else {
            self.min.min(amount)
        };
        self.max = self.max.max(amount);
        self.samples += count;
        self.sum += count * amount;
        self.squares += u128::from(count) * u128::from(amount) * u128::from(amount);
    }

    /// Returns true if the later values cannot belong to the same epoch, judged by the values that this unit shows.
    fn fell(&self, later: &Self, unit: Unit) -> bool {
        let fewer = later.samples < self.samples;
        match unit {
            Unit::IdleRequests => false,
            Unit::Requests => fewer,
            Unit::Bytes | Unit::Usecs => {
                fewer
                    || later.sum < self.sum
                    || later.max < self.max
                    || (self.samples > 0 && later.min > self.min)
            }
        }
    }
}

/// The counters and histograms of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters {
    counters: [Counter; Op::COUNT],
    buckets: [[u64; BUCKETS]; 2],
}

// Cannot be derived: the standard library has defaults of arrays of up to 32 elements.
impl Default for Counters {
    fn default() -> Self {
        Self {
            counters: [Counter::default(); Op::COUNT],
            buckets: [[0; BUCKETS]; 2],
        }
    }
}

/// Returns the index of the histogram element for calls of this many bytes. Element k + 1, counted from 1, holds
/// 2^(k−1) < bytes ≤ 2^k.
pub fn bucket(bytes: u64) -> usize {
    let label = u64::BITS - bytes.saturating_sub(1).leading_zeros();
    (label as usize).min(BUCKETS - 1)
}

impl Counters {
    /// Counts calls.
    pub fn add(&mut self, calls: &Calls) {
        for &op in calls.request {
            self.counters[op as usize].add(u64::from(calls.count), calls.amount(op));
            if op.is_bytes() {
                self.buckets[op as usize][bucket(calls.amount(op))] += u64::from(calls.count);
            }
        }
    }

    /// Counts so many requests of one kind, given their bytes and microseconds in all.
    pub fn add_means(&mut self, request: Request, count: u64, [bytes, usecs]: [u64; 2]) {
        for &op in request {
            let sum = if op.is_bytes() { bytes } else { usecs };
            self.counters[op as usize].add_mean(count, sum as f64 / count as f64);
        }
    }

    /// Returns one counter.
    pub fn get(&self, op: Op) -> &Counter {
        &self.counters[op as usize]
    }

    /// Returns the histogram of a counter of bytes.
    pub fn histogram(&self, op: Op) -> Option<&[u64; BUCKETS]> {
        self.buckets.get(op as usize)
    }

    /// Copies some counters from another reading.
    pub fn take_over(&mut self, other: &Self, ops: &[Op]) {
        for &op in ops {
            self.counters[op as usize] = other.counters[op as usize];
            if op.is_bytes() {
                self.buckets[op as usize] = other.buckets[op as usize];
            }
        }
    }

    /// Returns true if a value fell from these counters to the later ones. Without start times, a fall is the only sign
    /// of a new epoch.
    pub fn fell(&self, later: &Self, layout: Layout, kind: TargetKind) -> bool {
        layout
            .counters(kind)
            .iter()
            .any(|&op| self.get(op).fell(later.get(op), layout.unit(kind, op)))
    }
}
