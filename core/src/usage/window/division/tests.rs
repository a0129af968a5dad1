use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn rollup(width: Micros, until: Micros, stale: &[Span]) -> Coverage {
    Coverage {
        width,
        since: Micros::MIN,
        until,
        stale: stale.to_vec(),
    }
}

/// Divides a window with increments that are kept for ever.
fn divide_all(edges: &[Micros], rollups: &[Coverage]) -> (Vec<Vec<Span>>, Vec<Span>) {
    let division = divide(edges, rollups, Micros::MIN);
    assert_eq!(division.lost, []);
    (division.whole, division.rest)
}

#[test]
fn the_coarsest_rollup_takes_what_it_can() {
    let rollups = [rollup(60, 1000, &[]), rollup(10, 1000, &[])];
    let (taken, rest) = divide_all(&[55, 305], &rollups);
    assert_eq!(taken, [vec![(60, 300)], vec![]]);
    assert_eq!(rest, [(55, 60), (300, 305)]);
    let (taken, rest) = divide_all(&[35, 325], &rollups);
    assert_eq!(taken, [vec![(60, 300)], vec![(40, 60), (300, 320)]]);
    assert_eq!(rest, [(35, 40), (320, 325)]);
}

#[test]
fn an_empty_window_has_no_spans() {
    assert_eq!(
        divide_all(&[7], &[rollup(10, 100, &[])]),
        (vec![vec![]], vec![])
    );
    assert_eq!(divide_all(&[], &[]), (vec![], vec![]));
}

fn rollups() -> impl Strategy<Value = Vec<Coverage>> {
    let stale = vec((-100_i64..400, 1_i64..50), 0..4);
    let rollup = (-100_i64..300, 0_i64..400, stale).prop_map(|(since, until, stale)| Coverage {
        width: 0,
        since,
        until,
        stale: stale
            .into_iter()
            .map(|(from, width)| (from, from + width))
            .collect(),
    });
    vec(rollup, 0..4).prop_map(|mut rollups| {
        for (rollup, width) in rollups.iter_mut().zip([60, 30, 10]) {
            rollup.width = width;
        }
        rollups
    })
}

proptest! {
    /// Every instant belongs to exactly one span, and to the coarsest rollup whose bucket can stand for it.
    #[test]
    fn every_instant_is_in_one_span(
        mut edges in vec(-100_i64..400, 2..8),
        rollups in rollups(),
        kept_since in -100_i64..400,
    ) {
        let rollups: Vec<Coverage> = rollups.into_iter().filter(|rollup| rollup.width > 0).collect();
        edges.sort_unstable();
        let Division { whole, rest, parts, lost } = divide(&edges, &rollups, kept_since);
        for spans in whole.iter().chain(&parts).chain([&rest, &lost]) {
            prop_assert!(spans.iter().all(|(from, to)| from < to));
            prop_assert!(spans.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
        let holds = |spans: &[Span], instant| spans.iter().any(|(from, to)| *from < instant && instant <= *to);
        for instant in edges[0] - 70..=edges[edges.len() - 1] + 70 {
            let in_window = edges[0] < instant && instant <= edges[edges.len() - 1];
            let bucket = |rollup: &Coverage| {
                let from = floor(instant - 1, rollup.width);
                (from, from + rollup.width)
            };
            let is_known = |rollup: &Coverage| {
                let (from, to) = bucket(rollup);
                rollup.since <= from && to <= rollup.until && !rollup.stale.iter().any(|stale| stale.0 < to && from < stale.1)
            };
            let can_stand = |rollup: &Coverage| {
                let (from, to) = bucket(rollup);
                let (first, last) = (edges[0], edges[edges.len() - 1]);
                first <= from && to <= last && !edges.iter().any(|edge| from < *edge && *edge < to)
            };
            let expected = rollups.iter().position(|rollup| is_known(rollup) && can_stand(rollup));
            let is_left = in_window && expected.is_none();
            prop_assert_eq!(holds(&rest, instant), is_left && instant > kept_since, "{}", instant);
            let is_old = is_left && instant <= kept_since;
            let finest = rollups.iter().rposition(is_known);
            for number in 0..rollups.len() {
                prop_assert_eq!(holds(&whole[number], instant), in_window && expected == Some(number), "{} {}", instant, number);
                prop_assert_eq!(holds(&parts[number], instant), is_old && finest == Some(number), "{} {}", instant, number);
            }
            prop_assert_eq!(holds(&lost, instant), is_old && finest.is_none(), "{}", instant);
        }
    }
}
