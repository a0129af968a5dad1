//! Writes the usage of a job as rows: first those of the whole job, then those of each group.

use std::collections::BTreeMap;

use allocator_api2::alloc::Global;
use jobstats_core::distribution::Distribution;
use jobstats_core::per_call::Calls;
use jobstats_core::window::Rates;
use pgrx::AnyNumeric;

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::Rows;
use crate::query::functions::job::Usage;
use crate::query::functions::job::details::Details;
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::grouping::{Group, Grouping};
use crate::query::functions::job::row::Row;
use crate::query::functions::job::work::{Done, Place};
use crate::query::measure::{Measure, SECONDS};
use crate::query::window::ROW_LIMIT;

/// The sources of the rows.
pub struct Report<'a> {
    pub usage: &'a Usage,
    /// Set if the steps of the window are buckets, and the rows are of the whole window.
    pub has_buckets: bool,
    pub grouping: &'a Grouping,
    pub entries: &'a Entries,
    /// The details of single calls, if they are known.
    pub details: Option<&'a Details>,
}

/// The rows, in their order: by group, step and measure.
type Sums = BTreeMap<(Group, usize, usize), Sum>;

/// The usage of a group by one measure.
struct Sum {
    done: Done,
    /// The totals by target.
    by_target: BTreeMap<i32, i128>,
    /// The rates by bucket.
    by_bucket: BTreeMap<usize, Rates<Global>>,
}

/// The time of a row.
struct Span {
    start: i64,
    end: i64,
    coverage: Option<f64>,
    /// The steps of the window that the row has.
    steps: Vec<usize>,
    /// The buckets in which any target of the group was observed.
    buckets: Vec<usize>,
}

impl Report<'_> {
    /// Writes all rows.
    pub fn write(&self, rows: &mut Rows) -> Result<(), Error> {
        let sums = self.sums()?;
        let mut latest: Option<((Group, usize), Span)> = None;
        for (&(group, step, measure), sum) in &sums {
            pause();
            let span = match latest.take() {
                Some((key, span)) if key == (group, step) => span,
                _ => self.span(group, step),
            };
            self.write_row(group, measure, sum, &span, rows)?;
            latest = Some(((group, step), span));
        }
        Ok(())
    }

    /// Adds up the usage of each group.
    fn sums(&self) -> Result<Sums, Error> {
        let mut sums = Sums::new();
        for (place, done) in self.usage.work.done() {
            pause();
            let groups = self.usage.scope.groups(place, self.grouping.by_node);
            for (measure, done) in done {
                for group in groups.iter().flatten() {
                    let step = if self.has_buckets { 0 } else { place.step };
                    let key = (*group, step, measure);
                    self.add(sums.entry(key), place, measure, done)?;
                }
            }
            if sums.len() > ROW_LIMIT {
                return Err(Error::TooManyRows);
            }
        }
        sums.retain(|_, sum| sum.done.total != 0);
        Ok(sums)
    }

    fn add(
        &self,
        entry: std::collections::btree_map::Entry<'_, (Group, usize, usize), Sum>,
        place: &Place,
        measure: usize,
        done: &Done,
    ) -> Result<(), Error> {
        let sum = entry
            .and_modify(|sum| sum.done.add(done))
            .or_insert_with(|| Sum {
                done: done.clone(),
                by_target: BTreeMap::new(),
                by_bucket: BTreeMap::new(),
            });
        *sum.by_target.entry(place.target).or_default() += done.total;
        if self.has_buckets {
            let observed = self.usage.scope.observed(place.target, &[place.step]);
            let scale = scale(&self.usage.measures.list[measure]);
            let rates = sum.by_bucket.entry(place.step);
            let rates = rates.or_insert_with(|| Rates::new_in(scale, observed, Global));
            rates.push(done.total, observed)?;
        }
        Ok(())
    }

    fn span(&self, group: Group, step: usize) -> Span {
        let steps = if self.has_buckets {
            (0..self.usage.plan.window.steps()).collect()
        } else {
            vec![step]
        };
        let edge = |position: usize| self.usage.plan.window.edges.get(position).copied();
        let last = steps.last().copied().unwrap_or(step);
        let is_observed = |&bucket: &usize| self.usage.scope.observed_by(group, &[bucket]).1 > 0;
        let buckets = steps.iter().copied().filter(|_| self.has_buckets);
        let start = edge(step).unwrap_or_else(|| self.usage.plan.window.since());
        let end = edge(last + 1).unwrap_or_else(|| self.usage.plan.window.until());
        Span {
            start,
            end,
            coverage: self
                .usage
                .scope
                .coverage(group, &steps, (end - start) as f64 / 1e6),
            buckets: buckets.filter(is_observed).collect(),
            steps,
        }
    }

    fn write_row(
        &self,
        group: Group,
        measure: usize,
        sum: &Sum,
        span: &Span,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let done = &sum.done;
        let calls = self.details.and_then(|it| it.get(&(group, measure)));
        let buckets = Self::bucket_rates(sum, span);
        let asked = &self.usage.measures.list[measure];
        let rate = self.rate(measure, sum, span)?;
        let (min, max, stddev) = spread(asked, calls)?;
        let [first, last] = if self.has_buckets {
            [done.first, done.last]
        } else {
            [done.first, done.last].map(|it| it.clamp(span.start, span.end))
        };
        let node = group.node.and_then(|node| self.entries.node_name(node));
        let (name, labels) = self
            .grouping
            .named(group, &self.usage.scope.names(group), node);
        let row = Row {
            name,
            time: Some(timestamptz(span.start)?),
            first: Some(timestamptz(first)?),
            last_active: Some(timestamptz(last)?),
            rate,
            rates: buckets,
            min,
            max,
            stddev,
            coverage: span.coverage,
            labels,
            ..Row::of(asked, done)?
        };
        row.put(rows);
        Ok(())
    }

    /// Returns the rate of a group: the sum over targets of total ÷ seconds for which the target was observed.
    fn rate(&self, measure: usize, sum: &Sum, span: &Span) -> Result<Option<f64>, Error> {
        let mut rates = Rates::new_in(scale(&self.usage.measures.list[measure]), 0, Global);
        for (&target, &total) in &sum.by_target {
            rates.push(total, self.usage.scope.observed(target, &span.steps))?;
        }
        Ok(rates.rate())
    }

    /// Returns the rates in the buckets in which any target of the group was observed.
    fn bucket_rates(sum: &Sum, span: &Span) -> Option<Distribution> {
        let rate = |bucket| sum.by_bucket.get(bucket).map_or(Some(0.0), Rates::rate);
        let mut rates: Vec<f64> = span.buckets.iter().filter_map(rate).collect();
        Distribution::of(&mut rates)
    }
}

