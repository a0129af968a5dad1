//! Groups as values here: read from the rows of a statement, and given to another one as columns of `unnest`.

use crate::pg::error::Error;
use crate::pg::memory;
use crate::pg::tuples::Tuples;
use crate::query::dimension::By;

/// The values of the dimensions of a group, as texts, in the order of the dimensions.
pub type Group = Vec<Option<String>>;

/// The memory that a group takes, and the value of one of its dimensions.
const GROUP_BYTES: usize = 512;
const VALUE_BYTES: usize = 96;

/// Returns the dimensions of a table as texts, each with a leading comma, of which [`read`] makes groups.
pub fn texts(by: &By, table: &str) -> String {
    by.iter()
        .map(|it| format!(", {table}{}::text", it.name))
        .collect()
}

/// Returns the group of the current row, whose values are the columns from this one on.
pub fn read(found: &Tuples<'_>, first: usize) -> Group {
    (first..found.columns().len())
        .map(|column| found.text(column))
        .collect()
}

/// Requires room for so many groups of so many values.
pub fn require_room(groups: usize, values: usize) -> Result<(), Error> {
    memory::require_room(groups, GROUP_BYTES + VALUE_BYTES * values)
}
