//! Times as people type and read them.

use std::time::Duration;

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use jiff::{RoundMode, SignedDuration, Timestamp, TimestampRound, ToSpan, Unit, Zoned};
use jobstats_client::answers::{Interval, Window};
use jobstats_client::program::duration;
use jobstats_core::base::instant::Micros;

/// A start and an end.
pub type Span = (Timestamp, Timestamp);

/// Parses a time zone: `local`, a name such as `Europe/Helsinki`, or an offset from UTC such as `+02:00`.
pub fn zone(name: &str) -> Result<Clock, String> {
    if name == "local" {
        return Ok(Clock::new(local()));
    }
    // A rule of POSIX is refused: UTC+2 would be west of Greenwich.
    let zone = DateTimeParser::new().parse_time_zone(name).ok();
    let zone = zone.filter(|it| it.iana_name().is_some() || name.starts_with(['+', '-']));
    zone.map(Clock::new).ok_or_else(|| {
        "is not a time zone of this machine; use one such as UTC, Europe/Helsinki or +02:00"
            .to_owned()
    })
}

/// Returns the zone of `TZ` or else of the machine, and UTC where `date` would show it. A zone without a name has its offset of now, so
/// that a service and the database can be given it.
fn local() -> TimeZone {
    let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
    match zone.iana_name() {
        Some(_) => zone,
        None => zone.to_offset(Timestamp::now()).to_time_zone(),
    }
}

/// Parses a time of UTC.
pub fn of_utc(text: &str) -> Result<Timestamp, String> {
    parse(text, &Clock::default().at(Timestamp::now()))
}

/// Parses the time that an option has, if it is given. The error names the option.
pub fn of_option(
    option: &str,
    text: Option<&str>,
    now: &Zoned,
) -> Result<Option<Timestamp>, String> {
    let time = |text| parse(text, now).map_err(|error| format!("--{option} {text} {error}"));
    text.map(time).transpose()
}

/// Parses a time that is not in the future.
fn parse(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    let time = at(text.trim(), now)?;
    match time > now.timestamp() {
        true => Err(format!(
            "is in the future: it is {} now",
            now.strftime(STAMP)
        )),
        false => Ok(time),
    }
}

/// Parses `now`, `2h` (ago), `14:00` (today), `yesterday`, `monday 14:00` (the last one), `2026-11-20`, `2026-11-20 13:40`, or a time
/// with an offset from UTC. Of a time that clocks show twice, the first is meant; one that they skip is as much later as they go forward.
fn at(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    if text == "now" {
        return Ok(now.timestamp());
    }
    if let Some(length) = ago(text) {
        let time = now.timestamp().checked_sub(length);
        return time.map_err(|error| error.to_string());
    }
    let civil = civil(text, now).ok_or_else(|| {
        "is not a time; use one such as 2h (ago), yesterday, 'monday 14:00', 2026-11-20 or '2026-11-20 13:40'"
            .to_owned()
    })?;
    let zoned = civil.to_zoned(now.time_zone().clone());
    Ok(zoned.map_err(|error| error.to_string())?.timestamp())
}

/// Returns the window that is typed, which may lack an end. Fails if it does not begin before its end.
pub fn window(from: Option<&str>, to: Option<&str>, zone: &Clock) -> Result<Window, String> {
    let now = zone.at(Timestamp::now());
    let (since, until) = (of_option("from", from, &now)?, of_option("to", to, &now)?);
    if let (Some(from), Some(to)) = (from, to)
        && since >= until
    {
        return Err(format!("--from {from} is not before --to {to}"));
    }
    // Drop the fraction of a minute from relative times.
    let since = match from.and_then(|text| ago(text.trim())).is_some() {
        true => since.map(|since| rounded(since, Unit::Minute, RoundMode::Floor)),
        false => since,
    };
    Ok(Window { since, until })
}

/// Returns the last week that is over, from Monday to Monday.
pub fn last_week(now: &Zoned) -> Result<Span, jiff::Error> {
    let monday = i64::from(now.weekday().to_monday_zero_offset());
    let end = now.start_of_day()?.checked_sub(monday.days())?;
    let start = end.checked_sub(7.days())?;
    Ok((
        start.start_of_day()?.timestamp(),
        end.start_of_day()?.timestamp(),
    ))
}

fn ago(text: &str) -> Option<Duration> {
    let length = text.strip_suffix("ago").unwrap_or(text);
    duration::parse(length.trim()).ok()
}

