//! Runs the statement of a question and writes its answer.

use std::ffi::CStr;

use jobstats_core::instant::Micros;
use jobstats_core::pattern::exactly;
use jobstats_core::quantity::Quantity;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::{Datum, Oid};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::pause::pause;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call};
use crate::pg::time::timestamptz;
use crate::pg::tuples::{BOOLEANS, FLOATS, INTEGERS, TEXTS, Tuples};
use crate::pg::tuplestore::{ColumnType, Rows};
use crate::query::dimension::By;
use crate::query::entries::few;
use crate::query::filters::Filters;
use crate::query::groups::Group;
use crate::query::labels::{Labels, Places, covered, formatted, rounded};
use crate::query::measure::{Measure, Measures};
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, SUMMARY, Wanted};
use crate::query::statement::Statement;
use crate::query::wholes::Wholes;
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

/// Runs a function that reads the store, with the rights and the settings that it needs. It gets the rights of its caller.
pub fn read(
    answer: impl FnOnce(&SpiClient<'_>, Option<&Own>) -> Result<(), Error>,
) -> SqlResult<()> {
    Ok(as_reader(|own| {
        let _pinned = Pinned::new(SETTINGS);
        connect_as_of_call(|client| answer(client, own))
    })?)
}

/// Answers a question, as far as its caller may know the answer. A notice explains an empty answer.
pub fn ask(
    question: Question,
    answer: impl FnOnce(&SpiClient<'_>, &Question, &Plan) -> Result<(), Error>,
) -> SqlResult<()> {
    ask_for(question, &[], |client, question, plan, _| {
        answer(client, question, plan)
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
    answer: impl FnOnce(&SpiClient<'_>, &Question, &Plan, Option<Pseudonyms>) -> Result<(), Error>,
) -> SqlResult<()> {
    Ok(as_any_reader(|reader| {
        let _pinned = Pinned::new(SETTINGS);
        connect_as_of_call(|client| {
            let (question, pseudonyms) = match reader {
                Reader::All => (question, None),
                Reader::Own(own) => (question.for_reader_of(&own), None),
                Reader::Nameless => (
                    question.without_names(pseudonymous)?,
                    Some(Pseudonyms::read(client)?),
                ),
            };
            match Plan::find(client, &question)? {
                Some(plan) => answer(client, &question, &plan, pseudonyms),
                None => empty::explain(client, &question.period, &question.filters),
            }
        })
    })?)
}

/// Raises notices about an answer of so many rows: if it does not cover the whole question, and why it is empty.
pub fn note(
    client: &SpiClient<'_>,
    question: &Question,
    plan: &Plan,
    rows: usize,
) -> Result<(), Error> {
    plan.note_behind()?;
    plan.jobs.note_arrays();
    match rows {
        0 => empty::explain_window(client, &plan.window, question),
        _ => Ok(()),
    }
}

/// Writes the rows that answer a question. Raises a notice if servers do not report the times in question, or
/// if there are no rows because a filter matches no name, or targets were not observed.
pub fn answer(question: Question, mut rows: Rows) -> SqlResult<()> {
    ask_for(
        question,
        &["user", "uid", "job"],
        |client, question, plan, pseudonyms| {
            let statement = Statement::new(question, plan, few(client, plan, &question.filters)?);
            let (times, mut written) =
                write(client, question, plan, &statement, pseudonyms, &mut rows)?;
            match times {
                _ if !question.asks_times() => {}
                Times::Nowhere if without_times::has_calls(client, &statement)? => {
                    let window = &plan.window;
                    written +=
                        answer_without_times(client, question, window, pseudonyms, &mut rows)?;
                }
                Times::Somewhere => without_times::note_some(client, &statement)?,
                Times::Nowhere | Times::Everywhere => {}
            }
            note(client, question, plan, written)?;
            plan.note_age();
            Ok(())
        },
    )
}

/// The sums of jobs, in arrays of one length.
#[derive(Default)]
pub struct SummedJobs {
    pub jobs: Vec<Option<String>>,
    pub nodes: Vec<Option<i64>>,
    pub read_bytes: Vec<Option<String>>,
    pub write_bytes: Vec<Option<String>>,
    pub metadata: Vec<Option<String>>,
    pub service_time: Vec<Option<String>>,
}

/// Sums up what these jobs did since a time.
pub fn summed_jobs(
    client: &SpiClient<'_>,
    own: Option<&Own>,
    jobs: &[String],
    since: Micros,
) -> Result<SummedJobs, Error> {
    let names = jobs.iter().map(|it| Some(exactly(it))).collect();
    let mut filters = Filters::default().any_of("job", Some(names));
    filters.own = own.cloned();
    let question = Question {
        period: Period {
            since: Some(timestamptz(since)?),
            ..Period::default()
        },
        by: By::these(&["job"]),
        measures: Measures::named(SUMMARY.map(|it| it.1))?,
        filters,
        wanted: Wanted::Summary,
    };
    let mut sums = SummedJobs::default();
    let Some(plan) = Plan::find(client, &question)? else {
        return Ok(sums);
    };
    let few = few(client, &plan, &question.filters)?;
    let query = Statement::new(&question, &plan, few).complete();
    let statement = format!(
        "SELECT answer.job, answer.nodes, answer.read_bytes::text, answer.write_bytes::text, answer.metadata::text, answer.service_time::text \
         FROM ({}) answer WHERE answer.step IS NOT NULL",
        query.sql
    );
    for row in client.query(&statement, &query.params)? {
        sums.jobs.push(row.at(1)?);
        sums.nodes.push(row.at(2)?);
        sums.read_bytes.push(row.at(3)?);
        sums.write_bytes.push(row.at(4)?);
        sums.metadata.push(row.at(5)?);
        sums.service_time.push(row.at(6)?);
    }
    Ok(sums)
}

/// Runs a statement that has the columns of an answer, among others, writes its rows, and returns their number.
pub fn write_rows(
    client: &SpiClient<'_>,
    statement: &str,
    parameters: &[DatumWithOid<'_>],
    rows: &mut Rows,
) -> Result<usize, Error> {
    write_groups(client, statement, parameters, &By::these(&[]), rows)
}

/// Does the same with rows of groups.
pub fn write_groups(
    client: &SpiClient<'_>,
    statement: &str,
    parameters: &[DatumWithOid<'_>],
    by: &By,
    rows: &mut Rows,
) -> Result<usize, Error> {
    pgrx::debug1!("statement:\n{statement}");
    let found = Tuples::query(client, statement, parameters)?;
    copy_rows(client, found, by, None, rows)
}

/// The part of a window that a group was observed in.
#[derive(Default)]
struct Observed {
    /// The start of the step.
    start: Micros,
    /// The width of the step in seconds.
    seconds: f64,
    /// The part of the step for which the targets of the group were observed, from 0 to 1.
    coverage: f64,
    /// The flags whether there are MDTs and OSTs among the targets.
    kinds: (bool, bool),
}

/// A row that was found, of which the values of a row of an answer are made.
struct Row<'r> {
    found: &'r Tuples<'r>,
    group: &'r Group,
    observed: &'r Observed,
    /// The sum over all groups, the whole of shares.
    sum: f64,
    rank: i64,
}

/// Makes the value of a column of an answer.
type Value<'a> = Box<dyn Fn(&Row<'_>) -> Option<Datum> + 'a>;

/// Returns the values of a column of a statement.
fn copied<'a>(column: usize) -> Value<'a> {
    Box::new(move |row| row.found.datum(column))
}

/// Returns the values of a column of a statement that are converted.
fn converted<'a>(column: usize, convert: fn(f64) -> f64) -> Value<'a> {
    Box::new(move |row| row.found.float(column).map(convert).into_datum())
}

/// Returns the names of groups, or the values of these dimensions.
fn names<'a>(labels: &'a Labels, which: Option<&'a [&str]>) -> Value<'a> {
    Box::new(move |row| labels.name(row.group, which).into_datum())
}

/// Returns the labels of groups, or those of these dimensions.
fn all_labels(labels: &Labels) -> Value<'_> {
    Box::new(move |row| labels.labels(row.group, None).into_datum())
}

/// Adds a row to an answer.
fn put(rows: &mut Rows, values: &[Value<'_>], row: &Row<'_>) {
    let made = rows.within(|| values.iter().map(|it| it(row)).collect::<Vec<_>>());
    rows.put_row(&made);
}

/// Reads the groups of all rows that were found, and how they are shown.
///
/// # Errors
/// [`Error::TooManyRows`], and [`Error::Damaged`] if a dimension has no column.
fn grouped(
    client: &SpiClient<'_>,
    found: &mut Tuples<'_>,
    by: &By,
    pseudonyms: Option<Pseudonyms>,
) -> Result<(Vec<Group>, Labels), Error> {
    if found.len() > ROW_LIMIT {
        return Err(Error::TooManyRows);
    }
    let of_group = Places::find(by, found, pseudonyms)?;
    let mut groups = Vec::with_capacity(found.len());
    for row in 0..found.len() {
        pause();
        found.read(row);
        groups.push(of_group.group(found));
    }
    let labels = Labels::new(client, by.clone(), groups.iter())?;
    Ok((groups, labels))
}

/// Writes rows that were found, column by column of the same names, and returns their number. The name and the labels are those of the
/// dimensions, and `formatted` is a column of such numbers of the column `operation`.
///
/// # Errors
/// [`Error::TooManyRows`], and [`Error::Damaged`] if a column is not there.
pub fn copy_rows(
    client: &SpiClient<'_>,
    mut found: Tuples<'_>,
    by: &By,
    number: Option<(&str, Quantity)>,
    rows: &mut Rows,
) -> Result<usize, Error> {
    let (groups, labels) = grouped(client, &mut found, by, None)?;
    let value = |column: ColumnType| {
        Ok(match (column.name.as_str(), number) {
            ("name", _) if found.place("name").is_err() => names(&labels, None),
            ("labels", _) if found.place("labels").is_err() => all_labels(&labels),
            ("formatted", Some((number, quantity))) => {
                let number = found.place_of(number, &FLOATS)?;
                let operation = found.place_of("operation", &TEXTS)?;
                Box::new(move |row: &Row<'_>| {
                    let operation = row.found.text(operation)?;
                    formatted(row.found.float(number), &operation, quantity).into_datum()
                })
            }
            (name @ "share", _) => converted(found.place_of(name, &FLOATS)?, rounded),
            (name @ "coverage", _) => converted(found.place_of(name, &FLOATS)?, covered),
            (name, _) => copied(found.place(name)?),
        })
    };
    let values = rows.columns().into_iter().map(value);
    let values: Vec<Value<'_>> = values.collect::<Result<_, Error>>()?;
    for (position, group) in groups.iter().enumerate() {
        pause();
        found.read(position);
        let row = Row {
            found: &found,
            group,
            observed: &Observed::default(),
            sum: 0.0,
            rank: 0,
        };
        put(rows, &values, &row);
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
    let mut found = Tuples::query(client, &query.sql, &query.params)?;
    let by = match question.wanted {
        Wanted::Densities { .. } => &By::these(&[]),
        _ => &question.by,
    };
    let (groups, labels) = grouped(client, &mut found, by, pseudonyms)?;
    let wholes = match question.wanted {
        Wanted::Top { untracked, .. } => Wholes::find(client, question, plan, untracked)?,
        _ => None,
    };
    let measures = measured(question, &found, rows, &labels, wholes.as_ref())?;
    let (times, written) = write_found(question, &plan.window, found, &groups, measures, rows)?;
    let beside = match wholes {
        Some(wholes) => {
            let operation = question.measures.list.first();
            wholes.write(operation.map_or("", |it| &it.name), rows)?
        }
        None => 0,
    };
    Ok((times, written + beside))
}

/// Writes groups: for each a row for each measure that the answer shows, or a single row. Returns which targets report times, and the
/// number of rows.
fn write_found(
    question: &Question,
    window: &Window,
    mut found: Tuples<'_>,
    groups: &[Group],
    mut measures: Vec<Measured<'_>>,
    rows: &mut Rows,
) -> Result<(Times, usize), Error> {
    for row in 0..found.len() {
        found.read(row);
        for it in &mut measures {
            it.wanted |= it.occurs(&found) == Some(true);
            let amount = it.amount.and_then(|column| found.float(column));
            it.sum += amount.unwrap_or(0.0);
        }
    }
    let columns = Columns::find(question, &found)?;
    let (mut times, mut written) = (Times::Everywhere, 0);
    for (position, group) in groups.iter().enumerate() {
        pause();
        found.read(position);
        times = columns.times(&found);
        // A row without a step has only the flags for reported times.
        let Some(step) = found.integer(columns.step) else {
            continue;
        };
        let observed = columns.observed(&found, window, step)?;
        for measured in &measures {
            if !measured.is_shown(question, &found, observed.kinds) {
                continue;
            }
            if written == ROW_LIMIT {
                return Err(Error::TooManyRows);
            }
            written += 1;
            let row = Row {
                found: &found,
                group,
                observed: &observed,
                sum: measured.sum,
                rank: written as i64,
            };
            put(rows, &measured.values, &row);
        }
    }
    Ok((times, written))
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

/// The columns of the observed time of each group.
struct Columns {
    /// The flags whether any target reports times, and whether all do.
    timed: [usize; 2],
    step: usize,
    /// The time for which the targets were observed, how many they are, the time for which they were retired, and whether
    /// MDTs and OSTs are among them; unless the answer has buckets instead of groups.
    targets: Option<[usize; 5]>,
}

impl Columns {
    fn find(question: &Question, found: &Tuples<'_>) -> Result<Self, Error> {
        Ok(Self {
            timed: [
                found.place_of("timed", &BOOLEANS)?,
                found.place_of("all_timed", &BOOLEANS)?,
            ],
            step: found.place_of("step", &INTEGERS)?,
            targets: match question.wanted {
                Wanted::Densities { .. } => None,
                _ => Some([
                    found.place_of("observed", &FLOATS)?,
                    found.place_of("targets", &INTEGERS)?,
                    found.place_of("idle", &FLOATS)?,
                    found.place_of("mdt", &BOOLEANS)?,
                    found.place_of("ost", &BOOLEANS)?,
                ]),
            },
        })
    }

    /// Returns which targets report times. Each group says so.
    fn times(&self, found: &Tuples<'_>) -> Times {
        match self.timed.map(|column| found.boolean(column)) {
            [Some(false), _] => Times::Nowhere,
            [_, Some(false)] => Times::Somewhere,
            _ => Times::Everywhere,
        }
    }

    /// Returns the step of this number, counted from 1, with the targets of the current group.
    fn observed(&self, found: &Tuples<'_>, window: &Window, step: i64) -> Result<Observed, Error> {
        let step = usize::try_from(step - 1).ok();
        let step = step.and_then(|index| window.step(index));
        let (start, seconds) =
            step.ok_or_else(|| Error::Damaged("an answer lacks its column step".to_owned()))?;
        let (mut coverage, mut kinds) = (0.0, (false, false));
        if let Some([observed, targets, idle, mdt, ost]) = self.targets {
            let seconds_of = |column| found.float(column).unwrap_or(0.0);
            let targets = found.integer(targets).unwrap_or(0);
            coverage = seconds_of(observed) / (targets as f64 * seconds - seconds_of(idle));
            let has = |column| found.boolean(column) == Some(true);
            kinds = (has(mdt), has(ost));
        }
        Ok(Observed {
            start,
            seconds,
            coverage,
            kinds,
        })
    }
}

/// A measure of the answer.
struct Measured<'a> {
    measure: &'a Measure,
    /// The flag whether its total is not zero, if the answer has a row for each measure.
    occurs: Option<usize>,
    /// The total, if the answer has its part in the sum over all groups.
    amount: Option<usize>,
    /// Set if the measure is wanted. If the measures were not named one by one, those that occur anywhere are wanted.
    wanted: bool,
    /// The sum over all groups.
    sum: f64,
    /// The values of the columns.
    values: Vec<Value<'a>>,
}

/// Returns the measures of which the answer has rows.
fn measured<'a>(
    question: &'a Question,
    found: &Tuples<'_>,
    rows: &Rows,
    labels: &'a Labels,
    wholes: Option<&'a Wholes<'_>>,
) -> Result<Vec<Measured<'a>>, Error> {
    let asked = rows.columns();
    let (list, wanted) = (&question.measures.list, question.wanted);
    let has_rows = wanted.has_row_per_measure();
    let rows = if has_rows { list.len() } else { 1 };
    let measured = list.iter().take(rows).enumerate().map(|(n, measure)| {
        let column = |name: &str, types: &[Oid]| found.place_of(&format!("{name}_{n}"), types);
        let occurs = has_rows.then(|| column("occurs", &BOOLEANS));
        let amount = matches!(wanted, Wanted::Totals).then(|| column("amount", &FLOATS));
        let values = asked
            .iter()
            .map(|it| value(question, found, labels, wholes, n, it));
        Ok(Measured {
            measure,
            occurs: occurs.transpose()?,
            amount: amount.transpose()?,
            wanted: !question.measures.all,
            sum: 0.0,
            values: values.collect::<Result<_, Error>>()?,
        })
    });
    measured.collect()
}

impl Measured<'_> {
    /// Returns whether the total of the current group is not zero.
    fn occurs(&self, found: &Tuples<'_>) -> Option<bool> {
        found.boolean(self.occurs?)
    }

    /// Returns whether the answer has a row for the measure of the current group, even if its total is zero or unknown.
    fn is_shown(&self, question: &Question, found: &Tuples<'_>, kinds: (bool, bool)) -> bool {
        let occurs = self.occurs(found);
        if self.occurs.is_none() || occurs == Some(true) {
            return true;
        }
        if !question.by_targets_only() {
            // A group without activity has no row; a group with activity of unknown time has one.
            return occurs.is_none() && self.measure.is_time();
        }
        let on = self.measure.on;
        let reported = on.0 && kinds.0 || on.1 && kinds.1;
        self.wanted && (reported || !question.measures.all)
    }
}

/// The dimensions of the labels, and of the name of who leads, on a target of [`Wanted::Leading`].
const OF_LEADING: &[&str] = &["cluster", "target", "user", "uid", "workload", "account"];
const OF_LEADER: &[&str] = &["user", "workload"];
const OF_TARGET: &[&str] = &["cluster", "target"];

/// Returns the values of a column of the answer for the measure of this number: those of the column of the same name, or of that name
/// and the number, as in `rate_0`, unless they are made here.
///
/// # Errors
/// [`Error::Damaged`] if the statement does not have a column, or has another type for it.
fn value<'a>(
    question: &'a Question,
    found: &Tuples<'_>,
    labels: &'a Labels,
    wholes: Option<&'a Wholes<'_>>,
    measure: usize,
    column: &ColumnType,
) -> Result<Value<'a>, Error> {
    let place = |name: &str, types: &[Oid]| match found.place(name) {
        Ok(_) => found.place_of(name, types),
        Err(_) => found.place_of(&format!("{name}_{measure}"), types),
    };
    let float = |name: &str| place(name, &FLOATS);
    let operation = &question.measures.list[measure].name;
    Ok(match (column.name.as_str(), question.wanted) {
        ("name", _) => names(labels, None),
        ("leader", _) => {
            let share = float("leader_share")?;
            Box::new(move |row| {
                row.found.float(share)?;
                labels.name(row.group, Some(OF_LEADER)).into_datum()
            })
        }
        ("labels", Wanted::Leading) => {
            // Where nobody leads, null would say that who leads has no user.
            let share = float("leader_share")?;
            Box::new(move |row| {
                let leads = row.found.float(share).is_some();
                let which = if leads { OF_LEADING } else { OF_TARGET };
                labels.labels(row.group, Some(which)).into_datum()
            })
        }
        ("labels", _) => all_labels(labels),
        ("formatted", wanted) => {
            let (number, quantity) = match wanted {
                Wanted::Rates | Wanted::Leading => (float("rate")?, Quantity::Rate),
                _ => (float("amount")?, Quantity::Total),
            };
            Box::new(move |row| {
                formatted(row.found.float(number), operation, quantity).into_datum()
            })
        }
        ("share", Wanted::Totals) => {
            let amount = float("amount")?;
            Box::new(move |row| {
                let share = row.found.float(amount)? / row.sum;
                share.is_finite().then(|| rounded(share)).into_datum()
            })
        }
        (name @ ("share" | "leader_share"), _) => converted(float(name)?, rounded),
        ("time", _) => Box::new(|row| timestamptz(row.observed.start).ok().into_datum()),
        ("seconds", _) => Box::new(|row| row.observed.seconds.into_datum()),
        ("coverage", _) => Box::new(|row| covered(row.observed.coverage).into_datum()),
        ("share_of_target", _) => {
            let share = wholes.map(|it| it.shares(found)).transpose()?;
            Box::new(move |row| share.as_ref()?(row.found).map(rounded).into_datum())
        }
        ("operation", _) => Box::new(|_| operation.as_str().into_datum()),
        ("rank", _) => Box::new(|row| row.rank.into_datum()),
        (name, _) => copied(place(name, &[column.oid])?),
    })
}
