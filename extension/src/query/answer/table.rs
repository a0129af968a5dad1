//! Writes the rows of a statement that has the columns of an answer.

use jobstats_core::quantity::Quantity;
use pgrx::IntoDatum;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::tuples::{FLOATS, INTEGERS, TEXTS, Tuples};
use crate::pg::tuplestore::Rows;
use crate::query::dimension::{By, Dimension, ValueType};
use crate::query::groups::Group;
use crate::query::labels::{Labels, formatted};
use crate::query::window::ROW_LIMIT;

/// Runs a statement that has the columns of an answer, among others, writes its rows, and returns their number.
pub fn write_rows(
    client: &SpiClient<'_>,
    statement: &str,
    parameters: &[DatumWithOid<'_>],
    rows: &mut Rows,
) -> Result<usize, Error> {
    write_groups(client, statement, parameters, &By::these(&[]), rows)
}

/// The source of the values of a column of an answer.
#[derive(Clone, Copy)]
enum Source {
    /// The column of the statement in this place.
    Column(usize),
    /// The dimensions of the group.
    Name,
    Labels,
    /// The columns with a total, and the name of its operation.
    Formatted(usize, usize),
}

impl Source {
    fn find(name: &str, found: &Tuples<'_>) -> Result<Self, Error> {
        Ok(match (name, found.place(name)) {
            (_, Ok(place)) => Self::Column(place),
            ("name", _) => Self::Name,
            ("labels", _) => Self::Labels,
            ("formatted", _) => Self::Formatted(
                found.place_of("amount", &FLOATS)?,
                found.place_of("operation", &TEXTS)?,
            ),
            (_, Err(error)) => return Err(error),
        })
    }
}

/// Reads the groups of all rows that were found, and how they are shown.
///
/// # Errors
/// [`Error::TooManyRows`], and [`Error::Damaged`] if a dimension has no column.
fn grouped(
    client: &SpiClient<'_>,
    found: &mut Tuples<'_>,
    by: &By,
) -> Result<(Vec<Group>, Labels), Error> {
    if found.len() > ROW_LIMIT {
        return Err(Error::TooManyRows);
    }
    let column = |it: &'static Dimension| {
        let types: &[_] = match it.value_type {
            ValueType::Text => &TEXTS,
            ValueType::Number => &INTEGERS,
        };
        Ok((found.place_of(it.name, types)?, it.value_type))
    };
    let columns = by.iter().map(column).collect::<Result<Vec<_>, Error>>()?;
    let mut groups = Vec::with_capacity(found.len());
    for row in 0..found.len() {
        pause();
        found.read(row);
        let value = |(place, value_type): &(usize, ValueType)| match value_type {
            ValueType::Number => found.integer(*place).map(|it| it.to_string()),
            ValueType::Text => found.text(*place),
        };
        groups.push(columns.iter().map(value).collect());
    }
    let labels = Labels::new(client, by.clone(), groups.iter())?;
    Ok((groups, labels))
}

/// Does the same with rows of groups. What the statement lacks of these columns is made: the name and the labels of the dimensions, and
/// `formatted` of the columns `amount`, which is a total, and `operation`.
///
/// # Errors
/// [`Error::TooManyRows`], and [`Error::Damaged`] if a column is not there.
pub fn write_groups(
    client: &SpiClient<'_>,
    statement: &str,
    parameters: &[DatumWithOid<'_>],
    by: &By,
    rows: &mut Rows,
) -> Result<usize, Error> {
    pgrx::debug1!("statement:\n{statement}");
    let mut found = Tuples::query(client, statement, parameters)?;
    let (groups, labels) = grouped(client, &mut found, by)?;
    let columns = rows.columns();
    let sources = columns.iter().map(|it| Source::find(&it.name, &found));
    let sources: Vec<Source> = sources.collect::<Result<_, Error>>()?;
    for (position, group) in groups.iter().enumerate() {
        pause();
        found.read(position);
        let value = |it: &Source| match *it {
            Source::Column(place) => found.datum(place),
            Source::Name => labels.name(group, None).into_datum(),
            Source::Labels => labels.labels(group, None).into_datum(),
            Source::Formatted(amount, operation) => {
                let operation = found.text(operation)?;
                formatted(found.float(amount), &operation, Quantity::Total).into_datum()
            }
        };
        let made = rows.within(|| sources.iter().map(value).collect::<Vec<_>>());
        rows.put_row(&made);
    }
    Ok(found.len())
}
