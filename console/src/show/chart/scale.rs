//! Scales and ticks.

use std::iter;

use jiff::Timestamp;
use jiff::civil::Time;

use crate::values::when::{self, Clock, Span, after};

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
        let part = (value - self.values.0) / span;
        let part = if span > 0.0 {
            part.clamp(0.0, 1.0)
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

/// The seconds of a day.
const DAY: i64 = 86_400;

/// Returns at most so many round times within a window, each with its label. They are ends of steps.
pub fn time_ticks(window: Span, clock: &Clock, most: usize) -> Vec<(Timestamp, String)> {
    let seconds = when::seconds(window);
    let width = when::step(seconds, 60, most);
    let next = |time: &Timestamp| Some(clock.step_end(*time, width, window.0));
    let times = iter::successors(next(&after(window.0, -width as f64)), next);
    let times = times.take_while(|time| *time <= window.1);
    let times = times.filter(|time| *time >= window.0);
    let ticks = times.take(most + 2).map(|time| {
        let shown = clock.at(time);
        // In a window of days, midnight has the date.
        let is_new_day = seconds > DAY as f64 && shown.time() == Time::midnight();
        let is_day = width >= DAY || is_new_day;
        let format = if is_day { "%b %-d" } else { "%H:%M" };
        (time, shown.strftime(format).to_string())
    });
    ticks.collect()
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

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
            let ticks = time_ticks(window, &Clock::new(zone.clone()), most);
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
