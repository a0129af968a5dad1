use proptest::prelude::*;

use super::*;
use crate::rules::increment::{Column, Histograms};
use crate::rules::snapshot::HISTOGRAM_LEN;

fn row(since: Micros, time: Micros, totals: &[i64]) -> Increment<'static> {
    let column = |(index, &total)| (Column::Total(index), total);
    Increment {
        line: 3,
        id: "17:1000:n1",
        folded: None,
        since,
        time,
        reset: false,
        last_active: None,
        totals: totals.iter().enumerate().map(column).collect(),
        histograms: None,
        detail: None,
    }
}

/// Returns the parts of a row with one total, as (since, time, total) with times in minutes.
fn parts(since: Micros, time: Micros, total: i64) -> Vec<(Micros, Micros, i64)> {
    split(row(since * MINUTE, time * MINUTE, &[total]))
        .map(|part| (part.since / MINUTE, part.time / MINUTE, part.totals[0].1))
        .collect()
}

mod share {
    use super::*;

    #[test]
    fn is_the_difference_of_two_floors() {
        // A value of 10 in (0, 3] has reached 3.33 at 1 and 6.67 at 2.
        assert_eq!(share(10, 0, 3, 0, 1), 3);
        assert_eq!(share(10, 0, 3, 1, 2), 3);
        assert_eq!(share(10, 0, 3, 2, 3), 4);
        assert_eq!(share(10, 0, 3, 1, 3), 7);
    }

    #[test]
    fn of_a_window_is_what_the_row_has_in_it() {
        for (from, until, expected) in [
            (100, 200, 1000),
            (0, 1000, 1000),
            (0, 150, 500),
            (150, 1000, 500),
            (120, 130, 100),
            (0, 100, 0),
            (200, 300, 0),
            (150, 150, 0),
            (160, 140, 0),
        ] {
            assert_eq!(
                share(1000, 100, 200, from, until),
                expected,
                "{from} {until}"
            );
        }
    }

    #[test]
    fn of_the_largest_values_is_exact() {
        let (since, time) = (i64::MIN, i64::MAX);
        assert_eq!(share(i64::MAX, since, time, since, time), i64::MAX);
        // (2^63 − 1) · 2^63 ÷ (2^64 − 1) is a little less than 2^62.
        assert_eq!(share(i64::MAX, since, time, since, 0), (1 << 62) - 1);
        assert_eq!(share(1 << 53, 0, DAY, 0, 1), (1 << 53) / DAY);
    }

    #[test]
    fn of_a_row_without_width_lies_at_its_end() {
        assert_eq!(share(5, 10, 10, 0, 10), 5);
        assert_eq!(share(5, 10, 10, 9, 10), 5);
        assert_eq!(share(5, 10, 10, 10, 11), 0);
    }

    proptest! {
        #[test]
        fn of_any_partition_adds_up(
            value in 0..i64::MAX,
            since in any::<i32>(),
            width in 0..i64::from(u32::MAX),
            mut edges in prop::collection::vec(any::<i64>().prop_map(|edge| edge >> 28), 0..20),
        ) {
            let since = i64::from(since);
            let time = since + width;
            edges.extend([i64::MIN, i64::MAX]);
            edges.sort_unstable();
            let parts = edges.windows(2).map(|edge| share(value, since, time, edge[0], edge[1]));
            let parts: Vec<i64> = parts.collect();
            prop_assert!(parts.iter().all(|&part| part >= 0));
            prop_assert_eq!(parts.iter().sum::<i64>(), value);
        }

        #[test]
        fn is_proportional_to_time(value in 0..1_i64 << 53, width in 1..10 * DAY, cut in 0..10 * DAY) {
            let cut = cut % width;
            let exact = value as f64 * cut as f64 / width as f64;
            let error = (share(value, 0, width, 0, cut) as f64 - exact).abs();
            prop_assert!(error <= 1.0 + exact * 1e-15, "{error}");
        }
    }
}

