//! The growth of the counters of one entry, in columns and in `detail`.

use std::borrow::Cow;

use super::detail::{Detail, calls_of, stays};
use super::packed::{Histograms, OperationName, pack};
use super::value::{Histogram, bit, sizes};
use super::{Column, Increment, Reason};
use crate::base::instant::Micros;
use crate::base::operation::{Kind, OPERATIONS, OperationIndex};
use crate::rules::snapshot::{Counter, HISTOGRAM_LEN};
use crate::text::job_stats::Unit;

/// The growth from which on a counter is not believed. A double holds every integer below it.
pub(super) const TOO_LARGE: u64 = 1 << 53;

/// The sums at which a counter of 64 bits, signed or not, can stay.
const LIMITS: [u64; 2] = [i64::MAX as u64, u64::MAX];

const NOTHING: Histogram = [0; HISTOGRAM_LEN];

/// The growth of one epoch of an entry, with a row for each time at which counters were last seen.
#[derive(Default)]
pub(super) struct Rows<'a> {
    pub rows: Vec<(Micros, Row<'a>)>,
    /// The approximate number of counters that are added to a row, with up to two columns each.
    counters: usize,
    /// The operations whose growth cannot be true, with the reason.
    pub problems: Vec<(&'a str, Reason)>,
}

#[derive(Default)]
pub(super) struct Row<'a> {
    totals: Vec<(Column, i64)>,
    histograms: Option<Box<Histograms>>,
    /// The details by operation, each operation once.
    detail: Vec<(OperationName<'a>, Detail)>,
}

impl<'a> Rows<'a> {
    /// Creates rows for about so many counters.
    pub fn of(counters: usize) -> Self {
        Self {
            counters,
            ..Self::default()
        }
    }

    /// Adds the growth of a counter after `since`. `counted_apart` has the bits of the listed operations with separate
    /// counters: the calls of an operation in bytes are counted by that counter or here, never twice.
    pub fn add(
        &mut self,
        since: Micros,
        name: &'a str,
        before: &Counter<'_>,
        now: &Counter<'_>,
        counted_apart: u64,
    ) {
        let position = self.rows.iter().position(|(start, _)| *start == since);
        let position = position.unwrap_or_else(|| {
            let row = Row {
                totals: Vec::with_capacity(2 * self.counters),
                detail: Vec::with_capacity(self.counters),
                ..Row::default()
            };
            self.rows.push((since, row));
            self.rows.len() - 1
        });
        let mut change = Change {
            name,
            row: &mut self.rows[position].1,
            problems: &mut self.problems,
            before,
            now,
        };
        let slot = now.slot;
        if bit(slot).is_some() && now.unit != Unit::Other {
            change.listed(slot.into(), counted_apart);
        } else {
            change.unlisted();
        }
    }

    /// Returns the rows in which something grew. Values that follow from the columns are left out of `detail` if the
    /// identifier has no other epoch in the text and this epoch has no other row: otherwise the columns of the rows would
    /// be ambiguous.
    pub fn into_increments(mut self, is_only_epoch: bool) -> impl Iterator<Item = Increment<'a>> {
        if let [(_, row)] = self.rows.as_mut_slice()
            && is_only_epoch
        {
            row.detail
                .retain_mut(|(name, detail)| stays(name, detail, &row.totals));
        }
        let increments = self.rows.into_iter().map(move |(since, mut row)| {
            row.detail
                .sort_unstable_by(|one, other| one.0.cmp(&other.0));
            Increment {
                since,
                detail: pack(row.detail.iter().map(|(name, detail)| (name, detail))),
                totals: row.totals,
                histograms: row.histograms,
                ..Increment::default()
            }
        });
        increments.filter(Increment::has_grown)
    }
}

/// One counter of an entry, before and now.
struct Change<'a, 'r> {
    name: &'a str,
    row: &'r mut Row<'a>,
    problems: &'r mut Vec<(&'a str, Reason)>,
    before: &'r Counter<'r>,
    now: &'r Counter<'r>,
}

