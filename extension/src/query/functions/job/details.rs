//! Finds the smallest and the largest call of a job, and the standard deviation of its calls.
//!
//! Only increments have these. A search for the entries of a job reads all increments of its time, so it is limited to
//! the buckets in which the job did something, and to jobs with few of these.

use std::collections::{BTreeSet, HashMap};

use jobstats_core::increment::Detail;
use jobstats_core::operation::OPERATIONS;
use jobstats_core::per_call::{Calls, CounterCalls};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::template::sql;
use crate::pg::time::timestamptzs;
use crate::pg::tuples::{BOOLEANS, INTEGERS, TEXTS, Tuples};
use crate::query::functions::job::Usage;
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::grouping::{Group, Grouping};
use crate::query::functions::job::scope::Scope;
use crate::query::measure::Measure;
use crate::query::params::{Params, Query};
use crate::query::plan::Plan;
use crate::query::usage::on_nodes::in_some_spans;
use crate::store::sum::Sum;

/// The largest number of buckets with usage: those of a day.
const BUCKETS: usize = 144;

/// The memory that the details of a row may take.
const ROW_BYTES: usize = 8 << 10;

/// The position of the first value in a row.
const FIRST_VALUE: usize = 6;

/// The calls of a job by group and measure.
pub type Details = HashMap<(Group, usize), Calls>;

/// Returns the details of a job with this usage; `None` if not all increments of the job are stored with details, or
/// if too many others would be read.
pub fn of_job(
    client: &SpiClient<'_>,
    usage: &Usage,
    entries: &Entries,
    grouping: &Grouping,
) -> Result<Option<Details>, Error> {
    let (plan, work) = (&usage.plan, &usage.work);
    let buckets: BTreeSet<usize> = work.done().map(|(place, _)| place.step).collect();
    if buckets.len() > BUCKETS || plan.window.since() < plan.sources.kept_since {
        return Ok(None);
    }
    let used: BTreeSet<usize> = work
        .done()
        .flat_map(|(_, done)| done.map(|(measure, _)| measure))
        .collect();
    let counted = used.iter();
    let counted =
        counted.filter_map(|&position| Counted::new(position, &usage.measures.list[position]));
    let mut reading = Reading {
        counted: counted.collect(),
        entries,
        scope: &usage.scope,
        grouping,
        counters: Vec::new(),
        observation: None,
        details: Details::new(),
        is_damaged: false,
        is_brief: false,
    };
    let query = reading.query(plan, &buckets)?;
    reading.read(client, &query)?;
    if reading.is_brief {
        pgrx::notice!("min, max and stddev of this job were not kept (jobstats.settings.keep)");
    }
    let is_known = !reading.is_damaged && !reading.is_brief;
    Ok(is_known.then_some(reading.details))
}

/// Returns the first and the last edges of the spans that buckets are, with their neighbours.
fn spans(buckets: &BTreeSet<usize>) -> (Vec<usize>, Vec<usize>) {
    let starts = buckets
        .iter()
        .filter(|&&it| it == 0 || !buckets.contains(&(it - 1)));
    let ends = buckets
        .iter()
        .map(|it| it + 1)
        .filter(|it| !buckets.contains(it));
    (starts.copied().collect(), ends.collect())
}

/// An operation whose calls are described.
struct Counted {
    /// The position of its measure.
    measure: usize,
    name: &'static str,
    /// The columns of its calls and of their sum.
    columns: [String; 2],
}

impl Counted {
    /// Returns the operation of a measure; `None` if the measure is a sum of several.
    fn new(position: usize, measure: &Measure) -> Option<Self> {
        let operation = OPERATIONS.iter().find(|it| it.name == measure.name)?;
        let column = |sum: &Option<Sum>| sum.as_ref()?.columns.first().cloned();
        Some(Self {
            measure: position,
            name: operation.name,
            columns: [column(&measure.calls)?, column(&measure.spent)?],
        })
    }
}

/// The observation that is being read, which may be several rows: parts, or lives of an entry.
struct Observation {
    /// The target, the entry and the time.
    key: (i64, i64, i64),
    has_times: bool,
    /// The calls, their sum and the details of each counted operation.
    operations: Vec<(u64, u64, Option<Detail>)>,
}

/// Reads increments.
struct Reading<'a> {
    counted: Vec<Counted>,
    entries: &'a Entries,
    scope: &'a Scope,
    grouping: &'a Grouping,
    /// The counters of the current entry on the current target.
    counters: Vec<CounterCalls>,
    observation: Option<Observation>,
    details: Details,
    /// Set if a detail cannot be read.
    is_damaged: bool,
    /// Set if the setting `keep` left out a detail.
    is_brief: bool,
}

