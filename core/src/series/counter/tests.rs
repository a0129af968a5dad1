use allocator_api2::alloc::Global;

use super::*;
use crate::base::pause::Pause;

mod encoding;
mod growth;
mod laws;
mod memory;
mod modulus;

const MAX: i64 = i64::MAX;

fn at(time: Micros, value: i64) -> Reading {
    Reading::new(time, value, None).unwrap()
}

/// Returns a reading with a start of its epoch.
fn of_epoch(start: Micros, time: Micros, value: i64) -> Reading {
    Reading::new(time, value, Some(start)).unwrap()
}

/// Returns the summary of readings, with so little memory that most are forgotten if they come in order.
fn summary(readings: &[Reading]) -> Option<Summary> {
    wrapping(None, readings)
}

fn wrapping(modulus: Option<Modulus>, readings: &[Reading]) -> Option<Summary> {
    let mut series = Series::<Global, 4>::wrapping_in(Global, modulus);
    readings.iter().for_each(|&it| series.push(it).unwrap());
    series.summary(Pause::NEVER).unwrap()
}

/// Returns the increase and the resets of values that are read one after the other.
fn counted(values: &[i64]) -> (u128, u64) {
    let readings: Vec<_> = (0..)
        .zip(values)
        .map(|(time, &value)| at(time, value))
        .collect();
    counted_of(&readings)
}

fn counted_of(readings: &[Reading]) -> (u128, u64) {
    let summary = summary(readings).unwrap();
    (summary.increase(), summary.resets)
}

#[test]
fn an_irregular_sequence_counts_50_40_20() {
    assert_eq!(counted(&[100, 150]), (50, 0));
    assert_eq!(counted(&[100, 150, 40]), (90, 1));
    assert_eq!(counted(&[100, 150, 40, 60]), (110, 1));
}

#[test]
fn a_reset_to_a_larger_value_is_seen_by_its_epoch() {
    let readings = [
        of_epoch(1, 10, 100),
        of_epoch(11, 20, 150),
        of_epoch(11, 30, 160),
    ];
    assert_eq!(counted_of(&readings), (160, 1));
    assert_eq!(counted(&[100, 150, 160]), (60, 0));
}

#[test]
fn a_birth_between_two_readings_counts_from_zero() {
    let readings = [at(10, 0), of_epoch(14, 20, 30), of_epoch(14, 30, 35)];
    assert_eq!(counted_of(&readings), (35, 0));
}

#[test]
fn the_first_reading_is_a_baseline() {
    assert_eq!(counted(&[100]), (0, 0));
    assert_eq!(summary(&[]), None);
}

#[test]
fn a_epoch_cannot_fall() {
    let epoch = |values: &[i64]| -> Vec<_> {
        (10..)
            .zip(values)
            .map(|(time, &value)| of_epoch(1, time, value))
            .collect()
    };
    assert_eq!(counted_of(&epoch(&[100, 90, 95, 120])), (20, 0));
    let fallen = summary(&epoch(&[100, 90])).unwrap();
    assert_eq!((fallen.increase(), fallen.last.value), (0, 90));
}

#[test]
fn lives_that_are_not_known_on_both_sides_are_told_apart_by_value() {
    #[rustfmt::skip]
    let cases = [
        ([of_epoch(1, 10, 100), at(20, 120), of_epoch(1, 30, 130)], (30, 0)),
        ([of_epoch(1, 10, 100), at(20, 120), of_epoch(25, 30, 130)], (30, 0)),
        ([of_epoch(1, 10, 100), at(20, 80), of_epoch(15, 30, 90)], (90, 1)),
        ([of_epoch(1, 10, 100), at(20, 120), of_epoch(25, 30, 7)], (27, 1)),
        ([of_epoch(1, 10, 100), of_epoch(1, 20, 90), at(30, 95)], (95, 1)),
    ];
    for (readings, expected) in cases {
        assert_eq!(counted_of(&readings), expected, "{readings:?}");
    }
}

#[test]
fn of_equal_times_the_later_epoch_then_the_larger_value_counts() {
    let tied = [
        (vec![at(20, 110), at(20, 130)], 30),
        (vec![at(20, 130), of_epoch(5, 20, 110)], 10),
        (vec![of_epoch(5, 20, 130), of_epoch(6, 20, 110)], 10),
        (vec![of_epoch(6, 20, 110), of_epoch(6, 20, 130)], 30),
    ];
    for (mut tied, expected) in tied {
        for _ in 0..2 {
            let all: Vec<_> = [&[at(10, 100)], &tied[..]].concat();
            assert_eq!(counted_of(&all), (expected, 0), "{all:?}");
            let early: Vec<_> = [&[at(30, 130)], &tied[..], &[at(10, 100)]].concat();
            assert_eq!(counted_of(&early), (30, 0), "{early:?}");
            tied.reverse();
        }
    }
}

