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
use crate::pg::tuplestore::{Cell, IntoCell, Rows};
use crate::query::functions::job::accounting::{Accounting, OF_ACCOUNTING, OfRow};
use crate::query::functions::job::details::Details;
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::grouping::Group;
use crate::query::functions::job::scope::Scope;
use crate::query::functions::job::work::{Done, Place, Work};
use crate::query::measure::{CALLS_FOR_MEAN, Measure, SECONDS};
use crate::query::window::{ROW_LIMIT, Window};

/// The number of columns of usage.
pub const COLUMNS: usize = 23;

/// The sources of the rows.
pub struct Report<'a> {
    pub window: &'a Window,
    /// Set if the steps of the window are buckets, and the rows are of the whole window.
    pub has_buckets: bool,
    /// Set if each node is a group of its own.
    pub by_node: bool,
    pub measures: &'a [Measure],
    pub scope: &'a Scope,
    pub entries: &'a Entries,
    /// The details of single calls, if they are known.
    pub details: Option<&'a Details>,
    /// The accounting of the job, if there is any.
    pub accounting: Option<&'a Accounting>,
    /// Set if the window is a part of the job's time.
    pub is_cut: bool,
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
    /// The number of targets of the group, and the microseconds for which they were observed.
    observed: (usize, i64),
    /// The steps of the window that the row has.
    steps: Vec<usize>,
    /// The buckets in which any target of the group was observed.
    buckets: Vec<usize>,
}

impl Report<'_> {
    /// Writes all rows.
    pub fn write(&self, work: &Work, rows: &mut Rows) -> Result<(), Error> {
        let sums = self.sums(work)?;
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
    fn sums(&self, work: &Work) -> Result<Sums, Error> {
        let mut sums = Sums::new();
        for (place, done) in work.done() {
            pause();
            let groups = self.scope.groups(place, self.by_node);
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
            let observed = self.scope.observed(place.target, &[place.step]);
            let scale = scale(&self.measures[measure]);
            let rates = sum.by_bucket.entry(place.step);
            let rates = rates.or_insert_with(|| Rates::new_in(scale, observed, Global));
            rates.push(done.total, observed)?;
        }
        Ok(())
    }

    fn span(&self, group: Group, step: usize) -> Span {
        let steps = if self.has_buckets {
            (0..self.window.steps()).collect()
        } else {
            vec![step]
        };
        let edge = |position: usize| self.window.edges.get(position).copied();
        let last = steps.last().copied().unwrap_or(step);
        let is_observed = |&bucket: &usize| self.scope.observed_by(group, &[bucket]).1 > 0;
        let buckets = steps.iter().copied().filter(|_| self.has_buckets);
        Span {
            start: edge(step).unwrap_or_else(|| self.window.since()),
            end: edge(last + 1).unwrap_or_else(|| self.window.until()),
            observed: self.scope.observed_by(group, &steps),
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
        let (done, seconds) = (&sum.done, (span.end - span.start) as f64 / 1e6);
        let calls = self.details.and_then(|it| it.of(group, measure));
        let buckets = Self::bucket_rates(sum, span);
        let asked = &self.measures[measure];
        let total = told(done.total, asked.is_time())?;
        let (per_call, rate) = (per_call(asked, done)?, self.rate(measure, sum, span)?);
        let (min, max, deviation) = spread(asked, calls)?;
        let [first, last] = if self.has_buckets {
            [done.first, done.last]
        } else {
            [done.first, done.last].map(|it| it.clamp(span.start, span.end))
        };
        let (first, last) = (timestamptz(first)?, timestamptz(last)?);
        let time = timestamptz(span.start)?;
        let [cluster, filesystem, kind, target] = self.scope.names(group);
        let node = group.node.and_then(|node| self.entries.node_name(node));
        let (targets, observed) = span.observed;
        let of_accounting = self.accounting_of(group, asked, done, span)?;
        rows.put(|| {
            let usage: [_; COLUMNS] = [
                time.cell(),
                seconds.cell(),
                cluster.cell(),
                filesystem.cell(),
                kind.cell(),
                target.cell(),
                node.cell(),
                self.measures[measure].name.as_str().cell(),
                total.cell(),
                done.calls.map(AnyNumeric::from).cell(),
                per_call.cell(),
                min.cell(),
                max.cell(),
                deviation.cell(),
                rate.cell(),
                buckets.map(|it| it.min).cell(),
                buckets.map(|it| it.median).cell(),
                buckets.map(|it| it.mean).cell(),
                buckets.map(|it| it.max).cell(),
                first.cell(),
                last.cell(),
                i64::try_from(done.nodes.len()).unwrap_or(i64::MAX).cell(),
                (observed as f64 / 1e6 / (targets as f64 * seconds)).cell(),
            ];
            let mut row = [Cell::NULL; COLUMNS + OF_ACCOUNTING];
            row[..COLUMNS].copy_from_slice(&usage);
            if let Some(of_accounting) = &of_accounting {
                row[COLUMNS..].copy_from_slice(&of_accounting.columns());
            }
            row
        });
        Ok(())
    }

    /// Returns the values of accounting for a row, if there are any.
    fn accounting_of(
        &self,
        group: Group,
        measure: &Measure,
        done: &Done,
        span: &Span,
    ) -> Result<Option<OfRow<'_>>, Error> {
        let Some(accounting) = self.accounting else {
            return Ok(None);
        };
        let window = self.is_cut.then_some((span.start, span.end));
        let in_service = match measure.name.as_str() {
            "service_time" => accounting.in_service(done.total, window, group.node.is_some()),
            _ => None,
        };
        accounting.of_row(in_service).map(Some)
    }

    /// Returns the rate of a group: the sum over targets of total ÷ seconds for which the target was observed.
    fn rate(&self, measure: usize, sum: &Sum, span: &Span) -> Result<Option<f64>, Error> {
        let mut rates = Rates::new_in(scale(&self.measures[measure]), 0, Global);
        for (&target, &total) in &sum.by_target {
            rates.push(total, self.scope.observed(target, &span.steps))?;
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

fn numeric<T>(value: Result<T, pgrx::numeric::Error>) -> Result<T, Error> {
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

/// Returns the bytes or seconds per call, unless there are too few calls.
pub fn per_call(measure: &Measure, done: &Done) -> Result<Option<f64>, Error> {
    match (done.spent, done.calls) {
        (Some(spent), Some(calls)) if calls >= CALLS_FOR_MEAN.into() => {
            let per_call = told(spent, takes_time(measure))? / AnyNumeric::from(calls);
            Ok(Some(numeric(f64::try_from(per_call))?))
        }
        _ => Ok(None),
    }
}
