//! Groups of an answer that are made here, and not by a statement, as columns of `unnest`.

use pgrx::datum::DatumWithOid;

use crate::query::dimension::{By, DIMENSIONS};

/// The values of the dimensions of a group, as texts, in the order of the dimensions.
pub type Group = Vec<Option<String>>;

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
    /// Returns the parts of a statement that calls what it unnests `table`, and in which the values are the parameters from this
    /// number on.
    pub fn new(by: &By, table: &str, first: usize) -> Self {
        let names: Vec<&str> = by.iter().map(|it| it.name).collect();
        let columns = DIMENSIONS.iter().map(|it| {
            let sql = it.value_type.sql();
            match names.iter().position(|name| *name == it.name) {
                Some(column) => format!(", {table}.value_{column}::{sql} AS {}", it.name),
                None => format!(", NULL::{sql} AS {}", it.name),
            }
        });
        let each = |part: fn(usize) -> String| (0..names.len()).map(part).collect::<String>();
        Self {
            columns: columns.collect(),
            arrays: (first..first + names.len())
                .map(|number| format!(", ${number}::text[]"))
                .collect(),
            values: each(|column| format!(", value_{column}")),
        }
    }

    /// Adds the values of groups to the parameters of a statement. Where there is no group, they are NULL.
    pub fn bind<'a>(
        by: &By,
        groups: impl Iterator<Item = Option<&'a Group>> + Clone,
        params: &mut Vec<DatumWithOid<'_>>,
    ) {
        for column in 0..by.iter().count() {
            let values = groups.clone().map(|it| it?.get(column)?.clone());
            params.push(values.collect::<Vec<_>>().into());
        }
    }
}
