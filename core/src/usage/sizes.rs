//! Sizes of reads and writes: histograms, and sums for targets without them.
//!
//! Lustre 2.16 prints how many calls have which size. Before, the number of calls and of bytes are known, and since 2.14 the sum of the
//! squares of sizes, modulo 2^64. So a target has either a histogram of an operation or sums and, depending on the setting `keep`, one
//! after the other.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::cells::{Activity, Cells, Hasher, Subject};
use super::groups::{GroupKey, Groups, Values};
use super::rates::quotient;
use super::scope::Scope;
use super::{UsageError, require_room};
use crate::base::instant::{Micros, Span};
use crate::rules::increment::{Detail, share};
use crate::rules::snapshot::HISTOGRAM_LEN;

/// The number of operations that have sizes: reads and writes.
const OPERATIONS: usize = 2;

/// The size in bytes that no read or write exceeds: 64 MiB, the most that an RPC of Lustre transfers.
const LARGEST: u64 = 64 << 20;

/// The number of calls by size: calls of at most 2^n bytes, and of more than half of that, for each n; the last element has all larger ones.
pub type Histogram = [u64; HISTOGRAM_LEN];

/// The calls of an operation in a row of increments.
#[derive(Debug, Clone, Default)]
pub struct SizesOfRow {
    /// The number of calls; NULL is 0.
    pub calls: i64,
    /// Their bytes.
    pub bytes: i64,
    /// The number of calls by size, where the server prints it.
    pub histogram: Option<[i64; HISTOGRAM_LEN]>,
    /// The bounds and the sum of squares, where these do not follow from the calls and the bytes; `None` if they are damaged.
    pub detail: Option<Detail>,
}

/// A row of increments with the sizes of its calls.
#[derive(Debug)]
pub struct RowOfSizes {
    /// The position of the target in the [scope](Scope).
    pub target: usize,
    /// The entry or owner.
    pub subject: Subject,
    /// The entry.
    pub entry: i64,
    /// The part of the window that its source answers for. Of a row that reaches beyond, the part inside counts.
    pub part: Span,
    /// The time in which the calls were counted.
    pub span: Span,
    /// The time of the observation. The rows of an entry between two observations are parts of one reading.
    pub observed: Micros,
    /// Set if the server reports times, as it does since Lustre 2.14, which prints sums of squares, too.
    pub timed: bool,
    /// The setting `keep`, where it left something out: `counts` leaves out histograms, too.
    pub kept: Option<String>,
    /// By operation: reads and writes.
    pub calls: [SizesOfRow; OPERATIONS],
}

/// Calls with their bytes and, where it is known, the sum of the squares of these.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    calls: u128,
    bytes: u128,
    squares: Option<u128>,
    is_unknown: bool,
}

/// The work of an entry between two observations.
#[derive(Debug, Default)]
struct Reading {
    sums: Sums,
    most: Option<u64>,
    timed: bool,
    /// Set if a part of it lies outside of the window, or may.
    is_cut: bool,
}

/// The calls of an operation of a subject on a target.
#[derive(Debug, Default)]
struct Cell {
    sums: Sums,
    histogram: Option<Box<Histogram>>,
}

/// The sizes of calls by operation, setting `keep`, target and subject.
#[derive(Debug)]
pub struct Sizes {
    /// The numbers of cells, whose subjects make groups. Operation and source take the place of a step.
    pub cells: Cells,
    all: Vec<Cell>,
    /// By cell, entry and observation.
    readings: HashMap<(u32, i64, Micros), Reading, Hasher>,
    since: Micros,
    bytes: usize,
    limit: usize,
}

/// The sizes of the calls of an operation of a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SizesOfGroup {
    /// The values of its dimensions.
    pub values: Values,
    /// The operation: 0 for reads, 1 for writes.
    pub operation: usize,
    /// The calls on targets with histograms, by size.
    pub histogram: Histogram,
    /// The number of calls on the others.
    pub calls: u128,
    /// Their mean size in bytes; `None` without calls.
    pub mean: Option<f64>,
    /// The standard deviation in bytes; `None` if a reading has no squares.
    pub deviation: Option<f64>,
}

const READING_BYTES: usize = 2 * size_of::<((u32, i64, Micros), Reading)>();

impl Sizes {
    /// Starts without rows, in a window that starts after `since`. All takes at most `limit` bytes.
    pub fn new(since: Micros, limit: usize) -> Self {
        Self {
            cells: Cells::new(0, Activity::Unknown, limit),
            all: Vec::new(),
            readings: HashMap::default(),
            since,
            bytes: 0,
            limit,
        }
    }

