//! Assigns parts of a window to rollups.
//!
//! A bucket of a rollup can replace its rows if no edge of the question lies inside of the bucket and if the rollup is
//! up to date there. Each part of a window is read from the coarsest rollup that can answer, then from finer ones, and
//! the rest from the increments, as far back as they are kept. For older data, the finest rollup that is kept gives
//! parts of its buckets, interpolated as if everything in a bucket had happened evenly.

use crate::base::instant::{Micros, Span};

#[cfg(test)]
mod tests;

/// The times that a rollup covers.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// The width of its buckets, which begin at multiples of the width.
    pub width: Micros,
    /// The time since which the rollup is kept.
    pub since: Micros,
    /// The time up to which the rollup has been computed.
    pub until: Micros,
    /// The spans in which the rollup cannot be relied on, in any order.
    pub stale: Vec<Span>,
}

impl Coverage {
    /// Returns the buckets that cannot be relied on.
    fn stale(&self) -> Vec<Span> {
        let touched = |&(from, to): &Span| (floor(from, self.width), ceil(to, self.width));
        joined(self.stale.iter().map(touched).collect())
    }

    /// Returns the whole buckets in a span.
    fn inside(&self, (from, to): Span) -> Span {
        (
            ceil(from.max(self.since), self.width),
            floor(to.min(self.until), self.width),
        )
    }
}

/// The sources that answer for the parts of a window. All spans are in order and do not touch each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Division {
    /// The spans of whole buckets to read from each rollup.
    pub whole: Vec<Vec<Span>>,
    /// The spans to read from increments.
    pub rest: Vec<Span>,
    /// The spans to read from each rollup that may be parts of buckets.
    pub parts: Vec<Vec<Span>>,
    /// The spans without data.
    pub lost: Vec<Span>,
}

/// Divides a window among rollups, coarsest first, and increments that are kept since an instant. `edges` are the edges
/// of all steps of the window, in order.
pub fn divide(edges: &[Micros], rollups: &[Coverage], kept_since: Micros) -> Division {
    let steps = edges.windows(2).map(|step| (step[0], step[1]));
    let mut rest: Vec<Span> = steps.filter(|(from, to)| from < to).collect();
    let mut whole = Vec::with_capacity(rollups.len());
    for rollup in rollups {
        let stale = rollup.stale();
        let taken;
        (taken, rest) = take(rest, |span| without(rollup.inside(span), &stale));
        whole.push(taken);
    }
    let (rest, mut lost) = take(joined(rest), |(from, to)| vec![(from.max(kept_since), to)]);
    let mut parts = vec![Vec::new(); rollups.len()];
    for (rollup, parts) in rollups.iter().zip(&mut parts).rev() {
        let (stale, kept) = (rollup.stale(), rollup.inside((Micros::MIN, Micros::MAX)));
        let both = |(from, to): Span| (from.max(kept.0), to.min(kept.1));
        (*parts, lost) = take(lost, |span| without(both(span), &stale));
    }
    Division {
        whole,
        rest,
        parts,
        lost: joined(lost),
    }
}

/// Takes parts out of spans. Returns the parts, and the rest of the spans.
fn take(spans: Vec<Span>, parts: impl Fn(Span) -> Vec<Span>) -> (Vec<Span>, Vec<Span>) {
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    for span in spans {
        let mut from = span.0;
        for part in parts(span).into_iter().filter(|(from, to)| from < to) {
            left.push((from, part.0));
            taken.push(part);
            from = part.1;
        }
        left.push((from, span.1));
    }
    left.retain(|(from, to)| from < to);
    (joined(taken), left)
}

/// Returns the parts of a span outside of `others`, which are joined.
fn without((from, to): Span, others: &[Span]) -> Vec<Span> {
    let mut parts = Vec::new();
    let mut begin = from;
    let first = others.partition_point(|other| other.1 <= from);
    for other in others[first..].iter().take_while(|other| other.0 < to) {
        parts.push((begin, other.0));
        begin = other.1;
    }
    parts.push((begin, to));
    parts.retain(|(from, to)| from < to);
    parts
}

/// Returns the spans in order, with spans that touch joined.
pub fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    spans.dedup_by(|next, span| {
        let touches = next.0 <= span.1;
        if touches {
            span.1 = span.1.max(next.1);
        }
        touches
    });
    spans
}

fn floor(instant: Micros, width: Micros) -> Micros {
    instant.saturating_sub(instant.rem_euclid(width))
}

fn ceil(instant: Micros, width: Micros) -> Micros {
    floor(instant.saturating_add(width - 1), width)
}
