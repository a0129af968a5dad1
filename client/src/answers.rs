//! Questions to the functions of jobstats, and their answers as typed rows.
//!
//! A question is a struct with a field for each argument of its function. An argument that is `None` is left out, so
//! that the function's own default counts. [`ask`] returns the rows in the order of the function, and [`statement`] the
//! question as a statement that a person can run.
//!
//! Arguments and columns have the names that the functions have: `docs/functions/` has a page for each function, which a test
//! compares with the database; [`Group`] are the labels of a row. An argument that is `None` has its default, and a column is `None`
//! where the page says NULL. Arguments that list words are made by [`words`].
//!
//! A `total` is in bytes, calls or, of times such as `service_time`, in seconds, and exact. A `rate` is the total per second that the
//! targets were observed. `per_call` is in bytes or seconds, and `None` under ten calls. `seconds` is the width of a step or window,
//! which begins at `time`. A `name` is that of the group, and `formatted` the number that the row is about as people read it. A `share` is
//! a part of the total of all groups, and `coverage` the observed part of all time of all targets, both from 0 to 1 with four decimals.

use std::fmt::{Display, Write as _};

use jiff::Timestamp;
use postgres::{GenericClient, Row};
use tokio_postgres::types::{FromSql, ToSql, Type};

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
pub use entries::{Entries, EntryRow, Work, WorkRow};
pub use events::{EventRow, Events, Explain, ExplainRow};
pub use interval::Interval;
pub use jobs::{Compare, CompareRow, Job, JobRow, JobUsage, JobUsageRow, Jobs, JobsRow};
pub use targets::{
    Health, HealthRow, Kept, KeptRow, Nearest, NearestRow, Now, NowRow, Quality, QualityRow,
    QueueRow, Queues, Space, SpaceRow, TargetRow, Targets,
};
pub use usage::{
    Balance, BalanceRow, Baseline, BaselineRow, ChangeRow, Changes, Densities, DensityRow,
    FindingRow, Findings, IoSizeRow, IoSizes, RateRow, Rates, Summary, SummaryRow, Top, TopRow,
    TotalRow, Totals, Untracked, UntrackedRow, Verdict, VerdictRow,
};

/// Joins words to the text of an argument, such as `by`, `operations` or `levels`.
pub fn words(words: impl IntoIterator<Item = impl Display>) -> Option<String> {
    let words: Vec<_> = words.into_iter().map(|it| it.to_string()).collect();
    Some(words.join(","))
}

/// Asks a question and returns the rows of its answer.
///
/// # Errors
///
/// Fails if the connection or the function fails, and if a column is missing or has another type than expected, which
/// is so if the store is of another version.
pub fn ask<Q: Question>(
    client: &mut impl GenericClient,
    question: &Q,
) -> Result<Vec<Q::Answer>, Error> {
    let arguments = question.arguments();
    let statement = Q::SOURCE.statement(&Q::Answer::columns(), &arguments.parameters());
    let rows = client.query_typed(&statement, &arguments.values)?;
    let answers = rows.iter().map(Q::Answer::from_row);
    Ok(answers.collect::<Result<_, _>>()?)
}

/// Returns a question as a statement with its values in it, which psql can run. It selects these columns, or all.
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
    /// Returns the names of the columns.
    fn columns() -> Vec<&'static str>;

    /// Reads a row by the names of its columns.
    ///
    /// # Errors
    ///
    /// Fails if a column is missing, has another type, or is NULL where that is not expected.
    fn from_row(row: &Row) -> Result<Self, tokio_postgres::Error>;
}

