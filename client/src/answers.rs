//! Questions to the functions of jobstats, and their answers as typed rows.
//!
//! A question is a struct with a field for each argument; `None` uses the default of the function. [`ask`] returns the rows in
//! the order of the function; [`statement`] returns the question as a statement for psql. [`words`] joins the words of an argument.
//!
//! Arguments and columns have their SQL names, which `docs/functions/` explains; a column is `None` where it is NULL. A row has
//! the columns that programs read. Fields of type [`Group`] are the labels of a row.
//!
//! A `total` is exact: bytes, calls or, for times such as `service_time`, seconds. A `rate` is the total per observed second.
//! `per_call` is in bytes or seconds, and `None` below ten calls. `seconds` is the width of a step or window, and `time` its start.
//! A `share` and a `coverage` are between 0 and 1.

use std::fmt::Display;

use jiff::Timestamp;
use postgres::{GenericClient, Row};
use tokio_postgres::types::{ToSql, Type};

use crate::database::error::Error;

mod dimension;
mod entries;
mod events;
mod interval;
mod jobs;
mod literal;
mod targets;
mod usage;

pub use dimension::{Dimension, Filters, Group};
pub use entries::{Entries, EntryRow, EntryTotals, EntryTotalsRow};
pub use events::{EventRow, Events, Explain, ExplainRow};
pub use interval::Interval;
pub use jobs::{Compare, CompareRow, Job, JobRow, JobUsage, JobUsageRow, Jobs, JobsRow};
pub use targets::{
    Health, HealthRow, Nearest, NearestRow, Quality, QualityRow, QueueRow, Queues, Retained,
    RetainedRow, Space, SpaceRow, TargetRow, Targets,
};
pub use usage::{
    Balance, BalanceRow, Baseline, BaselineRow, ChangeRow, Changes, Densities, DensityRow,
    FindingRow, Findings, IoSizeRow, IoSizes, RateRow, Rates, Summary, SummaryRow, Top, TopRow,
    TotalRow, Totals, Untracked, UntrackedRow,
};

/// Joins words for an argument such as `by`, `operations` or `levels`.
pub fn words(words: impl IntoIterator<Item = impl Display>) -> Option<String> {
    let words: Vec<_> = words.into_iter().map(|it| it.to_string()).collect();
    Some(words.join(","))
}

/// Runs a question and returns its rows.
///
/// # Errors
///
/// Fails if the connection or the function fails, or if a column is missing or of another type, as in a store of another version.
pub fn ask<Q: Question>(
    client: &mut impl GenericClient,
    question: &Q,
) -> Result<Vec<Q::Answer>, Error> {
    let arguments = question.arguments();
    let statement = Q::SOURCE.statement(Q::Answer::COLUMNS, &arguments.parameters());
    let rows = client.query_typed(&statement, &arguments.values)?;
    let answers = rows.iter().map(Q::Answer::from_row);
    Ok(answers.collect::<Result<_, _>>()?)
}

/// Returns a question as a statement for psql, with its values as literals. It selects these columns, or all.
pub fn statement<Q: Question>(question: &Q, columns: &[&str]) -> String {
    let arguments = question.arguments();
    let mut statement = Q::SOURCE.statement(columns, &arguments.named(&arguments.literals));
    if columns.is_empty() {
        statement = statement.replacen("SELECT ", "SELECT *", 1);
    }
    statement.push(';');
    statement
}

/// A question to a function or view.
pub trait Question {
    /// The type of a row of the answer.
    type Answer: Answer;
    /// The function or view.
    const SOURCE: Source;

    /// Returns the arguments of the function.
    fn arguments(&self) -> Arguments<'_>;
}

/// A row of an answer.
pub trait Answer: Sized {
    /// The names of the columns.
    const COLUMNS: &'static [&'static str];

    /// Reads a row by the names of its columns.
    ///
    /// # Errors
    ///
    /// Fails if a column is missing, of another type, or unexpectedly NULL.
    fn from_row(row: &Row) -> Result<Self, tokio_postgres::Error>;
}

