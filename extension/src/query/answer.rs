//! Answers the questions of reading functions.

use std::cell::RefCell;
use std::ffi::CStr;

use jobstats_core::usage::{Measure, Times};
use pgrx::AnyNumeric;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::receive::{self, FOR_VALUES};
use crate::pg::spi::{SqlResult, connect_as_of_call};
use crate::pg::tuplestore::{ColumnType, Rows};
use crate::query::engine::Request;
use crate::query::labels::decimal;
use crate::query::plan::Plan;
use crate::query::question::Question;
use crate::query::window::ROW_LIMIT;
use crate::query::{explain_empty, without_times};
use crate::store::personal::Pseudonyms;
use crate::store::rights::caller::{OwnUsage, Reader, as_any_reader, as_reader};

mod lines;

use lines::AnswerRows;

/// The settings during a statement. To compile its expressions takes longer than reading a day of a large cluster. The planner
/// has no statistics about the parts that some statements join and group: sorting them takes twice as long as hashing them.
const SETTINGS: [(&CStr, &CStr); 4] = [
    (c"search_path", c"pg_catalog, pg_temp"),
    (c"jit", c"off"),
    (c"enable_mergejoin", c"off"),
    (c"enable_sort", c"off"),
];

/// Runs a function that reads the store, with the rights and the settings that it needs. It gets the rights of its caller.
pub fn read(
    answer: impl FnOnce(&SpiClient<'_>, Option<&OwnUsage>) -> Result<(), Error>,
) -> SqlResult<()> {
    Ok(as_reader(|own| {
        with_settings(|client| answer(client, own))
    })?)
}

/// Runs statements with the settings that they need.
pub fn with_settings<R>(run: impl FnOnce(&SpiClient<'_>) -> Result<R, Error>) -> Result<R, Error> {
    let _pinned = Pinned::new(SETTINGS);
    connect_as_of_call(run)
}

/// Answers a question, as far as its caller may know the answer. Who sees no names gets pseudonyms of the dimensions `pseudonymous`. A notice
/// explains an empty answer.
pub fn ask(
    question: Question,
    pseudonymous: &[&str],
    answer: impl FnOnce(&SpiClient<'_>, &Question, &Plan) -> Result<(), Error>,
) -> SqlResult<()> {
    Ok(as_any_reader(|reader| {
        with_settings(|client| {
            let (question, pseudonyms) = match reader {
                Reader::All => (question, None),
                Reader::Own(own) => (question.for_reader_of(&own), None),
                Reader::Nameless => (
                    question.without_names(pseudonymous)?,
                    Some(Pseudonyms::read(client)?),
                ),
            };
            match Plan::find(client, &question)? {
                Some(plan) => answer(client, &question, &Plan { pseudonyms, ..plan }),
                None => explain_empty::explain(client, &question.period, &question.filters),
            }
        })
    })?)
}

/// Raises notices about an answer with so many rows: if it does not cover the whole question, and why it is empty.
pub fn note(
    client: &SpiClient<'_>,
    question: &Question,
    plan: &Plan,
    rows: usize,
) -> Result<(), Error> {
    plan.note()?;
    match rows {
        0 => explain_empty::explain_window(client, &plan.window, question),
        _ => Ok(()),
    }
}

/// Writes the rows that answer a question. Raises a notice if servers do not report the times in question, or
/// if there are no rows because a filter matches no name, or targets were not observed.
pub fn answer(question: Question, mut rows: Rows) -> SqlResult<()> {
    ask(
        question,
        &["user", "uid", "job"],
        |client, question, plan| {
            let mut write = |question: &Question, plan: &Plan| {
                let request = Request::new(client, question, plan)?;
                let usage = request.read()?;
                let times = without_times::note(question, &usage.scope);
                let mut out = AnswerRows {
                    client,
                    question,
                    plan,
                    usage: &usage,
                    before: rows.len,
                    rows: &mut rows,
                };
                out.write()?;
                Ok::<_, Error>(times)
            };
            if write(question, plan)? == Times::Nowhere {
                for (kind, measure) in &question.measures.without_times {
                    let question = question.about(*kind, measure);
                    let plan = plan.again(client, &question)?;
                    write(&question, &plan)?;
                }
            }
            note(client, question, plan, rows.len)?;
            plan.note_age();
            Ok(())
        },
    )
}

/// Runs a statement that has the columns of an answer, among others, and writes its rows, which are at most so many.
///
/// # Errors
/// [`Error::TooManyRows`], and [`Error::Damaged`] if a column is not there.
pub fn write_rows(
    statement: &str,
    parameters: &[DatumWithOid<'_>],
    rows: &mut Rows,
    most: usize,
) -> Result<(), Error> {
    let wanted = rows.columns();
    let places = RefCell::new(Vec::new());
    let check = &mut |columns: &[ColumnType]| {
        for name in wanted.iter().map(|it| &it.name) {
            let place = columns.iter().position(|it| it.name == *name);
            places.borrow_mut().push(place.ok_or_else(|| lacks(name))?);
        }
        Ok(())
    };
    receive::run(FOR_VALUES, statement, parameters, check, &mut |row| {
        if rows.len == most {
            return Err(Error::TooManyRows);
        }
        let values: Vec<_> = places.borrow().iter().map(|it| row.datum(*it)).collect();
        rows.put_row(&values);
        Ok(true)
    })
}

/// Returns the error that an answer has no value of a column of its function.
fn lacks(column: &str) -> Error {
    Error::Damaged(format!("an answer lacks its column {column}"))
}

/// Requires that an answer may have one row more.
///
/// # Errors
/// [`Error::TooManyRows`]
pub fn require_more(rows: &Rows) -> Result<(), Error> {
    match rows.len < ROW_LIMIT {
        true => Ok(()),
        false => Err(Error::TooManyRows),
    }
}

/// Returns parts of the unit of a measure, in calls, bytes or seconds.
pub fn number(measure: &Measure, parts: Option<i128>) -> Result<Option<AnyNumeric>, Error> {
    parts.map(|it| decimal(it, measure.unit())).transpose()
}
