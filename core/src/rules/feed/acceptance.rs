//! Decides whether a text may be placed among the observations of its target.

use std::collections::TryReserveError;

use super::reason;
use crate::base::instant::Micros;
use crate::base::pause::Pause;
use crate::rules::increment::{LateReason, Observation, can_be_followed, can_be_older};
use crate::rules::snapshot::Snapshot;

/// The number of unusable lines that any text may have.
const USELESS_LINES: u64 = 100_000;

/// The largest number of lines of a record.
const LINES_OF_RECORD: u64 = 40;

/// The limits of the time of a text.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The time at which the text came.
    pub now: Micros,
    /// The largest time that the clock of a text may be ahead.
    pub max_ahead: Micros,
    /// The retention period of raw text.
    pub raw_retention: Micros,
    /// The time since which observations are kept.
    pub kept_since: Micros,
}

impl Limits {
    /// Returns whether a text read at `time` is older than raw text is kept.
    pub fn is_old(&self, time: Micros) -> bool {
        time < self.now.saturating_sub(self.raw_retention)
    }

    /// Returns the reason why a value read at `time` is not placed, whatever its neighbours are.
    pub fn why_not_at(&self, time: Micros) -> Option<&'static str> {
        let latest = self.now.saturating_add(self.max_ahead);
        if !(0..=latest).contains(&time) {
            Some(reason::CLOCK)
        } else if time <= self.kept_since {
            Some(reason::TOO_LATE)
        } else {
            None
        }
    }

    /// Returns the reason why a value read at `time` cannot be placed between a reading and the next one, whose predecessor was read
    /// at `since`.
    pub fn why_not_between(
        &self,
        time: Micros,
        before: Option<Micros>,
        since: Option<Option<Micros>>,
    ) -> Option<&'static str> {
        let is_early = self.is_old(time) && (before.is_none() || since.is_some());
        // The predecessor of the next reading can be gone.
        let is_far = since.is_some_and(|since| since != before);
        (is_early || is_far).then_some(reason::TOO_LATE)
    }

    /// Returns the reason why a text that is older than raw text is kept cannot be placed between these neighbours; `None`
    /// if it can, or if the text is not that old. After an outage the backlog of a target is taken: each text continues the
    /// one before, which is kept as the newest of its target.
    pub fn why_not_old(
        &self,
        time: Micros,
        previous: Option<&Observation<'_>>,
        is_newest: bool,
    ) -> Option<&'static str> {
        let continues = is_newest && previous.is_some_and(|previous| previous.snapshot.is_some());
        (self.is_old(time) && !continues).then_some(reason::TOO_LATE)
    }
}

