//! Leaves values out of `detail` that follow from the columns (rule 7).
//!
//! Most sums of squares follow from the number of calls and their sum: for a single call, and for equal calls. They
//! made up half of a row.

use std::sync::LazyLock;

use super::{Column, OperationName};
use crate::base::operation::{self, Kind, OPERATIONS, OperationIndex};
use crate::rules::snapshot::HISTOGRAM_LEN;
use crate::text::job_stats::Unit;

/// The values of an operation in `detail`, by the names that Lustre prints.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Detail {
    /// The growth of the histogram, if there is no column for it.
    pub hist: Option<Box<[u64; HISTOGRAM_LEN]>>,
    /// A new upper bound.
    pub max: Option<u64>,
    /// A new lower bound.
    pub min: Option<u64>,
    /// The number of calls, if there is no column for it.
    pub samples: Option<u64>,
    /// The growth of the sum, if there is no column for it.
    pub sum: Option<u64>,
    /// The growth of the sum of squares.
    pub sumsq: Option<u64>,
    /// The unit of an operation that has no column.
    pub unit: Option<Unit>,
}

impl Detail {
    /// Returns true if the operation has no columns, so that its calls are counted here.
    pub(super) fn is_counted(&self) -> bool {
        self.samples.or(self.sum).is_some() || self.unit.is_some()
    }

    /// Returns true if there are no values.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the operation whose column has the calls of an operation in bytes.
pub(super) fn calls_of(index: OperationIndex) -> Option<OperationIndex> {
    let operation = OPERATIONS.get(index);
    let calls = operation.filter(|it| it.kind == Kind::Bytes)?.doubles?;
    operation::find(calls.as_bytes())
}

/// The columns of an operation's calls and of their sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) calls: Column,
    pub(super) sum: Column,
}

impl Columns {
    /// Returns the columns of a listed operation.
    pub(super) fn of(index: OperationIndex) -> Option<Self> {
        static ALL: LazyLock<Vec<Option<Columns>>> = LazyLock::new(|| {
            let columns = |index: OperationIndex| {
                Some(match OPERATIONS[index].kind {
                    Kind::Bytes => Columns {
                        calls: Column::Total(calls_of(index)?),
                        sum: Column::Total(index),
                    },
                    Kind::Requests => Columns {
                        calls: Column::Total(index),
                        sum: Column::Usecs(index),
                    },
                })
            };
            (0..OPERATIONS.len()).map(columns).collect()
        });
        ALL.get(index).copied().flatten()
    }

    /// Returns the growth of the calls and of their sum; `None` if the calls are unknown.
    pub(super) fn grown(self, totals: &[(Column, i64)]) -> Option<(u64, u64)> {
        let grown = |column| {
            let growth = totals.iter().find(|(of, _)| *of == column)?.1;
            u64::try_from(growth).ok()
        };
        Some((grown(self.calls)?, grown(self.sum).unwrap_or(0)))
    }
}

/// Removes values from the detail of one operation that follow from its columns, whose growth over the whole increment is in
/// `totals`. Returns true if the operation stays in `detail`.
pub(super) fn stays(
    operation: &OperationName<'_>,
    detail: &mut Detail,
    totals: &[(Column, i64)],
) -> bool {
    let columns = match operation {
        OperationName::Listed(index) => Columns::of(*index),
        OperationName::Other(_) => None,
    };
    let grown = columns.and_then(|columns| columns.grown(totals));
    grown.is_none_or(|(calls, sum)| calls == 0 || shorten(detail, calls, sum))
}

/// Removes values that follow from the calls and their sum. Returns true if the operation stays in `detail`.
fn shorten(detail: &mut Detail, calls: u64, sum: u64) -> bool {
    let squares_follow = detail
        .sumsq
        .is_none_or(|squares| squares == squares_of(calls, sum));
    // An empty detail has been shortened before: the calls were all alike.
    if !squares_follow || detail.is_empty() {
        return true;
    }
    // Both bounds are new and equal only if the operation was not used before.
    let are_alike = detail.min.zip(detail.max).is_some_and(|(min, max)| {
        min == max && u128::from(min) * u128::from(calls) == u128::from(sum)
    });
    if are_alike {
        *detail = Detail::default();
        return true;
    }
    detail.sumsq = None;
    !detail.is_empty()
}

/// Returns the growth of `sumsq` if `detail` does not give it: as if the calls were all alike.
pub(super) fn squares_of(calls: u64, sum: u64) -> u64 {
    // A division of 128 bits takes many times as long, and few sums are so large.
    if let Some(square) = sum.checked_mul(sum) {
        return square / calls;
    }
    let sum = u128::from(sum);
    // The result is modulo 2^64, as in Lustre. No sum is 2^53 or more.
    (sum * sum / u128::from(calls)) as u64
}
