//! Keeps rows in their places while their rank changes little, so that the eye can follow them.

use std::collections::HashMap;
use std::hash::Hash;

/// The factor by which a row must exceed the next one to swap with it.
const CLEARLY: f64 = 1.1;

/// Returns the order in which rows are shown. `ranked` has the rows by rank, with their values; `before` has the rows as
/// they were shown last. Two neighbours keep the places that they had if the better one is not clearly better, so that no row
/// is more than one place from its rank.
pub fn steady<K: Eq + Hash>(ranked: &[(K, f64)], before: &[K]) -> Vec<usize> {
    let places: HashMap<&K, usize> = before.iter().zip(0..).collect();
    let was_below = |upper: &K, lower: &K| match (places.get(upper), places.get(lower)) {
        (Some(upper), Some(lower)) => lower < upper,
        _ => false,
    };
    let mut order = Vec::with_capacity(ranked.len());
    let mut at = 0;
    while at < ranked.len() {
        let (upper, value) = &ranked[at];
        match ranked.get(at + 1) {
            Some((lower, other)) if *value <= other * CLEARLY && was_below(upper, lower) => {
                order.extend([at + 1, at]);
                at += 2;
            }
            _ => {
                order.push(at);
                at += 1;
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(ranked: &[(&'static str, f64)], before: &[&'static str]) -> Vec<&'static str> {
        let order = steady(ranked, before);
        order.into_iter().map(|at| ranked[at].0).collect()
    }

    #[test]
    fn rows_that_are_nearly_equal_keep_their_places() {
        assert_eq!(names(&[("b", 10.5), ("a", 10.0)], &["a", "b"]), ["a", "b"]);
        assert_eq!(names(&[("b", 11.5), ("a", 10.0)], &["a", "b"]), ["b", "a"]);
        assert_eq!(names(&[("b", 10.5), ("a", 10.0)], &["b", "a"]), ["b", "a"]);
        assert_eq!(
            names(&[("c", 10.5), ("a", 10.0)], &["a"]),
            ["c", "a"],
            "a new row has no place to keep"
        );
    }

    proptest! {
        #[test]
        fn no_row_is_more_than_one_place_from_its_rank(
            values in prop::collection::vec(0.0..100.0_f64, 0..30),
            before in prop::collection::vec(0_usize..30, 0..30),
        ) {
            let mut values = values;
            values.sort_by(|a, b| b.total_cmp(a));
            let ranked: Vec<_> = values.into_iter().enumerate().collect();
            let order = steady(&ranked, &before);
            for (place, rank) in order.iter().enumerate() {
                prop_assert!(place.abs_diff(*rank) <= 1);
            }
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..ranked.len()).collect::<Vec<_>>());
            // The same values again keep the order.
            let shown: Vec<_> = order.iter().map(|at| ranked[*at].0).collect();
            let again = steady(&ranked, &shown);
            let again: Vec<_> = again.iter().map(|at| ranked[*at].0).collect();
            prop_assert_eq!(again, shown);
        }
    }
}
