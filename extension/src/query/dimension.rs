//! Dimensions, by which usage can be grouped and filtered.

use pgrx::IntoDatum;
use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::tuplestore::Rows;

/// A dimension. Its name is also the name of a filter, of a column of the answer, and a word in `by`.
#[derive(Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The name in SQL.
    pub name: &'static str,
    /// The table that has the dimension.
    pub level: Level,
    /// The column of that table.
    column: &'static str,
    /// The type in SQL, which says how the dimension is filtered, too.
    pub value_type: ValueType,
    /// Set if rollups by user know the dimension.
    pub is_user: bool,
    /// Set if the column is in `jobstats.users`, which [`join_names`] joins.
    is_name: bool,
}

/// The table that has a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The targets, `jobstats.targets`.
    Target,
    /// The servers on which a target was observed, in `jobstats.observations`.
    Server,
    /// The entries, `jobstats.entries`.
    Entry,
}

/// The type of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// A text, which is filtered by LIKE patterns, any of which must match.
    Text,
    /// A number, which is filtered by a list of numbers.
    Number,
}

impl ValueType {
    /// Returns the name of the type in SQL.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "bigint",
        }
    }
}

/// Every dimension, in the order of filters and columns. The SQL of the reading functions, which pgrx needs as text, names
/// them again; the regression test `dimensions` compares it with this list.
pub static DIMENSIONS: &[Dimension] = &[
    text("cluster", Level::Target, "cluster"),
    text("filesystem", Level::Target, "filesystem"),
    text("kind", Level::Target, "kind"),
    text("target", Level::Target, "name"),
    text("server", Level::Server, "server"),
    text("workload", Level::Entry, "workload"),
    text("job", Level::Entry, "job"),
    text("node", Level::Entry, "node"),
    text("executable", Level::Entry, "executable"),
    text("status", Level::Entry, "status"),
    Dimension {
        value_type: ValueType::Number,
        is_user: true,
        ..text("uid", Level::Entry, "uid")
    },
    text("entry", Level::Entry, "name"),
    Dimension {
        is_user: true,
        is_name: true,
        ..text("user_name", Level::Entry, "user_name")
    },
];

const fn text(name: &'static str, level: Level, column: &'static str) -> Dimension {
    Dimension {
        name,
        level,
        column,
        value_type: ValueType::Text,
        is_user: false,
        is_name: false,
    }
}

impl Dimension {
    /// Returns the column of the dimension in the table of its level, which the statement calls `table`, or in the table
    /// of names that [`join_names`] joins with it.
    pub fn column(&self, table: &str) -> String {
        let table = if self.is_name { "person" } else { table };
        format!("{table}.{}", self.column)
    }

    /// Returns whether rows that have a `uid`, and nothing else of an entry, have the dimension.
    pub fn is_uid(&self) -> bool {
        self.is_user && !self.is_name
    }

    /// Returns whether the dimension is the name of a user.
    pub fn is_name(&self) -> bool {
        self.is_name
    }
}

/// Returns the columns that hold dimensions, by the names of the dimensions, each with a leading comma. `table` says what
/// the statement calls the table of a dimension.
pub fn named_columns(
    dimensions: impl Iterator<Item = &'static Dimension>,
    table: impl Fn(&Dimension) -> &'static str,
) -> String {
    dimensions
        .map(|it| format!(", {} AS {}", it.column(table(it)), it.name))
        .collect()
}

/// Returns the names of dimensions as columns of a table, each with a leading comma.
pub fn columns(dimensions: impl Iterator<Item = &'static Dimension>, table: &str) -> String {
    dimensions
        .map(|dimension| format!(", {table}{}", dimension.name))
        .collect()
}

/// Returns a join of a table that has a `uid` with the names of users, if any of the dimensions is such a name.
///
/// Everything is summed by number before, so that no sum depends on a name.
pub fn join_names(dimensions: impl IntoIterator<Item = &'static Dimension>, table: &str) -> String {
    if dimensions.into_iter().any(Dimension::is_name) {
        format!(" LEFT JOIN jobstats.users person ON person.uid = {table}.uid")
    } else {
        String::new()
    }
}

/// The dimensions that an answer is grouped by, in the order of the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By(Vec<&'static Dimension>);

impl By {
    /// Parses the argument `by`; NULL stands for the default of the function.
    ///
    /// # Errors
    /// [`Error::Unknown`] if a name is not that of a dimension.
    pub fn parse(names: Option<Vec<Option<String>>>, default: &[&str]) -> Result<Self, Error> {
        let Some(names) = names else {
            return Ok(Self::these(default));
        };
        let mut chosen = Vec::new();
        for name in names {
            let found = DIMENSIONS
                .iter()
                .find(|it| Some(it.name) == name.as_deref());
            chosen.push(found.ok_or_else(|| unknown(name))?.name);
        }
        Ok(Self::these(&chosen))
    }

    /// Groups by the dimensions of these names.
    pub fn these(names: &[&str]) -> Self {
        let dimensions = DIMENSIONS.iter();
        Self(dimensions.filter(|it| names.contains(&it.name)).collect())
    }

    /// Returns the dimensions of these levels.
    pub fn of(&self, levels: &[Level]) -> impl Iterator<Item = &'static Dimension> {
        self.iter().filter(|it| levels.contains(&it.level))
    }

    /// Returns the dimensions.
    pub fn iter(&self) -> impl Iterator<Item = &'static Dimension> {
        self.0.iter().copied()
    }

    /// Returns whether there are dimensions of this level.
    pub fn has(&self, level: Level) -> bool {
        self.of(&[level]).next().is_some()
    }
}

/// Returns the error for a name that is not that of a dimension.
pub fn unknown(name: Option<String>) -> Error {
    let names: Vec<&str> = DIMENSIONS.iter().map(|dimension| dimension.name).collect();
    Error::Unknown {
        what: "dimension",
        name: name.unwrap_or_else(|| "NULL".to_owned()),
        valid: names.join(", "),
    }
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.dimensions() RETURNS TABLE (name text, type text)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.dimensions() IS
'Internal: the dimensions of the reading functions with their types, in the order of filters and columns.';
"#)]
fn jobstats_dimensions(mut rows: Rows) {
    for dimension in DIMENSIONS {
        rows.put(|| {
            [
                dimension.name.into_datum(),
                dimension.value_type.sql().into_datum(),
            ]
        });
    }
}
