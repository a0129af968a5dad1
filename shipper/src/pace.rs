//! Keeps readings from taking more than a tenth of the time, because they load the servers that they observe.

use std::io;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::lock::Lock;
use crate::message::warn;

#[cfg(test)]
mod tests;

/// The number of parts of the time of which a reading may take one.
const PARTS: u32 = 10;

/// The longest reading that is not worth a change, whatever the interval.
const SHORT: Duration = Duration::from_secs(1);

/// The longest reading for which `once` does not pause. A timer calls `once` at most every minute.
const SHORT_OF_ONCE: Duration = Duration::from_secs(6);

/// Returns how many intervals lie between readings that take this long.
pub fn stretch(took: Duration, interval: Duration) -> u32 {
    if took <= SHORT {
        return 1;
    }
    let intervals = took
        .saturating_mul(PARTS)
        .as_nanos()
        .div_ceil(interval.as_nanos().max(1));
    u32::try_from(intervals).unwrap_or(u32::MAX).max(1)
}

/// The last reading of `once`. It is kept in the lock file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Last {
    /// The time at which the reading began.
    pub began: Timestamp,
    /// The duration of the reading.
    pub took: Duration,
}

impl Last {
    /// Returns the time before which the next reading must not begin. A clock that was set back ends the pause.
    pub fn pauses_until(&self, now: Timestamp) -> Option<Timestamp> {
        if self.took <= SHORT_OF_ONCE || now < self.began {
            return None;
        }
        let pause = SignedDuration::try_from(self.took.saturating_mul(PARTS)).ok()?;
        let until = self.began.saturating_add(pause).ok()?;
        (now < until).then_some(until)
    }

    /// Reads what the lock file says. Anything else than a reading is none.
    pub fn load(lock: &Lock) -> io::Result<Option<Self>> {
        let text = lock.text()?;
        let mut numbers = text.split_whitespace().map(str::parse);
        let (Some(Ok(began)), Some(Ok(took))) = (numbers.next(), numbers.next()) else {
            return Ok(None);
        };
        let began = Timestamp::from_millisecond(began).ok();
        let took = u64::try_from(took).ok().map(Duration::from_millis);
        Ok(began.zip(took).map(|(began, took)| Self { began, took }))
    }

    /// Writes the lock file.
    pub fn save(&self, lock: &Lock) -> io::Result<()> {
        lock.set_text(&format!(
            "{} {}\n",
            self.began.as_millisecond(),
            self.took.as_millis()
        ))
    }
}

/// Reads, and notes how long that took, unless the last reading took so long that it is too early. Then a message says
/// so, and there is no result.
pub fn unless_early<T>(lock: &Lock, read: impl FnOnce() -> T) -> Option<T> {
    let began = Timestamp::now();
    if let Ok(Some(last)) = Last::load(lock)
        && let Some(until) = last.pauses_until(began)
    {
        warn(format_args!(
            "nothing is read before {until:.0}: the last reading took {:.1?}, and readings take at most a tenth of the time",
            last.took
        ));
        return None;
    }
    let start = std::time::Instant::now();
    let result = read();
    let last = Last {
        began,
        took: start.elapsed(),
    };
    if let Err(error) = last.save(lock) {
        warn(format_args!("the lock file: {error}"));
    }
    Some(result)
}
