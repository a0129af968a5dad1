use proptest::prelude::*;

use super::*;

#[test]
fn an_amount_is_compared_with_the_median() {
    let usual = Typical::of(40.0, &mut [4.0, 1.0, 2.0, 0.0, 3.0]).unwrap();
    assert_eq!(usual.quartiles, [1.0, 2.0, 3.0]);
    assert_eq!(usual.times_usual, Some(20.0));
    assert_eq!((usual.percentile, usual.excess(40.0)), (1.0, 38.0));
    let usual = Typical::of(2.0, &mut [1.0, 2.0]).unwrap();
    assert_eq!(
        (usual.quartiles, usual.percentile),
        ([1.25, 1.5, 1.75], 0.75)
    );
}

#[test]
fn nothing_is_no_times_of_nothing() {
    let usual = Typical::of(5.0, &mut [0.0, 0.0, 9.0]).unwrap();
    assert_eq!(usual.times_usual, None);
    assert_eq!(Typical::of(5.0, &mut []), None);
}

proptest! {
    #[test]
    fn quartiles_are_in_order_between_the_least_and_the_most(mut days in prop::collection::vec(0.0..1e12_f64, 1..40), amount in 0.0..1e12_f64) {
        let usual = Typical::of(amount, &mut days).unwrap();
        let [lower, median, upper] = usual.quartiles;
        prop_assert!(days[0] <= lower && lower <= median && median <= upper && upper <= days[days.len() - 1]);
        prop_assert!((0.0..=1.0).contains(&usual.percentile));
        let more = days.iter().filter(|it| **it > amount).count();
        prop_assert_eq!(usual.percentile == 0.0, more == days.len());
    }
}

#[test]
fn a_distribution_has_the_bounds_and_the_median() {
    let of = |values: &[f64]| {
        let found = Distribution::of(&mut values.to_vec());
        found.map(|it| (it.min, it.median, it.max))
    };
    assert_eq!(of(&[9.0, 0.0, 3.0]), Some((0.0, 3.0, 9.0)));
    assert_eq!(of(&[7.0]), Some((7.0, 7.0, 7.0)));
    assert_eq!(of(&[8.0, 1.0, 2.0, 5.0]), Some((1.0, 3.5, 8.0)));
    assert_eq!(of(&[]), None);
}
