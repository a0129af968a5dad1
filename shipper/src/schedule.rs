//! When to read: at full intervals of the clock, each server with an offset of its own.

use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use xxhash_rust::xxh3::xxh3_64;

#[cfg(test)]
mod tests;

/// The clock is looked at this often, so that one that was set is soon noticed.
const GLANCE: Duration = Duration::from_secs(10);

/// The moments that are `offset` after a multiple of `interval` since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    interval: i128,
    offset: i128,
}

impl Schedule {
    /// The offset comes from the server's name alone: it is the same after every start, and spreads the servers evenly.
    pub fn new(interval: Duration, server: &str) -> Self {
        let interval = interval.as_nanos().max(1) as i128;
        // Whole milliseconds are fine enough.
        let steps = (interval / 1_000_000).max(1);
        let offset = i128::from(xxh3_64(server.as_bytes())) % steps * 1_000_000;
        Self { interval, offset }
    }

    /// The first of its moments after `now`.
    pub fn next(&self, now: Timestamp) -> Timestamp {
        let since = (now.as_nanosecond() - self.offset).rem_euclid(self.interval);
        Timestamp::from_nanosecond(now.as_nanosecond() - since + self.interval)
            .unwrap_or(Timestamp::MAX)
    }

    /// Sleeps until the next one. Those that passed during the work are left out.
    pub fn sleep(&self) {
        let due = self.next(Timestamp::now());
        loop {
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