    /// Returns the memory that is taken, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes + self.cells.bytes()
    }

    /// Adds the part of a row that lies in the window.
    ///
    /// # Errors
    /// [`UsageError::Memory`]
    pub fn add(&mut self, row: &RowOfSizes) -> Result<(), UsageError> {
        let (since, until) = row.span;
        let part = (since.max(row.part.0), until.min(row.part.1));
        // No counter grows by less than 0.
        let share = |it: i64| share(it.max(0), since, until, part.0, part.1) as u64;
        for (operation, of_row) in row.calls.iter().enumerate() {
            let (calls, bytes) = (share(of_row.calls), share(of_row.bytes));
            // Of a row that was divided, a part may have bytes or sizes of a call that counts in another part.
            if calls == 0 && bytes == 0 && of_row.histogram.is_none() {
                continue;
            }
            let keeps_histograms = row.kept.as_deref() != Some("counts");
            let class = OPERATIONS * usize::from(keeps_histograms) + operation;
            let number = self.cells.cell(class, row.target, row.subject)?;
            if number == self.all.len() {
                self.all.push(Cell::default());
                self.bytes += size_of::<Cell>();
            }
            let cell = &mut self.all[number];
            let sums = Sums {
                calls: calls.into(),
                bytes: bytes.into(),
                ..Sums::default()
            };
            cell.sums.add(sums);
            if let Some(elements) = &of_row.histogram {
                self.bytes += size_of::<Histogram>() * usize::from(cell.histogram.is_none());
                let own = cell.histogram.get_or_insert_default().iter_mut();
                own.zip(elements)
                    .for_each(|(own, it)| *own = own.saturating_add(share(*it)));
            } else {
                let known = self.readings.len();
                let key = (number as u32, row.entry, row.observed);
                let reading = self.readings.entry(key).or_default();
                let detail = of_row.detail.as_ref();
                reading.sums.add(Sums {
                    squares: detail.and_then(|it| it.sumsq).map(u128::from),
                    is_unknown: row.kept.is_some() || detail.is_none(),
                    ..sums
                });
                reading.most = reading.most.max(detail.and_then(|it| it.max));
                reading.timed |= row.timed;
                reading.is_cut |= part != row.span || since <= self.since;
                self.bytes += READING_BYTES * (self.readings.len() - known);
            }
            if self.bytes() > self.limit {
                return Err(UsageError::Memory(self.limit));
            }
        }
        Ok(())
    }

    /// Gives the sizes of each group to `take`, in the order of groups and operations.
    ///
    /// # Errors
    /// [`UsageError::NoRoom`]
    pub fn by_group(
        &self,
        groups: &Groups<'_>,
        scope: &Scope,
        mut take: impl FnMut(SizesOfGroup),
    ) -> Result<(), UsageError> {
        require_room(self.all.len() * 2 * size_of::<SizesOfGroup>())?;
        let cells = self.cells.iter().filter_map(|(place, number)| {
            let group = groups.of_place(scope, place)?;
            let target = scope.targets[place.target as usize].target.id;
            Some(((target, place.step), group, number))
        });
        let cells: Vec<((i32, u32), GroupKey, u32)> = cells.collect();
        let histogram = |number: u32| self.all[number as usize].histogram.as_deref();
        // A target that prints a histogram prints it of all calls: calls of a part without it are in the histogram of another.
        let with = cells.iter().filter(|it| histogram(it.2).is_some());
        let with: HashSet<(i32, u32)> = with.map(|it| it.0).collect();
        // The readings of each cell that lie in the window, added up.
        let mut of_readings: HashMap<u32, Sums, Hasher> = HashMap::default();
        for (key, reading) in self.readings.iter().filter(|it| !it.1.is_cut) {
            of_readings.entry(key.0).or_default().add(reading.sums());
        }
        let mut found: BTreeMap<(GroupKey, u32), (SizesOfGroup, [Sums; 2])> = BTreeMap::new();
        for (class, group, number) in cells {
            let operation = class.1 % OPERATIONS as u32;
            let (sizes, sums) = found.entry((group, operation)).or_default();
            sizes.operation = operation as usize;
            if with.contains(&class) {
                let own = sizes
                    .histogram
                    .iter_mut()
                    .zip(histogram(number).into_iter().flatten());
                own.for_each(|(own, it)| *own = own.saturating_add(*it));
            } else {
                sums[0].add(self.all[number as usize].sums);
                sums[1].add(of_readings.get(&number).copied().unwrap_or_default());
            }
        }
        let mut keys: Vec<(GroupKey, u32)> = found.keys().copied().collect();
        // The sort is stable: the operations of a group stay in order.
        keys.sort_by(|(one, _), (other, _)| groups.compare(scope, *one, *other));
        for key in keys {
            let (sizes, [all, of_readings]) = found.remove(&key).unwrap_or_default();
            take(SizesOfGroup {
                values: groups.values(scope, key.0),
                calls: all.calls,
                mean: quotient(all.bytes as i128, all.calls as i128, 1),
                deviation: of_readings.deviation(),
                ..sizes
            });
        }
        Ok(())
    }
}

impl Reading {
    /// Returns its sums. The sum of squares is in the last part; without it, it is bytes² / calls, rounded down. It is not known if it may
    /// have been 2^64 or more.
    fn sums(&self) -> Sums {
        let Sums { calls, bytes, .. } = self.sums;
        let most = u128::from(self.most.unwrap_or(LARGEST).min(LARGEST)).min(bytes);
        let may_wrap = calls.saturating_mul(most.pow(2)) >= 1 << 64;
        let alike = bytes.saturating_pow(2).checked_div(calls);
        Sums {
            squares: self.sums.squares.or(alike),
            is_unknown: self.sums.is_unknown || !self.timed || may_wrap,
            ..self.sums
        }
    }
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.bytes += other.bytes;
        self.is_unknown |= other.is_unknown;
        if let Some(squares) = other.squares {
            self.squares = Some(self.squares.unwrap_or(0).saturating_add(squares));
        }
    }

    /// Returns the standard deviation of the bytes of a call; `None` if it is not known, the squares contradict the sum, or the products are
    /// larger than any number here.
    fn deviation(&self) -> Option<f64> {
        if self.is_unknown {
            return None;
        }
        // The variance is (calls · squares − bytes²) / calls².
        let square = self.bytes.checked_mul(self.bytes)?;
        let spread = self.calls.checked_mul(self.squares?)?.checked_sub(square)?;
        let shift = (spread | 1).leading_zeros() & !1;
        let shifted = spread << shift;
        let root = shifted.isqrt();
        // The last bit is set if the root is larger than the bits before it, so that it is rounded once, with the quotient.
        let root = (root << 1) | u128::from(root * root != shifted);
        Some(quotient(root as i128, self.calls as i128, 1)? / 2_f64.powi(shift as i32 / 2 + 1))
    }
}

#[cfg(test)]
mod tests;
