//! Times of the simulated world: nanoseconds since 1970.

use jiff::Timestamp;

/// Nanoseconds since 1970, or a span of them.
pub type Nanos = i64;

/// A second.
pub const SECOND: Nanos = 1_000_000_000;
/// A minute.
pub const MINUTE: Nanos = 60 * SECOND;
/// An hour.
pub const HOUR: Nanos = 60 * MINUTE;
/// A day.
pub const DAY: Nanos = 24 * HOUR;

/// Reads an RFC 3339 time, or `now`.
pub fn parse(text: &str) -> Result<Nanos, String> {
    if text == "now" {
        return now();
    }
    let time: Timestamp = text
        .parse()
        .map_err(|error: jiff::Error| error.to_string())?;
    nanos(time)
}

/// The machine's time.
pub fn now() -> Result<Nanos, String> {
    nanos(Timestamp::now())
}

fn nanos(time: Timestamp) -> Result<Nanos, String> {
    Nanos::try_from(time.as_nanosecond()).map_err(|_| format!("{time} is outside 1678 to 2262"))
}

/// The time as PostgreSQL keeps it: in whole microseconds.
pub fn timestamp(time: Nanos) -> Timestamp {
    // Every i64 of nanoseconds is a time between 1678 and 2262, which Timestamp can hold.
    Timestamp::from_microsecond(time.div_euclid(1000)).unwrap_or_default()
}
