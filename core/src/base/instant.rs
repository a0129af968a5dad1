//! Instants, spans and lengths of time, in microseconds.

/// Microseconds since 1970-01-01 00:00 UTC, or a number of microseconds.
pub type Micros = i64;

/// The time after the first instant, up to and including the second.
pub type Span = (Micros, Micros);

/// A second.
pub const SECOND: Micros = 1_000_000;
/// A minute.
pub const MINUTE: Micros = 60 * SECOND;
/// An hour.
pub const HOUR: Micros = 60 * MINUTE;
/// A day.
pub const DAY: Micros = 24 * HOUR;
/// The width of a window without a start.
pub const DEFAULT_WINDOW: Micros = 10 * MINUTE;
