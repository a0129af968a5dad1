//! Keeps readings from taking more than a share of the time, because they load the servers that they observe.

use std::io;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::system::lock::Lock;
use crate::system::message::warn;

#[cfg(test)]
mod tests;

/// The longest reading that is not worth a change, whatever the interval.
const SHORT: Duration = Duration::from_secs(1);

/// The longest reading for which `once` does not pause. A timer runs `once` at most every minute.
const SHORT_OF_ONCE: Duration = Duration::from_secs(6);

/// The longest pause that is believed. No time limit of lctl leads to a longer one, but a damaged lock file could.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// The line of the lock file that has the last reading.
const LINE: usize = 0;

/// The largest share of the time that readings may take.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The share in percent, from 1 to 100.
    pub percent: u32,
}

impl Pace {
    /// Returns the shortest time between the starts of two readings.
    fn apart(self, took: Duration) -> Duration {
        took.saturating_mul(100) / self.percent.max(1)
    }

    /// Returns how many intervals lie between readings that take this long.
    pub fn stretch(self, took: Duration, interval: Duration) -> u32 {
        if took <= SHORT {
            return 1;
        }
        let apart = self.apart(took).as_nanos();
        let intervals = apart.div_ceil(interval.as_nanos().max(1));
        u32::try_from(intervals).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the time before which the reading after the last one must not begin. A clock that was set back ends the
    /// pause.
    fn pauses_until(self, last: Last, now: Timestamp) -> Option<Timestamp> {
        if last.took <= SHORT_OF_ONCE || now < last.began {
            return None;
        }
        let pause = self.apart(last.took);
        if pause > LONGEST_PAUSE {
            return None;
        }
        let until = last.began.saturating_add(pause).ok()?;
        (now < until).then_some(until)
    }

    /// Reads, and records the duration. If the last reading took so long that this one is too early, reports that and returns `None`.
    pub fn unless_early<T>(self, lock: &Lock, read: impl FnOnce() -> T) -> Option<T> {
        let began = Timestamp::now();
        if let Ok(Some(last)) = Last::load(lock)
            && let Some(until) = self.pauses_until(last, began)
        {
            warn(format_args!(
                "skipping scrapes until {until:.0}: the last one took {:.1?}, and scrapes may take at most {} % of the time",
                last.took, self.percent
            ));
            return None;
        }
        let start = Instant::now();
        let result = read();
        let took = start.elapsed();
        if let Err(error) = (Last { began, took }).save(lock) {
            warn(format_args!("the lock file: {error}"));
        }
        Some(result)
    }
}

/// The last reading of `once`. It is kept in the lock file.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Last {
    began: Timestamp,
    took: Duration,
}

impl Last {
    /// Reads the lock file. Any other content counts as no reading.
    fn load(lock: &Lock) -> io::Result<Option<Self>> {
        let line = lock.line(LINE)?;
        let mut numbers = line.split_whitespace().map(str::parse);
        let (Some(Ok(began)), Some(Ok(took))) = (numbers.next(), numbers.next()) else {
            return Ok(None);
        };
        let began = Timestamp::from_millisecond(began).ok();
        let took = u64::try_from(took).ok().map(Duration::from_millis);
        Ok(began.zip(took).map(|(began, took)| Self { began, took }))
    }

    fn save(&self, lock: &Lock) -> io::Result<()> {
        let (began, took) = (self.began.as_millisecond(), self.took.as_millis());
        lock.set_line(LINE, &format!("{began} {took}"))
    }
}
