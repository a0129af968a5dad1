//! Runs the statement of a question and converts its result to rows.

use std::ffi::CStr;

use pgrx::AnyNumeric;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::{SpiClient, SpiHeapTupleData, SpiTupleTable};

use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::pause::pause;
use crate::pg::spi::connect;
use crate::pg::time::{DAY, EARLIEST, timestamptz};
use crate::query::dimension::{By, Dimensions};
use crate::query::few::few_entries;
use crate::query::measure::Measure;
use crate::query::question::{Question, Wanted};
use crate::query::sources::Sources;
use crate::query::statement::Statement;
use crate::query::window::{ROW_LIMIT, Window, require_bearable};
use crate::store;

/// The settings during a statement. A statement has hundreds of expressions: compiling them takes longer than reading a
/// day of a large cluster. The planner has no statistics about the parts that are joined and grouped: sorting them
/// takes twice as long as hashing them.
pub const SETTINGS: [(&CStr, &CStr); 4] = [
    (c"search_path", c"pg_catalog, pg_temp"),
    (c"jit", c"off"),
    (c"enable_mergejoin", c"off"),
    (c"enable_sort", c"off"),
];

/// Position of the first dimension in the statement's result. The flag for reported times and the step come before it.
const FIRST_DIMENSION: usize = 3;

/// Number of columns between the dimensions and the first measure: the observed time, the number of targets, and the
/// flags for MDTs and OSTs.
pub const BETWEEN: usize = 4;

/// The usage of one group for one operation in one step.
#[derive(Debug, Clone)]
pub struct Row {
    /// Start of the step.
    pub time: TimestampWithTimeZone,
    /// Width of the step in seconds.
    pub seconds: f64,
    /// The dimensions of the group.
    pub dimensions: Dimensions,
    /// The operation.
    pub operation: String,
    /// The total, if the question asks for totals.
    pub total: Option<AnyNumeric>,
    /// Sum over targets of total ÷ seconds observed.
    pub rate: Option<f64>,
    /// Number of calls, if the question asks for calls.
    pub calls: Option<AnyNumeric>,
    /// Bytes or microseconds per call, if the question asks for calls.
    pub per_call: Option<f64>,
    /// Part of the total of all groups, if the groups are ranked.
    pub share: Option<f64>,
    /// Observed time of the targets ÷ (number of targets × width of the step).
    pub coverage: f64,
}

/// Returns the rows that answer a question.
pub fn ask(question: &Question) -> Result<Vec<Row>, Error> {
    select(question, |mut groups, window| {
        let mut reader = Reader::new(question);
        if question.measures.all {
            for group in groups.by_ref() {
                reader.meet(&group)?;
            }
            groups = groups.rewind();
        }
        let timed = each(groups, window, |step, columns| reader.read(step, columns))?;
        Ok((reader.rows, timed))
    })
}

/// Returns the rows that answer a question, each converted from its columns by `row`.
pub fn ask_for<T>(
    question: &Question,
    mut row: impl FnMut(Step, &mut Columns<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    select(question, |groups, window| {
        let mut rows = Vec::new();
        let timed = each(groups, window, |step, columns| {
            push(&mut rows, row(step, columns)?)
        })?;
        Ok((rows, timed))
    })
}

/// A step of the window.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Start of the step.
    pub time: TimestampWithTimeZone,
    /// Width of the step in seconds.
    pub seconds: f64,
}

