//! What `detail` does not say because the columns do (rule 7).
//!
//! Most sums of squares follow from the calls and their sum: of a single call, and of calls that are all alike. They were
//! half of a row.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::Column;
use crate::operation::{self, Kind, OPERATIONS, OperationIndex};

/// What an operation has in `detail`, by the names that Lustre prints.
pub type Fields<Name> = BTreeMap<Name, Json>;

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

/// Leaves out what follows from the columns, whose growth over the whole increment `growth` gives.
pub fn leave_out<Operation: AsRef<str> + Ord, Name: Borrow<str> + Ord>(
    detail: &mut BTreeMap<Operation, Fields<Name>>,
    growth: impl Fn(Column) -> Option<i64>,
) {
    detail.retain(|operation, fields| {
        let Some((calls, sum)) = columns(operation.as_ref()) else {
            return true;
        };
        let grown = |column| growth(column).and_then(|growth| u64::try_from(growth).ok());
        match grown(calls) {
            Some(calls) if calls > 0 => shorten(fields, calls, grown(sum).unwrap_or(0)),
            _ => true,
        }
    });
}

/// Whether anything of the operation stays.
fn shorten<Name: Borrow<str> + Ord>(fields: &mut Fields<Name>, calls: u64, sum: u64) -> bool {
    let number = |field: &str| fields.get(field).and_then(Json::as_u64);
    let squares_follow = number("sumsq").is_none_or(|squares| squares == squares_of(calls, sum));
    // Both bounds are new and the same only where the operation was not used before.
    let are_alike = number("min").zip(number("max")).is_some_and(|(min, max)| {
        min == max && u128::from(min) * u128::from(calls) == u128::from(sum)
    });
    // An operation that is empty has been left out before.
    if !squares_follow || fields.is_empty() {
        return true;
    }
    if are_alike {
        fields.clear();
        return true;
    }
    fields.remove("sumsq");
    !fields.is_empty()
}

/// The growth of `sumsq` where nothing else is said: as if the calls were all alike.
fn squares_of(calls: u64, sum: u64) -> u64 {
    let sum = u128::from(sum);
    // As Lustre does, modulo 2^64. No sum is 2^53 or more.
    (sum * sum / u128::from(calls)) as u64
}