/// Returns a time rounded to whole minutes or hours.
fn rounded(time: Timestamp, unit: Unit, mode: RoundMode) -> Timestamp {
    let round = TimestampRound::new().smallest(unit).mode(mode);
    time.round(round).unwrap_or(time)
}

fn civil(text: &str, now: &Zoned) -> Option<DateTime> {
    let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let time_of = |text: &str| match text {
        "" => Some(Time::midnight()),
        // The parser takes a lone hour too, which could as well be a count of something.
        _ if !text.contains(':') => None,
        _ => text.parse::<Time>().ok(),
    };
    if let Some(date) = date(day, now) {
        return Some(date.to_datetime(time_of(time)?));
    }
    let time = time_of(text).filter(|_| !text.is_empty())?;
    Some(now.date().to_datetime(time))
}

fn date(text: &str, now: &Zoned) -> Option<Date> {
    let today = now.date();
    match text.to_ascii_lowercase().as_str() {
        "today" => Some(today),
        "yesterday" => today.yesterday().ok(),
        text => match strtime::parse("%A", text) {
            Ok(day) => today.nth_weekday(-1, day.weekday()?).ok(),
            Err(_) => text.parse().ok(),
        },
    }
}

/// The format of a time with its zone.
const STAMP: &str = "%F %H:%M %Z";

/// Prints times in a zone.
#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    pub zone: TimeZone,
    /// True if the axis of a chart shows the time since its start.
    pub is_stopwatch: bool,
}

impl Clock {
    /// Returns a clock of this zone.
    pub const fn new(zone: TimeZone) -> Self {
        Self {
            zone,
            is_stopwatch: false,
        }
    }

    /// Returns a clock that counts from the start of a chart.
    pub fn stopwatch() -> Self {
        Self {
            is_stopwatch: true,
            ..Self::default()
        }
    }

    /// Returns the time in the zone.
    pub fn at(&self, time: Timestamp) -> Zoned {
        time.to_zoned(self.zone.clone())
    }

    /// Prints a time to the second, as `2026-11-20 13:40:12`.
    pub fn second(&self, time: Timestamp) -> String {
        self.at(time).strftime("%F %T").to_string()
    }

    /// Prints a time to the minute, as `2026-11-20 13:40`.
    pub fn minute(&self, time: Timestamp) -> String {
        self.at(time).strftime("%F %H:%M").to_string()
    }

    /// Prints a time to the minute with its zone, as `2026-11-20 13:40 EET`.
    pub fn stamp(&self, time: Timestamp) -> String {
        self.at(time).strftime(STAMP).to_string()
    }

    /// Prints a short time within a window: the time of the day, with the day if the window is longer than one.
    pub fn within(&self, time: Timestamp, window: Span) -> String {
        let is_long = window.1.duration_since(window.0) > SignedDuration::from_hours(36);
        let format = if is_long { "%m-%d %H:%M" } else { "%H:%M" };
        self.at(time).strftime(format).to_string()
    }

    /// Prints a window: a day as `Thursday 2026-11-20`, and others from a time to another.
    pub fn window(&self, window: Span) -> String {
        let (since, until) = (self.at(window.0), self.at(window.1));
        let is_day = since.tomorrow().is_ok_and(|it| it == until);
        if is_day && since.time() == Time::midnight() {
            return since.strftime("%A %F").to_string();
        }
        if since.date() == until.date() {
            let end = until.strftime("%H:%M");
            return format!("{} to {end}", since.strftime("%F %H:%M"));
        }
        format!("{} to {}", self.minute(window.0), self.minute(window.1))
    }

    /// Returns the end of the step of so many seconds that a time is in. Steps are counted from a Monday: days and longer ones on
    /// the clocks of the zone, others with its offset at the start of the window.
    pub fn step_end(&self, time: Timestamp, step: i64, since: Timestamp) -> Timestamp {
        const MONDAY: DateTime = DateTime::constant(2000, 1, 3, 0, 0, 0, 0);
        let zone = match step < 86_400 {
            true => self.zone.to_offset(since).to_time_zone(),
            false => self.zone.clone(),
        };
        let shown = zone.to_datetime(time);
        let passed = shown.duration_since(MONDAY).as_secs().div_euclid(step);
        let end = MONDAY.checked_add(SignedDuration::from_secs((passed + 1) * step));
        let end = end.and_then(|end| zone.to_timestamp(end));
        end.unwrap_or(Timestamp::MAX)
    }

    /// Returns the name of the zone, or its offset from UTC.
    pub fn name(&self) -> String {
        let name = self.zone.iana_name().map(str::to_owned);
        name.unwrap_or_else(|| self.at(Timestamp::now()).strftime("%:z").to_string())
    }

