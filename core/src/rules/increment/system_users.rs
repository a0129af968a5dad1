//! Adds up the work of all entries of a user in one text: the setting `fold_uids_below`.
//!
//! System users have as many entries as there are nodes and programs, and single ones of these are of no interest. Their
//! increments are added up after all entries were compared one by one, so that births and resets are seen as ever. Increments
//! that begin at different times are divided first as they are when they are stored, so that the buckets of rollups are as
//! without the setting.

use std::borrow::Cow;
use std::collections::{BTreeMap, TryReserveError};
use std::mem;

use super::detail::{Columns, squares_of, stays};
use super::packed::{Details, Histograms, OperationName, pack, unpack};
use super::row::TOO_LARGE;
use super::{Column, Comparison, Detail, Increment, edge_distance, split};
use crate::base::instant::Micros;
use crate::base::operation::OPERATIONS;
use crate::base::pause::Pause;
use crate::identity::entry_id::folded_name;

#[cfg(test)]
mod tests;

/// The totals and the histograms of increments.
type Counted = (Vec<(Column, i64)>, Option<Box<Histograms>>);

/// The entries that are added up in an increment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folded {
    /// Their user.
    pub uid: u32,
    /// The time of the observation, at which the increment need not end.
    pub observed: Micros,
}

impl<'a> Increment<'a> {
    /// Returns the name of the entry to which the increment belongs.
    pub fn entry(&self) -> Cow<'a, str> {
        match self.folded {
            Some(Folded { uid, .. }) => Cow::Owned(folded_name(uid)),
            None => Cow::Borrowed(self.id),
        }
    }

    /// Returns the time of the observation, if the increment has not been split.
    pub fn observed(&self) -> Micros {
        self.folded.map_or(self.time, |folded| folded.observed)
    }
}

impl Comparison<'_> {
    /// Adds up the increments of entries with a user by `uid`: one for each user and bucket of the narrowest rollup. Sums of
    /// squares and bounds include all calls of the entries. An increment stays as it is if its sum with others does not fit
    /// a column, or if one of its operations is in another unit than theirs.
    ///
    /// # Errors
    /// [`TryReserveError`] if the memory is short.
    pub fn fold(
        &mut self,
        uid: impl Fn(&str) -> Option<u32>,
        pause: Pause<'_>,
    ) -> Result<(), TryReserveError> {
        let mut sums: BTreeMap<u32, Sum<'_>> = BTreeMap::new();
        let increments = mem::take(&mut self.increments);
        self.increments.try_reserve(increments.len())?;
        for increment in pause.among(increments) {
            let alone = match uid(increment.id) {
                None => Some(increment),
                Some(uid) => sums.entry(uid).or_default().add(uid, increment),
            };
            self.increments.extend(alone);
        }
        for sum in sums.into_values() {
            self.increments.try_reserve(sum.parts.len())?;
            self.increments.extend(sum.into_increments());
        }
        Ok(())
    }
}

/// The sum of the increments of one user.
#[derive(Default)]
struct Sum<'a> {
    /// The parts by the distance of the edges that they do not cross, and by the bucket between such edges.
    parts: BTreeMap<(Micros, i64), Increment<'a>>,
    /// The counts of all parts together.
    all: Increment<'a>,
    details: Details,
}

impl<'a> Sum<'a> {
    /// Adds an increment, or gives it back if it cannot be added.
    fn add(&mut self, uid: u32, increment: Increment<'a>) -> Option<Increment<'a>> {
        let counted = counted(&self.all, &increment);
        let details = both(&self.details, &details(&increment));
        let (Some(counted), Some(details)) = (counted, details) else {
            return Some(increment);
        };
        (self.all.totals, self.all.histograms) = counted;
        self.details = details;
        let observed = increment.time;
        let distance = edge_distance(increment.since, increment.time);
        for mut part in split(increment) {
            part.folded = Some(Folded { uid, observed });
            part.detail = None;
            let key = (distance, (part.time - 1).div_euclid(distance));
            match self.parts.get_mut(&key) {
                Some(sum) => sum.take_in(part),
                None => {
                    self.parts.insert(key, part);
                }
            }
        }
        None
    }

    /// Returns the parts. The last one has the details of all.
    fn into_increments(mut self) -> impl Iterator<Item = Increment<'a>> {
        let totals = &self.all.totals;
        self.details.retain(|name, it| stays(name, it, totals));
        let mut detail = pack(&self.details);
        self.parts.into_values().map(move |part| Increment {
            detail: detail.take_if(|_| part.time == part.observed()),
            ..part
        })
    }
}

