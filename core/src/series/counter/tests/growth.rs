//! Tests by how much a counter grew since a previous summary.

use super::*;

fn after(previous: &[Reading], next: &[Reading]) -> Growth {
    let (previous, next) = (summary(previous).unwrap(), summary(next).unwrap());
    next.growth_after(&previous).unwrap()
}

#[test]
fn the_step_from_the_previous_summary_is_included() {
    let growth = after(
        &[at(0, 100), at(10, 150)],
        &[at(20_000_000, 170), at(30_000_000, 40)],
    );
    assert_eq!((growth.increase, growth.resets), (20 + 40, 1));
    assert_eq!(growth.elapsed, 30_000_000 - 10);
    let growth = after(&[at(0, 100)], &[at(10_000_000, 40)]);
    assert_eq!((growth.increase, growth.resets), (40, 1));
    assert_eq!(growth.rate(), Some(4.0));
}

#[test]
fn a_new_epoch_is_seen() {
    let growth = after(&[of_epoch(1, 10, 100)], &[of_epoch(15, 20, 150)]);
    assert_eq!((growth.increase, growth.resets), (150, 1));
}

#[test]
fn a_previous_summary_that_does_not_end_before_is_an_error() {
    let next = summary(&[at(10, 1), at(20, 2)]).unwrap();
    for previous in [
        &[at(0, 1), at(10, 1)][..],
        &[at(0, 1), at(15, 1)],
        &[at(10, 1), at(20, 2)],
        &[at(30, 1)],
    ] {
        let error = next.growth_after(&summary(previous).unwrap()).unwrap_err();
        assert!(matches!(error, CounterError::NotPrevious), "{previous:?}");
    }
}

#[test]
fn what_a_epoch_had_reached_before_the_previous_summary_counts_once_more() {
    let epoch = [
        of_epoch(1, 10, 100),
        of_epoch(1, 20, 90),
        of_epoch(1, 30, 95),
    ];
    let counted =
        after(&epoch[..1], &epoch[1..2]).increase + after(&epoch[1..2], &epoch[2..]).increase;
    assert_eq!((counted, counted_of(&epoch)), (5, (0, 0)));
}

/// A fall can also hide a reset, but only where a reading without a start follows the epoch that fell.
#[test]
fn a_reset_that_only_the_value_before_a_fall_shows_is_missed() {
    let readings = [of_epoch(1, 10, 100), of_epoch(1, 20, 90), at(30, 95)];
    let [fall, step] =
        [(0, 1), (1, 2)].map(|(previous, next)| after(&[readings[previous]], &[readings[next]]));
    assert_eq!((fall.increase, step.increase, step.resets), (0, 5, 0));
    assert_eq!(counted_of(&readings), (95, 1));
}
