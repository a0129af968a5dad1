//! Which rollup answers for which part of a window.
//!
//! A bucket of a rollup can stand for its rows where no edge of the question lies inside of it and where the rollup is up
//! to date. The coarsest rollup that can takes a part, the finer ones what is left, and the increments the rest, as far
//! back as they are kept. What is older and in no rollup is lost.

use crate::increment::Micros;

#[cfg(test)]
mod tests;

/// What lies after the first instant, up to and including the second.
pub type Span = (Micros, Micros);

/// A rollup.
#[derive(Debug, Clone, Default)]
pub struct Level {
    /// Width of its buckets, which begin at multiples of it.
    pub width: Micros,
    /// Since when it is kept.
    pub since: Micros,
    /// Up to where it has been computed.
    pub until: Micros,
    /// Spans in which it cannot be relied on, in any order.
    pub stale: Vec<Span>,
}

impl Level {
    /// The whole buckets that a span touches.
    fn touched(&self, (from, to): Span) -> Span {
        (floor(from, self.width), ceil(to, self.width))
    }

    /// The whole buckets in a span.
    fn inside(&self, (from, to): Span) -> Span {
        (
            ceil(from.max(self.since), self.width),
            floor(to.min(self.until), self.width),
        )
    }
}

/// What answers for which part of a window. All spans are in order, none touches the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Division {
    /// For each of the levels.
    pub levels: Vec<Vec<Span>>,
    /// For increments.
    pub rest: Vec<Span>,
    /// For nothing: finer than what is still kept.
    pub lost: Vec<Span>,
}

/// Divides a window, of which the edges of all steps are given in order, among levels, coarsest first, and increments that
/// are kept since an instant.
pub fn divide(edges: &[Micros], levels: &[Level], kept_since: Micros) -> Division {
    let steps = edges.windows(2).map(|step| (step[0], step[1]));
    let mut rest: Vec<Span> = steps.filter(|(from, to)| from < to).collect();
    let mut taken = Vec::with_capacity(levels.len());
    for level in levels {
        let stale = level
            .stale
            .iter()
            .map(|span| level.touched(*span))
            .collect();
        let stale = joined(stale);
        let (mut spans, mut left) = (Vec::new(), Vec::new());
        for span in rest {
            let mut from = span.0;
            for fresh in without(level.inside(span), &stale) {
                left.push((from, fresh.0));
                spans.push(fresh);
                from = fresh.1;
            }
            left.push((from, span.1));
        }
        left.retain(|(from, to)| from < to);
        taken.push(joined(spans));
        rest = left;
    }
    let rest = joined(rest);
    let lost = rest.iter().map(|(from, to)| (*from, *to.min(&kept_since)));
    let kept = rest.iter().map(|(from, to)| (*from.max(&kept_since), *to));
    let real = |(from, to): &Span| from < to;
    Division {
        levels: taken,
        lost: lost.filter(real).collect(),
        rest: kept.filter(real).collect(),
    }
}

/// The parts of a span that lie in none of others, which are joined.
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

/// The same spans in order, those that touch as one.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
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
    instant - instant.rem_euclid(width)
}

fn ceil(instant: Micros, width: Micros) -> Micros {
    floor(instant.saturating_add(width - 1), width)
}
