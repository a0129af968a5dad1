//! The spans of time for which a source of jobs is complete.
//!
//! A text covers a span: the sender states it, or the text is a piece of a growing file, whose records show it. The union
//! of the spans of all texts is kept, so that the order in which they come does not matter.

use super::Job;
use crate::base::instant::{MINUTE, Micros};

/// The shortest gap that parts two spans. It limits how many spans there can be, whatever senders state.
pub const GAP: Micros = MINUTE;

/// A span of time. It ends at its start if it is known by one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The start.
    pub since: Micros,
    /// The end.
    pub until: Micros,
}

impl Span {
    /// Returns the part of a span that a text read at `latest` can cover; `None` if that is empty.
    pub fn stated(since: Micros, until: Micros, latest: Micros) -> Option<Self> {
        let until = until.min(latest);
        (since < until).then_some(Self { since, until })
    }

    /// Returns the span that also has the time between it and the end of the piece before. The file did not grow in
    /// between.
    pub fn after(self, end_before: Option<Micros>) -> Self {
        let since = end_before.map_or(self.since, |end| end.min(self.since));
        Self { since, ..self }
    }

    /// Returns the span from the end of this piece to the end of the next one; `None` if the next one ends no later.
    pub fn between(end: Micros, next_end: Micros) -> Option<Self> {
        Self::stated(end, next_end, Micros::MAX)
    }

    fn joins(self, other: Self) -> bool {
        let gap = |end: Micros, start: Micros| start.saturating_sub(end);
        gap(self.until, other.since) < GAP && gap(other.until, self.since) < GAP
    }
}

/// The times that the records of a text are about.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecordTimes {
    span: Option<Span>,
    /// A job has ended.
    is_ended: bool,
}

impl RecordTimes {
    /// Adds a record. Its time is the end of its run or, if it has not ended, the start. Records of jobs that did not begin
    /// are ignored: some have only the time of submission, which may be months ago.
    pub fn add(&mut self, job: &Job<'_>) {
        let Some(started) = job.started else {
            return;
        };
        let time = job.ended.unwrap_or(started);
        self.is_ended |= job.ended.is_some();
        let times = self.span.get_or_insert(Span {
            since: time,
            until: time,
        });
        times.since = times.since.min(time);
        times.until = times.until.max(time);
    }

    /// Returns the span of the records, cut at `latest`.
    pub fn span(self, latest: Micros) -> Option<Span> {
        self.span.map(|times| Span {
            since: times.since.min(latest),
            until: times.until.min(latest),
        })
    }

    /// Returns whether jobs ended before a span, but no job ended or began later: a text of the jobs that ran during the
    /// span is then read in the wrong time zone.
    pub fn lies_before(self, since: Micros) -> bool {
        let latest = since.saturating_sub(GAP);
        self.is_ended && self.span.is_some_and(|times| times.until < latest)
    }
}

