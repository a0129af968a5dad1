//! Splits an increment at edges in time, into whole numbers that add up.
//!
//! The growth of a row in (since, time] is taken to have happened evenly. The growth up to an instant x inside is
//! floor(value · (x − since) ÷ (time − since)). A part is the difference of two such floors, so that adjacent parts add
//! up to the whole, whatever the edges between them are.

use super::Increment;
use crate::base::instant::{DAY, HOUR, MINUTE, Micros, Span};

#[cfg(test)]
mod tests;

/// The width of the buckets of the narrowest rollup.
const NARROWEST: Micros = 10 * MINUTE;

/// Returns the part of a row's value, counted in (since, time], that lies in (from, until].
pub fn share(value: i64, since: Micros, time: Micros, from: Micros, until: Micros) -> i64 {
    if from >= until {
        return 0;
    }
    until_instant(value, since, time, until) - until_instant(value, since, time, from)
}

/// Returns the part of a row's value that lies at or before an instant.
fn until_instant(value: i64, since: Micros, time: Micros, instant: Micros) -> i64 {
    if instant >= time {
        return value;
    }
    if instant <= since {
        return 0;
    }
    let [value, since, time, instant] = [value, since, time, instant].map(i128::from);
    let floor = (value * (instant - since)).div_euclid(time - since);
    // The result is at most the value, which is an i64.
    floor as i64
}

/// Returns the distance of the edges that a row of (since, time] may not cross: the edges of the narrowest rollup, and
/// coarser ones after a long gap. Otherwise a gap of 90 days would turn each increment into 12,960 unrelated rows.
pub const fn edge_distance(since: Micros, time: Micros) -> Micros {
    match time.saturating_sub(since) {
        gap if gap > DAY => DAY,
        gap if gap > 6 * HOUR => HOUR,
        _ => NARROWEST,
    }
}

/// A span in which rows may cross the edges of the narrowest rollup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coarse {
    /// The span, which begins and ends at multiples of `width`.
    pub span: Span,
    /// The width of the finest rollup whose edges the rows do not cross.
    pub width: Micros,
}

/// Returns the latest end of a row that begins before an instant and ends after it: the next multiple of ten minutes
/// or, in [coarse](Coarse) spans, the instant plus their width.
pub fn reach(instant: Micros, coarse: &[Coarse]) -> Micros {
    let is_inside = |coarse: &&Coarse| coarse.span.0 < instant && instant < coarse.span.1;
    let width = coarse.iter().filter(is_inside).map(|coarse| coarse.width);
    match width.max() {
        Some(width) => instant.saturating_add(width),
        None => next_edge(instant.saturating_sub(1), NARROWEST),
    }
}

/// Divides a row at the edges that it crosses: multiples of [`edge_distance`] since 1970-01-01 00:00 UTC.
///
/// Returns the parts in order, without empty parts. An edge belongs to the part before it. The first part has `reset`, the last part
/// has `detail`. `last_active` is with the last part and with each that ends after it, so that no part lasts longer than the entry was
/// active.
pub fn split(increment: Increment<'_>) -> Parts<'_> {
    Parts {
        distance: edge_distance(increment.since, increment.time),
        from: increment.since,
        rest: Some(increment),
    }
}

/// The parts of a row; see [`split`].
#[derive(Debug)]
pub struct Parts<'a> {
    distance: Micros,
    /// The beginning of the next part.
    from: Micros,
    /// The whole row, until its last part has been returned.
    rest: Option<Increment<'a>>,
}

impl<'a> Iterator for Parts<'a> {
    type Item = Increment<'a>;

    fn next(&mut self) -> Option<Increment<'a>> {
        loop {
            let whole = self.rest.as_mut()?;
            let from = self.from;
            let edge = next_edge(from, self.distance);
            if edge >= whole.time {
                return self.rest.take().map(|whole| last_part(whole, from));
            }
            self.from = edge;
            if let Some(mut part) = inner_part(whole, from, edge) {
                part.reset = std::mem::take(&mut whole.reset);
                return Some(part);
            }
        }
    }
}

/// Returns the spans into which the multiples of `distance` divide (since, time], in order.
pub fn spans(since: Micros, time: Micros, distance: Micros) -> impl Iterator<Item = Span> {
    let mut from = since;
    std::iter::from_fn(move || {
        let span = (from, next_edge(from, distance).min(time));
        from = span.1;
        (span.0 < time).then_some(span)
    })
}

/// Returns the first multiple of `distance` after an instant.
fn next_edge(instant: Micros, distance: Micros) -> Micros {
    (instant.div_euclid(distance) + 1).saturating_mul(distance)
}

/// Returns the part of a row in (from, until], if anything was counted there.
fn inner_part<'a>(whole: &Increment<'a>, from: Micros, until: Micros) -> Option<Increment<'a>> {
    let share = |value| share(value, whole.since, whole.time, from, until);
    let histograms = whole.histograms.as_ref().map(|it| it.map(share));
    let histograms = histograms.filter(|it| it.iter().any(|count| *count != 0));
    let totals: Vec<_> = whole
        .totals
        .iter()
        .map(|&(column, total)| (column, share(total)))
        .filter(|&(_, total)| total != 0)
        .collect();
    let is_empty = totals.is_empty() && histograms.is_none();
    (!is_empty).then_some(Increment {
        line: whole.line,
        id: whole.id,
        folded: whole.folded,
        since: from,
        time: until,
        reset: false,
        last_active: whole.last_active.filter(|&at| at < until),
        totals,
        histograms: histograms.map(Box::new),
        detail: None,
    })
}

/// Returns the part of a row after `from`. This part is never empty: a floor before the end stays below the value.
fn last_part(mut whole: Increment<'_>, from: Micros) -> Increment<'_> {
    if from > whole.since {
        let (since, time) = (whole.since, whole.time);
        let share = |value: &mut i64| *value = share(*value, since, time, from, time);
        let totals = whole.totals.iter_mut().map(|(_, total)| total);
        let counts = whole.histograms.iter_mut().flat_map(|it| it.iter_mut());
        totals.chain(counts).for_each(share);
        whole.since = from;
    }
    whole
}
