//! What `detail` does not say because the columns do (rule 7).
//!
//! Most sums of squares follow from the calls and their sum: of a single call, and of calls that are all alike. They were
//! half of a row.

use std::borrow::Cow;

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
        *self == Self::default()
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
fn columns(name: &str) -> Option<(Column, Column)> {
    let index = operation::find(name.as_bytes())?;
    Some(match OPERATIONS[index].kind {
        Kind::Bytes => (Column::Total(calls_of(index)?), Column::Total(index)),
        Kind::Requests => (Column::Total(index), Column::Usecs(index)),
    })
}

/// Leaves out of what the operations have what follows from the columns, whose growth over the whole increment `growth`
/// gives.
pub fn leave_out<Operation: AsRef<str>>(
    detail: &mut Vec<(Operation, Detail)>,
    growth: impl Fn(Column) -> Option<i64>,
) {
    detail.retain_mut(|(operation, detail)| {
        let Some((calls, sum)) = columns(operation.as_ref()) else {
            return true;
        };
        let grown = |column| growth(column).and_then(|growth| u64::try_from(growth).ok());
        match grown(calls) {
            Some(calls) if calls > 0 => shorten(detail, calls, grown(sum).unwrap_or(0)),
            _ => true,
        }
    });
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
    let sum = u128::from(sum);
    // As Lustre does, modulo 2^64. No sum is 2^53 or more.
    (sum * sum / u128::from(calls)) as u64
}