impl Change<'_, '_> {
    fn listed(&mut self, index: OperationIndex, counted_apart: u64) {
        match (OPERATIONS[index].kind, self.now.unit) {
            (Kind::Bytes, unit) => {
                if unit == Unit::Bytes {
                    let sum = self.sum();
                    self.put(Column::Total(index), "sum", sum);
                    self.put_histogram(index);
                }
                if let Some(calls) = calls_of(index).filter(|calls| counted_apart >> calls & 1 == 0)
                {
                    self.put(Column::Total(calls), "samples", self.samples());
                }
            }
            (Kind::Requests, unit) => {
                self.put(Column::Total(index), "samples", self.samples());
                if unit == Unit::Microseconds {
                    let sum = self.sum();
                    self.put(Column::Usecs(index), "sum", sum);
                }
            }
        }
        let detail = self.extremes();
        self.put_detail(detail);
    }

    /// Adds an operation without columns, or in a unit that no column has. All its values go to `detail`.
    fn unlisted(&mut self) {
        let mut detail = self.extremes();
        detail.samples = self.believed("samples", self.samples());
        let sum = self.sum();
        detail.sum = self.believed("sum", sum);
        let sizes = self.sizes().filter(|sizes| *sizes != NOTHING);
        detail.hist = sizes.map(Box::new);
        if !detail.is_empty() {
            detail.unit = Some(self.now.unit).filter(|unit| *unit != Unit::Other);
        }
        self.put_detail(detail);
    }

    fn samples(&self) -> u64 {
        self.now.samples.saturating_sub(self.before.samples)
    }

    /// Returns the growth of the sum. A value that stays at its limit while calls go on becomes a problem: their contribution is
    /// lost.
    fn sum(&mut self) -> u64 {
        let sum = self.now.sum;
        let growth = sum.saturating_sub(self.before.sum);
        if LIMITS.contains(&sum) && growth < TOO_LARGE && self.samples() > 0 {
            self.problems.push((self.name, Reason::Stuck(sum)));
        }
        growth
    }

    /// Returns the growth of the histogram's elements, if both histograms are known.
    fn sizes(&self) -> Option<Histogram> {
        let (before, now) = (sizes(self.before)?, sizes(self.now)?);
        Some(std::array::from_fn(|element| {
            now[element].saturating_sub(before[element])
        }))
    }

    /// Returns the bounds that are new, and the growth of the sum of squares.
    fn extremes(&self) -> Detail {
        let (before, now) = (self.before, self.now);
        let measures = now.unit != Unit::Requests && now.samples > 0;
        let new = |old: u64, new: u64| {
            let is_new = measures && (before.samples == 0 || old != new);
            is_new.then_some(new)
        };
        let squares = now.sumsq.wrapping_sub(before.sumsq);
        // A sum of squares that stays at its limit is retained with a growth of 0, because the columns would imply
        // another one. Lustre up to 2.13 does not print it.
        let has_squares = squares > 0 || now.sumsq > 0 && self.samples() > 0;
        Detail {
            min: new(before.min, now.min),
            max: new(before.max, now.max),
            sumsq: has_squares.then_some(squares),
            ..Detail::default()
        }
    }

    fn put_detail(&mut self, detail: Detail) {
        if !detail.is_empty() {
            let name = match bit(self.now.slot) {
                Some(_) => OperationName::Listed(self.now.slot.into()),
                None => OperationName::Other(Cow::Borrowed(self.name)),
            };
            self.row.detail.push((name, detail));
        }
    }

    fn put(&mut self, column: Column, field: &'static str, growth: u64) {
        if let Some(growth) = self.believed(field, growth) {
            self.row.totals.push((column, growth.cast_signed()));
        }
    }

    fn put_histogram(&mut self, index: OperationIndex) {
        let Some(sizes) = self.sizes().filter(|sizes| *sizes != NOTHING) else {
            return;
        };
        if let Some(growth) = sizes.into_iter().find(|growth| *growth >= TOO_LARGE) {
            self.believed("hist", growth);
            return;
        }
        let histograms = self.row.histograms.get_or_insert_with(|| Box::new([0; _]));
        let own = histograms.iter_mut().skip(index * HISTOGRAM_LEN);
        own.zip(sizes).for_each(|(own, it)| *own = it.cast_signed());
    }

    /// Returns the growth, if there is any and it can be true. A growth that cannot be true becomes a problem.
    fn believed(&mut self, field: &'static str, growth: u64) -> Option<u64> {
        if growth >= TOO_LARGE {
            let reason = Reason::TooLarge { field, growth };
            self.problems.push((self.name, reason));
        }
        (1..TOO_LARGE).contains(&growth).then_some(growth)
    }
}