    /// Returns the line that names the zone.
    pub fn note(&self) -> String {
        format!("All times are {}", self.name())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(TimeZone::UTC)
    }
}

/// Returns the seconds from the start to the end.
pub fn seconds(span: Span) -> f64 {
    span.1.duration_since(span.0).as_secs_f64()
}

/// Returns a length of time in seconds as an interval.
pub fn interval(seconds: i64) -> Interval {
    SignedDuration::from_secs(seconds).into()
}

/// Returns the time so many seconds later.
pub fn after(time: Timestamp, seconds: f64) -> Timestamp {
    let length = SignedDuration::try_from_secs_f64(seconds).unwrap_or_default();
    time.saturating_add(length).unwrap_or(time)
}

/// Prints a length of time as `1 d 02:03:04` or `02:03:04`.
pub fn length(seconds: f64) -> String {
    let seconds = seconds.round().max(0.0) as u64;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let clock = format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    match days {
        0 => clock,
        _ => format!("{days} d {clock}"),
    }
}

/// Prints the width of steps, such as `10 min` or `1 h`.
pub fn width(seconds: i64) -> String {
    let units = [(86_400, "d"), (3600, "h"), (60, "min")];
    let whole = units.iter().find(|(unit, _)| seconds % unit == 0);
    let (unit, name) = whole.unwrap_or(&(1, "s"));
    format!("{} {name}", seconds / unit)
}

/// The widths of steps that people can read, in seconds.
const WIDTHS: [i64; 18] = [
    10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
    604_800, 1_209_600, 2_419_200,
];

/// Returns the smallest width in seconds that divides a window into at most so many steps.
pub fn step(seconds: f64, least: i64, most: usize) -> i64 {
    let fits = |width: &&i64| **width >= least && seconds / **width as f64 <= most as f64;
    WIDTHS.iter().find(fits).copied().unwrap_or(2_419_200)
}

/// Returns the full hours that hold a window.
pub fn full_hours((since, until): Span) -> Span {
    (
        rounded(since, Unit::Hour, RoundMode::Floor),
        rounded(until, Unit::Hour, RoundMode::Ceil),
    )
}

