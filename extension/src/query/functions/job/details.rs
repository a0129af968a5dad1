//! Finds the smallest and the largest call of a job, and the standard deviation of its calls.
//!
//! Only increments have these. A search for the entries of a job reads all increments of its time, so it is limited to
//! the buckets in which the job did something, and to jobs with few of these.

use std::collections::{BTreeSet, HashMap};

use jobstats_core::base::instant::{Micros, Span};
use jobstats_core::base::operation;
use jobstats_core::rules::increment::{Detail, OperationName, together, unpack};
use jobstats_core::usage::per_call::Calls;
use jobstats_core::usage::times::reports_times;
use jobstats_core::usage::{Layout, Measure, Values};

use crate::pg::error::Error;
use crate::pg::receive::Type;
use crate::query::functions::job::work::Work;
use crate::query::read::{self, RowOwner, Selection};
use crate::query::sources::Part;
use crate::store::sum::Sum;

/// The largest number of buckets with usage: a day.
const BUCKETS: usize = 144;

/// The calls of a job by group and measure.
pub type Details = HashMap<(Values, usize), Calls>;

/// Returns the details of a job with this usage; empty if some of its increments are stored without details, or if too many others would be read.
pub fn of_job(work: &Work<'_>) -> Result<Details, Error> {
    let done = work.done(&[], false)?;
    let done = done.iter().filter(|it| !it.amounts.is_empty());
    let spans: Vec<Span> = done.map(|it| it.span).collect();
    let is_retained = work.scope.edges[0] >= work.entries.state.kept_since;
    if spans.is_empty() || spans.len() > BUCKETS || !is_retained {
        return Ok(Details::new());
    }
    let amounts = work.amounts().iter().enumerate();
    let used = amounts.filter(|it| it.1.active.is_some());
    let counted = used.filter_map(|it| DescribedOperation::new(it.0, &work.measures.list[it.0]));
    let mut reading = Reading {
        counted: counted.collect(),
        work,
        observation: None,
        has_times: false,
        details: Details::new(),
        is_damaged: false,
        is_brief: false,
    };
    reading.read(spans)?;
    if reading.is_brief {
        pgrx::notice!("min, max and stddev of this job were not stored (jobstats.settings.keep)");
    }
    match reading.is_damaged || reading.is_brief {
        true => Ok(Details::new()),
        false => Ok(reading.details),
    }
}

/// An operation whose calls are described.
struct DescribedOperation {
    /// The position of its measure.
    measure: usize,
    name: OperationName<'static>,
    /// The columns of its calls and of their sum.
    columns: [String; 2],
    /// The calls, their sum and the detail of the current observation.
    observed: (u64, u64, Option<Detail>),
    /// All before them of the current entry on the current target.
    counter: Calls,
}

impl DescribedOperation {
    /// Returns the operation of a measure; `None` if the measure is a sum of several.
    fn new(position: usize, measure: &Measure) -> Option<Self> {
        let operation = operation::find(measure.name.as_bytes())?;
        let column = |sum: &Option<Sum>| sum.as_ref()?.columns.first().cloned();
        Some(Self {
            measure: position,
            name: OperationName::Listed(operation),
            columns: [column(&measure.calls)?, column(&measure.spent)?],
            observed: Default::default(),
            counter: Calls::default(),
        })
    }

    /// Adds a row of the current observation.
    fn add_row(&mut self, values: &[i64], further: Option<Detail>) {
        let value = |it: i64| u64::try_from(it).unwrap_or(0);
        let (calls, sum, detail) = &mut self.observed;
        *calls = calls.saturating_add(value(values[0]));
        *sum = sum.saturating_add(value(values[1]));
        *detail = match (detail.take(), further) {
            (Some(one), Some(other)) => together(&one, &other),
            (one, other) => one.or(other),
        };
    }

    /// Ends the current observation.
    fn end_observation(&mut self, has_times: bool) {
        let (calls, sum, detail) = std::mem::take(&mut self.observed);
        self.counter.count(calls, sum, detail.as_ref(), has_times);
    }
}

/// The target, the entry and the time of an observation.
type Key = (i32, i64, Micros);

/// Reads increments.
struct Reading<'a> {
    counted: Vec<DescribedOperation>,
    work: &'a Work<'a>,
    /// The observation that is being read, which may be several rows: parts, or epochs of an entry.
    observation: Option<Key>,
    /// Set if the server of the observation reports times.
    has_times: bool,
    details: Details,
    /// Set if a detail cannot be read.
    is_damaged: bool,
    /// Set if the setting `keep` left out a detail.
    is_brief: bool,
}

impl Reading<'_> {
    /// Reads the increments of the entries that end in spans, ordered by target, entry and time.
    fn read(&mut self, spans: Vec<Span>) -> Result<(), Error> {
        let part = Part::of_observations(spans);
        let columns = self.counted.iter().flat_map(|it| it.columns.clone());
        let columns = columns.chain(Sum::service_time().columns);
        let selection = Selection {
            by_owner: true,
            entries: Some(self.work.entries.ids()),
            further: &[("usage.detail", Type::Bytes)],
            kept: true,
            ordered: true,
            ..Selection::default()
        };
        read::usage(
            &part,
            &Layout::of_columns(columns.collect()),
            &selection,
            &mut |row| {
                // A row that reaches into several spans is read once.
                if row.part.0 < row.span.1 && row.span.1 <= row.part.1 {
                    self.add_row(&row);
                }
                Ok(true)
            },
        )?;
        self.end_observation(None);
        Ok(())
    }

    fn add_row(&mut self, row: &read::UsageRow<'_>) {
        let RowOwner::Entry(entry) = row.owner else {
            return;
        };
        let key = (row.target, entry, row.observed.unwrap_or(row.at));
        if self.observation != Some(key) {
            self.end_observation(Some(key));
        }
        let (values, times) = row.values.split_at(2 * self.counted.len());
        self.has_times |= reports_times(times.iter().copied());
        self.is_brief |= row.kept.is_some();
        let details = unpack(row.bytes(0).unwrap_or_default());
        self.is_damaged |= details.is_none();
        let mut details = details.unwrap_or_default();
        for (counted, values) in self.counted.iter_mut().zip(values.chunks_exact(2)) {
            counted.add_row(values, details.remove(&counted.name));
        }
    }

    /// Ends the observation that has been read, and begins the next. Unless that is of the same target and entry, adds the calls to the groups of
    /// the target and the node.
    fn end_observation(&mut self, next: Option<Key>) {
        let has_times = std::mem::take(&mut self.has_times);
        let counted = self.counted.iter_mut();
        counted.for_each(|it| it.end_observation(has_times));
        let Some((target, entry, _)) = std::mem::replace(&mut self.observation, next) else {
            return;
        };
        if next.is_some_and(|it| (it.0, it.1) == (target, entry)) {
            return;
        }
        let group = self.work.group(target, entry);
        let groups: BTreeSet<Values> = [Values::new()].into_iter().chain(group).collect();
        for counted in &mut self.counted {
            let counter = std::mem::take(&mut counted.counter);
            for group in &groups {
                let calls = self.details.entry((group.clone(), counted.measure));
                calls.or_default().add(&counter);
            }
        }
    }
}
