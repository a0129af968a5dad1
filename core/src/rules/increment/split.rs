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
pub fn split(mut whole: Increment<'_>) -> impl Iterator<Item = Increment<'_>> {
    let (since, time) = (whole.since, whole.time);
    // A row without a length stays, too.
    let without_length = (since >= time).then_some((since, time));
    let spans = spans(since, time, edge_distance(since, time)).chain(without_length);
    spans.filter_map(move |span| part(&mut whole, span))
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

/// Returns the part of a row in a span, if anything was counted there. The last part is never empty: a floor before the end stays
/// below the value.
fn part<'a>(whole: &mut Increment<'a>, (from, until): Span) -> Option<Increment<'a>> {
    // Most rows have one part.
    if (from, until) == (whole.since, whole.time) {
        return Some(std::mem::take(whole));
    }
    let is_last = until == whole.time;
    let share = |value| share(value, whole.since, whole.time, from, until);
    let histograms = whole.histograms.as_ref().map(|it| it.map(share));
    let histograms = histograms.filter(|it| is_last || it.iter().any(|count| *count != 0));
    let totals = whole.totals.iter();
    let totals = totals.map(|&(column, total)| (column, share(total)));
    let totals: Vec<_> = totals.filter(|&(_, total)| total != 0).collect();
    let is_empty = totals.is_empty() && histograms.is_none();
    (is_last || !is_empty).then(|| Increment {
        line: whole.line,
        id: whole.id,
        folded: whole.folded,
        since: from,
        time: until,
        reset: std::mem::take(&mut whole.reset),
        last_active: whole.last_active.filter(|&at| is_last || at < until),
        totals,
        histograms: histograms.map(Box::new),
        detail: whole.detail.take_if(|_| is_last),
    })
}
