//! Runs the statement of a question and writes its answer.

use std::ffi::CStr;

use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::pg_sys::{Datum, Oid};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::pause::pause;
use crate::pg::spi::{SqlResult, connect_as_of_call};
use crate::pg::time::timestamptz;
use crate::pg::tuples::{BOOLEANS, FLOATS, INTEGERS, TEXTS, Tuples};
use crate::pg::tuplestore::{ColumnType, Rows};
use crate::query::dimension::DIMENSIONS;
use crate::query::entries::few;
use crate::query::measure::Measure;
use crate::query::plan::Plan;
use crate::query::question::{Question, Wanted};
use crate::query::statement::Statement;
use crate::query::wholes::{Shares, Wholes, places};
use crate::query::window::{ROW_LIMIT, Window};
use crate::query::{empty, without_times};
use crate::store::personal::Pseudonyms;
use crate::store::rights::caller::{Own, Reader, as_any_reader, as_reader};

/// The settings during a statement. A statement has hundreds of expressions: compiling them takes longer than reading a
/// day of a large cluster. The planner has no statistics about the parts that are joined and grouped: sorting them
/// takes twice as long as hashing them.
pub const SETTINGS: [(&CStr, &CStr); 4] = [
    (c"search_path", c"pg_catalog, pg_temp"),
    (c"jit", c"off"),
    (c"enable_mergejoin", c"off"),
    (c"enable_sort", c"off"),
];

