//! Scales and ticks.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Unit, Zoned, ZonedRound};

/// A map from values to coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    values: (f64, f64),
    places: (f64, f64),
}

impl Scale {
    /// Returns a linear scale. If all values are equal, they are all at the first place.
    pub const fn new(values: (f64, f64), places: (f64, f64)) -> Self {
        Self { values, places }
    }

    /// Returns the place of a value; values outside are at the edge.
    pub fn at(&self, value: f64) -> f64 {
        let span = self.values.1 - self.values.0;
        let part = if span > 0.0 {
            ((value - self.values.0) / span).clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.places.0 + part * (self.places.1 - self.places.0)
    }
}

/// Returns round numbers from 0 to at least the largest value: about so many steps of 1, 2 or 5.
pub fn ticks(most: f64, count: usize) -> Vec<f64> {
    if !(most > 0.0 && most.is_finite()) {
        return vec![0.0, 1.0];
    }
    let rough = most / count.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= rough * 0.999)
        .unwrap_or(10.0);
    let step = factor * power;
    let steps = (most / step).ceil() as usize;
    // Products of whole numbers have no rest that would be printed.
    (0..=steps).map(|tick| tick as f64 * step).collect()
}

/// The powers of ten that a logarithmic scale has.
pub const DECADES: f64 = 3.0;

/// The places of a logarithmic scale of classes: the class of a value between the largest and a thousandth of it, and 0 for
/// all that is less.
pub fn class(value: f64, most: f64, classes: usize) -> usize {
    let part = 1.0 + (value / most).log10() / DECADES;
    let class = (part * classes as f64).floor();
    (class.max(0.0) as usize).min(classes - 1)
}

/// The widths between ticks of time, as a number of units.
const WIDTHS: [(i64, Unit); 13] = [
    (1, Unit::Minute),
    (5, Unit::Minute),
    (10, Unit::Minute),
    (30, Unit::Minute),
    (1, Unit::Hour),
    (2, Unit::Hour),
    (3, Unit::Hour),
    (6, Unit::Hour),
    (12, Unit::Hour),
    (1, Unit::Day),
    (2, Unit::Day),
    (7, Unit::Day),
    (28, Unit::Day),
];

/// Returns at most so many round times within a window, each with its label.
pub fn time_ticks(
    window: (Timestamp, Timestamp),
    zone: &TimeZone,
    most: usize,
) -> Vec<(Timestamp, String)> {
    let seconds = window.1.duration_since(window.0).as_secs_f64();
    let length = |(count, unit): &(i64, Unit)| match unit {
        Unit::Minute => 60.0 * *count as f64,
        Unit::Hour => 3600.0 * *count as f64,
        _ => 86_400.0 * *count as f64,
    };
    let fits = |width: &&(i64, Unit)| seconds / length(width) <= most as f64;
    let width = WIDTHS.iter().find(fits).unwrap_or(&WIDTHS[12]);
    let (count, unit) = *width;
    let mut ticks = Vec::new();
    let start = window.0.to_zoned(zone.clone());
    let Ok(mut time) = first(&start, count, unit) else {
        return ticks;
    };
    let format = if unit == Unit::Day { "%b %-d" } else { "%H:%M" };
    while time.timestamp() <= window.1 && ticks.len() <= most + 1 {
        if time.timestamp() >= window.0 {
            // In a window of days, midnight says which day begins.
            let is_new_day = seconds > 86_400.0 && time.time() == jiff::civil::Time::midnight();
            let format = if is_new_day { "%b %-d" } else { format };
            ticks.push((time.timestamp(), time.strftime(format).to_string()));
        }
        let next = match unit {
            Unit::Day => time.checked_add(jiff::Span::new().days(count)),
            Unit::Hour => time.checked_add(SignedDuration::from_hours(count)),
            _ => time.checked_add(SignedDuration::from_mins(count)),
        };
        match next {
            Ok(next) => time = next,
            Err(_) => break,
        }
    }
    ticks
}

/// Returns the last round time that is not after the start.
fn first(start: &Zoned, count: i64, unit: Unit) -> Result<Zoned, jiff::Error> {
    let midnight = start.start_of_day()?;
    if unit == Unit::Day {
        return Ok(midnight);
    }
    let round = ZonedRound::new().mode(jiff::RoundMode::Trunc);
    match unit {
        Unit::Minute => start.round(round.smallest(unit).increment(count)),
        // Multiples are counted from midnight.
        _ => {
            let hours = i64::from(start.hour()) / count * count;
            midnight.checked_add(SignedDuration::from_hours(hours))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_largest_value() {
        assert_eq!(ticks(23.0, 4), [0.0, 10.0, 20.0, 30.0]);
        assert_eq!(ticks(1.0, 4), [0.0, 0.5, 1.0]);
        assert_eq!(ticks(0.003, 3), [0.0, 0.001, 0.002, 0.003]);
        assert_eq!(ticks(0.0, 4), [0.0, 1.0]);
        assert_eq!(ticks(f64::NAN, 4), [0.0, 1.0]);
        for exponent in -9..20 {
            for mantissa in 1..100 {
                let most = f64::from(mantissa) * 10_f64.powi(exponent);
                let ticks = ticks(most, 4);
                assert!(*ticks.last().unwrap() >= most * 0.999_999, "{most}");
                assert!((2..=6).contains(&ticks.len()), "{most} {ticks:?}");
            }
        }
    }

    #[test]
    fn a_scale_keeps_values_inside() {
        let scale = Scale::new((0.0, 10.0), (100.0, 0.0));
        assert_eq!(scale.at(0.0), 100.0);
        assert_eq!(scale.at(5.0), 50.0);
        assert_eq!(scale.at(99.0), 0.0);
        assert_eq!(Scale::new((3.0, 3.0), (1.0, 2.0)).at(3.0), 1.0);
    }

    #[test]
    fn classes_are_thirds_of_decades() {
        assert_eq!(class(10.0, 10.0, 9), 8);
        assert_eq!(class(1.0, 10.0, 9), 6);
        assert_eq!(class(0.001, 10.0, 9), 0);
    }

    #[test]
    fn times_are_round_in_the_zone() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let labels = |since, until, zone: &TimeZone, most| {
            let window = (time(since), time(until));
            let ticks = time_ticks(window, zone, most);
            ticks
                .into_iter()
                .map(|(_, label)| label)
                .collect::<Vec<_>>()
        };
        let day = ("2026-11-20T12:33:00Z", "2026-11-21T12:33:00Z");
        assert_eq!(
            labels(day.0, day.1, &TimeZone::UTC, 8),
            [
                "15:00", "18:00", "21:00", "00:00", "03:00", "06:00", "09:00", "12:00"
            ]
        );
        assert_eq!(
            labels(
                "2026-11-20T00:10:00Z",
                "2026-11-27T00:00:00Z",
                &TimeZone::UTC,
                8
            )
            .len(),
            7
        );
        let half = TimeZone::fixed(jiff::tz::Offset::from_seconds(19_800).unwrap());
        assert_eq!(
            labels("2026-11-20T00:00:00Z", "2026-11-20T04:00:00Z", &half, 4),
            ["06:00", "07:00", "08:00", "09:00"]
        );
    }
}
