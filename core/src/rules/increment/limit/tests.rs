use proptest::prelude::*;

use super::*;

const SECOND: Micros = 1_000_000;
const CALLS: Column = Column::Total(2);
const USECS: Column = Column::Usecs(2);

fn increment(line: u32, totals: &[(Column, i64)]) -> Increment<'static> {
    Increment {
        line,
        id: "17:1000:n1",
        folded: None,
        since: 0,
        time: SECOND,
        reset: false,
        last_active: None,
        totals: totals.to_vec(),
        histograms: None,
        detail: None,
    }
}

/// Returns a comparison in which each entry grew by its value in the first column.
fn comparison(values: &[i64]) -> Comparison<'static> {
    let increments = (1..)
        .zip(values)
        .map(|(line, value)| increment(line, &[(CALLS, *value)]));
    let increments: Vec<_> = increments.collect();
    Comparison {
        active: increments.len() as u64,
        increments,
        ..Comparison::default()
    }
}

fn kept(comparison: &Comparison) -> Vec<i64> {
    let totals = comparison.increments.iter().flat_map(|it| &it.totals);
    totals.map(|(_, value)| *value).collect()
}

fn growth(problem: &Problem) -> i64 {
    match problem.reason {
        Reason::Impossible { growth, .. } => growth as i64,
        _ => 0,
    }
}

#[test]
fn what_can_be_true_stays() {
    let mut comparison = comparison(&[1 << 39, 1 << 39, 1 << 40]);
    comparison.limit(2 * SECOND, MAX_RATE).unwrap();
    assert_eq!(kept(&comparison), [1 << 39, 1 << 39, 1 << 40]);
    assert_eq!((comparison.active, comparison.problems.len()), (3, 0));
}

#[test]
fn one_value_that_passes_the_limit_alone_is_dropped_alone() {
    let mut comparison = comparison(&[5, (1 << 53) - 1, 1 << 40]);
    comparison.limit(2 * SECOND, MAX_RATE).unwrap();
    assert_eq!(kept(&comparison), [5, 1 << 40]);
    assert_eq!(comparison.active, 2);
    let [problem] = comparison.problems.as_slice() else {
        panic!("{:?}", comparison.problems);
    };
    assert_eq!((problem.line, problem.entry), (2, "17:1000:n1"));
    assert_eq!(problem.operation, Some(OPERATIONS[2].name));
    assert_eq!(problem.reason.code(), "impossible");
}

#[test]
fn of_too_many_the_largest_are_dropped_and_of_equal_ones_the_first() {
    let mut comparison = comparison(&[400, 300, 600, 300, 1]);
    comparison.limit(0, 1).unwrap();
    assert_eq!(kept(&comparison).len(), 5, "2^30 are possible at any time");
    let values = [400, 300, 600, 300, 1].map(|value| value << 20);
    let mut comparison = self::comparison(&values);
    comparison.limit(0, 1).unwrap();
    // A sum of 1024 · 2^20 fits.
    assert_eq!(
        kept(&comparison),
        [400, 300, 300, 1].map(|value| value << 20)
    );
    let mut comparison = self::comparison(&[512 << 20; 5]);
    comparison.limit(SECOND, 1).unwrap();
    let lines: Vec<_> = comparison.problems.iter().map(|it| it.line).collect();
    assert_eq!(lines, [1, 2, 3]);
}

#[test]
fn other_columns_and_details_of_the_entry_stay() {
    let mut whole = increment(7, &[(CALLS, 1 << 52), (USECS, 9)]);
    let mut described = increment(8, &[(USECS, 1 << 52)]);
    described.detail = Some(vec![1, 0]);
    let mut comparison = Comparison {
        increments: vec![whole.clone(), described.clone()],
        active: 2,
        ..Comparison::default()
    };
    comparison.limit(SECOND, MAX_RATE).unwrap();
    whole.totals.remove(0);
    described.totals.clear();
    assert_eq!(comparison.increments, [whole, described]);
    assert_eq!(comparison.active, 2);
    let said: Vec<String> = comparison
        .problems
        .iter()
        .map(|it| it.reason.to_string())
        .collect();
    assert_eq!(
        said,
        [
            "4503599627370496 calls are impossible: all entries together can have 1099511627776 since the previous text",
            "4503599627370496 microseconds are impossible: all entries together can have 1099511627776 since the previous text",
        ]
    );
}