#[test]
fn a_row_that_crosses_no_edge_stays_as_it_is() {
    for (since, time) in [(1, 9), (0, 10), (10, 20), (5, 10), (-10, 0), (7, 7)] {
        let mut whole = row(since * MINUTE, time * MINUTE, &[3, 4]);
        whole.reset = true;
        whole.detail = Some(vec![1, 0]);
        let expected = whole.clone();
        let address = whole.totals.as_ptr();
        let parts: Vec<_> = split(whole).collect();
        assert_eq!(parts, [expected], "{since} {time}");
        assert_eq!(parts[0].totals.as_ptr(), address, "moved, not copied");
    }
}

#[test]
fn a_row_is_divided_at_every_ten_minutes_in_proportion_to_time() {
    assert_eq!(parts(8, 12, 100), [(8, 10, 50), (10, 12, 50)]);
    assert_eq!(parts(9, 21, 12), [(9, 10, 1), (10, 20, 10), (20, 21, 1)]);
    assert_eq!(parts(0, 30, 10), [(0, 10, 3), (10, 20, 3), (20, 30, 4)]);
    assert_eq!(parts(-5, 5, 3), [(-5, 0, 1), (0, 5, 2)]);
}

#[test]
fn a_row_over_six_hours_is_divided_at_full_hours() {
    assert_eq!(parts(0, 360, 36).len(), 36);
    assert_eq!(
        parts(30, 391, 361),
        [
            (30, 60, 30),
            (60, 120, 60),
            (120, 180, 60),
            (180, 240, 60),
            (240, 300, 60),
            (300, 360, 60),
            (360, 391, 31)
        ]
    );
}

#[test]
fn a_row_over_a_day_is_divided_at_utc_days() {
    let hour = |hour: Micros| hour * 60;
    assert_eq!(parts(0, hour(24), 24).len(), 24);
    assert_eq!(
        parts(hour(12), hour(61), 49),
        [
            (hour(12), hour(24), 12),
            (hour(24), hour(48), 24),
            (hour(48), hour(61), 13)
        ]
    );
    // A row of one microsecond more than a day is divided at the only midnight.
    let whole = row(HOUR, HOUR + DAY + 1, &[1 << 40]);
    let ends: Vec<_> = split(whole).map(|part| part.time).collect();
    assert_eq!(ends, [DAY, HOUR + DAY + 1]);
}

#[test]
fn edges_are_multiples_since_1970() {
    // The row begins at 2026-01-02 03:04:05 UTC and ends 27 minutes 5 seconds later.
    let since = 1_767_323_045_000_000;
    let ends: Vec<_> = split(row(since, since + 1_625_000_000, &[1_000_000]))
        .map(|part| part.time)
        .collect();
    assert_eq!(
        ends,
        [
            1_767_323_400_000_000, // 03:10:00
            1_767_324_000_000_000, // 03:20:00
            1_767_324_600_000_000, // 03:30:00
            1_767_324_670_000_000,
        ]
    );
}

#[test]
fn parts_without_anything_are_dropped() {
    assert_eq!(parts(0, 50, 1), [(40, 50, 1)]);
    assert_eq!(parts(0, 40, 2), [(10, 20, 1), (30, 40, 1)]);
}

#[test]
fn a_part_has_the_columns_that_have_something_in_it() {
    let totals: Vec<_> = split(row(0, 20 * MINUTE, &[1, 2]))
        .map(|part| part.totals)
        .collect();
    assert_eq!(
        totals,
        [
            vec![(Column::Total(1), 1)],
            vec![(Column::Total(0), 1), (Column::Total(1), 1)]
        ]
    );
}

#[test]
fn reset_goes_with_the_first_part_and_detail_with_the_last() {
    let whole = Increment {
        reset: true,
        last_active: Some(39 * MINUTE),
        detail: Some(vec![1, 0]),
        ..row(0, 40 * MINUTE, &[2])
    };
    let parts: Vec<_> = split(whole)
        .map(|part| {
            (
                part.time / MINUTE,
                part.reset,
                part.last_active,
                part.detail,
            )
        })
        .collect();
    assert_eq!(
        parts,
        [
            (20, true, None, None),
            (40, false, Some(39 * MINUTE), Some(vec![1, 0]))
        ]
    );
}