/// The function or view that a question reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A function that returns rows, found by the search path.
    Function(&'static str),
    /// A view with its schema, or a call, with a condition or without. `$name` is the argument of that name.
    Query(&'static str),
}

impl Source {
    /// Returns the statement that reads these columns. An argument is a name and its SQL expression.
    fn statement(self, columns: &[&str], arguments: &[(&str, String)]) -> String {
        let columns: Vec<_> = columns.iter().map(|name| format!(r#""{name}""#)).collect();
        let source = match self {
            Self::Function(name) => {
                let list = arguments.iter();
                let list = list.map(|(name, value)| format!(r#""{name}" => {value}"#));
                format!("{name}({})", list.collect::<Vec<_>>().join(", "))
            }
            Self::Query(template) => fill(template, arguments),
        };
        format!("SELECT {} FROM {source}", columns.join(", "))
    }
}

/// Replaces `$name` by arguments, which are not searched again.
fn fill(template: &str, arguments: &[(&str, String)]) -> String {
    let mut parts = template.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        let (name, rest) = part.split_at(end.unwrap_or(part.len()));
        let value = arguments.iter().find(|(known, _)| *known == name);
        out.push_str(value.map_or("NULL", |(_, value)| value));
        out.push_str(rest);
    }
    out
}

/// The arguments of a function by name, with their types, which select among functions of one name.
#[derive(Default)]
pub struct Arguments<'a> {
    names: Vec<&'static str>,
    values: Vec<(&'a (dyn ToSql + Sync), Type)>,
    literals: Vec<String>,
}

impl<'a> Arguments<'a> {
    /// Adds the field of a question.
    fn with(mut self, name: &'static str, field: &'a impl Argument) -> Self {
        field.add(name, &mut self);
        self
    }

    /// Returns the arguments with a parameter for each value.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        let numbers: Vec<_> = (1..=self.names.len()).map(|it| format!("${it}")).collect();
        self.named(&numbers)
    }

    /// Returns the arguments with these SQL expressions.
    fn named(&self, values: &[String]) -> Vec<(&'static str, String)> {
        let names = self.names.iter().copied();
        names.zip(values.iter().cloned()).collect()
    }
}

/// A field of a question.
trait Argument {
    /// Adds the arguments of the field, mostly one.
    fn add<'a>(&'a self, name: &'static str, arguments: &mut Arguments<'a>);
}

/// A value of an SQL type.
trait Value: ToSql + Sync {
    /// The type of the argument.
    const TYPE: Type;

    /// Returns true if the argument is omitted.
    fn is_left_out(&self) -> bool {
        false
    }

    /// Returns the value as an SQL literal.
    fn literal(&self) -> String;
}

macro_rules! values {
    ($($rust:ty => $sql:ident, $literal:expr;)*) => {
        $(impl Value for $rust {
            const TYPE: Type = Type::$sql;

            fn literal(&self) -> String {
                let literal: fn(&Self) -> String = $literal;
                literal(self)
            }
        })*
    };
}

values! {
    String => TEXT, |text| literal::quoted(text);
    Vec<String> => TEXT_ARRAY, |texts| literal::array(texts);
    Vec<i32> => INT4_ARRAY, |numbers| literal::array(numbers);
    Vec<i64> => INT8_ARRAY, |numbers| literal::array(numbers);
    bool => BOOL, ToString::to_string;
    i32 => INT4, ToString::to_string;
    i64 => INT8, ToString::to_string;
    Timestamp => TIMESTAMPTZ, |time| literal::time(*time);
    Interval => INTERVAL, |interval| literal::interval(*interval);
}

impl<T: Value> Argument for T {
    fn add<'a>(&'a self, name: &'static str, arguments: &mut Arguments<'a>) {
        if !self.is_left_out() {
            arguments.names.push(name);
            arguments.values.push((self, T::TYPE));
            arguments.literals.push(self.literal());
        }
    }
}

impl<T: Value> Argument for Option<T> {
    fn add<'a>(&'a self, name: &'static str, arguments: &mut Arguments<'a>) {
        if let Some(value) = self {
            value.add(name, arguments);
        }
    }
}

/// The window of a question: after `since`, up to and including `until`; by default the last ten minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// The start, which is excluded.
    pub since: Option<Timestamp>,
    /// The end. A window up to now ends at the last observation of all targets that are not late.
    pub until: Option<Timestamp>,
}

impl Window {
    /// Returns the window between two times.
    pub fn new(since: Timestamp, until: Timestamp) -> Self {
        Self {
            since: Some(since),
            until: Some(until),
        }
    }
}

impl Argument for Window {
    fn add<'a>(&'a self, _: &'static str, arguments: &mut Arguments<'a>) {
        self.since.add("since", arguments);
        self.until.add("until", arguments);
    }
}

/// Defines structs of questions, with a field for each argument, and of rows, with a field for each column.
macro_rules! questions {
    ($(
        $(#[$doc:meta])*
        $name:ident($source:expr) {
            $($(#[$argument_doc:meta])* $argument:ident: $argument_type:ty,)*
        }
        $(#[$row_doc:meta])*
        -> $row:ident {
            $($(#[$column_doc:meta])* $column:ident: $column_type:ty,)*
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name {
            $(
                #[doc = concat!("The argument `", stringify!($argument), "`.")]
                $(#[$argument_doc])*
                pub $argument: $argument_type,
            )*
        }

        impl $crate::answers::Question for $name {
            type Answer = $row;
            const SOURCE: $crate::answers::Source = $source;

            fn arguments(&self) -> $crate::answers::Arguments<'_> {
                $crate::answers::Arguments::default()$(.with(stringify!($argument), &self.$argument))*
            }
        }

        $(#[$row_doc])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $row {
            $(
                #[doc = concat!("The column `", stringify!($column), "`.")]
                $(#[$column_doc])*
                pub $column: $column_type,
            )*
        }

        impl $crate::answers::Answer for $row {
            const COLUMNS: &'static [&'static str] = &[$(stringify!($column),)*];

            fn from_row(row: &postgres::Row) -> Result<Self, tokio_postgres::Error> {
                Ok(Self {
                    $($column: row.try_get(stringify!($column))?,)*
                })
            }
        }
    )*};
}

use questions;

#[cfg(test)]
mod tests;
