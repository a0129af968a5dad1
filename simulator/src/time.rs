//! Times of the simulated world, in nanoseconds since 1970.

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

/// Parses an RFC 3339 time, or `now`.
pub fn parse(text: &str) -> Result<Nanos, String> {
    if text == "now" {
        return now();
    }
    let time: Timestamp = text
        .parse()
        .map_err(|error: jiff::Error| error.to_string())?;
    nanos(time)
}

/// Returns the time of the machine's clock.
pub fn now() -> Result<Nanos, String> {
    nanos(Timestamp::now())
}

fn nanos(time: Timestamp) -> Result<Nanos, String> {
    Nanos::try_from(time.as_nanosecond()).map_err(|_| format!("{time} is outside 1678 to 2262"))
}

/// Returns the time as PostgreSQL stores it, in whole microseconds.
pub fn timestamp(time: Nanos) -> Timestamp {
    // Every i64 of nanoseconds is a time between 1678 and 2262, which Timestamp can hold.
    Timestamp::from_microsecond(time.div_euclid(1000)).unwrap_or_default()
}