impl Reading<'_> {
    fn query(&self, plan: &Plan, buckets: &BTreeSet<usize>) -> Result<Query, Error> {
        let spans = spans(buckets);
        let at = |edges: &[usize]| {
            timestamptzs(edges.iter().filter_map(|edge| plan.window.edges.get(*edge)))
        };
        let (lower, upper) = (at(&spans.0)?, at(&spans.1)?);
        let params = Params::default();
        let lower = params.bind("lower", || lower);
        let upper = params.bind("upper", || upper);
        // In a front, a search for each span would take a round trip to each node.
        let in_spans = plan
            .is_front
            .then(|| in_some_spans("usage.\"time\"", &lower, &upper, spans.0.len()));
        let (span, in_span) = match in_spans.flatten() {
            Some(in_spans) => ("(SELECT) span".to_owned(), in_spans),
            None => (
                format!("unnest({lower}, {upper}) span (lower, upper)"),
                "usage.\"time\" > span.lower AND usage.\"time\" <= span.upper".to_owned(),
            ),
        };
        let columns = self.counted.iter().flat_map(|it| &it.columns);
        let values: String = columns.map(|it| format!(", usage.\"{it}\"")).collect();
        let timed = Sum::service_time().over(|column| format!("usage.\"{column}\""));
        let statement = sql!(
            "details.sql",
            timed = format!("({timed}) IS NOT NULL"),
            values = values,
            span = span,
            in_span = in_span,
            entries = params.bind("entries", || self.entries.ids()),
            since = plan.since(&params),
            until = plan.until(&params),
        );
        Ok(Query::new(statement, &params))
    }

    fn read(&mut self, client: &SpiClient<'_>, query: &Query) -> Result<(), Error> {
        Tuples::each_batch(client, &query.sql, &query.params, ROW_BYTES, |rows| {
            self.require_types(rows)?;
            for row in 0..rows.len() {
                pause();
                rows.read(row);
                self.add_row(rows);
            }
            Ok(())
        })?;
        self.end_observation();
        self.end_counters(None);
        Ok(())
    }

    fn require_types(&self, rows: &Tuples<'_>) -> Result<(), Error> {
        for column in 0..3 {
            rows.require(column, &INTEGERS)?;
        }
        rows.require(3, &BOOLEANS)?;
        rows.require(4, &TEXTS)?;
        rows.require(5, &BOOLEANS)?;
        for column in FIRST_VALUE..FIRST_VALUE + 2 * self.counted.len() {
            rows.require(column, &INTEGERS)?;
        }
        Ok(())
    }

    fn add_row(&mut self, rows: &Tuples<'_>) {
        let key = |column| rows.integer(column).unwrap_or_default();
        let key = (key(0), key(1), key(2));
        if self.observation.as_ref().is_none_or(|it| it.key != key) {
            self.end_observation();
            self.end_counters(Some((key.0, key.1)));
        }
        let count = self.counted.len();
        let observation = self.observation.get_or_insert_with(|| Observation {
            key,
            has_times: false,
            operations: std::iter::repeat_with(|| (0, 0, None))
                .take(count)
                .collect(),
        });
        observation.has_times |= rows.boolean(3) == Some(true);
        self.is_brief |= rows.boolean(5) == Some(true);
        let mut details: HashMap<String, Detail> = HashMap::new();
        if let Some(text) = rows.text(4) {
            match serde_json::from_str(&text) {
                Ok(parsed) => details = parsed,
                Err(_) => self.is_damaged = true,
            }
        }
        for (position, (calls, sum, detail)) in observation.operations.iter_mut().enumerate() {
            let column = FIRST_VALUE + 2 * position;
            let value = |column| rows.integer(column).and_then(|it| u64::try_from(it).ok());
            *calls = calls.saturating_add(value(column).unwrap_or(0));
            *sum = sum.saturating_add(value(column + 1).unwrap_or(0));
            let further = details.remove(self.counted[position].name);
            *detail = merged(detail.take(), further);
        }
    }

    /// Adds the observation that has been read to the counters of its entry.
    fn end_observation(&mut self) {
        let Some(observation) = &self.observation else {
            return;
        };
        let count = self.counted.len();
        self.counters.resize_with(count, CounterCalls::default);
        for (counter, (calls, sum, detail)) in self.counters.iter_mut().zip(&observation.operations)
        {
            counter.add(*calls, *sum, detail.as_ref(), observation.has_times);
        }
    }

    /// Adds the counters that have been read to the groups of their target and node, unless the next observation is of
    /// the same target and entry.
    fn end_counters(&mut self, next: Option<(i64, i64)>) {
        let Some((target, entry, _)) = self.observation.take().map(|it| it.key) else {
            return;
        };
        if next == Some((target, entry)) {
            return;
        }
        let target = i32::try_from(target).unwrap_or_default();
        let node = self.entries.node(entry).filter(|_| self.grouping.by_node);
        let group = Group {
            targets: self.scope.group(target),
            node,
        };
        for (counted, counter) in self.counted.iter().zip(self.counters.drain(..)) {
            for group in BTreeSet::from([Group::WHOLE, group]) {
                let calls = self.details.entry((group, counted.measure));
                calls.or_default().add(&counter);
            }
        }
    }
}

/// Returns the details of two rows of one observation together.
fn merged(one: Option<Detail>, other: Option<Detail>) -> Option<Detail> {
    let (Some(one), Some(other)) = (&one, &other) else {
        return one.or(other);
    };
    Some(Detail {
        min: one.min.into_iter().chain(other.min).min(),
        max: one.max.into_iter().chain(other.max).max(),
        sumsq: match (one.sumsq, other.sumsq) {
            (Some(one), Some(other)) => Some(one.wrapping_add(other)),
            (one, other) => one.or(other),
        },
        ..Detail::default()
    })
}
