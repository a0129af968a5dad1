use proptest::prelude::*;

use super::*;

/// Returns the increment of these calls: their number, their sum, and all details.
fn of(calls: &[u64], before: &[u64]) -> (u64, u64, Detail) {
    let all = || before.iter().chain(calls).copied();
    let new = |bound: Option<u64>, old: Option<u64>| bound.filter(|_| bound != old);
    let squares = calls
        .iter()
        .fold(0u64, |sum, it| sum.wrapping_add(it.wrapping_mul(*it)));
    let detail = Detail {
        min: new(all().min(), before.iter().copied().min()),
        max: new(all().max(), before.iter().copied().max()),
        sumsq: Some(squares),
        ..Detail::default()
    };
    (calls.len() as u64, calls.iter().sum(), detail)
}

/// Returns the calls of a counter with these increments.
fn counter(increments: &[&[u64]]) -> Calls {
    let mut counter = Calls::default();
    let mut before = Vec::new();
    for calls in increments {
        let (count, sum, detail) = of(calls, &before);
        counter.count(count, sum, Some(&detail), true);
        before.extend_from_slice(calls);
    }
    counter
}

fn all(counters: &[Calls]) -> Calls {
    let mut calls = Calls::default();
    counters.iter().for_each(|it| calls.add(it));
    calls
}

#[test]
fn an_empty_detail_says_that_all_calls_were_alike() {
    let mut counter = Calls::default();
    counter.count(3, 12_288, Some(&Detail::default()), true);
    assert_eq!(all(&[counter.clone()]).bounds(), Some((4096, 4096)));
    assert_eq!(all(&[counter.clone()]).deviation(), Some(0.0));
    // Further calls within the bounds that have the squares of like calls have no detail at all.
    counter.count(2, 8192, None, true);
    assert_eq!(all(&[counter.clone()]).bounds(), Some((4096, 4096)));
    assert_eq!(all(&[counter]).deviation(), Some(0.0));
}

#[test]
fn bounds_before_the_first_increment_are_not_known() {
    let mut begun_earlier = Calls::default();
    begun_earlier.count(3, 12_288, None, true);
    begun_earlier.count(
        1,
        7000,
        Some(&Detail {
            max: Some(7000),
            ..Detail::default()
        }),
        true,
    );
    assert_eq!(all(&[begun_earlier.clone()]).bounds(), None);
    assert_eq!(all(&[counter(&[&[1, 2]]), begun_earlier]).bounds(), None);
}

#[test]
fn a_sum_of_squares_that_may_have_wrapped_is_not_used() {
    let largest = 1 << 31;
    // Three calls of 2^31 have squares of 3 · 2^62, four of them 2^64, which is 0 in Lustre.
    let three = all(&[counter(&[&[largest, largest, largest]])]);
    assert_eq!(three.deviation(), Some(0.0));
    let four = all(&[counter(&[&[largest; 4]])]);
    assert_eq!(four.bounds(), Some((largest, largest)));
    assert_eq!(four.deviation(), None);
}

#[test]
fn servers_that_print_no_squares_have_no_deviation() {
    let mut old = Calls::default();
    let bounds = Detail {
        min: Some(1),
        max: Some(9),
        ..Detail::default()
    };
    old.count(2, 10, Some(&bounds), false);
    assert_eq!(all(&[old.clone()]).bounds(), Some((1, 9)));
    assert_eq!(all(&[old]).deviation(), None);
}

#[test]
fn no_calls_have_neither_bounds_nor_deviation() {
    let none = all(&[counter(&[&[]])]);
    assert_eq!((none.bounds(), none.deviation()), (None, None));
}

#[test]
fn squares_that_are_less_than_the_sum_allows_are_not_used() {
    // A counter that stays at its limit does not grow.
    let mut at_limit = Calls::default();
    let detail = Detail {
        min: Some(1),
        max: Some(9),
        sumsq: Some(0),
        ..Detail::default()
    };
    at_limit.count(2, 10, Some(&detail), true);
    assert_eq!(all(&[at_limit]).deviation(), None);
}

proptest! {
    #[test]
    fn the_way_in_which_calls_are_divided_does_not_matter(
        calls in prop::collection::vec(0u64..1 << 26, 1..20),
        cut in 0usize..20,
        of_another in 0usize..20,
    ) {
        let (cut, of_another) = (cut.min(calls.len()), of_another.min(calls.len()));
        let once = all(&[counter(&[&calls])]);
        let in_two = all(&[counter(&[&calls[..cut], &calls[cut..]])]);
        let by_two = all(&[counter(&[&calls[..of_another]]), counter(&[&calls[of_another..]])]);
        prop_assert_eq!(&once, &in_two);
        prop_assert_eq!(once.bounds(), Some((*calls.iter().min().unwrap(), *calls.iter().max().unwrap())));
        prop_assert_eq!(once.bounds(), by_two.bounds());
        prop_assert_eq!(once.deviation(), by_two.deviation());
        let count = calls.len() as f64;
        let mean = calls.iter().sum::<u64>() as f64 / count;
        let variance = calls.iter().map(|&it| (it as f64 - mean).powi(2)).sum::<f64>() / count;
        let deviation = once.deviation().unwrap();
        prop_assert!((deviation - variance.sqrt()).abs() <= 1e-6 * variance.sqrt().max(1.0));
    }
}