/// Runs the statement of a question and reads its result. Raises one notice if the question asks for times that the
/// servers do not report.
fn select<T>(
    question: &Question,
    read: impl FnOnce(SpiTupleTable<'_>, &Window) -> Result<(Vec<T>, Option<bool>), Error>,
) -> Result<Vec<T>, Error> {
    let _pinned = Pinned::new(SETTINGS);
    connect(|client| {
        let Some(place) = Place::find(client, question)? else {
            return Ok(Vec::new());
        };
        // Rollups by user are filtered by user, not by entry.
        let entries = if place.sources.has_users() {
            None
        } else {
            few_entries(client, &question.filters)?
        };
        let statement = place.statement(question, entries).complete();
        let groups = client.select(&statement, None, &place.parameters(question)?)?;
        if groups.len() > ROW_LIMIT {
            return Err(Error::TooManyRows);
        }
        let (rows, timed) = read(groups, &place.window)?;
        if timed == Some(false) && question.measures.list.iter().any(Measure::is_time) {
            pgrx::notice!(
                "the servers report no times (Lustre before 2.14), so that service_time is unknown; \
                 operations metadata and write_bytes tell who is busy"
            );
        }
        place.note_age()?;
        Ok(rows)
    })
}

/// The window of a question and the sources of its rows.
pub struct Place {
    /// The window.
    pub window: Window,
    /// The sources of the rows.
    sources: Sources,
    /// The schema of our functions, quoted.
    schema: String,
}

impl Place {
    /// Finds the window and the sources of a question; `None` if the answer is empty.
    pub fn find(client: &SpiClient<'_>, question: &Question) -> Result<Option<Self>, Error> {
        store::require(client)?;
        question.filters.require_patterns()?;
        let window = Window::resolve(client, &question.period, &question.filters)?;
        let Some(window) = window.filter(|_| !question.measures.list.is_empty()) else {
            return Ok(None);
        };
        require_bearable(client, &window, &question.filters)?;
        let sources = if question.asks_servers() {
            Sources::increments(client, &window)?
        } else {
            Sources::choose(client, &window, !question.tells_entries_apart())?
        };
        Ok(Some(Self {
            window,
            sources,
            schema: store::extension_schema()?,
        }))
    }

    /// Returns the statement. `entries` are the entries that the filters select, if they are few.
    pub fn statement<'a>(
        &'a self,
        question: &'a Question,
        entries: Option<Vec<i64>>,
    ) -> Statement<'a> {
        let steps = self.window.steps();
        Statement::new(question, steps, &self.sources, entries, &self.schema)
    }

    /// Returns the parameters of the statement; see [`crate::query::statement`] for their order.
    pub fn parameters(&self, question: &Question) -> Result<Vec<DatumWithOid<'static>>, Error> {
        let (since, until) = (self.window.since(), self.window.until());
        let day_before = since.saturating_sub(DAY).max(EARLIEST);
        let mut parameters = Vec::new();
        for time in [
            since,
            until,
            self.sources.reach(since),
            self.sources.reach(until),
            day_before,
        ] {
            parameters.push(timestamptz(time)?.into());
        }
        let edges = self.window.edges.iter().map(|&edge| timestamptz(edge));
        parameters.push(edges.collect::<Result<Vec<_>, _>>()?.into());
        parameters.extend(self.sources.parameters()?);
        parameters.extend(question.filters.parameters());
        match question.wanted {
            Wanted::Top { n, min_rate } => parameters.extend([n.into(), min_rate.into()]),
            Wanted::Densities { base } => parameters.push(base.into()),
            _ => {}
        }
        Ok(parameters)
    }

    /// Raises notices if the answer would have been different when the increments were still kept.
    pub fn note_age(&self) -> Result<(), Error> {
        let kept_since = timestamptz(self.sources.kept_since())?;
        if self.sources.parts().next().is_some() {
            pgrx::notice!(
                "increments are kept since {kept_since}; of what is older, parts of ten minutes, hours or days, whichever is \
                 kept, are told as if it had happened evenly"
            );
        }
        if self.sources.has_lost() {
            pgrx::notice!(
                "increments are kept since {kept_since}; what is older, and not in rollups, counts as not observed"
            );
        }
        Ok(())
    }
}

/// Reads the groups one by one. Returns whether the servers report times, if that is known.
fn each(
    groups: SpiTupleTable<'_>,
    window: &Window,
    mut read: impl FnMut(Step, &mut Columns<'_>) -> Result<(), Error>,
) -> Result<Option<bool>, Error> {
    let mut timed = None;
    for group in groups {
        pause();
        let mut columns = Columns::of(&group);
        timed = columns.take()?;
        // A row without a step has only the flag for reported times.
        if let Some(number) = columns.take::<i32>()? {
            read(step(window, number)?, &mut columns)?;
        }
    }
    Ok(timed)
}

/// Adds a row.
///
/// # Errors
/// [`Error::Memory`] if there is no memory for it.
fn push<T>(rows: &mut Vec<T>, row: T) -> Result<(), Error> {
    let room = rows.try_reserve(1);
    room.map_err(|_| Error::Memory(2 * rows.len() * size_of::<T>()))?;
    rows.push(row);
    Ok(())
}

/// Returns the step of this number, counted from 1.
fn step(window: &Window, number: i32) -> Result<Step, Error> {
    let step = usize::try_from(number - 1)
        .ok()
        .and_then(|index| window.step(index));
    let (start, seconds) = step.ok_or_else(|| Error::Damaged("a step is missing".to_owned()))?;
    Ok(Step {
        time: timestamptz(start)?,
        seconds,
    })
}

/// Converts groups to rows.
struct Reader<'a> {
    question: &'a Question,
    /// A flag per measure, which is set if the measure is wanted. If the measures were not named one by one, those that
    /// occur anywhere are wanted.
    wanted: Vec<bool>,
    rows: Vec<Row>,
}

