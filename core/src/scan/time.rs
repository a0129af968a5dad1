//! Time lines: `  snapshot_time:   1749555518.685497069 secs.nsecs`.

use super::line::trim;

/// Which clock a time line is on. Lustre 2.15.0 and 2.15.1 print seconds since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Clock {
    /// Seconds since 1970.
    Epoch,
    /// Seconds since the server booted: serves to see resets, not as a date.
    Boot,
}

/// A time line's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time {
    /// Which clock.
    pub clock: Clock,
    /// Seconds.
    pub seconds: u64,
    /// Nanoseconds below a second.
    pub nanos: u32,
}

impl Time {
    /// Of seconds with or without a fraction.
    pub(super) const fn new(seconds: u64, nanos: Option<u32>) -> Self {
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

/// A time line that says something. `elapsed_time` does not: it is the difference of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLine {
    /// `snapshot_time`: last update of the entry.
    Snapshot(Time),
    /// `start_time`: creation of the entry.
    Start(Time),
    /// `last_seen`: microseconds since 1970 of the observation that really had a carried record. Not a line of Lustre's.
    LastSeen(i64),
}

/// Names of time lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeKey {
    Snapshot,
    Start,
    Elapsed,
    LastSeen,
}

impl TimeKey {
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"snapshot_time" => Some(Self::Snapshot),
            b"start_time" => Some(Self::Start),
            b"elapsed_time" => Some(Self::Elapsed),
            b"last_seen" => Some(Self::LastSeen),
            _ => None,
        }
    }

    /// Of a key and its value: what the line says; None if it is not a time, Some(None) if that matters to nobody.
    pub(super) fn line(self, value: &[u8]) -> Option<Option<TimeLine>> {
        self.says(parse(value)?)
    }

    /// The same of a value that has been read.
    pub(super) fn says(self, time: Time) -> Option<Option<TimeLine>> {
        Some(match self {
            Self::Snapshot => Some(TimeLine::Snapshot(time)),
            Self::Start => Some(TimeLine::Start(time)),
            Self::Elapsed => None,
            Self::LastSeen => Some(TimeLine::LastSeen(micros(time)?)),
        })
    }
}

/// A value below this with a fraction is on the boot clock: in 2001 no Lustre printed fractions, and no server has been
/// up for 31 years.
const EPOCH_FROM: u64 = 1_000_000_000;

const SUFFIX: &[u8] = b"secs.nsecs";

/// Whether the value cannot be the beginning of a longer one.
pub(super) fn is_whole(value: &[u8]) -> bool {
    trim(value).ends_with(SUFFIX)
}

fn parse(value: &[u8]) -> Option<Time> {
    let value = trim(value);
    let digits = match value.strip_suffix(SUFFIX) {
        Some(before) if before.ends_with(b" ") || before.ends_with(b"\t") => trim(before),
        Some(_) => return None,
        None => value,
    };
    let mut parts = digits.splitn(2, |byte| *byte == b'.');
    let seconds = super::counter::number(parts.next()?).ok()?;
    let nanos = match parts.next() {
        Some(fraction) => Some(nanos(fraction)?),
        None => None,
    };
    Some(Time::new(seconds, nanos))
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
