use proptest::prelude::*;

use super::super::cells::SubjectKind;
use super::super::{Conditions, Entry, Owners, Target};
use super::*;
use crate::base::target::TargetKind;
use crate::usage::dimension::Dimension;

/// The window.
const UNTIL: Micros = 1_000;

fn row(target: usize, entry: i64, span: Span, calls: i64, bytes: i64) -> RowOfSizes {
    RowOfSizes {
        target,
        subject: Subject {
            kind: SubjectKind::Entry,
            days: 0,
            id: entry,
        },
        entry,
        part: (0, UNTIL),
        span,
        observed: span.1,
        timed: true,
        kept: None,
        calls: [
            SizesOfRow {
                calls,
                bytes,
                histogram: None,
                detail: Some(Detail::default()),
            },
            SizesOfRow::default(),
        ],
    }
}

/// Does the same with a sum of squares.
fn squared(entry: i64, span: Span, sizes: &[u64]) -> RowOfSizes {
    let bytes: u64 = sizes.iter().sum();
    let mut row = row(0, entry, span, sizes.len() as i64, bytes as i64);
    row.calls[0].detail = Some(Detail {
        sumsq: Some(sizes.iter().map(|it| it * it).sum()),
        max: sizes.iter().max().copied(),
        ..Detail::default()
    });
    row
}

fn with_histogram(mut row: RowOfSizes, elements: &[(usize, i64)]) -> RowOfSizes {
    let mut histogram = [0; HISTOGRAM_LEN];
    elements.iter().for_each(|it| histogram[it.0] = it.1);
    row.calls[0].histogram = Some(histogram);
    row
}

/// Returns the sizes by user: entry n is of user n.
fn answer_by(names: &[&str], rows: &[RowOfSizes]) -> Vec<SizesOfGroup> {
    let by: Vec<_> = names
        .iter()
        .map(|it| Dimension::find(it).unwrap())
        .collect();
    let target = |id: i32| Target {
        spans: vec![(0, UNTIL)],
        ..Target::new(id, format!("OST{id}"), TargetKind::Ost)
    };
    let scope = Scope::new(vec![0, UNTIL], vec![target(1), target(2)], None);
    let mut sizes = Sizes::new(0, 1 << 20);
    rows.iter().for_each(|it| sizes.add(it).unwrap());
    let (owners, conditions) = (
        Owners::new(by.iter().copied(), None, Micros::MAX, Vec::new()),
        Conditions::default(),
    );
    let mut groups = Groups::new(&by, &conditions, None, &sizes.cells, 1 << 20).unwrap();
    for id in groups.ids(SubjectKind::Entry) {
        let entry = Entry {
            uid: Some(id),
            ..Entry::default()
        };
        groups
            .put(&owners, (SubjectKind::Entry, id), &entry, None)
            .unwrap();
    }
    let mut found = Vec::new();
    sizes
        .by_group(&groups, &scope, |it| found.push(it))
        .unwrap();
    found
}

/// Returns the sizes of all reads.
fn answer(rows: &[RowOfSizes]) -> SizesOfGroup {
    answer_by(&[], rows).remove(0)
}

fn elements(sizes: &SizesOfGroup) -> Vec<(usize, u64)> {
    let all = sizes.histogram.iter().copied().enumerate();
    all.filter(|it| it.1 > 0).collect()
}

#[test]
fn a_target_has_a_histogram_or_sums() {
    // The second row of the first target is a part that has bytes of a call that counts in the first.
    let found = answer(&[
        with_histogram(row(0, 1, (10, 20), 3, 9000), &[(12, 2), (13, 1)]),
        row(0, 1, (20, 30), 1, 5000),
        row(1, 1, (10, 20), 4, 20),
    ]);
    assert_eq!(elements(&found), [(12, 2), (13, 1)]);
    assert_eq!(
        (found.calls, found.mean, found.deviation),
        (4, Some(5.0), Some(0.0))
    );
    // Rows that were stored without histograms have separate sums.
    let mut counts = row(0, 1, (30, 40), 2, 7);
    counts.kept = Some("counts".to_owned());
    let found = answer(&[with_histogram(row(0, 1, (10, 20), 1, 1), &[(0, 1)]), counts]);
    assert_eq!(
        (elements(&found), found.calls, found.mean),
        (vec![(0, 1)], 2, Some(3.5))
    );
    assert_eq!(found.deviation, None);
}