#[test]
fn last_active_is_with_the_parts_that_end_after_it() {
    let last_active = |last_active| {
        let whole = Increment {
            last_active: Some(last_active),
            ..row(0, 40 * MINUTE, &[40])
        };
        let parts = split(whole).map(|part| part.last_active.map(|it| it / MINUTE));
        parts.collect::<Vec<_>>()
    };
    assert_eq!(last_active(39 * MINUTE), [None, None, None, Some(39)]);
    let early = [None, Some(11), Some(11), Some(11)];
    assert_eq!(last_active(11 * MINUTE), early);
    // A clock that is ahead is shown.
    assert_eq!(last_active(50 * MINUTE), [None, None, None, Some(50)]);
}

#[test]
fn a_row_with_detail_alone_keeps_its_end() {
    let whole = Increment {
        reset: true,
        detail: Some(vec![1, 0]),
        ..row(0, 40 * MINUTE, &[])
    };
    let last = Increment {
        since: 30 * MINUTE,
        ..whole.clone()
    };
    assert_eq!(split(whole).collect::<Vec<_>>(), [last]);
}

#[test]
fn histograms_are_divided_element_by_element() {
    let mut histograms = Box::new([0; 2 * HISTOGRAM_LEN]);
    (histograms[35], histograms[63]) = (1, 4);
    let whole = Increment {
        histograms: Some(histograms),
        ..row(0, 20 * MINUTE, &[])
    };
    let parts: Vec<_> = split(whole).collect();
    assert_eq!(parts.len(), 2);
    let elements = |part: &Increment| {
        let all = part.histograms.as_ref().unwrap();
        (all[35], all[63], all.iter().sum::<i64>())
    };
    assert_eq!(elements(&parts[0]), (0, 2, 2));
    assert_eq!(elements(&parts[1]), (1, 2, 3));
}

fn histograms() -> impl Strategy<Value = Option<Box<Histograms>>> {
    let element = prop_oneof![3 => Just(0), 1 => 1_i64..1 << 40];
    let elements = prop::collection::vec(element, 2 * HISTOGRAM_LEN)
        .prop_filter("something grew", |elements| {
            elements.iter().any(|&it| it > 0)
        });
    prop_oneof![
        Just(None),
        elements.prop_map(|elements| elements.try_into().ok().map(Box::new))
    ]
}

/// Any row that can come from two snapshots, up to ten days wide, with some totals, histograms or detail.
fn any_row() -> impl Strategy<Value = Increment<'static>> {
    any_row_up_to(10 * DAY)
}

fn any_row_up_to(width: Micros) -> impl Strategy<Value = Increment<'static>> {
    let width = prop_oneof![1..20 * MINUTE, 1..width.min(DAY), 1..width];
    let total = prop_oneof![1_i64..100, 1_i64..1 << 53];
    (
        -DAY..100 * DAY,
        width,
        prop::collection::vec(total, 0..4),
        histograms(),
        any::<(bool, bool)>(),
        0.0..1.1,
    )
        .prop_map(
            |(since, width, totals, histograms, (reset, detail), part)| {
                let active = (width as f64 * part) as Micros;
                let row = row(since, since + width, &totals);
                let is_empty = totals.is_empty() && histograms.is_none();
                Increment {
                    reset,
                    last_active: Some(since + active.max(1)),
                    histograms,
                    detail: (detail || is_empty).then(|| vec![1, 0]),
                    ..row
                }
            },
        )
}

fn total(parts: &[Increment], column: Column) -> i64 {
    let totals = parts.iter().flat_map(|part| &part.totals);
    totals.filter(|it| it.0 == column).map(|it| it.1).sum()
}

fn sum_of<'a>(histograms: impl Iterator<Item = &'a Option<Box<Histograms>>>) -> Histograms {
    let mut sum = [0; 2 * HISTOGRAM_LEN];
    for histogram in histograms.flatten() {
        sum.iter_mut()
            .zip(histogram.iter())
            .for_each(|(sum, count)| *sum += count);
    }
    sum
}

