//! Groups as values here: read from the rows of a statement, and given to another one as columns of `unnest`.

use pgrx::datum::DatumWithOid;

use crate::pg::error::Error;
use crate::pg::memory;
use crate::pg::tuples::Tuples;
use crate::query::dimension::{By, DIMENSIONS};

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

/// The parts of a statement that unnests groups, each with a leading comma.
pub struct Unnested {
    /// A column for each dimension; those that do not make groups are NULL.
    pub columns: String,
    /// The arrays of the values, as parameters.
    pub arrays: String,
    /// The names of the unnested values.
    pub values: String,
}

impl Unnested {
    /// Adds the values of groups to the parameters of a statement, which calls what it unnests `table`. Where there is no group, they
    /// are NULL.
    pub fn new<'a>(
        by: &By,
        table: &str,
        groups: impl Iterator<Item = Option<&'a Group>> + Clone,
        params: &mut Vec<DatumWithOid<'_>>,
    ) -> Self {
        let columns = DIMENSIONS.iter().map(|it| {
            let sql = it.value_type.sql();
            match by.iter().position(|chosen| chosen == it) {
                Some(column) => format!(", {table}.value_{column}::{sql} AS {}", it.name),
                None => format!(", NULL::{sql} AS {}", it.name),
            }
        });
        let mut unnested = Self {
            columns: columns.collect(),
            arrays: String::new(),
            values: String::new(),
        };
        for column in 0..by.iter().count() {
            let values = groups.clone().map(|it| it?.get(column)?.clone());
            params.push(values.collect::<Vec<_>>().into());
            unnested.arrays += &format!(", ${}::text[]", params.len());
            unnested.values += &format!(", value_{column}");
        }
        unnested
    }
}