#[test]
fn values_are_exact_to_the_end_of_bigint() {
    assert_eq!(counted(&[0, MAX]), (MAX as u128, 0));
    assert_eq!(counted(&[MAX - 1, MAX]), (1, 0));
    assert_eq!(counted(&[(1 << 53) + 1, (1 << 53) + 2]), (1, 0));
    // The increase exceeds 64 bits.
    assert_eq!(counted(&[0, MAX, 0, MAX, 0, MAX]), (3 * MAX as u128, 2));
}

#[test]
fn negative_values_are_an_error() {
    for value in [-1, i64::MIN] {
        let error = Reading::new(0, value, None).unwrap_err();
        assert!(matches!(error, CounterError::Negative(it) if it == value));
    }
}

#[test]
fn accessors_tell_of_the_span() {
    let summary = summary(&[at(5_000_000, 40), at(0, 100), at(10_000_000, 60)]).unwrap();
    assert_eq!(summary.increase(), 60);
    assert_eq!((summary.first.value, summary.last.value), (100, 60));
    assert_eq!(summary.growth().elapsed, 10_000_000);
    assert_eq!(summary.growth().rate(), Some(6.0));
    assert_eq!(Summary::new(at(0, 100)).growth().rate(), None);
    assert_eq!(Summary::new(at(0, 100)).growth().elapsed, 0);
}

mod rollup {
    use super::*;

    fn rollup(parts: &[&[Reading]]) -> Result<Option<Summary>, CounterError> {
        let mut rollup = Rollup::<Global>::new_in(Global);
        for part in parts {
            rollup.push(summary(part).unwrap()).unwrap();
        }
        rollup.summary(Pause::NEVER)
    }

    #[test]
    fn includes_the_step_over_the_seam() {
        let whole = rollup(&[&[at(2, 40), at(3, 60)], &[at(0, 100), at(1, 150)]]);
        assert_eq!(whole.unwrap().unwrap().increase(), 110);
    }

    #[test]
    fn of_nothing_is_nothing() {
        assert_eq!(rollup(&[]).unwrap(), None);
    }

    #[test]
    fn of_spans_that_overlap_is_an_error() {
        let span: &[Reading] = &[at(10, 1), at(20, 2)];
        for other in [
            [at(15, 1), at(17, 1)],
            [at(0, 1), at(30, 3)],
            [at(20, 2), at(30, 3)],
            [at(0, 0), at(10, 1)],
            [at(10, 1), at(20, 2)],
        ] {
            let error = rollup(&[span, &other]).unwrap_err();
            assert!(matches!(error, CounterError::Overlap), "{other:?}");
        }
    }

    #[test]
    fn knows_what_a_epoch_reached_before_the_seam() {
        // The second span alone counts 120 − 50.
        let whole = rollup(&[
            &[of_epoch(1, 10, 100)],
            &[of_epoch(1, 20, 50), of_epoch(1, 30, 120)],
        ]);
        assert_eq!(whole.unwrap().unwrap().increase(), 20);
        // The epoch before 70 had reached 100, but the second span shows only 50.
        let whole = rollup(&[&[of_epoch(1, 10, 100)], &[of_epoch(1, 20, 50), at(30, 70)]]);
        let whole = whole.unwrap().unwrap();
        assert_eq!((whole.increase(), whole.resets), (70, 1));
    }

    #[test]
    fn can_be_rolled_up_again() {
        let parts = [
            [at(0, 100), at(1, 150)],
            [at(2, 40), at(3, 60)],
            [at(4, 5), at(5, 7)],
        ];
        let mut first = Rollup::<Global>::new_in(Global);
        first.push(summary(&parts[0]).unwrap()).unwrap();
        let half = first.summary(Pause::NEVER).unwrap().unwrap();
        first.push(summary(&parts[1]).unwrap()).unwrap();
        let more = first.summary(Pause::NEVER).unwrap().unwrap();
        assert_eq!((half.increase(), more.increase()), (50, 110));
        let mut second = Rollup::<Global>::new_in(Global);
        second.push(summary(&parts[2]).unwrap()).unwrap();
        second.push(more).unwrap();
        assert_eq!(
            second.summary(Pause::NEVER).unwrap(),
            summary(&parts.concat())
        );
    }
}
