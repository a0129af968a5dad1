//! Decides which observations can be computed, and how far back their rows reach.

use crate::base::instant::{DAY, Micros};
use crate::rules::increment::{Increment, Observation};

/// The predecessor with which an observation is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predecessor {
    /// No observation: the observation is a baseline.
    None,
    /// The observation before it in the store.
    Before,
    /// An observation that has been deleted.
    Gone,
}

impl Predecessor {
    /// Returns the predecessor of the observation at `time`. `before` is the time of the observation before it in the
    /// store, and `since` the time of its original predecessor. An observation that follows a gap longer than
    /// `raw_retention` is a baseline.
    pub fn of(
        before: Option<Micros>,
        time: Micros,
        since: Option<Micros>,
        raw_retention: Micros,
    ) -> Self {
        match (before, since) {
            (None, None) => Self::None,
            (None, Some(_)) => Self::Gone,
            (Some(before), None) if before < time.saturating_sub(raw_retention) => Self::None,
            (Some(_), _) => Self::Before,
        }
    }

    /// Returns whether an observation with a text can be computed, `before_is_known` being whether the text and the
    /// carried records of the observation before it can be read.
    pub const fn suffices(self, before_is_known: bool) -> bool {
        match self {
            Self::None => true,
            Self::Before => before_is_known,
            Self::Gone => false,
        }
    }
}

/// Consecutive observations that were all computed. The rows of their target observed in (after, until] belong to them,
/// and all these rows begin at or after `earliest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The key of the target.
    pub target_id: i32,
    /// The time of the observation before the first one.
    pub after: Micros,
    /// The time of the last observation.
    pub until: Micros,
    /// The earliest time at which a row begins.
    pub earliest: Micros,
}

impl Run {
    /// Adds the next observation, whose rows begin at `earliest` or later.
    pub fn extend(&mut self, time: Micros, earliest: Micros) {
        self.until = time;
        self.earliest = self.earliest.min(earliest);
    }

    /// Returns whether a row of increments belongs to the observations.
    pub const fn holds(&self, observed: Micros, end: Micros) -> bool {
        self.after < observed && observed <= self.until && self.earliest < end && end <= self.until
    }
}

/// Returns the earliest start of the rows of the observation at `time`, if the stored observations before it are right:
/// the time of the `previous` observation, or `since`, or the start of an increment. Rows of a baseline may begin a day
/// before it.
pub fn earliest_start(
    previous: Option<Micros>,
    time: Micros,
    since: Option<Micros>,
    increments: &[Increment<'_>],
) -> Micros {
    let starts = increments.iter().map(|increment| increment.since);
    let from = previous.unwrap_or(time.saturating_sub(DAY));
    starts.chain(since).fold(from, Micros::min)
}

/// Returns the earliest time at which a row of the observation at `time` may begin, if the stored observations before it
/// may themselves be wrong. It follows from the computed `previous` observation and from the stored carried records, the
/// first of which was seen at `first_seen`. If these records are damaged, it is a day earlier.
pub fn earliest_possible(
    previous: Option<&Observation<'_>>,
    time: Micros,
    since: Option<Micros>,
    first_seen: Option<Micros>,
    are_damaged: bool,
) -> Micros {
    let computed = previous.map_or(time.saturating_sub(DAY), Observation::earliest);
    let stored = match are_damaged {
        true => Some(computed.saturating_sub(DAY)),
        false => first_seen,
    };
    stored.into_iter().chain(since).fold(computed, Micros::min)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_observation_is_compared_with_the_one_before_it() {
        let of = |before, since| Predecessor::of(before, 100, since, 30);
        assert_eq!(of(Some(90), Some(90)), Predecessor::Before);
        assert_eq!(of(Some(90), Some(80)), Predecessor::Before);
        assert_eq!(of(None, Some(90)), Predecessor::Gone);
        assert_eq!(of(None, None), Predecessor::None);
        // A text after a long gap is a baseline; a baseline after a short gap is wrong.
        assert_eq!(of(Some(69), None), Predecessor::None);
        assert_eq!(of(Some(70), None), Predecessor::Before);
        assert_eq!(of(Some(69), Some(69)), Predecessor::Before);
    }

    #[test]
    fn a_baseline_needs_its_own_text_alone() {
        for is_known in [false, true] {
            assert!(Predecessor::None.suffices(is_known));
            assert_eq!(Predecessor::Before.suffices(is_known), is_known);
            assert!(!Predecessor::Gone.suffices(is_known));
        }
    }

    #[test]
    fn rows_begin_at_the_observation_before_or_where_an_increment_does() {
        let increment = |since| Increment {
            line: 1,
            id: "a",
            folded: None,
            since,
            time: 100,
            reset: false,
            last_active: None,
            totals: Vec::new(),
            histograms: None,
            detail: None,
        };
        assert_eq!(earliest_start(Some(90), 100, Some(90), &[]), 90);
        assert_eq!(earliest_start(Some(90), 100, Some(80), &[]), 80);
        let came_back = [increment(90), increment(40)];
        assert_eq!(earliest_start(Some(90), 100, Some(90), &came_back), 40);
        assert_eq!(earliest_start(None, 100, None, &[]), 100 - DAY);
    }

    #[test]
    fn rows_may_begin_where_carried_records_were_seen() {
        let previous = Observation {
            time: 90,
            server: "oss1",
            snapshot: None,
            carried: None,
        };
        let possible =
            |since, seen, damaged| earliest_possible(Some(&previous), 100, since, seen, damaged);
        assert_eq!(possible(Some(90), None, false), 90);
        assert_eq!(possible(Some(90), Some(30), false), 30);
        assert_eq!(possible(Some(20), Some(30), false), 20);
        assert_eq!(possible(Some(90), None, true), 90 - DAY);
        assert_eq!(earliest_possible(None, 100, None, None, false), 100 - DAY);
    }

    proptest! {
        /// A row is in the run exactly if it was observed and ends within it.
        #[test]
        fn a_run_holds_the_rows_of_its_observations(
            after in 0..50_i64, steps in prop::collection::vec((1..20_i64, 0..20_i64), 1..6), length in 1..90_i64,
        ) {
            let mut run = Run { target_id: 1, after, until: after, earliest: after };
            for (step, back) in steps {
                let (before, time) = (run.until, run.until + step);
                run.extend(time, before - back);
                prop_assert!(run.holds(time, time));
                prop_assert!(run.holds(time, before - back + 1));
            }
            prop_assert!(!run.holds(after, after));
            prop_assert!(!run.holds(run.until + length, run.until));
            prop_assert!(!run.holds(run.until, run.until + length));
            prop_assert!(!run.holds(run.until, run.earliest));
        }
    }
}
