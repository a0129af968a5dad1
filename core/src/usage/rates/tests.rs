use num_bigint::BigInt;
use proptest::prelude::*;

use super::Rates;
use crate::usage::UsageError;

const SECOND: i64 = 1_000_000;

/// Adds totals in this order, as rates per second.
fn sum(totals: &[(i128, i64)]) -> Rates {
    let mut rates = Rates::default();
    for &(total, observed) in totals {
        rates.push(total, observed).unwrap();
    }
    rates
}

fn rate(totals: &[(i128, i64)]) -> Option<f64> {
    sum(totals).rate(1)
}

#[test]
fn what_floating_point_numbers_add_up_to_something_else() {
    assert_ne!(0.1 + 0.2, 0.3);
    assert_eq!(rate(&[(1, 10 * SECOND), (1, 5 * SECOND)]), Some(0.3));
    assert_eq!(rate(&[(1, 10 * SECOND), (2, 10 * SECOND)]), Some(0.3));
}

#[test]
fn amounts_have_parts() {
    let parts = sum(&[(7 * 600, 600 * SECOND)]);
    assert_eq!(parts.rate(1_000_000), Some(0.000_007));
    assert_eq!(parts.rate(1_000), Some(0.007));
    assert_eq!(parts.rate(1_000_000_000_000_000), Some(0.000_007 / 1e9));
}

#[test]
fn totals_of_any_size() {
    let most = i128::from(i64::MAX);
    assert_eq!(
        rate(&[(most, SECOND), (most, SECOND)]),
        Some(2.0 * most as f64)
    );
    // These totals are too large to be multiplied by the scale.
    let huge = rate(&[(i128::MAX / 8, SECOND), (i128::MAX / 8, 2 * SECOND)]);
    assert_eq!(huge, Some((i128::MAX / 8) as f64 * 1.5));
    let mut most = sum(&[(i128::MAX, SECOND)]);
    assert!(matches!(most.push(1, SECOND), Err(UsageError::Overflow)));
}

/// Totals and times, some of them equal.
fn totals() -> impl Strategy<Value = Vec<(i128, i64)>> {
    let total = prop_oneof![
        0..1000i128,
        0..=i128::from(i64::MAX),
        i128::from(i64::MIN)..0
    ];
    let observed = prop_oneof![
        Just(600 * SECOND),
        Just(0),
        599 * SECOND..=600 * SECOND,
        1..400 * 86_400 * SECOND
    ];
    prop::collection::vec((total, observed), 1..40)
}

/// Returns true if a number is the nearest one to a fraction, within a number of quarters of the gap to the next
/// number.
fn is_near(number: f64, numerator: &BigInt, denominator: &BigInt, quarters: u32) -> bool {
    // The fraction is compared in multiples of 2^-200: each number that can occur is a whole multiple or nearly so.
    let scale = BigInt::from(1) << 200;
    let exact = numerator * &scale / denominator;
    let whole = |it: f64| {
        let bits = it.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let shift = exponent - 1075 + 200;
        let mantissa = BigInt::from(fraction | 1 << 52);
        let size = if it == 0.0 {
            BigInt::from(0)
        } else if shift >= 0 {
            mantissa << shift
        } else {
            mantissa >> -shift
        };
        if it < 0.0 { -size } else { size }
    };
    let gap = whole(number.abs().next_up()) - whole(number.abs());
    let distance: BigInt = whole(number) - exact;
    let most = gap * quarters / 4 + 1;
    distance <= most && -&distance <= most
}

proptest! {
    /// A single length of time is divided as exactly as can be: within half a gap.
    #[test]
    fn of_one_time_the_nearest(totals in prop::collection::vec(any::<i64>(), 1..5), observed in 1..400 * 86_400 * SECOND) {
        let totals: Vec<_> = totals.into_iter().map(|it| (i128::from(it), observed)).collect();
        let sum: i128 = totals.iter().map(|it| it.0).sum();
        let numerator = BigInt::from(sum) * SECOND;
        prop_assert!(is_near(rate(&totals).unwrap(), &numerator, &BigInt::from(observed), 2));
    }

    /// Rates of any times are exact within three quarters of a gap if signs do not cancel.
    #[test]
    fn of_any_times(totals in totals()) {
        let totals: Vec<_> = totals.into_iter().map(|(total, observed)| (total.abs(), observed)).collect();
        let (mut numerator, mut denominator) = (BigInt::from(0), BigInt::from(1));
        let mut is_observed = false;
        for &(total, observed) in totals.iter().filter(|it| it.1 > 0) {
            numerator = numerator * observed + BigInt::from(total) * SECOND * &denominator;
            denominator *= observed;
            is_observed = true;
        }
        match rate(&totals) {
            Some(rate) => prop_assert!(is_near(rate, &numerator, &denominator, 3)),
            None => prop_assert!(!is_observed),
        }
    }

    #[test]
    fn in_any_order((totals, shuffled) in totals().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle()))) {
        prop_assert_eq!(rate(&totals), rate(&shuffled));
    }
}
