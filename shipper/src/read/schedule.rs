//! The times of polls: multiples of the interval, plus an offset for each server.

use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use xxhash_rust::xxh3::xxh3_64;

use crate::read::pace::Pace;
use crate::system::message::warn;
use crate::system::notify;

#[cfg(test)]
mod tests;

/// The longest single sleep. The clock is checked after each, so that a changed clock is soon noticed.
const GLANCE: Duration = Duration::from_secs(10);

/// The times that are `offset` after a multiple of `interval` since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    interval: i128,
    offset: i128,
}

impl Schedule {
    /// Derives the offset from the server's name alone: the offset survives restarts and spreads the servers evenly.
    pub fn new(interval: Duration, server: &str) -> Self {
        let interval = interval.as_nanos().max(1) as i128;
        // Whole milliseconds are fine enough.
        let steps = (interval / 1_000_000).max(1);
        let offset = i128::from(xxh3_64(server.as_bytes())) % steps * 1_000_000;
        Self { interval, offset }
    }

    /// Returns the first poll time after `now`.
    pub fn next(&self, now: Timestamp) -> Timestamp {
        let since = (now.as_nanosecond() - self.offset).rem_euclid(self.interval);
        Timestamp::from_nanosecond(now.as_nanosecond() - since + self.interval)
            .unwrap_or(Timestamp::MAX)
    }

    /// Returns the part of the interval that this server waits after each multiple of it.
    pub fn offset(&self) -> Duration {
        Duration::from_nanos(self.offset as u64)
    }

    /// Calls `poll`, which returns the duration of its reading, at every poll time. After a slow reading the interval grows. A message with
    /// this name reports that, and `begin` is called with the new interval, as it is at the start.
    pub fn repeat(
        &self,
        pace: Pace,
        name: &str,
        begin: impl Fn(Duration),
        mut poll: impl FnMut() -> Duration,
    ) -> ! {
        let mut stretch = 1;
        begin(self.interval());
        loop {
            self.stretched(stretch).sleep();
            let took = poll();
            let next = pace.stretch(took, self.interval());
            if next != stretch {
                let interval = self.stretched(next).interval();
                match next {
                    1 => warn(format_args!(
                        "{name}: the scrape interval is {interval:?} again"
                    )),
                    _ => warn(format_args!(
                        "{name}: the scrape took {took:.1?}; the interval is now {interval:?}, so that scrapes take at most {} % of the time",
                        pace.percent
                    )),
                }
                stretch = next;
                begin(interval);
            }
        }
    }

    fn interval(&self) -> Duration {
        Duration::from_nanos(u64::try_from(self.interval).unwrap_or(u64::MAX))
    }

    /// Returns the schedule of every so many poll times.
    fn stretched(&self, by: u32) -> Self {
        Self {
            interval: self.interval * i128::from(by),
            ..*self
        }
    }

    /// Sleeps until the next poll time. Poll times that passed during the work are skipped.
    pub fn sleep(&self) {
        let due = self.next(Timestamp::now());
        loop {
            notify::beat();
            let now = Timestamp::now();
            let left = due.as_nanosecond() - now.as_nanosecond();
            // More than an interval is left only if the clock was set back.
            if left <= 0 || left > self.interval {
                return;
            }
            thread::sleep(Duration::from_nanos(left as u64).min(GLANCE));
        }
    }
}
