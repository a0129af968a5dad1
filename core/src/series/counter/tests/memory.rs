//! Tests how many readings are kept, and what happens to readings that come late.

use std::cell::Cell;

use super::*;
use crate::series::counter::Series;

fn series<const KEEP: usize, const LIMIT: usize>(
    times: impl IntoIterator<Item = Micros>,
) -> Result<Series<Global, KEEP, LIMIT>, CounterError> {
    let mut series = Series::wrapping_in(Global, None);
    for time in times {
        series.push(at(time, time))?;
    }
    Ok(series)
}

fn increase<const KEEP: usize, const LIMIT: usize>(
    mut series: Series<Global, KEEP, LIMIT>,
) -> u128 {
    series.summary(Pause::NEVER).unwrap().unwrap().increase()
}

#[test]
fn a_reading_has_24_bytes() {
    assert_eq!(size_of::<Reading>(), 24);
}

#[test]
fn nothing_needs_more_than_the_alignment_of_postgresql() {
    assert!(align_of::<Summary>() <= 8);
    assert!(align_of::<Series<Global>>() <= 8);
}

#[test]
fn order_takes_bounded_memory() {
    // The memory has room for no more readings than are kept.
    assert_eq!(increase(series::<8, 8>(0..1000).unwrap()), 999);
}

#[test]
fn readings_without_order_are_an_error_where_they_are_too_many() {
    assert_eq!(increase(series::<64, 16>((0..16).rev()).unwrap()), 15);
    let error = series::<64, 16>((0..17).rev()).unwrap_err();
    assert!(matches!(error, CounterError::TooMany(16)));
    // The seventeenth reading breaks the order of the first sixteen.
    let error = series::<64, 16>((1..17).chain([0])).unwrap_err();
    assert!(matches!(error, CounterError::TooMany(16)));
}

#[test]
fn what_comes_late_by_half_of_what_is_kept_has_its_place() {
    for count in 8..40 {
        let late = count - 4;
        let readings = (0..count).map(|time| 2 * time).chain([2 * late + 1]);
        assert_eq!(
            increase(series::<8, 64>(readings).unwrap()),
            2 * (count as u128 - 1)
        );
    }
}

#[test]
fn what_comes_later_than_that_is_an_error() {
    for late in [0, 1, 100, 1001] {
        let mut series = series::<8, 64>((0..1000).map(|time| 2 * time)).unwrap();
        let error = series.push(at(late, late)).unwrap_err();
        assert!(matches!(error, CounterError::TooLate(4)), "{late}");
    }
}

#[test]
fn a_span_before_all_that_was_forgotten_has_its_place() {
    let readings = (1000..2000).chain((0..40).rev());
    assert_eq!(increase(series::<8, 64>(readings).unwrap()), 1999);
}

#[test]
fn a_window_that_grows_is_summed_up_row_by_row() {
    let readings: Vec<_> = (0..200)
        .map(|time| at((time * 7) % 31 + time, time * 3 % 50))
        .collect();
    let mut series = Series::<Global, 256, 256>::wrapping_in(Global, None);
    for end in 0..readings.len() {
        series.push(readings[end]).unwrap();
        let so_far = series.summary(Pause::NEVER).unwrap();
        let mut alone = Series::<Global>::wrapping_in(Global, None);
        readings[..=end]
            .iter()
            .for_each(|&it| alone.push(it).unwrap());
        assert_eq!(so_far, alone.summary(Pause::NEVER).unwrap(), "{end}");
    }
}

#[test]
fn a_window_in_order_is_not_summed_up_anew_with_every_row() {
    let mut series = Series::<Global, 8, 8>::wrapping_in(Global, None);
    for time in 0..1000 {
        series.push(at(time, time)).unwrap();
        let steps = Cell::new(0);
        let pause = || steps.set(steps.get() + 1);
        let summary = series.summary(Pause::new(&pause)).unwrap().unwrap();
        assert_eq!(summary.increase(), time as u128);
        assert!(steps.get() <= 8, "{steps:?} steps at {time}");
    }
}

#[test]
fn summaries_to_roll_up_are_an_error_where_they_are_too_many() {
    let mut rollup = Rollup::<Global, 5>::new_in(Global);
    (0..5).for_each(|time| rollup.push(Summary::new(at(time, time))).unwrap());
    let error = rollup.push(Summary::new(at(5, 5))).unwrap_err();
    assert!(matches!(error, CounterError::TooMany(5)));
    assert_eq!(rollup.summary(Pause::NEVER).unwrap().unwrap().increase(), 4);
}