/// Returns the reason why a text read at `time` is not placed, whatever its neighbours are.
pub fn why_not(snapshot: &Snapshot<'_>, time: Micros, limits: Limits) -> Option<&'static str> {
    // A text with more unusable lines than its records could have lines is not worth the time that the next feed and each
    // audit would take to read it again.
    let records = snapshot.records.len() as u64;
    match snapshot.problems_found > USELESS_LINES + records * LINES_OF_RECORD {
        true => Some(reason::TOO_MANY_PROBLEMS),
        false => limits.why_not_at(time),
    }
}

/// Returns the reason why a text cannot be placed between `previous` and `next`; `None` if it can. `since` is the time of
/// the predecessor of `next`, `None` if `next` was a baseline. `after` is the observation after `next`.
///
/// # Errors
/// [`TryReserveError`] if there is not enough memory to find out.
pub fn why_not_before(
    this: &Observation<'_>,
    previous: Option<&Observation<'_>>,
    (next, since): (&Observation<'_>, Option<Micros>),
    after: Option<&Observation<'_>>,
    cleanup_interval: u32,
    pause: Pause<'_>,
) -> Result<Option<&'static str>, TryReserveError> {
    // Retention may have deleted the predecessor of `next`. A baseline has no predecessor.
    let before = previous.map(|previous| previous.time);
    let is_gone = since.is_some_and(|since| before != Some(since))
        || next.snapshot.is_none()
        || previous.is_some_and(|previous| previous.snapshot.is_none());
    if is_gone {
        return Ok(Some(reason::TOO_LATE));
    }
    let can_be_followed =
        |()| can_be_followed(this, previous, (next, after), cleanup_interval, pause);
    match can_be_older(this, previous, next, pause).and_then(can_be_followed) {
        Ok(()) => Ok(None),
        Err(LateReason::OutOfMemory(error)) => Err(error),
        Err(_) => Ok(Some(reason::CLOCK)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::instant::{DAY, MINUTE};

    const NOW: Micros = 100 * DAY;
    const LIMITS: Limits = Limits {
        now: NOW,
        max_ahead: MINUTE,
        raw_retention: 2 * DAY,
        kept_since: NOW - 90 * DAY,
    };

    #[test]
    fn a_text_older_than_raw_text_must_continue_the_newest() {
        let text = Snapshot::default();
        let previous = observed(NOW - 3 * DAY, "oss1", &text);
        let gone = Observation {
            snapshot: None,
            ..previous
        };
        let why_not =
            |time, previous: Option<&_>, is_newest| LIMITS.why_not_old(time, previous, is_newest);
        let old = NOW - 2 * DAY - 1;
        assert_eq!(why_not(old, Some(&previous), true), None);
        assert_eq!(why_not(old, Some(&previous), false), Some("too late"));
        assert_eq!(why_not(old, Some(&gone), true), Some("too late"));
        assert_eq!(why_not(old, None, true), Some("too late"));
        assert_eq!(why_not(old + 1, None, false), None);
    }

    #[test]
    fn values_lie_between_those_that_were_compared() {
        let (before, time) = (Some(NOW - 2 * MINUTE), NOW - MINUTE);
        let why_not = |time, before, since| LIMITS.why_not_between(time, before, since);
        assert_eq!(why_not(time, before, Some(before)), None);
        assert_eq!(why_not(time, None, Some(None)), None);
        assert_eq!(why_not(time, before, Some(None)), Some("too late"));
        assert_eq!(why_not(time, None, Some(before)), Some("too late"));
        let (before, old) = (Some(NOW - 4 * DAY), NOW - 3 * DAY);
        assert_eq!(why_not(old, before, None), None);
        assert_eq!(why_not(old, before, Some(before)), Some("too late"));
        assert_eq!(why_not(old, None, None), Some("too late"));
    }

    #[test]
    fn a_text_may_be_ahead_by_a_limit() {
        let why_not = |time| why_not(&Snapshot::default(), time, LIMITS);
        assert_eq!(why_not(NOW + MINUTE), None);
        assert_eq!(why_not(NOW + MINUTE + 1), Some("clock"));
        assert_eq!(why_not(-1), Some("clock"));
    }

    #[test]
    fn a_text_is_not_placed_where_observations_are_dropped() {
        let limits = Limits {
            kept_since: NOW - DAY,
            ..LIMITS
        };
        let text = Snapshot::default();
        assert_eq!(why_not(&text, NOW - DAY, limits), Some("too late"));
        assert_eq!(why_not(&text, NOW - DAY + 1, limits), None);
    }

    #[test]
    fn a_text_of_little_but_unusable_lines_is_not_placed() {
        let text = |problems_found| Snapshot {
            problems_found,
            ..Snapshot::default()
        };
        assert_eq!(why_not(&text(100_000), NOW, LIMITS), None);
        assert_eq!(
            why_not(&text(100_001), NOW, LIMITS),
            Some("too many problems")
        );
    }

    const fn observed<'a>(
        time: Micros,
        server: &'a str,
        snapshot: &'a Snapshot<'a>,
    ) -> Observation<'a> {
        Observation {
            time,
            server,
            snapshot: Some(snapshot),
            carried: None,
        }
    }

    #[test]
    fn a_late_text_needs_the_texts_around_it() {
        let text = Snapshot::default();
        let [previous, this, next] = [10, 20, 30].map(|time| observed(time, "oss1", &text));
        let gone = |observation| Observation {
            snapshot: None,
            ..observation
        };
        let why_not = |previous: Option<&_>, next: &_, since| {
            why_not_before(&this, previous, (next, since), None, 600, Pause::NEVER)
        };
        assert_eq!(why_not(Some(&previous), &next, Some(10)), Ok(None));
        assert_eq!(why_not(None, &next, None), Ok(None));
        let too_late = Ok(Some("too late"));
        assert_eq!(why_not(Some(&previous), &next, Some(15)), too_late);
        assert_eq!(why_not(None, &next, Some(10)), too_late);
        assert_eq!(why_not(Some(&previous), &gone(next), Some(10)), too_late);
        assert_eq!(why_not(Some(&gone(previous)), &next, Some(10)), too_late);
    }

    #[test]
    fn a_late_text_of_another_server_has_a_wrong_clock() {
        let text = Snapshot::default();
        let [previous, next] = [10, 30].map(|time| observed(time, "oss1", &text));
        let this = observed(20, "oss2", &text);
        let why_not = why_not_before(
            &this,
            Some(&previous),
            (&next, Some(10)),
            None,
            600,
            Pause::NEVER,
        );
        assert_eq!(why_not, Ok(Some("clock")));
    }
}
