use proptest::prelude::*;

use super::observed;

proptest! {
    #[test]
    fn each_step_has_what_lies_in_it_and_is_kept(
        mut edges in prop::collection::vec(-50..50i64, 0..8),
        spans in prop::collection::vec((-60..60i64, -5..60i64), 0..8),
        kept in (-60..60i64, 0..60i64),
    ) {
        edges.sort_unstable();
        edges.dedup();
        let spans: Vec<_> = spans.into_iter().map(|(since, length)| (since, since + length)).collect();
        let instants = |lower: i64, upper: i64| {
            let of = |&(since, until): &(i64, i64)| {
                let instants = lower.max(kept.0)..upper.min(kept.1);
                instants.filter(|it| (since..until).contains(it)).count() as i64
            };
            spans.iter().map(of).sum::<i64>()
        };
        let expected: Vec<_> = edges.windows(2).map(|it| instants(it[0], it[1])).collect();
        prop_assert_eq!(observed(&edges, &spans, Some(&[kept])), expected);
    }
}
