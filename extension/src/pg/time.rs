//! Points in time: core counts microseconds from 1970, PostgreSQL from 2000.

use jobstats_core::base::instant::{DAY, DEFAULT_WINDOW, Micros};
use jobstats_core::usage::window::Clocks;
use pgrx::datum::{Timestamp, TimestampWithTimeZone, datetime_support};
use pgrx::pg_sys;

use crate::pg::error::Error;

/// The time from 1970 to 2000.
const EPOCHS_APART: Micros = 946_684_800_000_000;

/// The earliest time that PostgreSQL can store: in 4713 BC.
pub const EARLIEST: Micros = EPOCHS_APART - 211_813_488_000_000_000;

/// Returns the current time, not the start of the transaction.
pub fn clock_now() -> Micros {
    // SAFETY: takes no argument and cannot fail.
    #[allow(unsafe_code)]
    let now = unsafe { pg_sys::GetCurrentTimestamp() };
    now + EPOCHS_APART
}

/// Returns the time of the transaction.
pub fn now() -> Result<Micros, Error> {
    micros(datetime_support::now())
}

/// Returns the start and end of a window. A NULL has its default; an infinite start is [`LONG_AGO`], an infinite end is now.
///
/// # Errors
/// [`Error::empty_window`] if the window does not begin before its end.
pub fn window(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
) -> Result<(Micros, Micros), Error> {
    let now = now()?;
    let since = since.map_or(Ok(now - DEFAULT_WINDOW), |it| bound(it, now))?;
    let until = until.map_or(Ok(now), |it| bound(it, now))?;
    if since >= until {
        return Err(Error::empty_window());
    }
    Ok((since, until))
}

/// The start of windows that begin at `-infinity`: before all observations, and a span after [`EARLIEST`] in which steps begin.
pub const LONG_AGO: Micros = EARLIEST + 400 * DAY;

/// Converts the bound of a window: [`LONG_AGO`] for `-infinity`, now for `infinity`.
pub fn bound(time: TimestampWithTimeZone, now: Micros) -> Result<Micros, Error> {
    match pg_sys::TimestampTz::from(time) {
        pg_sys::TimestampTz::MIN => Ok(LONG_AGO),
        pg_sys::TimestampTz::MAX => Ok(now),
        _ => micros(time),
    }
}

/// Returns whether a time is neither `infinity` nor `-infinity`.
pub fn is_finite(time: &TimestampWithTimeZone) -> bool {
    let value = pg_sys::TimestampTz::from(*time);
    value != pg_sys::TimestampTz::MIN && value != pg_sys::TimestampTz::MAX
}

/// Converts a time of PostgreSQL. Fails for `infinity`.
pub fn micros(time: TimestampWithTimeZone) -> Result<Micros, Error> {
    let value = pg_sys::TimestampTz::from(time);
    if value == i64::MAX || value == i64::MIN {
        return Err(Error::argument(
            "a time must be finite",
            "Give a time such as '2025-11-03 12:00' or now() - interval '1 hour'.",
        ));
    }
    value.checked_add(EPOCHS_APART).ok_or_else(out_of_range)
}

fn out_of_range() -> Error {
    Error::argument(
        "a time is out of range",
        "Times can be from 4713 BC to 294246.",
    )
}

/// Converts a time in PostgreSQL's own form. Returns `None` for a time that [`micros`] refuses.
#[inline]
pub fn from_postgres(value: pg_sys::TimestampTz) -> Option<Micros> {
    // The form of `infinity` is out of range, too.
    value
        .checked_add(EPOCHS_APART)
        .filter(|_| value != pg_sys::TimestampTz::MIN)
}

/// Converts a time to PostgreSQL's own form: microseconds from 2000.
pub fn postgres_micros(time: Micros) -> i64 {
    time.saturating_sub(EPOCHS_APART)
}

/// Converts times to values of PostgreSQL.
pub fn timestamptzs<'a>(
    times: impl IntoIterator<Item = &'a Micros>,
) -> Result<Vec<TimestampWithTimeZone>, Error> {
    times.into_iter().map(|&time| timestamptz(time)).collect()
}

/// Converts a time to a value of PostgreSQL.
pub fn timestamptz(time: Micros) -> Result<TimestampWithTimeZone, Error> {
    TimestampWithTimeZone::try_from(postgres_micros(time)).map_err(|_| out_of_range())
}

/// The clocks of the session's time zone.
pub struct SessionClocks;

impl Clocks for SessionClocks {
    fn shown(&self, instant: Micros) -> Micros {
        converted(instant, |value| {
            let instant = TimestampWithTimeZone::try_from(value).ok()?;
            Some(Timestamp::from(instant).into())
        })
    }

    fn instant(&self, shown: Micros) -> Micros {
        converted(shown, |value| {
            let shown = Timestamp::try_from(value).ok()?;
            Some(TimestampWithTimeZone::from(shown).into())
        })
    }
}

/// Converts between instants and what clocks show. Within two days of the ends of time as PostgreSQL counts it, where a
/// conversion may fail, clocks are taken to be as far ahead as they are there.
fn converted(time: Micros, convert: impl Fn(i64) -> Option<i64>) -> Micros {
    let inside = time.clamp(EARLIEST + 2 * DAY, Micros::MAX - 2 * DAY);
    let value = postgres_micros(inside);
    let difference = convert(value).map_or(0, |converted| converted - value);
    time.saturating_add(difference)
}
