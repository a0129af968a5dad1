//! Finds the smallest and the largest call of a job, and the standard deviation of its calls.
//!
//! Only increments have these. A search for the entries of a job reads all increments of its time, so it is limited to
//! the buckets in which the job did something, and to jobs with few of these.

use std::collections::{BTreeSet, HashMap};

use jobstats_core::increment::Detail;
use jobstats_core::operation::OPERATIONS;
use jobstats_core::per_call::{Calls, CounterCalls};
use jobstats_core::usage::{Layout, Values};

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::receive::Type;
use crate::query::functions::job::Usage;
use crate::query::functions::job::work::Work;
use crate::query::measure::Measure;
use crate::query::plan::Plan;
use crate::query::read::{self, Selection, Whose};
use crate::query::sources::Part;
use crate::store::sum::Sum;

/// The largest number of buckets with usage: those of a day.
const BUCKETS: usize = 144;

/// The calls of a job by group and measure.
pub type Details = HashMap<(Values, usize), Calls>;

/// Returns the details of a job with this usage; `None` if not all increments of the job are stored with details, or
/// if too many others would be read.
pub fn of_job(usage: &Usage<'_>) -> Result<Option<Details>, Error> {
    let (plan, work) = (&usage.plan, &usage.work);
    let buckets = work.steps()?;
    if buckets.is_empty() {
        return Ok(Some(Details::new()));
    }
    if buckets.len() > BUCKETS || plan.window.since() < plan.state.kept_since {
        return Ok(None);
    }
    let used = work
        .amounts()
        .iter()
        .enumerate()
        .filter(|it| it.1.active.is_some());
    let counted =
        used.filter_map(|(position, _)| Counted::new(position, &work.measures.list[position]));
    let mut reading = Reading {
        counted: counted.collect(),
        work,
        counters: Vec::new(),
        observation: None,
        details: Details::new(),
        is_damaged: false,
        is_brief: false,
    };
    reading.read(plan, &buckets)?;
    if reading.is_brief {
        pgrx::notice!("min, max and stddev of this job were not kept (jobstats.settings.keep)");
    }
    let is_known = !reading.is_damaged && !reading.is_brief;
    Ok(is_known.then_some(reading.details))
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
    key: (i32, i64, i64),
    has_times: bool,
    /// The calls, their sum and the details of each counted operation.
    operations: Vec<(u64, u64, Option<Detail>)>,
}

/// Reads increments.
struct Reading<'a> {
    counted: Vec<Counted>,
    work: &'a Work<'a>,
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
    /// Reads the increments of the entries that end in buckets, those of each entry on each target in order of time.
    fn read(&mut self, plan: &Plan, buckets: &BTreeSet<usize>) -> Result<(), Error> {
        let edge = |it: &usize| plan.window.edges.get(*it).copied();
        let spans = buckets
            .iter()
            .filter_map(|it| edge(it).zip(edge(&(it + 1))));
        let part = Part::of_observations(spans.collect());
        let columns = self.counted.iter().flat_map(|it| it.columns.clone());
        let columns = columns.chain(Sum::service_time().columns);
        let entries = self.work.entries.ids();
        let selection = Selection {
            whose: true,
            entries: Some(&entries),
            further: &[("usage.detail::text", Type::Text)],
            kept: true,
            ordered: true,
            ..Selection::default()
        };
        read::usage(
            &part,
            &Layout::of_columns(columns.collect()),
            &selection,
            &mut |row| {
                pause();
                // A row that reaches into several spans is read once.
                if row.part.0 < row.span.1 && row.span.1 <= row.part.1 {
                    self.add_row(&row);
                }
                Ok(true)
            },
        )?;
        self.end_observation();
        self.end_counters(None);
        Ok(())
    }

    fn add_row(&mut self, row: &read::UsageRow<'_>) {
        let Whose::Entry(entry) = row.whose else {
            return;
        };
        let key = (row.target, entry, row.observed.unwrap_or(row.at));
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
        let (values, times) = row.values.split_at(2 * count);
        observation.has_times |= times.iter().any(|it| *it != 0);
        self.is_brief |= row.kept.is_some();
        let mut details: HashMap<String, Detail> = HashMap::new();
        if let Some(text) = row.text(0) {
            match serde_json::from_str(&text) {
                Ok(parsed) => details = parsed,
                Err(_) => self.is_damaged = true,
            }
        }
        let operations = observation
            .operations
            .iter_mut()
            .zip(values.chunks_exact(2));
        for (((calls, sum, detail), values), counted) in operations.zip(&self.counted) {
            let value = |it: i64| u64::try_from(it).unwrap_or(0);
            *calls = calls.saturating_add(value(values[0]));
            *sum = sum.saturating_add(value(values[1]));
            let further = details.remove(counted.name);
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
    fn end_counters(&mut self, next: Option<(i32, i64)>) {
        let Some((target, entry, _)) = self.observation.take().map(|it| it.key) else {
            return;
        };
        if next == Some((target, entry)) {
            return;
        }

        let group = self.work.group(target, entry);
        let groups: BTreeSet<Values> = [Values::new()].into_iter().chain(group).collect();
        for (counted, counter) in self.counted.iter().zip(self.counters.drain(..)) {
            for group in &groups {
                let calls = self.details.entry((group.clone(), counted.measure));
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
