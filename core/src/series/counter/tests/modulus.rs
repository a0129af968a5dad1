//! Tests counters that wrap.

use super::*;

const BITS_32: i64 = 1 << 32;

fn modulus(wraps_at: i64) -> Option<Modulus> {
    Some(Modulus::new(wraps_at).unwrap())
}

fn counted(wraps_at: i64, readings: &[Reading]) -> (u128, u64) {
    let growth = wrapping(modulus(wraps_at), readings).unwrap().growth();
    (growth.increase, growth.resets)
}

#[test]
fn a_lower_value_has_wrapped() {
    let readings = [at(10, 4_294_967_000), at(20, 100), at(30, 150)];
    assert_eq!(counted(BITS_32, &readings[..2]), (396, 0));
    assert_eq!(counted(BITS_32, &readings), (446, 0));
    // Without the modulus it is a reset.
    assert_eq!(counted_of(&readings[..2]), (100, 1));
}

#[test]
fn the_largest_value_is_followed_by_zero() {
    assert_eq!(counted(BITS_32, &[at(10, BITS_32 - 1), at(20, 0)]), (1, 0));
    assert_eq!(counted(MAX, &[at(10, MAX - 1), at(20, 0)]), (1, 0));
    assert_eq!(counted(1, &[at(10, 0), at(20, 0)]), (0, 0));
}

#[test]
fn a_epoch_wraps_too_and_nothing_but_another_start_is_a_reset() {
    let first = of_epoch(1, 10, 4_294_967_000);
    assert_eq!(counted(BITS_32, &[first, of_epoch(1, 20, 100)]), (396, 0));
    assert_eq!(counted(BITS_32, &[first, of_epoch(15, 20, 100)]), (100, 1));
    assert_eq!(counted(BITS_32, &[first, at(20, 100)]), (396, 0));
    // A reset to a larger value.
    let larger = [of_epoch(1, 10, 100), of_epoch(15, 20, 150)];
    assert_eq!(counted(BITS_32, &larger), (150, 1));
}

#[test]
fn a_value_beyond_the_modulus_is_an_error() {
    let mut series = Series::<Global>::wrapping_in(Global, modulus(100));
    series.push(at(0, 99)).unwrap();
    for value in [100, MAX] {
        let error = series.push(at(10, value)).unwrap_err();
        assert!(matches!(error, CounterError::BeyondModulus { value: it, .. } if it == value));
    }
    let message = series.push(at(10, 100)).unwrap_err().to_string();
    assert_eq!(
        message,
        "a counter that wraps at 100 cannot have the value 100"
    );
    assert_eq!(series.summary(Pause::NEVER).unwrap().unwrap().increase(), 0);
}

#[test]
fn a_modulus_is_positive() {
    for wraps_at in [0, -1, i64::MIN] {
        let error = Modulus::new(wraps_at).unwrap_err();
        assert!(matches!(error, CounterError::Modulus(it) if it == wraps_at));
    }
}

#[test]
fn counters_of_other_moduli_are_not_merged() {
    let summary = |wraps_at, time| wrapping(wraps_at, &[at(time, 5)]).unwrap();
    #[rustfmt::skip]
    let cases = [
        (None, modulus(6), "one counter never wraps, the other wraps at 6"),
        (modulus(6), modulus(7), "one counter wraps at 6, the other wraps at 7"),
    ];
    for (one, other, message) in cases {
        let mut rollup = Rollup::<Global>::new_in(Global);
        rollup.push(summary(one, 10)).unwrap();
        rollup.push(summary(other, 20)).unwrap();
        let error = rollup.summary(Pause::NEVER).unwrap_err();
        assert_eq!(error.to_string(), message);
        let error = summary(other, 20)
            .growth_after(&summary(one, 10))
            .unwrap_err();
        assert_eq!(error.to_string(), message);
        let series = Series::<Global>::wrapping_in(Global, one);
        assert!(series.require_modulus(one).is_ok());
        assert_eq!(
            series.require_modulus(other).unwrap_err().to_string(),
            message
        );
    }
}