impl<'a> Reader<'a> {
    fn new(question: &'a Question) -> Self {
        let measures = &question.measures;
        Self {
            question,
            wanted: vec![!measures.all; measures.list.len()],
            rows: Vec::new(),
        }
    }

    /// Notes which measures occur in a group.
    fn meet(&mut self, group: &SpiHeapTupleData<'_>) -> Result<(), Error> {
        let first = FIRST_DIMENSION + self.question.by.iter().count() + BETWEEN;
        let width = self.columns_per_measure();
        for (n, wanted) in self
            .wanted
            .iter_mut()
            .enumerate()
            .filter(|(_, wanted)| !**wanted)
        {
            let mut columns = Columns {
                group,
                next: first + n * width,
            };
            let (occurs, _) = columns.total(self.question)?;
            *wanted = occurs == Some(true);
        }
        Ok(())
    }

    fn columns_per_measure(&self) -> usize {
        let calls = if self.question.calls { 2 } else { 0 };
        let share = usize::from(matches!(self.question.wanted, Wanted::Top { .. }));
        2 + calls + share
    }

    /// Reads the columns of a group in the order of the statement.
    fn read(&mut self, step: Step, columns: &mut Columns<'_>) -> Result<(), Error> {
        let dimensions = columns.dimensions(&self.question.by)?;
        let observed = columns.take::<f64>()?.unwrap_or(0.0);
        let targets = columns.take::<i64>()?.unwrap_or(0);
        let kinds = (
            columns.take()?.unwrap_or(false),
            columns.take()?.unwrap_or(false),
        );
        let mut row = Row {
            time: step.time,
            seconds: step.seconds,
            dimensions,
            operation: String::new(),
            total: None,
            rate: None,
            calls: None,
            per_call: None,
            share: None,
            coverage: observed / (targets as f64 * step.seconds),
        };
        for (n, measure) in self.question.measures.list.iter().enumerate() {
            let occurs;
            (occurs, row.total) = columns.total(self.question)?;
            row.rate = columns.take()?;
            if self.question.calls {
                row.calls = columns.take()?;
                row.per_call = columns.take()?;
            }
            if let Wanted::Top { .. } = self.question.wanted {
                row.share = columns.take()?;
            }
            if self.shows(n, measure, kinds, occurs) {
                self.add(Row {
                    operation: measure.name.clone(),
                    ..row.clone()
                })?;
            }
        }
        Ok(())
    }

    fn add(&mut self, row: Row) -> Result<(), Error> {
        if self.rows.len() == ROW_LIMIT {
            return Err(Error::TooManyRows);
        }
        push(&mut self.rows, row)
    }

    /// Returns whether the answer has a row for a measure of a group, even if its total is zero or unknown.
    fn shows(
        &self,
        n: usize,
        measure: &Measure,
        kinds: (bool, bool),
        occurs: Option<bool>,
    ) -> bool {
        if occurs == Some(true) {
            return true;
        }
        if !self.question.by_targets_only() {
            // A group without activity has no row; a group with activity of unknown time has one.
            return occurs.is_none() && measure.is_time();
        }
        let reported = measure.on.0 && kinds.0 || measure.on.1 && kinds.1;
        self.wanted[n] && (reported || !self.question.measures.all)
    }
}

/// The columns of one row of the statement's result, read one after the other.
pub struct Columns<'a> {
    group: &'a SpiHeapTupleData<'a>,
    next: usize,
}

impl<'a> Columns<'a> {
    /// Starts at the first column of a row.
    pub fn of(group: &'a SpiHeapTupleData<'a>) -> Self {
        Self { group, next: 1 }
    }

    /// Takes the next column.
    pub fn take<T: FromDatum + IntoDatum>(&mut self) -> Result<Option<T>, Error> {
        let value = self.group.get(self.next)?;
        self.next += 1;
        Ok(value)
    }

    /// Takes the next columns, which are the dimensions that the answer is grouped by.
    pub fn dimensions(&mut self, by: &By) -> Result<Dimensions, Error> {
        let mut dimensions = Dimensions::default();
        for dimension in by.iter() {
            match dimensions.text(dimension) {
                Some(text) => *text = self.take()?,
                None => dimensions.uid = self.take()?,
            }
        }
        Ok(dimensions)
    }

    /// Takes a total. Returns whether it is not zero, and the total itself if the question asks for totals.
    fn total(&mut self, question: &Question) -> Result<(Option<bool>, Option<AnyNumeric>), Error> {
        if !question.totals {
            return Ok((self.take()?, None));
        }
        let total: Option<AnyNumeric> = self.take()?;
        let occurs = total.as_ref().map(|total| *total != AnyNumeric::from(0));
        Ok((occurs, total))
    }

    /// Skips columns.
    pub fn skip(&mut self, columns: usize) {
        self.next += columns;
    }
}
