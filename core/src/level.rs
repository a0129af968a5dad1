//! Which rollup answers for which part of a window.
//!
//! A bucket of a rollup can stand for its rows where no edge of the question lies inside of it and where the rollup is up
//! to date. The coarsest rollup that can takes a part, the finer ones what is left, and the increments the rest, as far
//! back as they are kept. Of what is older the finest rollup that is kept tells a part of a bucket, as if what was done
//! had been done evenly.

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
    /// The buckets that cannot be relied on.
    fn stale(&self) -> Vec<Span> {
        joined(self.stale.iter().map(|span| self.touched(*span)).collect())
    }

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
    /// For each of the levels, whole buckets.
    pub whole: Vec<Vec<Span>>,
    /// For increments.
    pub rest: Vec<Span>,
    /// For each of the levels, what may be parts of buckets.
    pub parts: Vec<Vec<Span>>,
    /// For nothing.
    pub lost: Vec<Span>,
}

/// Divides a window, of which the edges of all steps are given in order, among levels, coarsest first, and increments that
/// are kept since an instant.
pub fn divide(edges: &[Micros], levels: &[Level], kept_since: Micros) -> Division {
    let steps = edges.windows(2).map(|step| (step[0], step[1]));
    let mut rest: Vec<Span> = steps.filter(|(from, to)| from < to).collect();
    let mut whole = Vec::with_capacity(levels.len());
    for level in levels {
        let stale = level.stale();
        let taken;
        (taken, rest) = take(rest, |span| without(level.inside(span), &stale));
        whole.push(taken);
    }
    let (rest, mut lost) = take(joined(rest), |(from, to)| vec![(from.max(kept_since), to)]);
    let mut parts = vec![Vec::new(); levels.len()];
    for (level, parts) in levels.iter().zip(&mut parts).rev() {
        let (stale, kept) = (level.stale(), level.inside((Micros::MIN, Micros::MAX)));
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

/// Takes parts out of spans: these, and what is left.
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
    instant.saturating_sub(instant.rem_euclid(width))
}

fn ceil(instant: Micros, width: Micros) -> Micros {
    floor(instant.saturating_add(width - 1), width)
}
