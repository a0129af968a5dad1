//! What `detail` does not say because the columns do (rule 7).
//!
//! Most sums of squares follow from the calls and their sum: of a single call, and of calls that are all alike. They were
//! half of a row.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::Column;
use crate::operation::{self, Kind, OPERATIONS, OperationIndex};

/// What an operation has in `detail`, by the names that Lustre prints.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Detail {
    /// Growth of the histogram, where there is no column for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hist: Option<Vec<u64>>,
    /// A new upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// A new lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// Calls, where there is no column for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Growth of the sum, where there is no column for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<u64>,
    /// Growth of the sum of squares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sumsq: Option<u64>,
    /// Of what has no column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Cow<'static, str>>,
}

impl Detail {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        let has_number = self.max.or(self.min).or(self.samples).or(self.sum);
        has_number.or(self.sumsq).is_none() && self.hist.is_none() && self.unit.is_none()
    }
}

/// The operation whose column has the calls of an operation in bytes.
pub(super) fn calls_of(index: OperationIndex) -> Option<OperationIndex> {
    let operation = OPERATIONS.get(index)?;
    let calls = operation
        .doubles
        .filter(|_| operation.kind == Kind::Bytes)?;
    operation::find(calls.as_bytes())
}

/// The columns of an operation's calls and of their sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    calls: Column,
    sum: Column,
}

impl Columns {
    /// Of a listed operation.
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
}

/// Leaves out of what the operations have what follows from the columns, whose growth over the whole increment `growth`
/// gives.
pub fn leave_out<Operation: AsRef<str>>(
    detail: &mut Vec<(Operation, Detail)>,
    growth: impl Fn(Column) -> Option<i64>,
) {
    detail.retain_mut(|(operation, detail)| {
        let index = operation::find(operation.as_ref().as_bytes());
        stays(detail, index.and_then(Columns::of), &growth)
    });
}

/// Leaves out of one operation what follows from its columns: whether anything of it stays.
pub(super) fn stays(
    detail: &mut Detail,
    columns: Option<Columns>,
    growth: impl Fn(Column) -> Option<i64>,
) -> bool {
    let grown = |column| growth(column).and_then(|growth| u64::try_from(growth).ok());
    let Some((columns, calls)) = columns.and_then(|columns| Some((columns, grown(columns.calls)?)))
    else {
        return true;
    };
    calls == 0 || shorten(detail, calls, grown(columns.sum).unwrap_or(0))
}

/// Whether anything of the operation stays.
fn shorten(detail: &mut Detail, calls: u64, sum: u64) -> bool {
    let squares_follow = detail
        .sumsq
        .is_none_or(|squares| squares == squares_of(calls, sum));
    // An operation that is empty has been left out before.
    if !squares_follow || detail.is_empty() {
        return true;
    }
    // Both bounds are new and the same only where the operation was not used before.
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

/// The growth of `sumsq` where nothing else is said: as if the calls were all alike.
fn squares_of(calls: u64, sum: u64) -> u64 {
    // Division of 128 bits takes many times as long, and few sums are so large.
    if let Some(square) = sum.checked_mul(sum) {
        return square / calls;
    }
    let sum = u128::from(sum);
    // As Lustre does, modulo 2^64. No sum is 2^53 or more.
    (sum * sum / u128::from(calls)) as u64
}
