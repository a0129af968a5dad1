//! Tests the laws of summaries with any readings.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// Returns increase and resets by rule 4 read word by word, from all readings at once.
fn by_the_rule(readings: &[Reading]) -> (u128, u64) {
    let mut greatest = std::collections::BTreeMap::new();
    for &reading in readings {
        let kept = greatest.entry(reading.time).or_insert(reading);
        *kept = reading.max(*kept);
    }
    let (mut increase, mut resets) = (0, 0);
    let mut before: Option<(i64, Option<Micros>)> = None;
    for reading in greatest.into_values() {
        let (value, start) = (reading.value(), reading.start());
        let now = match before {
            None => value,
            Some((known, Some(life))) if start == Some(life) => {
                increase += (value - known).max(0) as u128;
                value.max(known)
            }
            Some((known, life)) => {
                let reset = life.is_some() && start.is_some() || value < known;
                increase += if reset { value } else { value - known } as u128;
                resets += u64::from(reset);
                value
            }
        };
        before = Some((now, start));
    }
    (increase, resets)
}

fn any_reading() -> impl Strategy<Value = Reading> {
    let value = prop_oneof![8 => 0..20_i64, 1 => (MAX - 5)..=MAX, 1 => 0..=MAX];
    let start = prop_oneof![2 => Just(None), 3 => (0..3_i64).prop_map(Some)];
    (0..30_i64, value, start)
        .prop_map(|(time, value, start)| Reading::new(time, value, start).unwrap())
}

fn any_readings() -> impl Strategy<Value = Vec<Reading>> {
    prop_oneof![
        prop::collection::vec(any_reading(), 1..25),
        // These have longer stretches of one life.
        prop::collection::vec((any_reading(), 0..10_usize), 1..8).prop_map(|runs| {
            let run = |(of, more): (Reading, usize)| {
                (0..=more as i64).map(move |i| {
                    let value = of.value().saturating_add((i * 7) % 5);
                    Reading::new(of.time + i, value, of.start()).unwrap()
                })
            };
            runs.into_iter().flat_map(run).collect()
        }),
    ]
}

/// Returns the summary of readings that are all kept.
fn whole(readings: &[Reading]) -> Summary {
    let mut series = Series::<Global>::new_in(Global);
    readings.iter().for_each(|&it| series.push(it).unwrap());
    series.summary(Pause::NEVER).unwrap().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn a_summary_says_what_the_rule_says(readings in any_readings()) {
        let summary = whole(&readings);
        prop_assert_eq!((summary.increase(), summary.resets()), by_the_rule(&readings));
    }

    #[test]
    fn order_of_input_does_not_matter(
        (readings, shuffled) in any_readings().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
    ) {
        prop_assert_eq!(whole(&readings), whole(&shuffled));
    }

    #[test]
    fn what_is_forgotten_does_not_matter(mut readings in any_readings()) {
        let expected = whole(&readings);
        readings.sort();
        prop_assert_eq!(summary(&readings), Some(expected));
    }

    #[test]
    fn rollup_of_any_split_into_disjoint_time_ranges_equals_the_whole(
        readings in any_readings(),
        mut edges in prop::collection::vec(0..40_i64, 0..6),
        turn in any::<Index>(),
    ) {
        edges.push(i64::MAX);
        edges.sort();
        let mut from = i64::MIN;
        let mut parts = Vec::new();
        for until in edges {
            let part: Vec<_> = readings
                .iter()
                .copied()
                .filter(|it| (from..until).contains(&it.time))
                .collect();
            if !part.is_empty() {
                parts.push(whole(&part));
            }
            from = until;
        }
        let turn = turn.index(parts.len());
        parts.rotate_left(turn);
        let mut rollup = Rollup::<Global>::new_in(Global);
        parts.iter().for_each(|&it| rollup.push(it).unwrap());
        prop_assert_eq!(rollup.summary(Pause::NEVER).unwrap().unwrap(), whole(&readings));
    }

    #[test]
    fn never_negative(readings in any_readings()) {
        let summary = whole(&readings);
        let grown = i128::from(summary.last().value()) - i128::from(summary.first().value());
        prop_assert!(summary.increase() as i128 >= grown.max(0));
        prop_assert!(summary.rate().is_none_or(|rate| rate >= 0.0));
    }

    #[test]
    fn integers_are_exact_to_2_to_the_63(first in 0..=MAX, second in 0..=MAX) {
        let expected = if second < first { second } else { second - first };
        prop_assert_eq!(counted(&[first, second]).0, expected as u128);
    }

    #[test]
    fn forms_round_trip(readings in any_readings()) {
        let summary = whole(&readings);
        prop_assert_eq!(Summary::from_text(&summary.to_string()).unwrap(), summary);
        prop_assert_eq!(Summary::from_bytes(&summary.to_bytes()).unwrap(), summary);
    }

    #[test]
    fn damaged_bytes_are_an_error_or_a_summary_that_can_be_used(
        readings in any_readings(),
        changes in prop::collection::vec((any::<Index>(), prop_oneof![Just(0), Just(127), Just(255), any::<u8>()]), 1..6),
        length in prop_oneof![20 => Just(113_usize), 1 => 0..120_usize],
        other in any_reading(),
    ) {
        let mut bytes = whole(&readings).to_bytes().to_vec();
        for (index, byte) in changes {
            *index.get_mut(&mut bytes[..]) = byte;
        }
        bytes.resize(length, 0);
        let Ok(damaged) = Summary::from_bytes(&bytes) else {
            return Ok(());
        };
        prop_assert_eq!(&damaged.to_bytes()[..], &bytes[..]);
        prop_assert_eq!(Summary::from_text(&damaged.to_string()).unwrap(), damaged);
        prop_assert!(damaged.rate().is_none_or(|rate| rate >= 0.0));
        let mut rollup = Rollup::<Global>::new_in(Global);
        for summary in [damaged, Summary::new(other)] {
            rollup.push(summary).unwrap();
        }
        if let Ok(Some(merged)) = rollup.summary(Pause::NEVER) {
            prop_assert_eq!(Summary::from_bytes(&merged.to_bytes()).unwrap(), merged);
        }
    }
}
