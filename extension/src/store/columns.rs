//! The operation columns of `jobstats.increments`, derived from the list of operations.

use jobstats_core::increment::Column;
use jobstats_core::operation::{Kind, OPERATIONS, Operation};

/// Returns all operation columns with their names, in the order of the table: totals first, then time spent.
pub fn operation_columns() -> impl Iterator<Item = (Column, String)> {
    let totals = OPERATIONS
        .iter()
        .enumerate()
        .map(|(index, operation)| (Column::Total(index), operation.name.to_owned()));
    let times = OPERATIONS
        .iter()
        .enumerate()
        .filter(|(_, operation)| operation.kind == Kind::Requests)
        .map(|(index, operation)| (Column::Usecs(index), usecs_name(operation)));
    totals.chain(times)
}

/// Returns the name of the column that holds the time spent in an operation.
pub fn usecs_name(operation: &Operation) -> String {
    format!("{}_usecs", operation.name)
}

/// Returns the text of COMMENT ON for a column that holds a sum.
pub fn meaning(column: Column) -> String {
    match column {
        Column::Total(index) => {
            let operation = &OPERATIONS[index];
            format!("{}: {}", unit(operation), operation.meaning)
        }
        Column::Usecs(index) => format!(
            "microseconds that the server spent on {}; NULL before Lustre 2.14",
            OPERATIONS[index].name
        ),
    }
}

/// Returns the text of COMMENT ON for a column that holds a rate.
pub fn meaning_of_rate(column: Column) -> String {
    match column {
        Column::Total(index) => {
            let operation = &OPERATIONS[index];
            format!("{} per second: {}", unit(operation), operation.meaning)
        }
        Column::Usecs(index) => format!(
            "microseconds per second that the server spent on {}; a million is one call in service all the time; NULL before \
             Lustre 2.14",
            OPERATIONS[index].name
        ),
    }
}

fn unit(operation: &Operation) -> &'static str {
    match operation.kind {
        Kind::Bytes => "bytes",
        Kind::Requests => "calls",
    }
}
