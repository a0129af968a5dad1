use proptest::prelude::*;

use super::*;

fn amounts(pairs: &[(i128, i128)]) -> Vec<Amounts> {
    let pairs = pairs.iter();
    pairs
        .map(|&(before, after)| Amounts { before, after })
        .collect()
}

#[test]
fn the_largest_changes_come_first_and_the_rest_is_one_row() {
    let groups = amounts(&[(70, 100), (700, 0), (7, 1), (0, 10), (14, 2)]);
    let rows = changes(&groups, Scale::mean_of(7).unwrap(), 2);
    let found: Vec<_> = rows
        .iter()
        .map(|it| (it.group, it.before, it.after, it.groups))
        .collect();
    assert_eq!(
        found,
        [
            (Some(1), 100, 0, 1),
            (Some(0), 10, 100, 1),
            (None, 3, 13, 3)
        ]
    );
    let of_rise: Vec<_> = rows.iter().map(|it| it.share_of_rise).collect();
    assert_eq!(of_rise, [None, Some(0.9), Some(0.1)]);
}

#[test]
fn of_equal_changes_the_first_group_comes_first() {
    let rows = changes(
        &amounts(&[(0, 1), (5, 5), (2, 1), (0, 1)]),
        Scale::mean_of(1).unwrap(),
        9,
    );
    let order: Vec<_> = rows.iter().map(|it| it.group).collect();
    assert_eq!(order, [Some(0), Some(2), Some(3), None]);
}

#[test]
fn a_share_of_a_change_that_is_hardly_any_is_unknown() {
    let share = |after| {
        changes(
            &amounts(&[(0, 100), (100, after)]),
            Scale { times: 1, by: 1 },
            1,
        )[0]
        .share
    };
    // 190 or so changed in all: a twentieth of that is 9.75 of 195, and 9 of 191 are less.
    assert_eq!(share(10), Some(10.0));
    assert_eq!(share(9), None);
    assert_eq!(share(0), None);
}

#[test]
fn a_baseline_of_another_length_is_scaled() {
    let scale = Scale::of_lengths(24, 168).unwrap();
    let rows = changes(&amounts(&[(700, 150)]), scale, 1);
    assert_eq!((rows[0].before, rows[0].change()), (100, 50));
    assert_eq!(Scale::of_lengths(1, 0), None);
    assert_eq!(Scale::mean_of(0), None);
}

proptest! {
    #[test]
    fn rows_add_up_to_the_whole_difference(
        pairs in prop::collection::vec((0..1_i128 << 70, 0..1_i128 << 70), 0..40),
        (times, by) in prop_oneof![(Just(1), 1..30_i128), (1..1_i128 << 50, 1..1_i128 << 50)],
        n in 0..50_usize,
    ) {
        let groups = amounts(&pairs);
        let scale = Scale { times, by };
        let rows = changes(&groups, scale, n);
        let before: i128 = pairs.iter().map(|it| it.0).sum();
        let after: i128 = pairs.iter().map(|it| it.1).sum();
        prop_assert_eq!(rows.iter().map(|it| it.before).sum::<i128>(), scale.of(before));
        prop_assert_eq!(rows.iter().map(|it| it.after).sum::<i128>(), after);
        prop_assert_eq!(rows.iter().map(|it| it.groups).sum::<usize>(), pairs.len());
        prop_assert!(rows.len() <= n + 1);
        for row in rows.iter().filter(|it| it.group.is_some()) {
            prop_assert!(row.change() != 0);
        }
        let shares: Vec<f64> = rows.iter().filter_map(|it| it.share).collect();
        if !shares.is_empty() {
            prop_assert_eq!(shares.len(), rows.len());
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        }
        let of_rise: Vec<f64> = rows.iter().filter_map(|it| it.share_of_rise).collect();
        prop_assert!(of_rise.is_empty() || (of_rise.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
