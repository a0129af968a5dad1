//! The calls of a scheduler's command, each about a window of time.

use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND};
use crate::world::schedule::Span;

use crate::jobs::Site;

/// A call of the command about the time from `since` to `time`; or, of a file that grows, what was written in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// The time of the call, which is the end of its window.
    pub time: Nanos,
    /// The start of the window.
    pub since: Nanos,
}

/// The time by which the window of a call is longer than the time between calls.
const OVERLAP: Nanos = 15 * MINUTE;
/// The time of day of a call about three days.
const NIGHTLY: Nanos = 2 * HOUR + 30 * MINUTE + 30 * SECOND;
/// The length of the window of such a call.
const NIGHTLY_WINDOW: Nanos = 3 * DAY;

impl Call {
    /// Returns true if the window has the time. The end belongs to it, the start does not, so that what one call of a file
    /// has, the next one has not.
    pub fn contains(&self, time: Nanos) -> bool {
        self.since < time && time <= self.time
    }
}

impl Site {
    /// Returns the calls of a span in the order of time: regular ones, as a rule every five minutes about the last 20 minutes, or
    /// of a file what was written since the call before; and every night one about three days. Nobody calls in the gap of a day.
    pub fn calls(&self, span: Span, nightly: bool) -> Vec<Call> {
        let mut calls = self.regular(span);
        if nightly {
            let nights = (span.from.div_euclid(DAY)..=span.until.div_euclid(DAY))
                .map(|day| day * DAY + NIGHTLY)
                .filter(|time| (span.from..=span.until).contains(time));
            calls.extend(nights.map(|time| Call {
                time,
                since: time - NIGHTLY_WINDOW,
            }));
        }
        calls.sort();
        calls
    }

    fn regular(&self, span: Span) -> Vec<Call> {
        let every = self.every;
        let first = span.from.div_euclid(every) + 1;
        let mut before = span.from;
        let mut calls = Vec::new();
        for time in (first..=span.until.div_euclid(every)).map(|number| number * every) {
            let (from, until) = self.gap(time.div_euclid(DAY));
            if self.disturbed && (from..until).contains(&time) {
                continue;
            }
            let since = if self.kind.is_file() {
                before
            } else {
                time - every - OVERLAP
            };
            calls.push(Call { time, since });
            before = time;
        }
        calls
    }
}