/// Returns a time in microseconds as one of the calendar.
pub fn timestamp(time: Micros) -> Timestamp {
    Timestamp::from_microsecond(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is meant at a time in a zone, in UTC.
    fn typed(text: &str, now: &str) -> Result<String, String> {
        let time = parse(text, &now.parse().unwrap())?;
        Ok(time.strftime("%F %H:%M").to_string())
    }

    fn at(text: &str) -> Result<String, String> {
        typed(text, "2026-11-20T15:30:00[UTC]")
    }

    #[test]
    fn full_hours_hold_a_window() {
        let full = |since: &str, until: &str| {
            let (since, until) = full_hours((since.parse().unwrap(), until.parse().unwrap()));
            format!("{since} {until}")
        };
        let hours = "2026-11-23T13:00:00Z 2026-11-23T15:00:00Z";
        assert_eq!(
            full("2026-11-23T13:35:58.5Z", "2026-11-23T14:00:00.1Z"),
            hours
        );
        assert_eq!(full("2026-11-23T13:00:00Z", "2026-11-23T15:00:00Z"), hours);
    }

    #[test]
    fn steps_end_at_multiples_of_their_width() {
        let time = |text: &str| format!("2026-{text}Z").parse::<Timestamp>().unwrap();
        for (zone, at, step, end) in [
            ("UTC", "11-20T15:30", 600, "11-20T15:40"),
            ("UTC", "11-20T15:30", 86_400, "11-21T00:00"),
            ("UTC", "11-20T15:30", 604_800, "11-23T00:00"),
            ("Asia/Kolkata", "11-20T15:30", 3600, "11-20T16:30"),
            ("Europe/Berlin", "10-24T22:00", 86_400, "10-25T23:00"),
            ("Europe/Berlin", "10-25T04:00", 21_600, "10-25T10:00"),
        ] {
            let clock = super::zone(zone).unwrap();
            let found = clock.step_end(time(at), step, time("10-24T22:00"));
            assert_eq!(found, time(end), "{zone} {at} {step}");
        }
    }

    #[test]
    fn a_local_time_is_one_of_the_zone_also_where_clocks_change() {
        let now = "2026-11-20T15:30:00[Europe/Berlin]";
        for (text, expected) in [
            ("yesterday 14:40", "2026-11-19 13:40"),
            ("2026-07-01 14:40", "2026-07-01 12:40"),
            // Clocks go from 02:00 to 03:00.
            ("2026-03-29 02:30", "2026-03-29 01:30"),
            // They show 02:30 twice.
            ("2026-10-25 02:30", "2026-10-25 00:30"),
        ] {
            assert_eq!(typed(text, now).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_time_in_the_future_is_refused() {
        let now = "2026-11-20T15:30:00[Europe/Berlin]";
        for text in ["15:31", "2026-11-21", "2026-11-20T14:31:00Z"] {
            let error = typed(text, now).unwrap_err();
            assert_eq!(error, "is in the future: it is 2026-11-20 15:30 CET now");
        }
        assert!(typed("15:30", now).is_ok());
    }

    #[test]
    fn times_are_typed_as_people_say_them() {
        let cases = [
            ("now", "2026-11-20 15:30"),
            ("2h", "2026-11-20 13:30"),
            ("90min ago", "2026-11-20 14:00"),
            ("14:00", "2026-11-20 14:00"),
            ("yesterday", "2026-11-19 00:00"),
            ("yesterday 14:00", "2026-11-19 14:00"),
            ("Monday 08:15", "2026-11-16 08:15"),
            ("friday", "2026-11-13 00:00"),
            ("2026-11-01", "2026-11-01 00:00"),
            ("2026-11-01 13:40", "2026-11-01 13:40"),
            ("2026-11-01T13:40:00+02:00", "2026-11-01 11:40"),
        ];
        for (text, expected) in cases {
            assert_eq!(at(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "someday", "14", "yesterday 14", "2026-13-01", "-"] {
            assert!(at(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_week_is_over_on_monday_also_where_clocks_change() {
        let week = |now: &str| {
            let now: Zoned = now.parse().unwrap();
            let (start, end) = last_week(&now).unwrap();
            [start, end].map(|it| it.to_string())
        };
        let expected = ["2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z"];
        assert_eq!(week("2026-11-16T00:00:00[UTC]"), expected);
        assert_eq!(week("2026-11-22T23:59:59[UTC]"), expected);
        let expected = ["2026-10-18T22:00:00Z", "2026-10-25T23:00:00Z"];
        assert_eq!(week("2026-10-26T07:00:00[Europe/Berlin]"), expected);
    }

    #[test]
    fn windows_and_lengths_are_short() {
        let clock = Clock::default();
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let day = (time("2026-11-20T00:00:00Z"), time("2026-11-21T00:00:00Z"));
        assert_eq!(clock.window(day), "Friday 2026-11-20");
        let hours = (time("2026-11-20T01:00:00Z"), time("2026-11-20T03:00:00Z"));
        assert_eq!(clock.window(hours), "2026-11-20 01:00 to 03:00");
        assert_eq!(length(93_784.4), "1 d 02:03:04");
        assert_eq!(length(59.6), "00:01:00");
        assert_eq!((width(600), width(7200)), ("10 min".into(), "2 h".into()));
        assert_eq!(step(86_400.0, 600, 144), 600);
        assert_eq!(step(86_400.0, 600, 100), 1200);
        assert_eq!(step(1e12, 600, 100), 2_419_200);
    }

    #[test]
    fn a_window_some_time_ago_begins_with_a_minute() {
        let window = |from, to| window(from, to, &Clock::default());
        let ago = window(Some("2h"), Some("now")).unwrap();
        let (since, until) = (ago.since.unwrap(), ago.until.unwrap());
        assert_eq!(since, rounded(since, Unit::Minute, RoundMode::Floor));
        assert!((7200.0..7260.0).contains(&seconds((since, until))));
        assert_eq!(window(None, None), Ok(Window::default()));
        let exact = "2026-11-20T13:40:12Z";
        assert_eq!(window(Some(exact), None).unwrap().since, exact.parse().ok());
        let error = window(Some("now"), Some("2h")).unwrap_err();
        assert_eq!(error, "--from now is not before --to 2h");
        assert!(
            window(Some("nonsense"), None)
                .unwrap_err()
                .contains("--from nonsense is not a time")
        );
    }

    #[test]
    fn a_zone_is_a_name_or_an_offset() {
        for unknown in ["Mars/Olympus", "UTC+2", "CET-1CEST,M3.5.0,M10.5.0", ""] {
            assert!(zone(unknown).is_err(), "{unknown}");
        }
        for name in ["UTC", "Europe/Helsinki", "+05:30"] {
            assert_eq!(zone(name).unwrap().name(), name);
        }
        // Others can be given the name of the local zone.
        let local = zone("local").unwrap();
        assert_eq!(zone(&local.name()), Ok(local));
    }
}