#[test]
fn a_gap_of_any_length_has_a_limit() {
    for (gap, expected) in [
        (-1, 1 << 30),
        (0, 1 << 30),
        (1, 1 << 30),
        (SECOND, 1 << 40),
        (i64::MAX, (i64::MAX as u128) * (1 << 40) / 1_000_000),
    ] {
        assert_eq!(limit(gap, MAX_RATE), expected, "{gap}");
    }
}

#[test]
fn two_rows_of_a_record_are_one_active_entry() {
    let rows = [3, 3, 9, 12, 12].map(|line| increment(line, &[(CALLS, 1)]));
    assert_eq!(active(&rows), 3);
    assert_eq!(active(&[]), 0);
}

proptest! {
    #[test]
    fn what_stays_fits_and_no_more_than_that_is_dropped(
        values in prop::collection::vec(prop_oneof![1_i64..1000, 1_i64 << 20..1 << 53], 0..60),
        gap in prop_oneof![0..SECOND, 0..86_400 * SECOND],
        max_rate in 1..=MAX_RATE,
    ) {
        let mut comparison = comparison(&values);
        comparison.limit(gap, max_rate).unwrap();
        let limit = limit(gap, max_rate) as i128;
        let sum = |values: &[i64]| values.iter().map(|value| i128::from(*value)).sum::<i128>();
        let kept = kept(&comparison);
        let dropped: Vec<i64> = comparison.problems.iter().map(growth).collect();
        prop_assert!(sum(&kept) <= limit);
        prop_assert_eq!(comparison.active, kept.len() as u64);
        let mut all = [kept.clone(), dropped.clone()].concat();
        let mut expected = values;
        all.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(all, expected);
        if let Some(smallest) = dropped.iter().min() {
            prop_assert!(sum(&kept) + i128::from(*smallest) > limit);
            prop_assert!(kept.iter().all(|value| value <= smallest));
        }
    }

    #[test]
    fn columns_are_limited_by_themselves(
        rows in prop::collection::vec((1_i64..1 << 53, 1_i64..1 << 53), 1..40),
        gap in 0..86_400 * SECOND,
    ) {
        let increments = (1..).zip(&rows);
        let increments = increments.map(|(line, row)| increment(line, &[(CALLS, row.0), (USECS, row.1)]));
        let mut both = Comparison { increments: increments.collect(), ..Comparison::default() };
        both.limit(gap, MAX_RATE).unwrap();
        for (column, values) in [
            (CALLS, rows.iter().map(|row| row.0).collect::<Vec<_>>()),
            (USECS, rows.iter().map(|row| row.1).collect()),
        ] {
            let mut alone = comparison(&values);
            alone.limit(gap, MAX_RATE).unwrap();
            let totals = both.increments.iter().flat_map(|it| &it.totals);
            let of_column: Vec<i64> = totals.filter(|it| it.0 == column).map(|it| it.1).collect();
            prop_assert_eq!(of_column, kept(&alone));
        }
    }

    #[test]
    fn what_was_limited_stays_as_it_is(
        values in prop::collection::vec(1_i64..1 << 53, 0..60),
        gap in 0..86_400 * SECOND,
    ) {
        let mut comparison = comparison(&values);
        comparison.limit(gap, MAX_RATE).unwrap();
        let (once, problems) = (kept(&comparison), comparison.problems.len());
        comparison.limit(gap, MAX_RATE).unwrap();
        prop_assert_eq!(kept(&comparison), once);
        prop_assert_eq!(comparison.problems.len(), problems);
    }
}
