use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn level(width: Micros, until: Micros, stale: &[Span]) -> Level {
    Level {
        width,
        since: Micros::MIN,
        until,
        stale: stale.to_vec(),
    }
}

/// Of increments that are kept for ever.
fn divide_all(edges: &[Micros], levels: &[Level]) -> (Vec<Vec<Span>>, Vec<Span>) {
    let division = divide(edges, levels, Micros::MIN);
    assert_eq!(division.lost, []);
    (division.levels, division.rest)
}

#[test]
fn the_coarsest_level_takes_what_it_can() {
    let levels = [level(60, 1000, &[]), level(10, 1000, &[])];
    let (taken, rest) = divide_all(&[55, 305], &levels);
    assert_eq!(taken, [vec![(60, 300)], vec![]]);
    assert_eq!(rest, [(55, 60), (300, 305)]);
    let (taken, rest) = divide_all(&[35, 325], &levels);
    assert_eq!(taken, [vec![(60, 300)], vec![(40, 60), (300, 320)]]);
    assert_eq!(rest, [(35, 40), (320, 325)]);
}

#[test]
fn a_bucket_with_an_edge_inside_is_left() {
    let (taken, rest) = divide_all(&[0, 25, 40], &[level(10, 1000, &[])]);
    assert_eq!(taken, [[(0, 20), (30, 40)]]);
    assert_eq!(rest, [(20, 30)]);
}

#[test]
fn a_stale_span_takes_whole_buckets() {
    let (taken, rest) = divide_all(&[0, 100], &[level(10, 80, &[(41, 42), (35, 41), (11, 20)])]);
    assert_eq!(taken, [[(0, 10), (20, 30), (50, 80)]]);
    assert_eq!(rest, [(10, 20), (30, 50), (80, 100)]);
}

#[test]
fn an_empty_window_has_no_spans() {
    assert_eq!(
        divide_all(&[7], &[level(10, 100, &[])]),
        (vec![vec![]], vec![])
    );
    assert_eq!(divide_all(&[], &[]), (vec![], vec![]));
}

#[test]
fn what_is_not_kept_is_lost() {
    let day = Level {
        since: 60,
        ..level(60, 1000, &[])
    };
    let division = divide(&[30, 330], &[day], 315);
    assert_eq!(division.levels, [[(60, 300)]]);
    assert_eq!(division.rest, [(315, 330)]);
    assert_eq!(division.lost, [(30, 60), (300, 315)]);
}

fn levels() -> impl Strategy<Value = Vec<Level>> {
    let stale = vec((-100_i64..400, 1_i64..50), 0..4);
    let level = (-100_i64..300, 0_i64..400, stale).prop_map(|(since, until, stale)| Level {
        width: 0,
        since,
        until,
        stale: stale
            .into_iter()
            .map(|(from, width)| (from, from + width))
            .collect(),
    });
    vec(level, 0..4).prop_map(|mut levels| {
        for (level, width) in levels.iter_mut().zip([60, 30, 10]) {
            level.width = width;
        }
        levels
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Every instant belongs to exactly one span, and to the coarsest level whose bucket can stand for it.
    #[test]
    fn every_instant_is_in_one_span(
        mut edges in vec(-100_i64..400, 2..8),
        levels in levels(),
        kept_since in -100_i64..400,
    ) {
        let levels: Vec<Level> = levels.into_iter().filter(|level| level.width > 0).collect();
        edges.sort_unstable();
        let Division { levels: taken, rest, lost } = divide(&edges, &levels, kept_since);
        for spans in taken.iter().chain([&rest, &lost]) {
            prop_assert!(spans.iter().all(|(from, to)| from < to));
            prop_assert!(spans.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
        let holds = |spans: &[Span], instant| spans.iter().any(|(from, to)| *from < instant && instant <= *to);
        for instant in edges[0] - 70..=edges[edges.len() - 1] + 70 {
            let in_window = edges[0] < instant && instant <= edges[edges.len() - 1];
            let can_stand = |level: &&Level| {
                let bucket = (floor(instant - 1, level.width), floor(instant - 1, level.width) + level.width);
                let touches = |(from, to): &Span| *from < bucket.1 && bucket.0 < *to;
                let is_divided = edges.iter().any(|edge| bucket.0 < *edge && *edge < bucket.1);
                let (first, last) = (edges[0], edges[edges.len() - 1]);
                first <= bucket.0 && bucket.1 <= last && !is_divided && level.since <= bucket.0 && bucket.1 <= level.until
                    && !level.stale.iter().any(touches)
            };
            let expected = levels.iter().position(|level| can_stand(&level));
            for (number, spans) in taken.iter().enumerate() {
                prop_assert_eq!(holds(spans, instant), in_window && expected == Some(number), "{} {}", instant, number);
            }
            let is_left = in_window && expected.is_none();
            prop_assert_eq!(holds(&rest, instant), is_left && instant > kept_since, "{}", instant);
            prop_assert_eq!(holds(&lost, instant), is_left && instant <= kept_since, "{}", instant);
        }
    }
}