/// Runs a function that reads the store, with the rights and the settings that it needs. It is told what its caller may see.
pub fn read(
    answer: impl FnOnce(&SpiClient<'_>, Option<&Own>) -> Result<(), Error>,
) -> SqlResult<()> {
    Ok(as_reader(|own| {
        let _pinned = Pinned::new(SETTINGS);
        connect_as_of_call(|client| answer(client, own))
    })?)
}

/// Answers a question, as far as its caller may know the answer.
pub fn ask(
    question: Question,
    answer: impl FnOnce(&SpiClient<'_>, &Question) -> Result<(), Error>,
) -> SqlResult<()> {
    ask_for(question, &[], |client, question, _| {
        answer(client, question)
    })
}

/// Answers a question about whole targets and servers, which everybody may know.
pub fn read_wholes(answer: impl FnOnce(&SpiClient<'_>) -> Result<(), Error>) -> SqlResult<()> {
    Ok(as_any_reader(|_| {
        let _pinned = Pinned::new(SETTINGS);
        connect_as_of_call(answer)
    })?)
}

/// Answers a question, as far as its caller may know the answer. Who sees no names gets pseudonyms of the dimensions `pseudonymous`.
fn ask_for(
    question: Question,
    pseudonymous: &[&str],
    answer: impl FnOnce(&SpiClient<'_>, &Question, Option<Pseudonyms>) -> Result<(), Error>,
) -> SqlResult<()> {
    Ok(as_any_reader(|reader| {
        let _pinned = Pinned::new(SETTINGS);
        connect_as_of_call(|client| match reader {
            Reader::All => answer(client, &question, None),
            Reader::Own(own) => answer(client, &question.for_reader_of(&own), None),
            Reader::Nameless => {
                let question = question.without_names(pseudonymous)?;
                answer(client, &question, Some(Pseudonyms::read(client)?))
            }
        })
    })?)
}

/// Writes the rows that answer a question. Raises a notice if the question asks for times that servers do not report, or
/// if there are no rows because a filter names nothing or nothing was observed.
pub fn answer(question: Question, mut rows: Rows) -> SqlResult<()> {
    ask_for(question, &["uid", "job"], |client, question, pseudonyms| {
        let Some(plan) = Plan::find(client, question)? else {
            return empty::explain(client, &question.period, &question.filters);
        };
        let statement = Statement::new(question, &plan, few(client, &plan, &question.filters)?);
        let (times, mut written) =
            write(client, question, &plan, &statement, pseudonyms, &mut rows)?;
        match times {
            _ if !question.asks_times() => {}
            Times::Nowhere if without_times::has_calls(client, &statement)? => {
                let window = &plan.window;
                written += answer_without_times(client, question, window, pseudonyms, &mut rows)?;
            }
            Times::Somewhere => without_times::note_some(client, &statement)?,
            Times::Nowhere | Times::Everywhere => {}
        }
        plan.note_behind()?;
        plan.jobs.note_arrays();
        if written == 0 {
            empty::explain_window(client, &plan.window, question)?;
        }
        plan.note_age();
        Ok(())
    })
}

/// Runs a statement that has the columns of an answer, among others, writes its rows, and returns their number.
pub fn write_rows(
    client: &SpiClient<'_>,
    statement: &str,
    parameters: &[DatumWithOid<'_>],
    rows: &mut Rows,
) -> Result<usize, Error> {
    pgrx::debug1!("statement:\n{statement}");
    copy_rows(Tuples::query(client, statement, parameters)?, rows)
}

/// Writes rows that were found, column by column of the same names, and returns their number.
///
/// # Errors
/// [`Error::TooManyRows`], and [`Error::Damaged`] if a column is not there.
pub fn copy_rows(mut found: Tuples<'_>, rows: &mut Rows) -> Result<usize, Error> {
    if found.len() > ROW_LIMIT {
        return Err(Error::TooManyRows);
    }
    let asked = rows.columns();
    let columns = places(&found, asked.iter().map(|it| it.name.as_str()))?;
    for position in 0..found.len() {
        pause();
        found.read(position);
        let row: Vec<_> = columns.iter().map(|it| found.datum(*it)).collect();
        rows.put_row(&row);
    }
    Ok(found.len())
}

/// Writes the rows of the measures that take the place of times in this window, and returns the number of rows. Raises a
/// notice that there are no times.
fn answer_without_times(
    client: &SpiClient<'_>,
    question: &Question,
    window: &Window,
    pseudonyms: Option<Pseudonyms>,
    rows: &mut Rows,
) -> Result<usize, Error> {
    let instead = &question.measures.without_times;
    if instead.is_empty() {
        without_times::note_all();
    } else {
        without_times::note_instead();
    }
    let mut written = 0;
    for (kind, measure) in instead {
        let question = question.about(*kind, measure);
        if let Some(plan) = Plan::over(client, &question, window.clone())? {
            let few = few(client, &plan, &question.filters)?;
            let statement = Statement::new(&question, &plan, few);
            written += write(client, &question, &plan, &statement, pseudonyms, rows)?.1;
        }
    }
    Ok(written)
}

/// Runs a statement and writes its rows. Returns which targets report times, and the number of rows.
fn write(
    client: &SpiClient<'_>,
    question: &Question,
    plan: &Plan,
    statement: &Statement<'_>,
    pseudonyms: Option<Pseudonyms>,
    rows: &mut Rows,
) -> Result<(Times, usize), Error> {
    let query = statement.complete();
    let groups = Tuples::query(client, &query.sql, &query.params)?;
    if groups.len() > ROW_LIMIT {
        return Err(Error::TooManyRows);
    }
    let wholes = match question.wanted {
        Wanted::Top { unaccounted, .. } => Wholes::find(client, question, plan, unaccounted)?,
        _ => None,
    };
    let mut writer = Writer::new(question, &plan.window, groups, wholes.as_ref(), rows)?;
    if let Some(pseudonyms) = pseudonyms {
        writer.hide_names(pseudonyms)?;
    }
    let (times, written) = writer.write()?;
    let beside = match wholes {
        Some(wholes) => wholes.write(rows)?,
        None => 0,
    };
    Ok((times, written + beside))
}

/// The targets in scope that are known to report times.
#[derive(Debug, Clone, Copy)]
enum Times {
    /// No target does.
    Nowhere,
    /// Some targets do, others do not.
    Somewhere,
    /// All targets do.
    Everywhere,
}

/// The source of a column of the answer.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// A dimension that the answer is not grouped by.
    Null,
    /// A column of the group, which is copied.
    Group(usize),
    /// A column of the group, in place of which comes the pseudonym of the user.
    User(usize, Pseudonyms),
    /// A column of the group, in place of which comes the pseudonym of the job.
    Job(usize, Pseudonyms),
    /// The start of the step.
    Time,
    /// The width of the step in seconds.
    Seconds,
    /// Observed time of the targets ÷ (number of targets × width of the step).
    Coverage,
    /// The part of what the targets of the group did in all.
    ShareOfTarget,
    /// The name of the measure.
    Operation,
    /// The number of the row.
    Rank,
}

/// The columns of a group that the writer reads.
struct Columns {
    /// The flags whether any target reports times, and whether all do.
    timed: [usize; 2],
    step: usize,
    /// The time for which the targets were observed, how many they are, the time for which they were retired, and whether
    /// MDTs and OSTs are among them; unless the answer has buckets instead of groups.
    targets: Option<[usize; 5]>,
    /// The flags whether the total of each measure is not zero, if the answer has a row for each measure.
    occurs: Vec<usize>,
}

/// A measure of the answer.
struct Measured<'a> {
    measure: &'a Measure,
    /// The name as a value of PostgreSQL.
    name: Option<Datum>,
    /// Set if the measure is wanted. If the measures were not named one by one, those that occur anywhere are wanted.
    wanted: bool,
    /// The sources of the columns.
    sources: Vec<Source>,
}

/// Writes groups as rows of an answer.
///
/// A column of the answer is the column of the same name of the group, or of that name and the number of the measure, as in
/// `rate_0`.
struct Writer<'a> {
    question: &'a Question,
    window: &'a Window,
    groups: Tuples<'a>,
    columns: Columns,
    measures: Vec<Measured<'a>>,
    shares: Option<Shares<'a>>,
    rows: &'a mut Rows,
    /// The row that is written.
    row: Vec<Option<Datum>>,
    written: usize,
}

/// A step of the window, with the targets of a group in it.
struct Observed {
    /// Start of the step.
    time: TimestampWithTimeZone,
    /// Width of the step in seconds.
    seconds: f64,
    /// The part of the step for which the targets were observed, from 0 to 1.
    coverage: f64,
    /// The flags whether there are MDTs and OSTs among the targets.
    kinds: (bool, bool),
}

impl<'a> Writer<'a> {
    fn new(
        question: &'a Question,
        window: &'a Window,
        groups: Tuples<'a>,
        wholes: Option<&'a Wholes<'a>>,
        rows: &'a mut Rows,
    ) -> Result<Self, Error> {
        let list = &question.measures.list;
        let per_measure = question.wanted.has_row_per_measure();
        let measured = if per_measure {
            list.as_slice()
        } else {
            &list[..1]
        };
        let shares = wholes.map(|it| it.shares(&groups)).transpose()?;
        let (found, asked) = (groups.columns(), rows.columns());
        let mut measures = Vec::new();
        for (n, measure) in measured.iter().enumerate() {
            measures.push(Measured {
                measure,
                name: measure.name.as_str().into_datum(),
                wanted: !question.measures.all,
                sources: sources(question, &found, &asked, n)?,
            });
        }
        let place = |name: &str, types: &[Oid]| {
            let column = place(&found, name).ok_or_else(|| missing(name))?;
            groups.require(column, types)?;
            Ok::<_, Error>(column)
        };
        let columns = Columns {
            timed: [place("timed", &BOOLEANS)?, place("all_timed", &BOOLEANS)?],
            step: place("step", &INTEGERS)?,
            targets: match question.wanted {
                Wanted::Densities { .. } => None,
                _ => Some([
                    place("observed", &FLOATS)?,
                    place("targets", &INTEGERS)?,
                    place("idle", &FLOATS)?,
                    place("mdt", &BOOLEANS)?,
                    place("ost", &BOOLEANS)?,
                ]),
            },
            occurs: if per_measure {
                let columns = (0..list.len()).map(|n| place(&format!("occurs_{n}"), &BOOLEANS));
                columns.collect::<Result<_, _>>()?
            } else {
                Vec::new()
            },
        };
        Ok(Self {
            question,
            window,
            groups,
            columns,
            measures,
            shares,
            row: vec![None; asked.len()],
            rows,
            written: 0,
        })
    }

    /// Lets pseudonyms take the place of users and jobs.
    fn hide_names(&mut self, pseudonyms: Pseudonyms) -> Result<(), Error> {
        for (position, column) in self.rows.columns().iter().enumerate() {
            for measured in &mut self.measures {
                let source = &mut measured.sources[position];
                *source = match (*source, column.name.as_str()) {
                    (Source::Group(group), "uid") => {
                        self.groups.require(group, &INTEGERS)?;
                        Source::User(group, pseudonyms)
                    }
                    (Source::Group(group), "job") => {
                        self.groups.require(group, &TEXTS)?;
                        Source::Job(group, pseudonyms)
                    }
                    (source, _) => source,
                };
            }
        }
        Ok(())
    }

    /// Writes all groups. Returns which targets report times, and the number of rows.
    fn write(mut self) -> Result<(Times, usize), Error> {
        if self.question.measures.all {
            self.choose_measures();
        }
        let mut times = Times::Everywhere;
        for group in 0..self.groups.len() {
            pause();
            self.groups.read(group);
            times = self.times();
            // A row without a step has only the flags for reported times.
            if let Some(step) = self.groups.integer(self.columns.step) {
                let observed = self.observed(step)?;
                self.write_group(&observed)?;
            }
        }
        Ok((times, self.written))
    }

    /// Returns which targets report times. Each group says so.
    fn times(&self) -> Times {
        match self.columns.timed.map(|column| self.groups.boolean(column)) {
            [Some(false), _] => Times::Nowhere,
            [_, Some(false)] => Times::Somewhere,
            _ => Times::Everywhere,
        }
    }

    /// Marks the measures that occur in any group as wanted.
    fn choose_measures(&mut self) {
        for group in 0..self.groups.len() {
            self.groups.read(group);
            for (measured, &occurs) in self.measures.iter_mut().zip(&self.columns.occurs) {
                measured.wanted |= self.groups.boolean(occurs) == Some(true);
            }
        }
    }

    /// Returns the step of this number, counted from 1, with the targets of the current group.
    fn observed(&self, step: i64) -> Result<Observed, Error> {
        let step = usize::try_from(step - 1).ok();
        let step = step.and_then(|index| self.window.step(index));
        let (start, seconds) = step.ok_or_else(|| missing("step"))?;
        let (mut coverage, mut kinds) = (0.0, (false, false));
        if let Some([observed, targets, idle, mdt, ost]) = self.columns.targets {
            let seconds_of = |column| self.groups.float(column).unwrap_or(0.0);
            let targets = self.groups.integer(targets).unwrap_or(0);
            coverage = seconds_of(observed) / (targets as f64 * seconds - seconds_of(idle));
            let has = |column| self.groups.boolean(column) == Some(true);
            kinds = (has(mdt), has(ost));
        }
        Ok(Observed {
            time: timestamptz(start)?,
            seconds,
            coverage,
            kinds,
        })
    }

    /// Writes the current group: a row for each measure that the answer shows, or a single row.
    fn write_group(&mut self, observed: &Observed) -> Result<(), Error> {
        for n in 0..self.measures.len() {
            let shown = match self.columns.occurs.get(n) {
                Some(&occurs) => self.shows(
                    &self.measures[n],
                    self.groups.boolean(occurs),
                    observed.kinds,
                ),
                None => true,
            };
            if shown {
                self.write_row(n, observed)?;
            }
        }
        Ok(())
    }

    /// Returns whether the answer has a row for a measure of a group, even if its total is zero or unknown.
    fn shows(&self, measured: &Measured<'_>, occurs: Option<bool>, kinds: (bool, bool)) -> bool {
        if occurs == Some(true) {
            return true;
        }
        let measure = measured.measure;
        if !self.question.by_targets_only() {
            // A group without activity has no row; a group with activity of unknown time has one.
            return occurs.is_none() && measure.is_time();
        }
        let reported = measure.on.0 && kinds.0 || measure.on.1 && kinds.1;
        measured.wanted && (reported || !self.question.measures.all)
    }

    fn write_row(&mut self, measure: usize, observed: &Observed) -> Result<(), Error> {
        if self.written == ROW_LIMIT {
            return Err(Error::TooManyRows);
        }
        self.written += 1;
        let measured = &self.measures[measure];
        for (value, source) in self.row.iter_mut().zip(&measured.sources) {
            *value = match *source {
                Source::Null => None,
                Source::Group(column) => self.groups.datum(column),
                Source::User(column, pseudonyms) => {
                    let uid = self.groups.integer(column);
                    uid.map(|it| pseudonyms.of_user(it)).into_datum()
                }
                Source::Job(column, pseudonyms) => {
                    let job = self.groups.text(column);
                    job.map(|it| pseudonyms.of_job(&it)).into_datum()
                }
                Source::Time => observed.time.into_datum(),
                Source::Seconds => observed.seconds.into_datum(),
                Source::Coverage => observed.coverage.into_datum(),
                Source::ShareOfTarget => {
                    let share = self.shares.as_ref().and_then(|it| it.of(&self.groups));
                    share.into_datum()
                }
                Source::Operation => measured.name,
                Source::Rank => (self.written as i64).into_datum(),
            };
        }
        self.rows.put_row(&self.row);
        Ok(())
    }
}

/// Returns the sources of the columns of an answer for a measure.
///
/// # Errors
/// [`Error::Damaged`] if the statement does not have a column, or has another type for it.
fn sources(
    question: &Question,
    found: &[ColumnType],
    asked: &[ColumnType],
    measure: usize,
) -> Result<Vec<Source>, Error> {
    let source = |column: &ColumnType| {
        let name = column.name.as_str();
        let group = place(found, name).or_else(|| place(found, &format!("{name}_{measure}")));
        match (name, group) {
            ("time", _) => Ok(Source::Time),
            ("seconds", _) => Ok(Source::Seconds),
            ("coverage", _) => Ok(Source::Coverage),
            ("share_of_target", _) => Ok(Source::ShareOfTarget),
            ("operation", _) => Ok(Source::Operation),
            ("rank", _) => Ok(Source::Rank),
            (_, Some(group)) if found[group].oid == column.oid => Ok(Source::Group(group)),
            (_, None) if is_left_out(question, name) => Ok(Source::Null),
            _ => Err(missing(name)),
        }
    };
    asked.iter().map(source).collect()
}

/// Returns whether a name is that of a dimension that the answer is not grouped by.
fn is_left_out(question: &Question, name: &str) -> bool {
    DIMENSIONS.iter().any(|it| it.name == name) && !question.by.iter().any(|it| it.name == name)
}

fn place(columns: &[ColumnType], name: &str) -> Option<usize> {
    columns.iter().position(|it| it.name == name)
}

fn missing(column: &str) -> Error {
    Error::Damaged(format!("an answer lacks its column {column}"))
}
