//! Reads time lines: `  snapshot_time:   1749555518.685497069 secs.nsecs`.

use std::fmt;

use crate::text::field::split_once;
use crate::text::job_stats::lctl::lines::trim;

crate::named! {
    /// The clock of a time line. Lustre 2.15.0 and 2.15.1 print seconds since boot.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Clock {
        /// Seconds since 1970.
        Epoch = "epoch",
        /// Seconds since the server booted, which serve to see resets and not as a date.
        Boot = "boot",
    }
    /// Returns the name of the clock.
    pub fn as_str;
}

/// The value of a time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time {
    /// The clock.
    pub clock: Clock,
    /// The whole seconds.
    pub seconds: u64,
    /// The nanoseconds below a second.
    pub nanos: u32,
}

impl Time {
    /// Creates a time of seconds with or without a fraction, which decides on the clock.
    pub(in crate::text::job_stats) const fn new(seconds: u64, nanos: Option<u32>) -> Self {
        let (clock, nanos) = match nanos {
            Some(nanos) if seconds < EPOCH_FROM => (Clock::Boot, nanos),
            Some(nanos) => (Clock::Epoch, nanos),
            None => (Clock::Epoch, 0),
        };
        Self {
            clock,
            seconds,
            nanos,
        }
    }
}

impl fmt::Display for Time {
    /// Writes the seconds as an exact decimal number.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nanos {
            0 => write!(out, "{}", self.seconds),
            nanos => write!(out, "{}.{nanos:09}", self.seconds),
        }
    }
}

/// A time line that is used. `elapsed_time` is not: it is the difference of the two other times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLine {
    /// `snapshot_time`: last update of the entry.
    Snapshot(Time),
    /// `start_time`: creation of the entry.
    Start(Time),
    /// `last_seen`: microseconds since 1970 of the observation that really had a carried record. Lustre does not print
    /// this line.
    LastSeen(i64),
}

crate::named! {
    /// The keys of time lines.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::text::job_stats) enum TimeKey {
        Snapshot = "snapshot_time",
        Start = "start_time",
        Elapsed = "elapsed_time",
        LastSeen = "last_seen",
    }
    /// Returns the name.
    pub(in crate::text::job_stats) fn name;
}

impl TimeKey {
    /// Reads the value of a time line. Returns `None` if it is not a time, and `Some(None)` if the time is not used.
    pub(in crate::text::job_stats) fn line(self, value: &[u8]) -> Option<Option<TimeLine>> {
        self.says(parse(value)?)
    }

    /// Returns the content of a time line whose value has been read, as [`Self::line`] does.
    pub(in crate::text::job_stats) fn says(self, time: Time) -> Option<Option<TimeLine>> {
        Some(match self {
            Self::Snapshot => Some(TimeLine::Snapshot(time)),
            Self::Start => Some(TimeLine::Start(time)),
            Self::Elapsed => None,
            Self::LastSeen => Some(TimeLine::LastSeen(micros(time)?)),
        })
    }
}

/// The seconds below which a value with a fraction is on the boot clock: in 2001 no Lustre printed fractions, and no
/// server has been up for 31 years.
const EPOCH_FROM: u64 = 1_000_000_000;

const SUFFIX: &[u8] = b"secs.nsecs";

/// Returns true if the value cannot be the beginning of a longer one.
pub(in crate::text::job_stats) fn is_whole(value: &[u8]) -> bool {
    trim(value).ends_with(SUFFIX)
}

fn parse(value: &[u8]) -> Option<Time> {
    let value = trim(value);
    let digits = match value.strip_suffix(SUFFIX) {
        Some(before) if before.ends_with(b" ") || before.ends_with(b"\t") => trim(before),
        Some(_) => return None,
        None => value,
    };
    let (seconds, nanos) = match split_once(digits, b'.') {
        Some((seconds, fraction)) => (seconds, Some(nanos(fraction)?)),
        None => (digits, None),
    };
    Some(Time::new(super::counter::number(seconds).ok()?, nanos))
}

fn nanos(fraction: &[u8]) -> Option<u32> {
    if !(1..=9).contains(&fraction.len()) || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = fraction.iter().chain(std::iter::repeat(&b'0')).take(9);
    Some(digits.fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0')))
}

fn micros(time: Time) -> Option<i64> {
    i64::try_from(time.seconds)
        .ok()?
        .checked_mul(1_000_000)?
        .checked_add(i64::from(time.nanos / 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_with_its_nanoseconds() {
        let time = |seconds, nanos| Time::new(seconds, nanos).to_string();
        assert_eq!(time(1_749_555_518, None), "1749555518");
        assert_eq!(time(1_749_555_518, Some(0)), "1749555518");
        assert_eq!(time(61, Some(45)), "61.000000045");
        assert_eq!(Time::new(61, Some(45)).clock.as_str(), "boot");
        assert_eq!(Time::new(61, None).clock.as_str(), "epoch");
    }
}
