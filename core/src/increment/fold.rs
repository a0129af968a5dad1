//! Adds up what the entries of a user did in one text: the setting `fold_uids_below`.
//!
//! Users of the system have as many entries as there are nodes and programs, and nobody asks what one of them did. Their
//! increments are added up after all entries were compared one by one, so that births and resets are seen as ever.

use std::borrow::Cow;
use std::collections::{BTreeMap, TryReserveError};
use std::mem;

use super::detail::{Columns, leave_out, squares_of};
use super::{Column, CompareError, Comparison, Detail, Increment};
use crate::entry_id::folded_name;
use crate::instant::Micros;
use crate::operation::OPERATIONS;
use crate::pause::Pause;
use crate::snapshot::HISTOGRAM_LEN;

#[cfg(test)]
mod tests;

/// An increment of 2^53 or more is not believed, and a sum of increments is one.
const TOO_LARGE: i64 = 1 << 53;

type Details<'d> = BTreeMap<Cow<'d, str>, Detail>;
type Histogram = Option<Box<[i64; HISTOGRAM_LEN]>>;

impl<'a> Increment<'a> {
    /// Returns the name of the entry to which the increment belongs.
    pub fn entry(&self) -> Cow<'a, str> {
        match self.folded {
            Some(uid) => Cow::Owned(folded_name(uid)),
            None => Cow::Borrowed(self.id),
        }
    }
}

impl Comparison<'_> {
    /// Adds up the increments of entries for which `uid` gives a user, by user and span. Sums of squares and bounds are those
    /// of all calls of the entries. An increment stays as it is if its sum with others is no number of a column, or if one of
    /// its operations is in another unit than theirs.
    ///
    /// # Errors
    /// Returns [`CompareError::OutOfMemory`] if the memory is short.
    pub fn fold(
        &mut self,
        uid: impl Fn(&str) -> Option<u32>,
        pause: Pause<'_>,
    ) -> Result<(), CompareError> {
        self.increments = folded(mem::take(&mut self.increments), uid, pause)?;
        Ok(())
    }
}

fn folded<'a>(
    increments: Vec<Increment<'a>>,
    uid: impl Fn(&str) -> Option<u32>,
    pause: Pause<'_>,
) -> Result<Vec<Increment<'a>>, TryReserveError> {
    let mut sums: BTreeMap<(u32, Micros, Micros), Sum<'a>> = BTreeMap::new();
    let mut others = Vec::new();
    others.try_reserve(increments.len())?;
    for increment in pause.among(increments) {
        let Some(uid) = uid(increment.id) else {
            others.push(increment);
            continue;
        };
        let details = details(&increment);
        let key = (uid, increment.since, increment.time);
        match sums.get_mut(&key) {
            None => {
                let folded = Some(uid);
                let increment = Increment {
                    folded,
                    ..increment
                };
                sums.insert(key, Sum { increment, details });
            }
            Some(sum) => others.extend(sum.add(increment, details).err()),
        }
    }
    others.try_reserve(sums.len())?;
    others.extend(sums.into_values().map(Sum::into_increment));
    Ok(others)
}

/// The sum of increments of one user and span.
struct Sum<'a> {
    /// The sum, but for its details.
    increment: Increment<'a>,
    details: Details<'static>,
}

impl<'a> Sum<'a> {
    /// Adds an increment, or gives it back if it cannot be added.
    fn add(
        &mut self,
        increment: Increment<'a>,
        details: Details<'static>,
    ) -> Result<(), Increment<'a>> {
        let sums = || {
            let (sum, other) = (&self.increment, &increment);
            Some((
                totals(&sum.totals, &other.totals)?,
                histograms(&sum.read_histogram, &other.read_histogram)?,
                histograms(&sum.write_histogram, &other.write_histogram)?,
                both(&self.details, &details)?,
            ))
        };
        let Some((totals, read_histogram, write_histogram, details)) = sums() else {
            return Err(increment);
        };
        let sum = &mut self.increment;
        sum.line = sum.line.min(increment.line);
        sum.id = sum.id.min(increment.id);
        sum.reset |= increment.reset;
        sum.last_active = sum.last_active.max(increment.last_active);
        (sum.totals, sum.read_histogram, sum.write_histogram) =
            (totals, read_histogram, write_histogram);
        self.details = details;
        Ok(())
    }

    fn into_increment(self) -> Increment<'a> {
        let mut details: Vec<_> = self.details.into_iter().collect();
        let totals = &self.increment.totals;
        leave_out(&mut details, |column| growth(totals, column));
        let details: BTreeMap<_, _> = details.into_iter().collect();
        let detail = (!details.is_empty()).then(|| serde_json::to_string(&details));
        Increment {
            detail: detail.and_then(Result::ok),
            ..self.increment
        }
    }
}

