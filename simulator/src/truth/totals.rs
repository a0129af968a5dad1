//! Sums in the columns of `jobstats.increments`.

use std::collections::BTreeMap;

use strum::VariantArray;

use crate::lustre::TargetKind;
use crate::lustre::counter::{BUCKETS, Calls, Counters, bucket};
use crate::lustre::layout::{Layout, Unit};
use crate::lustre::operation::Op;

/// The quantity in a column of `jobstats.increments`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Requests.
    Calls,
    Bytes,
    /// Microseconds.
    Usecs,
    /// Requests in an element of a histogram.
    Histogram,
}

/// The columns that an operation has, in the order of `jobstats.increments`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Measure {
    /// Bytes of an operation that counts bytes, and requests of any other.
    Total,
    Usecs,
    Histogram,
}

/// A column of `jobstats.increments`, or one element of an array column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Column {
    measure: Measure,
    /// The operation that the column belongs to.
    pub op: Op,
    /// The position in the array.
    element: usize,
}

impl Column {
    fn of(measure: Measure, op: Op) -> Self {
        Self {
            measure,
            op,
            element: 0,
        }
    }

    fn histogram(op: Op) -> impl Iterator<Item = Self> {
        (0..BUCKETS).map(move |element| Self {
            element,
            ..Self::of(Measure::Histogram, op)
        })
    }

    /// Returns every column.
    pub fn all() -> impl Iterator<Item = Self> {
        let of_all = |measure| Op::VARIANTS.iter().map(move |op| Self::of(measure, *op));
        let bytes = [Op::ReadBytes, Op::WriteBytes].into_iter();
        of_all(Measure::Total)
            .chain(of_all(Measure::Usecs))
            .chain(bytes.flat_map(Self::histogram))
    }

    /// Returns the name of the column and, for an array, the index of the element, which SQL counts from 1.
    pub fn parts(self) -> (String, Option<usize>) {
        let name = self.op.name();
        match self.measure {
            Measure::Total => (name.to_owned(), None),
            Measure::Usecs => (format!("{name}_usecs"), None),
            Measure::Histogram => (format!("{name}_hist"), Some(self.element + 1)),
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
        match self.measure {
            Measure::Usecs => format!("{}_time", self.op.name()),
            _ => self.name(),
        }
    }

    /// Returns the quantity in the column.
    pub fn quantity(self) -> Quantity {
        match self.measure {
            Measure::Total if self.op.is_bytes() => Quantity::Bytes,
            Measure::Total => Quantity::Calls,
            Measure::Usecs => Quantity::Usecs,
            Measure::Histogram => Quantity::Histogram,
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
    fn add_counter(&mut self, op: Op, (calls, sum): (u64, u64), layout: Layout, kind: TargetKind) {
        match layout.unit(kind, op) {
            Unit::IdleRequests => (),
            Unit::Requests => self.add(Column::of(Measure::Total, op), calls),
            Unit::Usecs => {
                self.add(Column::of(Measure::Total, op), calls);
                self.add(Column::of(Measure::Usecs, op), sum);
            }
            Unit::Bytes => {
                self.add(Column::of(Measure::Total, op), sum);
                if !layout.counters(kind).contains(&op.request()) {
                    self.add(Column::of(Measure::Total, op.request()), calls);
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

    /// Returns the excess of these sums over others, column by column, or 0 where there is none.
    pub fn beyond(&self, other: &Self) -> Self {
        let mut excess = Self::default();
        for (column, amount) in self.amounts() {
            let known = other.0.get(&column).copied().unwrap_or_default();
            excess.add(column, amount.saturating_sub(known));
        }
        excess
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
