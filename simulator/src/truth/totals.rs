//! Sums in the columns of `jobstats.increments`.

use clap::ValueEnum;

use crate::lustre::Kind;
use crate::lustre::counter::{BUCKETS, Calls, Counters, bucket};
use crate::lustre::layout::{Layout, Unit};
use crate::lustre::operation::{NAMES, OPS, Op};

/// The number of columns: requests or bytes, microseconds, and two histograms.
const COLUMNS: usize = 2 * OPS + 2 * BUCKETS;

/// The quantity in a column of `jobstats.increments`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Requests.
    Calls,
    /// Bytes.
    Bytes,
    /// Microseconds.
    Usecs,
    /// Requests in an element of a histogram.
    Histogram,
}

/// A column of `jobstats.increments`, or one element of an array column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Column(u8);

impl Column {
    fn total(op: Op) -> Self {
        Self(op as u8)
    }

    fn usecs(op: Op) -> Self {
        Self(OPS as u8 + op as u8)
    }

    fn element(op: Op, bucket: usize) -> Self {
        Self((2 * OPS + op as usize * BUCKETS + bucket) as u8)
    }

    /// Returns every column.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..COLUMNS).map(|index| Self(index as u8))
    }

    /// Returns the name of the column and, for an array, the index of the element, which SQL counts from 1.
    pub fn parts(self) -> (String, Option<usize>) {
        let index = usize::from(self.0);
        if index < OPS {
            (NAMES[index].to_owned(), None)
        } else if index < 2 * OPS {
            (format!("{}_usecs", NAMES[index - OPS]), None)
        } else {
            let element = index - 2 * OPS;
            (
                format!("{}_hist", NAMES[element / BUCKETS]),
                Some(element % BUCKETS + 1),
            )
        }
    }

    /// Returns the column's name in tables.
    pub fn name(self) -> String {
        match self.parts() {
            (name, Some(element)) => format!("{name}[{element}]"),
            (name, None) => name,
        }
    }

    /// Returns the name that the column has as an operation of the reading functions.
    pub fn operation(self) -> String {
        match self.quantity() {
            Quantity::Usecs => format!("{}_time", NAMES[usize::from(self.0) - OPS]),
            _ => self.name(),
        }
    }

    /// Returns the operation that the column belongs to.
    pub fn op(self) -> Op {
        let index = match usize::from(self.0) {
            index if index < 2 * OPS => index % OPS,
            index => (index - 2 * OPS) / BUCKETS,
        };
        Op::value_variants()[index]
    }

    /// Returns the quantity in the column.
    pub fn quantity(self) -> Quantity {
        match usize::from(self.0) {
            0 | 1 => Quantity::Bytes,
            index if index < OPS => Quantity::Calls,
            index if index < 2 * OPS => Quantity::Usecs,
            _ => Quantity::Histogram,
        }
    }
}

/// A sum for each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals(Box<[u64; COLUMNS]>);

impl Default for Totals {
    fn default() -> Self {
        Self(Box::new([0; COLUMNS]))
    }
}

impl Totals {
    /// Adds the amounts of calls.
    pub fn add_calls(&mut self, calls: &Calls, layout: Layout, kind: Kind) {
        let count = u64::from(calls.count);
        for &op in calls.call.counters() {
            if !layout.counts(kind, op) {
                continue;
            }
            let amount = count * calls.amount(op);
            if op.is_bytes() {
                self.add(Column::total(op), amount);
                if !layout.counters(kind).contains(&op.request()) {
                    self.add(Column::total(op.request()), count);
                }
                if layout.has_histograms() {
                    self.add(Column::element(op, bucket(calls.amount(op))), count);
                }
            } else {
                self.add(Column::total(op), count);
                if layout.unit(kind, op) == Unit::Usecs {
                    self.add(Column::usecs(op), amount);
                }
            }
        }
    }

    /// Returns the amounts of an entry's counters, as printed.
    pub fn of(counters: &Counters, layout: Layout, kind: Kind) -> Self {
        let mut totals = Self::default();
        for &op in layout.counters(kind) {
            let counter = counters.get(op);
            match layout.unit(kind, op) {
                Unit::IdleRequests => (),
                Unit::Requests => totals.add(Column::total(op), counter.samples),
                Unit::Usecs => {
                    totals.add(Column::total(op), counter.samples);
                    totals.add(Column::usecs(op), counter.sum);
                }
                Unit::Bytes => {
                    totals.add(Column::total(op), counter.sum);
                    if !layout.counters(kind).contains(&op.request()) {
                        totals.add(Column::total(op.request()), counter.samples);
                    }
                    if layout.has_histograms() {
                        let histogram = counters.histogram(op).into_iter().flatten();
                        for (element, &calls) in histogram.enumerate() {
                            totals.add(Column::element(op, element), calls);
                        }
                    }
                }
            }
        }
        totals
    }

    fn add(&mut self, column: Column, amount: u64) {
        self.0[usize::from(column.0)] += amount;
    }

    /// Adds other sums.
    pub fn plus(&mut self, other: &Self) {
        for (sum, amount) in self.0.iter_mut().zip(other.0.iter()) {
            *sum += amount;
        }
    }

    /// Returns the excess of these sums over others, column by column, or 0 where there is none.
    pub fn beyond(&self, other: &Self) -> Self {
        let mut difference = self.clone();
        for (sum, amount) in difference.0.iter_mut().zip(other.0.iter()) {
            *sum = sum.saturating_sub(*amount);
        }
        difference
    }

    /// Returns the columns that are not zero, with their sums.
    pub fn amounts(&self) -> impl Iterator<Item = (Column, u64)> {
        Column::all()
            .zip(self.0.iter().copied())
            .filter(|(_, amount)| *amount > 0)
    }

    /// Returns true if all sums are zero.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&amount| amount == 0)
    }
}