/// Returns the factor of a rate: microseconds divided by microseconds are seconds per second.
fn scale(measure: &Measure) -> i64 {
    if measure.is_time() { 1 } else { 1_000_000 }
}

/// Returns a sum as it is told: times in seconds, all else as it is stored. It is exact.
pub fn told(sum: i128, is_time: bool) -> Result<AnyNumeric, Error> {
    let sum = AnyNumeric::from(sum);
    if !is_time {
        return Ok(sum);
    }
    let seconds = sum * numeric(AnyNumeric::try_from(SECONDS))?;
    numeric(AnyNumeric::try_from(seconds.normalize()))
}

pub fn numeric<T>(value: Result<T, pgrx::numeric::Error>) -> Result<T, Error> {
    value.map_err(|error| Error::Damaged(error.to_string()))
}

/// The smallest and the largest amount of a call and the standard deviation, where they are stored.
type CallSpread = (Option<AnyNumeric>, Option<AnyNumeric>, Option<f64>);

fn spread(measure: &Measure, calls: Option<&Calls>) -> Result<CallSpread, Error> {
    let is_time = takes_time(measure);
    let bounds = calls.and_then(Calls::bounds);
    let bound = |value: Option<u64>| value.map(|it| told(it.into(), is_time)).transpose();
    let deviation = calls.and_then(Calls::deviation);
    let microseconds = if is_time { 1e6 } else { 1.0 };
    Ok((
        bound(bounds.map(|it| it.0))?,
        bound(bounds.map(|it| it.1))?,
        deviation.map(|it| it / microseconds),
    ))
}

/// Returns whether calls of a measure are told by their time, and not by their bytes.
pub fn takes_time(measure: &Measure) -> bool {
    measure.spent.as_ref().is_some_and(|sum| sum.time)
}
