use proptest::prelude::*;

use super::*;
use crate::base::instant::{HOUR, MINUTE, SECOND};

/// Clocks that are put forward by an hour at one instant and back at a later one.
#[derive(Debug)]
struct Summer {
    offset: Micros,
    begins: Micros,
    ends: Micros,
}

impl Clocks for Summer {
    fn shown(&self, instant: Micros) -> Micros {
        let is_summer = self.begins <= instant && instant < self.ends;
        instant + self.offset + if is_summer { HOUR } else { 0 }
    }

    fn instant(&self, shown: Micros) -> Micros {
        let instant = shown - self.offset;
        let is_summer = self.begins <= instant - HOUR && instant < self.ends;
        instant - if is_summer { HOUR } else { 0 }
    }
}

/// Clocks that are this far ahead all the time.
fn ahead(offset: Micros) -> Summer {
    Summer {
        offset,
        begins: Micros::MAX,
        ends: Micros::MAX,
    }
}

/// The clocks of Helsinki in 2026.
const HELSINKI: Summer = Summer {
    offset: 2 * HOUR,
    begins: MARCH_29 + HOUR,
    ends: OCTOBER_25 + HOUR,
};

/// 2026-03-29 00:00, a Sunday; 9,582 days after the Monday from which steps are counted.
const MARCH_29: Micros = MONDAY + 9_582 * DAY;
const OCTOBER_25: Micros = MARCH_29 + 210 * DAY;

fn edges(window: Span, width: StepWidth, zone: &Summer) -> Vec<Micros> {
    step_edges(window, width, zone, 100_000).expect("few steps")
}

/// Returns the edges of a window, in this unit since an instant.
fn since(instant: Micros, unit: Micros, edges: &[Micros]) -> Vec<Micros> {
    let edges = edges.iter().map(|edge| (edge - instant) / unit);
    edges.collect()
}

#[test]
fn days_follow_the_clocks_and_hours_do_not() {
    // On 2026-03-29 clocks go from 03:00 to 04:00 at 01:00 UTC.
    let midnight = MARCH_29 - 2 * HOUR;
    let window = (midnight - DAY, midnight + 2 * DAY);
    let days = edges(window, StepWidth::Days(DAY), &HELSINKI);
    assert_eq!(since(midnight, HOUR, &days), [-24, 0, 23, 47, 48]);
    let halves = edges(window, StepWidth::Time(12 * HOUR), &HELSINKI);
    assert_eq!(
        since(midnight, HOUR, &halves),
        [-24, -12, 0, 12, 24, 36, 48]
    );
    // A day that begins at no midnight is the rest of it.
    let window = (midnight - 6 * HOUR, midnight + 42 * HOUR);
    let days = edges(window, StepWidth::Days(DAY), &HELSINKI);
    assert_eq!(since(midnight, HOUR, &days), [-6, 0, 23, 42]);
}

#[test]
fn weeks_begin_on_mondays_and_months_on_their_first_day() {
    // 2026-03-29 is a Sunday.
    let window = (MARCH_29, MARCH_29 + 10 * DAY);
    let weeks = edges(window, StepWidth::Days(7 * DAY), &ahead(0));
    assert_eq!(since(MARCH_29, DAY, &weeks), [0, 1, 8, 10]);
    let window = (MARCH_29, MARCH_29 + 100 * DAY);
    let months = edges(window, StepWidth::Months(1), &HELSINKI);
    // April, May, June and July begin at 21:00 UTC of the day before.
    assert_eq!(
        since(MARCH_29, HOUR, &months),
        [0, 69, 789, 1533, 2253, 2400]
    );
    let quarters = edges(window, StepWidth::Months(3), &HELSINKI);
    assert_eq!(since(MARCH_29, HOUR, &quarters), [0, 69, 2253, 2400]);
}

#[test]
fn widths_are_of_one_kind() {
    assert_eq!(StepWidth::new(0, 0, SECOND), Ok(StepWidth::Time(SECOND)));
    assert_eq!(StepWidth::new(0, 1, HOUR), Ok(StepWidth::Days(25 * HOUR)));
    assert_eq!(StepWidth::new(14, 0, 0), Ok(StepWidth::Months(14)));
    assert_eq!(StepWidth::new(1, 1, 0), Err(StepError::Mixed));
    assert_eq!(StepWidth::new(1, 0, 1), Err(StepError::Mixed));
    assert_eq!(StepWidth::new(0, 0, 0), Err(StepError::NotPositive));
    assert_eq!(StepWidth::new(1, -1, 0), Err(StepError::NotPositive));
    assert_eq!(StepWidth::new(i32::MAX, 0, 0), Err(StepError::TooLong));
    assert_eq!(StepWidth::new(0, i32::MAX, 0), Err(StepError::TooLong));
    assert_eq!(StepWidth::new(0, 1, Micros::MAX), Err(StepError::TooLong));
}