/// Adds a span to the union. `near` are the spans of the union that begin or end less than [`GAP`] from it, or have a part of
/// it; no two spans of a union are as near as that. Returns the span that replaces all these; `None` if nothing changes.
pub fn union(span: Span, near: &[Span]) -> Option<Span> {
    let mut near = near.iter().filter(|other| span.joins(**other)).peekable();
    let has_all = |other: &&Span| other.since <= span.since && span.until <= other.until;
    if near.peek().is_some_and(has_all) {
        return None;
    }
    Some(near.fold(span, |all, other| Span {
        since: all.since.min(other.since),
        until: all.until.max(other.until),
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::instant::{DAY, SECOND};

    fn span(since: Micros, until: Micros) -> Span {
        Span { since, until }
    }

    /// A union as the store keeps it.
    #[derive(Debug, Default, PartialEq)]
    struct Union(Vec<Span>);

    impl Union {
        fn add(&mut self, new: Span) {
            let reach = span(new.since - GAP, new.until + GAP);
            let is_near = |it: &Span| it.until >= reach.since && it.since <= reach.until;
            let near: Vec<Span> = self.0.iter().copied().filter(is_near).collect();
            if let Some(all) = union(new, &near) {
                self.0.retain(|it| !near.contains(it) || !new.joins(*it));
                self.0.push(all);
                self.0.sort();
            }
        }
    }

    /// Adds the pieces of a file in some order, as feeds do: each knows the pieces that have come already.
    fn of_pieces(pieces: impl IntoIterator<Item = (usize, Span)>) -> Union {
        let mut known: Vec<(usize, Micros)> = Vec::new();
        let mut covered = Union::default();
        for (number, span) in pieces {
            let end = |found: Option<&(usize, Micros)>| found.map(|(_, end)| *end);
            let before = end(known.iter().filter(|(it, _)| *it < number).max());
            let next = end(known.iter().filter(|(it, _)| *it > number).min());
            covered.add(span.after(before));
            if let Some(gap) = next.and_then(|next| Span::between(span.until, next)) {
                covered.add(gap);
            }
            known.push((number, span.until));
        }
        covered
    }

    #[test]
    fn stated_span_ends_when_the_text_was_read() {
        assert_eq!(Span::stated(10, 30, 20), Some(span(10, 20)));
        assert_eq!(Span::stated(10, 20, 30), Some(span(10, 20)));
        assert_eq!(Span::stated(20, 30, 20), None);
        assert_eq!(Span::stated(30, 10, 20), None);
    }

    #[test]
    fn spans_join_if_less_than_a_minute_lies_between_them() {
        let mut covered = Union::default();
        covered.add(span(0, MINUTE));
        covered.add(span(2 * MINUTE, 3 * MINUTE));
        assert_eq!(covered.0.len(), 2);
        covered.add(span(4 * MINUTE - 1, 5 * MINUTE));
        assert_eq!(covered.0, [span(0, MINUTE), span(2 * MINUTE, 5 * MINUTE)]);
        covered.add(span(MINUTE, MINUTE + 1));
        assert_eq!(covered.0, [span(0, 5 * MINUTE)]);
        assert_eq!(union(span(MINUTE, 2 * MINUTE), &covered.0), None);
    }

    #[test]
    fn piece_of_a_file_covers_the_time_since_the_piece_before() {
        let first = span(DAY, DAY + 10 * MINUTE);
        assert_eq!(first.after(None), first);
        let second = span(DAY + 50 * MINUTE, DAY + 70 * MINUTE);
        let whole = span(first.until, second.until);
        assert_eq!(second.after(Some(first.until)), whole);
        // A file that was read once more from its start.
        assert_eq!(first.after(Some(second.until)), first);
    }

    #[test]
    fn record_of_a_job_that_did_not_begin_tells_no_time() {
        let mut times = RecordTimes::default();
        times.add(&Job {
            submitted: Some(SECOND),
            ..Job::default()
        });
        assert_eq!(times.span(DAY), None);
        let job = |started, ended| Job {
            started: Some(started),
            ended,
            ..Job::default()
        };
        times.add(&job(10 * SECOND, None));
        times.add(&job(5 * SECOND, Some(30 * SECOND)));
        assert_eq!(times.span(DAY), Some(span(10 * SECOND, 30 * SECOND)));
        assert_eq!(
            times.span(20 * SECOND),
            Some(span(10 * SECOND, 20 * SECOND))
        );
    }

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        let span = (0..40_i64, 0..10_i64).prop_map(|(since, long)| {
            let unit = MINUTE / 2;
            span(since * unit, (since + long) * unit)
        });
        prop::collection::vec(span, 0..12)
    }

    proptest! {
        #[test]
        fn order_of_spans_does_not_matter((spans, shuffled) in spans().prop_flat_map(|spans| {
            (Just(spans.clone()), Just(spans).prop_shuffle())
        })) {
            let (mut one, mut other) = (Union::default(), Union::default());
            spans.iter().for_each(|it| one.add(*it));
            shuffled.iter().for_each(|it| other.add(*it));
            prop_assert_eq!(&one, &other);
            // Spans are apart, and no instant of any is lost.
            prop_assert!(one.0.windows(2).all(|two| two[1].since - two[0].until >= GAP));
            let is_held = |it: &Span| one.0.iter().any(|held| held.since <= it.since && it.until <= held.until);
            prop_assert!(spans.iter().all(is_held));
        }

        #[test]
        fn order_of_pieces_does_not_matter((pieces, shuffled) in spans().prop_flat_map(|spans| {
            let pieces: Vec<_> = spans.into_iter().enumerate().collect();
            (Just(pieces.clone()), Just(pieces).prop_shuffle())
        })) {
            prop_assert_eq!(of_pieces(pieces), of_pieces(shuffled));
        }
    }
}
