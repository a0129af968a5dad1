use proptest::prelude::*;

fn observed(edges: &[i64], spans: &[(i64, i64)]) -> Vec<i64> {
    super::observed(edges, spans, None)
}

#[test]
fn a_span_is_divided_at_the_edges() {
    let edges = [0, 10, 20, 50];
    assert_eq!(observed(&edges, &[]), [0, 0, 0]);
    assert_eq!(observed(&edges, &[(3, 7)]), [4, 0, 0]);
    assert_eq!(observed(&edges, &[(10, 20)]), [0, 10, 0]);
    assert_eq!(observed(&edges, &[(7, 23)]), [3, 10, 3]);
    assert_eq!(observed(&edges, &[(0, 4), (4, 12), (45, 50)]), [10, 2, 5]);
}

#[test]
fn only_what_lies_in_the_window_counts() {
    let edges = [0, 10, 20];
    assert_eq!(observed(&edges, &[(-5, 3), (18, 90)]), [3, 2]);
    assert_eq!(observed(&edges, &[(-9, 0), (20, 30), (-9, -3)]), [0, 0]);
    assert_eq!(observed(&edges, &[(-5, 90)]), [10, 10]);
    assert_eq!(observed(&edges, &[(5, 5), (i64::MAX, i64::MIN)]), [0, 0]);
    assert_eq!(observed(&[7], &[(0, 9)]), [0; 0]);
    assert_eq!(observed(&[], &[(0, 9)]), [0; 0]);
}

proptest! {
    #[test]
    fn each_step_has_what_both_have(
        mut edges in prop::collection::vec(-50..50i64, 0..8),
        spans in prop::collection::vec((-60..60i64, 0..60i64), 0..8),
    ) {
        edges.sort_unstable();
        edges.dedup();
        let spans: Vec<_> = spans.into_iter().map(|(since, length)| (since, since + length)).collect();
        let instants = |lower, upper| {
            let of = |&(since, until): &(i64, i64)| {
                (lower..upper).filter(|it| (since..until).contains(it)).count() as i64
            };
            spans.iter().map(of).sum::<i64>()
        };
        let expected: Vec<_> = edges.windows(2).map(|it| instants(it[0], it[1])).collect();
        prop_assert_eq!(observed(&edges, &spans), expected);
    }
}