fn growth(totals: &[(Column, i64)], column: Column) -> Option<i64> {
    let mut totals = totals.iter();
    totals.find_map(|(of, growth)| (*of == column).then_some(*growth))
}

/// Returns the details of an increment with all that follows from its columns.
fn details(increment: &Increment<'_>) -> Details<'static> {
    let parsed = increment.detail.as_deref().map(serde_json::from_str);
    let mut details: Details<'static> = parsed.and_then(Result::ok).unwrap_or_default();
    let grown = |column| {
        let growth = growth(&increment.totals, column);
        growth.and_then(|growth| u64::try_from(growth).ok())
    };
    for (index, operation) in OPERATIONS.iter().enumerate() {
        let Some((columns, calls)) =
            Columns::of(index).and_then(|columns| Some((columns, grown(columns.calls)?)))
        else {
            continue;
        };
        let sum = grown(columns.sum).unwrap_or(0);
        let are_alike = details.get(operation.name).is_some_and(Detail::is_empty);
        let detail = details.entry(Cow::Borrowed(operation.name)).or_default();
        detail.sumsq.get_or_insert(squares_of(calls, sum));
        if are_alike {
            (detail.min, detail.max) = (Some(sum / calls), Some(sum / calls));
        }
    }
    details
}

fn totals(one: &[(Column, i64)], other: &[(Column, i64)]) -> Option<Vec<(Column, i64)>> {
    let mut sums = one.to_vec();
    for (column, growth) in other {
        match sums.iter_mut().find(|(of, _)| of == column) {
            Some((_, sum)) => *sum = believed(sum.checked_add(*growth)?)?,
            None => sums.push((*column, *growth)),
        }
    }
    Some(sums)
}

fn believed(sum: i64) -> Option<i64> {
    (sum < TOO_LARGE).then_some(sum)
}

/// Returns the sum of two histograms; `None` if an element would be too large.
fn histograms(one: &Histogram, other: &Histogram) -> Option<Histogram> {
    let (Some(one), Some(other)) = (one, other) else {
        return Some(one.clone().or_else(|| other.clone()));
    };
    let mut sum = one.clone();
    for (sum, growth) in sum.iter_mut().zip(other.iter()) {
        *sum = believed(sum.checked_add(*growth)?)?;
    }
    Some(Some(sum))
}

/// Returns the details of two increments together; `None` if they do not fit together.
fn both(one: &Details<'static>, other: &Details<'static>) -> Option<Details<'static>> {
    let mut all = BTreeMap::new();
    for name in one.keys().chain(other.keys()) {
        let detail = match (one.get(name), other.get(name)) {
            (Some(one), Some(other)) => together(one, other)?,
            (one, other) => one.or(other)?.clone(),
        };
        all.insert(name.clone(), detail);
    }
    Some(all)
}

/// Returns the detail of an operation in two increments together.
fn together(one: &Detail, other: &Detail) -> Option<Detail> {
    let sum = |one: Option<u64>, other: Option<u64>| -> Option<Option<u64>> {
        match (one, other) {
            (Some(one), Some(other)) => Some(Some(one.checked_add(other)?)),
            _ => Some(one.or(other)),
        }
    };
    if one.unit != other.unit || one.is_counted() != other.is_counted() {
        return None;
    }
    let squares = one.sumsq.into_iter().chain(other.sumsq);
    Some(Detail {
        hist: elements(one.hist.as_deref(), other.hist.as_deref())?,
        max: one.max.max(other.max),
        min: one.min.into_iter().chain(other.min).min(),
        samples: sum(one.samples, other.samples)?,
        sum: sum(one.sum, other.sum)?,
        sumsq: squares.reduce(u64::wrapping_add),
        unit: one.unit.clone(),
    })
}

fn elements(one: Option<&[u64]>, other: Option<&[u64]>) -> Option<Option<Vec<u64>>> {
    let (Some(one), Some(other)) = (one, other) else {
        return Some(one.or(other).map(<[u64]>::to_vec));
    };
    let length = one.len().max(other.len());
    let of = |elements: &[u64], at: usize| elements.get(at).copied().unwrap_or(0);
    let sums = (0..length).map(|at| of(one, at).checked_add(of(other, at)));
    sums.collect::<Option<Vec<_>>>().map(Some)
}