impl<'a> Increment<'a> {
    /// Adds another part of the same bucket. Its counts fit, because the counts of all parts together do.
    fn take_in(&mut self, part: Increment<'a>) {
        self.line = self.line.min(part.line);
        self.id = self.id.min(part.id);
        self.since = self.since.min(part.since);
        self.time = self.time.max(part.time);
        self.reset |= part.reset;
        // A part without it was active until its end.
        let both = self.last_active.zip(part.last_active);
        self.last_active = both.map(|(one, other)| one.max(other));
        (self.totals, self.histograms) = counted(self, &part).unwrap_or_default();
    }
}

/// Returns the details of an increment with all that follows from its columns.
fn details(increment: &Increment<'_>) -> Details {
    let packed = increment.detail.as_deref();
    let mut details = packed.and_then(unpack).unwrap_or_default();
    for index in 0..OPERATIONS.len() {
        let columns = Columns::of(index);
        let Some((calls, sum)) = columns.and_then(|it| it.grown(&increment.totals)) else {
            continue;
        };
        let name = OperationName::Listed(index);
        let are_alike = details.get(&name).is_some_and(Detail::is_empty);
        let detail = details.entry(name).or_default();
        detail.sumsq.get_or_insert(squares_of(calls, sum));
        if are_alike {
            (detail.min, detail.max) = (Some(sum / calls), Some(sum / calls));
        }
    }
    details
}

/// Returns the counts of two increments together; `None` if one of the numbers would be too large.
fn counted(one: &Increment<'_>, other: &Increment<'_>) -> Option<Counted> {
    let mut sums = one.totals.clone();
    for (column, growth) in &other.totals {
        match sums.iter_mut().find(|(of, _)| of == column) {
            Some((_, sum)) => *sum = believed(*sum, *growth)?,
            None => sums.push((*column, *growth)),
        }
    }
    sums.sort_unstable();
    let histograms = histograms(&one.histograms, &other.histograms, believed)?;
    Some((sums, histograms))
}

/// Adds two numbers. A sum of increments is an increment, so it is believed up to the same limit.
fn believed(one: i64, other: i64) -> Option<i64> {
    let sum = one.checked_add(other)?;
    (sum < TOO_LARGE.cast_signed()).then_some(sum)
}

/// Returns the details of two increments together; `None` if they do not fit together.
fn both(one: &Details, other: &Details) -> Option<Details> {
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

/// Returns the detail of an operation in two increments together; `None` if they do not fit together.
pub fn together(one: &Detail, other: &Detail) -> Option<Detail> {
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
        hist: histograms(&one.hist, &other.hist, u64::checked_add)?,
        max: one.max.max(other.max),
        min: one.min.into_iter().chain(other.min).min(),
        samples: sum(one.samples, other.samples)?,
        sum: sum(one.sum, other.sum)?,
        sumsq: squares.reduce(u64::wrapping_add),
        unit: one.unit,
    })
}

/// Returns the sum of two histograms; `None` if `add` fails for two elements.
fn histograms<T: Copy, const N: usize>(
    one: &Option<Box<[T; N]>>,
    other: &Option<Box<[T; N]>>,
    add: impl Fn(T, T) -> Option<T>,
) -> Option<Option<Box<[T; N]>>> {
    let (Some(one), Some(other)) = (one, other) else {
        return Some(one.clone().or_else(|| other.clone()));
    };
    let mut sum = one.clone();
    for (sum, growth) in sum.iter_mut().zip(other.iter()) {
        *sum = add(*sum, *growth)?;
    }
    Some(Some(sum))
}