/// The function or view that a question reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A function that returns rows, found by the search path.
    Function(&'static str),
    /// A view, with its schema.
    View(&'static str),
    /// The rows of a view, or of a function that is called so, that fulfil a condition. In both `$` and its name stand for an argument.
    Part {
        /// The view with its schema, or the call of the function.
        view: &'static str,
        /// The condition.
        condition: &'static str,
    },
}

impl Source {
    /// Returns the statement that reads these columns. Each argument is a name and the text in the place of its value.
    fn statement(self, columns: &[&str], arguments: &[(&str, String)]) -> String {
        let columns: Vec<_> = columns.iter().map(|name| format!(r#""{name}""#)).collect();
        let mut statement = format!("SELECT {} FROM ", columns.join(", "));
        let _ = match self {
            Self::Function(name) => {
                let list = arguments.iter();
                let list = list.map(|(name, value)| format!(r#""{name}" => {value}"#));
                write!(statement, "{name}({})", list.collect::<Vec<_>>().join(", "))
            }
            Self::View(name) => write!(statement, "{name}"),
            Self::Part { view, condition } => {
                let (view, condition) = (filled(view, arguments), filled(condition, arguments));
                write!(statement, "{view} WHERE {condition}")
            }
        };
        statement
    }
}

/// Puts values into a condition. A value is not looked at again, whatever it has in it.
fn filled(condition: &str, arguments: &[(&str, String)]) -> String {
    let mut parts = condition.split('$');
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

/// The arguments of a function, by name. Their types are sent too, so that PostgreSQL chooses no other function of the
/// same name.
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

    /// Returns the arguments with these texts in the place of their values.
    fn named(&self, values: &[String]) -> Vec<(&'static str, String)> {
        let names = self.names.iter().copied();
        names.zip(values.iter().cloned()).collect()
    }
}

/// A field of a question.
trait Argument {
    /// Adds the arguments that the field consists of. Most fields are one argument.
    fn add<'a>(&'a self, name: &'static str, arguments: &mut Arguments<'a>);
}

/// A value with the type that the functions of jobstats take it as.
trait Value: ToSql + Sync {
    /// The type of the argument.
    const TYPE: Type;

    /// Returns true for a value that is the same as no argument.
    fn is_left_out(&self) -> bool {
        false
    }

    /// Returns the value as a literal of SQL.
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
    Vec<String> => TEXT_ARRAY, |texts| literal::array(texts, "text");
    Vec<i32> => INT4_ARRAY, |numbers| literal::array(numbers, "integer");
    Vec<i64> => INT8_ARRAY, |numbers| literal::array(numbers, "bigint");
    bool => BOOL, ToString::to_string;
    i32 => INT4, ToString::to_string;
    i64 => INT8, ToString::to_string;
    f64 => FLOAT8, |number| literal::number(*number);
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

/// The window of a question: after `since`, up to and including `until`. Without them it is the last ten minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// The time after which the window begins.
    pub since: Option<Timestamp>,
    /// The time with which the window ends. A window that reaches now ends where the targets that are not late have
    /// been observed.
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

/// A field of an answer.
trait Field: Sized {
    /// Returns the names of the columns that the field consists of. Most fields are one column.
    fn columns(name: &'static str) -> Vec<&'static str>;

    /// Reads the field from its columns.
    fn read(name: &str, row: &Row) -> Result<Self, tokio_postgres::Error>;
}

impl<T: for<'a> FromSql<'a>> Field for T {
    fn columns(name: &'static str) -> Vec<&'static str> {
        vec![name]
    }

    fn read(name: &str, row: &Row) -> Result<Self, tokio_postgres::Error> {
        row.try_get(name)
    }
}

/// Defines structs of questions, with a field for each argument of a function, and, after the arrow, of the rows of their answers, with a
/// field for each column.
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
            fn columns() -> Vec<&'static str> {
                [$(<$column_type as $crate::answers::Field>::columns(stringify!($column)),)*].concat()
            }

            fn from_row(row: &postgres::Row) -> Result<Self, tokio_postgres::Error> {
                Ok(Self {
                    $($column: $crate::answers::Field::read(stringify!($column), row)?,)*
                })
            }
        }
    )*};
}

use questions;

#[cfg(test)]
mod tests;