#[test]
fn of_a_row_that_reaches_beyond_the_window_each_element_counts_in_part() {
    let all = with_histogram(row(0, 1, (-100, 100), 5, 500), &[(4, 1), (6, 4)]);
    assert_eq!(elements(&answer(&[all])), [(4, 1), (6, 2)]);
    let found = answer(&[row(0, 1, (-100, 100), 4, 501)]);
    assert_eq!(
        (found.calls, found.mean, found.deviation),
        (2, Some(125.5), None)
    );
}

#[test]
fn the_parts_of_a_reading_have_one_sum_of_squares() {
    let whole = answer(&[squared(1, (10, 40), &[2, 4, 4, 4, 5, 5, 7, 9])]);
    let mut parts = [
        squared(1, (30, 40), &[2, 4, 4, 4, 5, 5, 7, 9]),
        row(0, 1, (10, 30), 3, 15),
    ];
    (
        parts[0].calls[0].calls,
        parts[0].calls[0].bytes,
        parts[1].observed,
    ) = (5, 25, 40);
    let cut = answer(&parts[..1]);
    assert_eq!(whole.deviation, Some(2.0));
    assert_eq!(answer(&parts), whole);
    assert_ne!(cut.deviation, Some(2.0));
    // A reading that begins with the window, or before it, may have a part outside.
    parts[1].span = (0, 30);
    assert_eq!(answer(&parts).deviation, None);
}

#[test]
fn a_deviation_needs_squares_that_cannot_have_wrapped() {
    let of = |row: RowOfSizes| answer(&[row]).deviation;
    assert_eq!(of(squared(1, (10, 20), &[8 << 20; 3])), Some(0.0));
    let mut many = row(0, 1, (10, 20), 262_145, 2_199_023_255_553);
    many.calls[0].detail = Some(Detail {
        sumsq: Some(7),
        max: Some(8 << 20),
        ..Detail::default()
    });
    assert_eq!(of(many), None);
    let changed = |change: fn(&mut RowOfSizes)| {
        let mut row = squared(1, (10, 20), &[1, 3]);
        change(&mut row);
        of(row)
    };
    assert_eq!(changed(|_| ()), Some(1.0));
    assert_eq!(changed(|it| it.timed = false), None);
    assert_eq!(changed(|it| it.kept = Some("no detail".to_owned())), None);
    assert_eq!(changed(|it| it.calls[0].detail = None), None);
}

#[test]
fn groups_come_in_order_with_reads_first() {
    let mut rows = [10, 9].map(|entry| row(0, entry, (10, 20), entry, 90));
    rows[0].calls[1] = rows[0].calls[0].clone();
    let found = answer_by(&["uid"], &rows);
    let found = found
        .iter()
        .map(|it| (it.values[0].as_deref(), it.operation, it.mean));
    let expected = [
        (Some("9"), 0, Some(10.0)),
        (Some("10"), 0, Some(9.0)),
        (Some("10"), 1, Some(9.0)),
    ];
    assert!(found.eq(expected));
}

#[test]
fn sizes_take_no_more_memory_than_they_may() {
    let mut sizes = Sizes::new(0, 10_000);
    let mut rows = (1..1000).map(|entry| sizes.add(&row(0, entry, (10, 20), 1, 1)));
    assert_eq!(
        rows.find(Result::is_err),
        Some(Err(UsageError::Memory(10_000)))
    );
}

proptest! {
    #[test]
    fn sizes_of_calls_have_their_mean_and_deviation(
        readings in prop::collection::vec(prop::collection::vec(0..100_000_u64, 1..6), 1..6)
    ) {
        let rows: Vec<_> = readings.iter().zip(1..).map(|(it, entry)| squared(entry, (10, 20), it)).collect();
        let all: Vec<f64> = readings.iter().flatten().map(|it| *it as f64).collect();
        let found = answer(&rows);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / all.len() as f64;
        prop_assert_eq!((found.calls, found.mean), (all.len() as u128, Some(mean)));
        let deviation = found.deviation.unwrap();
        prop_assert!((deviation - variance.sqrt()).abs() <= 1e-6 * (1.0 + deviation));
    }

    #[test]
    fn the_order_of_rows_does_not_matter(spans in prop::collection::vec((-50..1_000_i64, 1..100_i64, 0..9_i64), 1..20), turn in 0..20_usize) {
        let rows = |turn: usize| {
            let mut spans = spans.clone();
            let turn = turn % spans.len();
            spans.rotate_left(turn);
            let rows = spans.into_iter().map(|(since, length, calls)| {
                let row = row(calls as usize % 2, calls % 3, (since, since + length), calls, 7 * calls);
                if calls % 4 == 0 { with_histogram(row, &[(3, calls)]) } else { row }
            });
            answer_by(&["uid"], &rows.collect::<Vec<_>>())
        };
        prop_assert_eq!(rows(0), rows(turn));
    }
}
