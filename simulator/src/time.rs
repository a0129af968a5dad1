//! Times of the simulated world, in nanoseconds since 1970, and the clock that all others read.
//!
//! Everything that is played follows from the seed and the time of the world. The clock outside may be some days ahead of
//! the world's, so that a day of the world can be played again on any date: times are translated where they come in, as
//! [`Clock`], and where they go out, by [`shown`] and [`timestamp`].

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// A time in nanoseconds since 1970, or a length of time in nanoseconds.
pub type Nanos = i64;

/// A second.
pub const SECOND: Nanos = 1_000_000_000;
/// A minute.
pub const MINUTE: Nanos = 60 * SECOND;
/// An hour.
pub const HOUR: Nanos = 60 * MINUTE;
/// A day.
pub const DAY: Nanos = 24 * HOUR;

/// A span of time, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The start of the span.
    pub from: Nanos,
    /// The end of the span, which is not part of it.
    pub until: Nanos,
}

impl Span {
    /// Returns the span of a length.
    pub fn new(from: Nanos, length: Nanos) -> Self {
        Self {
            from,
            until: from + length,
        }
    }

    /// Returns the span moved by a length of time.
    pub fn shifted(self, by: Nanos) -> Self {
        Self::new(self.from + by, self.until - self.from)
    }

    /// Returns a UTC day, counted from 1970.
    pub fn day(day: i64) -> Self {
        Self::new(day * DAY, DAY)
    }

    /// Returns the UTC days from the start's day to the end's. A midnight at the end begins no further day.
    pub fn days(self) -> RangeInclusive<i64> {
        self.from.div_euclid(DAY)..=self.until.div_euclid(DAY)
    }

    /// Returns true if the time is in the span.
    pub fn contains(self, time: Nanos) -> bool {
        (self.from..self.until).contains(&time)
    }

    /// Returns the part of the span that is in another one too.
    pub fn overlap(self, other: Self) -> Option<Self> {
        let (from, until) = (self.from.max(other.from), self.until.min(other.until));
        (from < until).then_some(Self { from, until })
    }
}

/// The offset of the outside clock from the world's. A process plays one world.
static AHEAD: AtomicI64 = AtomicI64::new(0);

/// Plays the world so many days later than it is. Comes before everything else that a process does.
pub fn play_later(days: i64) {
    AHEAD.store(days * DAY, Ordering::Relaxed);
}

/// Returns the time that the clock outside shows at a time of the world.
pub fn shown(time: Nanos) -> Nanos {
    time.saturating_add(AHEAD.load(Ordering::Relaxed))
}

/// A time that the clock outside shows, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Clock(pub Nanos);

impl Clock {
    /// Parses an RFC 3339 time, or `now`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let time = match text {
            "now" => Ok(Timestamp::now()),
            _ => text.parse(),
        };
        let time: Timestamp = time.map_err(|error| error.to_string())?;
        Nanos::try_from(time.as_nanosecond())
            .map(Self)
            .map_err(|_| format!("{time} is outside 1678 to 2262"))
    }

    /// Returns the time of the world.
    pub fn world(self) -> Nanos {
        self.0.saturating_sub(AHEAD.load(Ordering::Relaxed))
    }
}

/// Parses a time of the outside clock, and returns the world's.
pub fn parse(text: &str) -> Result<Nanos, String> {
    Clock::parse(text).map(Clock::world)
}

/// Returns the time of the world now.
pub fn now() -> Result<Nanos, String> {
    parse("now")
}

/// Returns the time that the clock outside shows, as PostgreSQL stores it, in whole microseconds.
pub fn timestamp(time: Nanos) -> Timestamp {
    // Every i64 of nanoseconds is a time between 1678 and 2262, which Timestamp can hold.
    Timestamp::from_microsecond(shown(time).div_euclid(1000)).unwrap_or_default()
}

/// Returns the time that the clock outside shows, as RFC 3339.
pub fn rfc3339(time: Nanos) -> String {
    timestamp(time).to_string()
}