proptest! {
    #[test]
    fn parts_add_up_to_the_row(row in any_row()) {
        let parts: Vec<_> = split(row.clone()).collect();
        for &(column, value) in &row.totals {
            prop_assert_eq!(total(&parts, column), value);
        }
        let histograms = sum_of(parts.iter().map(|part| &part.histograms));
        prop_assert_eq!(histograms, sum_of([&row.histograms].into_iter()));
    }

    #[test]
    fn no_part_crosses_an_edge_and_none_is_empty(row in any_row()) {
        let distance = edge_distance(row.since, row.time);
        for part in split(row) {
            prop_assert!(part.since < part.time);
            prop_assert_eq!(part.since.div_euclid(distance), (part.time - 1).div_euclid(distance));
            prop_assert!(part.totals.iter().all(|&(_, total)| total > 0));
            if let Some(histogram) = &part.histograms {
                prop_assert!(histogram.iter().any(|&count| count > 0));
                prop_assert!(histogram.iter().all(|&count| count >= 0));
            }
            prop_assert!(part.histograms.is_some() || !part.totals.is_empty() || part.detail.is_some());
        }
    }

    #[test]
    fn parts_follow_one_another_and_end_with_the_row(row in any_row()) {
        let distance = edge_distance(row.since, row.time);
        let parts: Vec<_> = split(row.clone()).collect();
        for pair in parts.windows(2) {
            prop_assert!(pair[0].time <= pair[1].since);
        }
        for part in &parts {
            prop_assert!(part.since == row.since || part.since % distance == 0);
            prop_assert!(part.time == row.time || part.time % distance == 0);
        }
        let resets = parts.iter().map(|part| part.reset);
        prop_assert!(resets.eq((0..parts.len()).map(|index| index == 0 && row.reset)));
        let (last, others) = parts.split_last().unwrap();
        prop_assert_eq!(last.time, row.time);
        prop_assert_eq!(&last.detail, &row.detail);
        prop_assert!(others.iter().all(|part| part.detail.is_none()));
        prop_assert_eq!(last.last_active, row.last_active);
        // The latest end of the parts is the end of the activity.
        let ends = parts.iter().map(|part| part.time.min(part.last_active.unwrap_or(part.time)));
        let end = row.time.min(row.last_active.unwrap_or(row.time));
        prop_assert!(ends.max().unwrap() <= end);
    }

    #[test]
    fn a_row_has_as_many_parts_as_there_can_be_at_most(row in any_row_up_to(100 * DAY)) {
        let days = (row.time - row.since).div_euclid(DAY) + 1;
        let parts = split(row).count() as i64;
        prop_assert!(parts <= (days + 1).max(37), "{parts} parts in {days} days");
    }

    #[test]
    fn parts_reach_no_farther_than_they_can(row in any_row(), at in 0.0..1.0) {
        let width = edge_distance(row.since, row.time);
        let span = (next_edge(row.since, width) - width, next_edge(row.time - 1, width));
        let coarse = if width > NARROWEST { vec![Coarse { span, width }] } else { Vec::new() };
        for part in split(row) {
            let instant = part.since + ((part.time - part.since) as f64 * at) as Micros;
            if part.since < instant && instant < part.time {
                prop_assert!(part.time <= reach(instant, &coarse));
            }
        }
    }

    #[test]
    fn parts_lie_where_the_row_has_them(row in any_row()) {
        for part in split(row.clone()) {
            for &(column, value) in &row.totals {
                let expected = share(value, row.since, row.time, part.since, part.time);
                prop_assert_eq!(total(std::slice::from_ref(&part), column), expected);
            }
        }
    }

    #[test]
    fn parts_of_ten_minutes_are_not_divided_again(row in any_row_up_to(6 * HOUR)) {
        for part in split(row) {
            prop_assert_eq!(split(part.clone()).collect::<Vec<_>>(), [part]);
        }
    }
}