#[test]
fn too_many_steps_are_not_counted() {
    let window = (0, 1001);
    assert_eq!(
        step_edges(window, StepWidth::Time(1), &ahead(0), 1000),
        None
    );
    assert!(step_edges(window, StepWidth::Time(1), &ahead(0), 1001).is_some());
    let long = (Micros::MIN / 2, Micros::MAX / 2);
    assert_eq!(step_edges(long, StepWidth::Time(1), &ahead(0), 1000), None);
    let one = StepWidth::Days(Micros::MAX);
    assert_eq!(
        edges((MONDAY + 1, Micros::MAX / 2), one, &ahead(0)).len(),
        2
    );
}

#[test]
fn time_is_counted_from_january_1970() {
    assert_eq!(first_of_month(-360), 0);
}

fn width() -> impl Strategy<Value = StepWidth> {
    prop_oneof![
        (1_i64..100_000).prop_map(|seconds| StepWidth::Time(seconds * SECOND)),
        (DAY..20 * DAY).prop_map(StepWidth::Days),
        (1_i64..20).prop_map(|days| StepWidth::Days(days * DAY)),
        (1_i64..40).prop_map(StepWidth::Months),
    ]
}

prop_compose! {
    fn summer()(
        offset in -50_i64..50,
        begins in 9_000 * DAY..9_400 * DAY,
        length in 0..200 * DAY,
    ) -> Summer {
        let offset = offset * 15 * MINUTE;
        Summer { offset, begins: MONDAY + begins, ends: MONDAY + begins + length }
    }
}

prop_compose! {
    /// A window of up to a hundred days.
    fn window()(since in 9_000 * DAY..9_700 * DAY, length in 1..100 * DAY) -> Span {
        (MONDAY + since, MONDAY + since + length)
    }
}

proptest! {
    /// Inside of the window, edges are exactly the multiples of the width.
    #[test]
    fn edges_are_multiples((since, until) in window(), width in width(), zone in summer()) {
        let Some(edges) = step_edges((since, until), width, &zone, 1000) else { return Ok(()) };
        prop_assert_eq!((edges[0], edges[edges.len() - 1]), (since, until));
        prop_assert!(edges.windows(2).all(|step| step[0] < step[1]));
        let offset = zone.shown(since) - since;
        for &edge in &edges[1..edges.len() - 1] {
            match width {
                StepWidth::Time(width) => prop_assert_eq!((edge + offset - MONDAY) % width, 0),
                // An hour that clocks leave out is the only one in which they do not show a multiple.
                StepWidth::Days(width) if zone.shown(edge) - zone.shown(edge - 1) == 1 => {
                    let over = (zone.shown(edge) - MONDAY) % width;
                    prop_assert!(over == 0 || edge - zone.begins < HOUR, "{}", over);
                }
                _ => {}
            }
        }
        let longest = match width {
            StepWidth::Time(width) => width,
            StepWidth::Days(width) => width + HOUR,
            StepWidth::Months(months) => months * 31 * DAY + HOUR,
        };
        prop_assert!(edges.windows(2).all(|step| step[1] - step[0] <= longest));
    }

    /// The edges of a window are the edges of any two windows that it consists of.
    #[test]
    fn steps_of_adjacent_windows_fit((since, until) in window(), cut in 0.0..1.0, width in width(), zone in summer()) {
        let cut = since + ((until - since) as f64 * cut) as Micros;
        // Lengths of time are counted by the offset at the start, which must not change.
        let zone = if matches!(width, StepWidth::Time(_)) { ahead(zone.offset) } else { zone };
        let Some(whole) = step_edges((since, until), width, &zone, 1000) else { return Ok(()) };
        if cut > since {
            let mut parts = step_edges((since, cut), width, &zone, 1000).expect("fewer steps");
            parts.extend(&step_edges((cut, until), width, &zone, 1000).expect("fewer steps")[1..]);
            parts.retain(|edge| *edge != cut || whole.contains(edge));
            prop_assert_eq!(parts, whole);
        }
    }

    /// A month has as many days as it has.
    #[test]
    fn months_follow_each_other(number in -100_000_i64..100_000) {
        let days = (first_of_month(number + 1) - first_of_month(number)) / DAY;
        let year = 2000 + number.div_euclid(12);
        let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let february = if is_leap_year { 29 } else { 28 };
        let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        prop_assert_eq!(days, lengths[number.rem_euclid(12) as usize]);
    }
}
