//! The columns of a file.

use jobstats_core::base::operation::{Kind as Quantity, OPERATIONS};
use jobstats_core::rules::increment;
use jobstats_core::usage::columns::operation_columns;
use serde::Serialize;

/// The kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Microseconds since 1970, UTC.
    Time,
    /// Texts in UTF-8.
    Text,
    /// Whole numbers of 64 bits.
    Number,
}

/// A column of a file. The description is part of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The kind.
    #[serde(skip)]
    pub kind: Kind,
    /// True if the values identify a person.
    #[serde(skip)]
    pub is_personal: bool,
    /// The unit of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// The description.
    pub meaning: String,
}

const OPEN: bool = false;
const PERSONAL: bool = true;

/// The columns of time, place and owner, in the order of `rows.sql`.
#[rustfmt::skip]
pub const FIRST: [(&str, Kind, bool, &str); 22] = [
    ("since", Kind::Time, OPEN, "the start of the row's time span, exclusive"),
    ("until", Kind::Time, OPEN, "the end of the time span, inclusive"),
    ("last_active", Kind::Time, OPEN, "the time of the last request, if known"),
    ("resets", Kind::Number, OPEN, "the number of counter resets"),
    ("cluster", Kind::Text, OPEN, "the cluster"),
    ("filesystem", Kind::Text, OPEN, "the file system"),
    ("kind", Kind::Text, OPEN, "the kind of the target: MDT or OST"),
    ("target", Kind::Text, OPEN, "the target"),
    ("entry", Kind::Text, PERSONAL, "the identifier as clients sent it"),
    ("status", Kind::Text, OPEN, "the status of the identifier: ok, missing_job, truncated, partial or malformed; claimed: its job belongs to another user"),
    ("job", Kind::Text, PERSONAL, "the job of the identifier"),
    ("uid", Kind::Number, PERSONAL, "the number of the user"),
    ("user_name", Kind::Text, PERSONAL, "the user's name on this day"),
    ("gid", Kind::Number, PERSONAL, "the number of the user's primary group"),
    ("group_name", Kind::Text, PERSONAL, "the name of the group"),
    ("account", Kind::Text, PERSONAL, "the account of the job"),
    ("partition", Kind::Text, OPEN, "the partition or queue of the job"),
    ("job_name", Kind::Text, PERSONAL, "the name of the job"),
    ("state", Kind::Text, OPEN, "the state of the job's last run, without the user who cancelled it"),
    ("node", Kind::Text, PERSONAL, "the node that sent the requests"),
    ("executable", Kind::Text, PERSONAL, "the program that sent the requests"),
    ("pid", Kind::Number, PERSONAL, "the number of the process"),
];

/// Returns the columns of a file: when, where and who, and then the operations.
pub fn columns() -> Vec<Column> {
    let first = FIRST.map(|(name, kind, is_personal, meaning)| Column {
        name: name.to_owned(),
        kind,
        is_personal,
        unit: None,
        meaning: meaning.to_owned(),
    });
    let operations = operation_columns().map(|(column, name)| operation(column, name));
    first.into_iter().chain(operations).collect()
}

fn operation(column: increment::Column, name: String) -> Column {
    let (unit, meaning) = match column {
        increment::Column::Total(index) => {
            let operation = &OPERATIONS[index];
            let unit = match operation.kind {
                Quantity::Requests => "calls",
                Quantity::Bytes => "bytes",
            };
            (unit, operation.meaning.to_owned())
        }
        increment::Column::Usecs(index) => {
            let name = OPERATIONS[index].name;
            ("microseconds", format!("time that servers spent on {name}"))
        }
    };
    Column {
        name,
        kind: Kind::Number,
        is_personal: false,
        unit: Some(unit),
        meaning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_as_in_the_store_and_have_units() {
        let some = ["read_bytes", "open", "open_usecs"];
        let columns = columns();
        let units = columns[FIRST.len()..].iter();
        let units = units.filter(|it| some.contains(&it.name.as_str()));
        let units: Vec<_> = units.map(|it| (it.name.as_str(), it.unit)).collect();
        assert_eq!(
            units,
            [
                ("read_bytes", Some("bytes")),
                ("open", Some("calls")),
                ("open_usecs", Some("microseconds"))
            ]
        );
    }

    #[test]
    fn the_documentation_has_all_columns() {
        let page = include_str!("../../../docs/export.md");
        let (_, section) = page.split_once("\n## Columns\n").unwrap();
        let (section, _) = section.split_once("\n## ").unwrap_or((section, ""));
        for (name, _, is_personal, _) in FIRST {
            let row = section
                .lines()
                .find(|line| line.starts_with(&format!("| `{name}` |")))
                .unwrap_or_else(|| panic!("{name} is not documented"));
            assert_eq!(row.contains("| pseudonym |"), is_personal, "{row}");
        }
    }
}
