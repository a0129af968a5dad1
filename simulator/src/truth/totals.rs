//! Sums in the columns of `jobstats.increments`.

use std::collections::BTreeMap;

use strum::VariantArray;

use crate::lustre::counter::{BUCKETS, bucket};
use crate::lustre::{Calls, Counters, Layout, Op, TargetKind, Unit};

/// The quantity in a column of `jobstats.increments`, in the order of the columns: bytes are counted by the first operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    Bytes,
    /// Requests.
    Calls,
    /// Microseconds.
    Usecs,
    /// Requests in an element of a histogram.
    Histogram,
}

/// A column of `jobstats.increments`, or one element of an array column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Column {
    pub quantity: Quantity,
    /// The operation that the column belongs to.
    pub op: Op,
    /// The position in the array.
    element: usize,
}

impl Column {
    fn of(quantity: Quantity, op: Op) -> Self {
        Self {
            quantity,
            op,
            element: 0,
        }
    }

    fn histogram(op: Op) -> impl Iterator<Item = Self> {
        (0..BUCKETS).map(move |element| Self {
            element,
            ..Self::of(Quantity::Histogram, op)
        })
    }

    /// Returns every column.
    pub fn all() -> impl Iterator<Item = Self> {
        Op::VARIANTS.iter().flat_map(|&op| {
            let (bytes, calls) = (Quantity::Bytes, Quantity::Calls);
            let total = if op.is_bytes() { bytes } else { calls };
            let columns = [total, Quantity::Usecs].map(|quantity| Self::of(quantity, op));
            let histogram = Self::histogram(op).filter(move |_| op.is_bytes());
            columns.into_iter().chain(histogram)
        })
    }

    /// Returns the name of the column and, for an array, the index of the element, which SQL counts from 1.
    pub fn parts(self) -> (String, Option<usize>) {
        let name = self.op.name();
        match self.quantity {
            Quantity::Bytes | Quantity::Calls => (name.to_owned(), None),
            Quantity::Usecs => (format!("{name}_usecs"), None),
            Quantity::Histogram => (format!("{name}_hist"), Some(self.element + 1)),
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
        match self.quantity {
            Quantity::Usecs => format!("{}_time", self.op.name()),
            _ => self.name(),
        }
    }
}

/// A sum for each column where it is not zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals(BTreeMap<Column, u64>);

impl Totals {
    /// Adds the amounts of calls.
    pub fn add_calls(&mut self, calls: &Calls, layout: Layout, kind: TargetKind) {
        let count = u64::from(calls.count);
        for &op in calls.request {
            if !layout.counts(kind, op) {
                continue;
            }
            self.add_counter(op, (count, count * calls.amount(op)), layout, kind);
            if op.is_bytes() && layout.has_histograms() {
                let element = Column::histogram(op).nth(bucket(calls.amount(op)));
                element
                    .into_iter()
                    .for_each(|column| self.add(column, count));
            }
        }
    }

    /// Returns the amounts of an entry's counters, as printed.
    pub fn of(counters: &Counters, layout: Layout, kind: TargetKind) -> Self {
        let mut totals = Self::default();
        for &op in layout.counters(kind) {
            let counter = counters.get(op);
            totals.add_counter(op, (counter.samples, counter.sum), layout, kind);
            if layout.unit(kind, op) == Unit::Bytes && layout.has_histograms() {
                let calls = counters.histogram(op).into_iter().flatten();
                let elements = Column::histogram(op).zip(calls);
                elements.for_each(|(column, calls)| totals.add(column, *calls));
            }
        }
        totals
    }

    /// Adds calls in a counter and the sum of their amounts to the columns that are made of it.
    pub(super) fn add_counter(
        &mut self,
        op: Op,
        (calls, sum): (u64, u64),
        layout: Layout,
        kind: TargetKind,
    ) {
        match layout.unit(kind, op) {
            Unit::IdleRequests => (),
            Unit::Requests => self.add(Column::of(Quantity::Calls, op), calls),
            Unit::Usecs => {
                self.add(Column::of(Quantity::Calls, op), calls);
                self.add(Column::of(Quantity::Usecs, op), sum);
            }
            Unit::Bytes => {
                self.add(Column::of(Quantity::Bytes, op), sum);
                if !layout.counters(kind).contains(&op.request()) {
                    self.add(Column::of(Quantity::Calls, op.request()), calls);
                }
            }
        }
    }

    fn add(&mut self, column: Column, amount: u64) {
        if amount > 0 {
            *self.0.entry(column).or_default() += amount;
        }
    }

    /// Adds other sums.
    pub fn plus(&mut self, other: &Self) {
        other
            .amounts()
            .for_each(|(column, amount)| self.add(column, amount));
    }

    /// Returns the excess of these sums over others, column by column, at least 0.
    pub fn beyond(&self, other: &Self) -> Self {
        let mut excess = Self::default();
        for (column, amount) in self.amounts() {
            excess.add(column, amount.saturating_sub(other.get(column)));
        }
        excess
    }

    /// Returns the sum in a column.
    pub fn get(&self, column: Column) -> u64 {
        self.0.get(&column).copied().unwrap_or_default()
    }

    /// Returns the columns that are not zero, with their sums.
    pub fn amounts(&self) -> impl Iterator<Item = (Column, u64)> {
        self.0.iter().map(|(column, amount)| (*column, *amount))
    }

    /// Returns true if all sums are zero.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }
}
