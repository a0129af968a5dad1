//! Tests the laws of summaries with any readings.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// Returns the readings in the order of time. Of several readings of the same time the greatest stays.
fn in_order(readings: &[Reading]) -> Vec<Reading> {
    let mut greatest = BTreeMap::new();
    for &reading in readings {
        let kept = greatest.entry(reading.time).or_insert(reading);
        *kept = reading.max(*kept);
    }
    greatest.into_values().collect()
}

/// Returns increase and resets by rule 4 read word by word, from all readings at once.
fn by_the_rule(readings: &[Reading]) -> (u128, u64) {
    let (mut increase, mut resets) = (0, 0);
    let mut before: Option<(i64, Option<Micros>)> = None;
    for reading in in_order(readings) {
        let (value, start) = (reading.value, reading.start());
        let now = match before {
            None => value,
            Some((known, Some(epoch))) if start == Some(epoch) => {
                increase += (value - known).max(0) as u128;
                value.max(known)
            }
            Some((known, epoch)) => {
                let reset = epoch.is_some() && start.is_some() || value < known;
                increase += if reset { value } else { value - known } as u128;
                resets += u64::from(reset);
                value
            }
        };
        before = Some((now, start));
    }
    (increase, resets)
}

/// Returns increase and resets of a counter that wraps: a lower value has wrapped, and only another start is a reset.
fn by_the_rule_of_wrapping(readings: &[Reading], modulus: Modulus) -> (u128, u64) {
    let (mut increase, mut resets) = (0, 0);
    let readings = in_order(readings);
    for (before, now) in readings.iter().zip(&readings[1..]) {
        let (from, to) = (before.value as u128, now.value as u128);
        let reset =
            matches!((before.start(), now.start()), (Some(one), Some(other)) if one != other);
        increase += match () {
            () if reset => to,
            () if to < from => modulus.get() as u128 - from + to,
            () => to - from,
        };
        resets += u64::from(reset);
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
        // These have longer stretches of one epoch.
        prop::collection::vec((any_reading(), 0..10_usize), 1..8).prop_map(|runs| {
            let run = |(of, more): (Reading, usize)| {
                (0..=more as i64).map(move |i| {
                    let value = of.value.saturating_add((i * 7) % 5);
                    Reading::new(of.time + i, value, of.start()).unwrap()
                })
            };
            runs.into_iter().flat_map(run).collect()
        }),
    ]
}

/// Returns an optional modulus, with readings that it admits.
fn any_counter() -> impl Strategy<Value = (Option<Modulus>, Vec<Reading>)> {
    let modulus = prop_oneof![
        3 => Just(None),
        3 => prop_oneof![1..25_i64, 1..=MAX, Just(MAX)].prop_map(Some),
    ];
    (modulus, any_readings()).prop_map(|(modulus, mut readings)| {
        if let Some(modulus) = modulus {
            readings.iter_mut().for_each(|it| it.value %= modulus);
        }
        (modulus.map(|it| Modulus::new(it).unwrap()), readings)
    })
}

/// Returns the summary of readings that are all kept.
fn whole(readings: &[Reading]) -> Summary {
    whole_wrapping(None, readings)
}

fn whole_wrapping(modulus: Option<Modulus>, readings: &[Reading]) -> Summary {
    let mut series = Series::<Global>::wrapping_in(Global, modulus);
    readings.iter().for_each(|&it| series.push(it).unwrap());
    series.summary(Pause::NEVER).unwrap().unwrap()
}

/// Returns times that divide the readings, as buckets do.
fn any_edges() -> impl Strategy<Value = Vec<Micros>> {
    prop::collection::vec(0..40_i64, 0..12).prop_map(|mut edges| {
        edges.push(i64::MAX);
        edges.sort();
        edges
    })
}

/// Returns the summaries of the buckets that are not empty, in the order of time.
fn buckets(modulus: Option<Modulus>, readings: &[Reading], edges: &[Micros]) -> Vec<Summary> {
    let mut from = i64::MIN;
    let parts = edges.iter().map(|&until| {
        let inside = |it: &&Reading| (from..until).contains(&it.time);
        let part: Vec<_> = readings.iter().filter(inside).copied().collect();
        from = until;
        part
    });
    parts
        .filter(|part| !part.is_empty())
        .map(|part| whole_wrapping(modulus, &part))
        .collect()
}

/// Adds up what each bucket grew by since the bucket before, as the SQL with `lag()` does.
fn added_up(buckets: &[Summary]) -> Growth {
    let pairs = buckets.iter().zip(&buckets[1..]);
    let steps = pairs.map(|(previous, next)| next.growth_after(previous).unwrap());
    steps.fold(buckets[0].growth(), |sum, step| Growth {
        increase: sum.increase + step.increase,
        resets: sum.resets + step.resets,
        elapsed: sum.elapsed + step.elapsed,
    })
}

/// Raises values so that they do not fall within a known epoch.
fn without_falls(readings: &[Reading]) -> Vec<Reading> {
    let mut readings = in_order(readings);
    for i in 1..readings.len() {
        if readings[i].is_of_epoch(&readings[i - 1]) {
            readings[i].value = readings[i].value.max(readings[i - 1].value);
        }
    }
    readings
}

proptest! {
    #[test]
    fn a_summary_says_what_the_rule_says(readings in any_readings()) {
        let summary = whole(&readings);
        prop_assert_eq!((summary.increase(), summary.resets), by_the_rule(&readings));
    }

    #[test]
    fn a_summary_of_a_counter_that_wraps_says_what_its_rule_says((modulus, readings) in any_counter()) {
        if let Some(some) = modulus {
            let growth = whole_wrapping(modulus, &readings).growth();
            let expected = by_the_rule_of_wrapping(&readings, some);
            prop_assert_eq!((growth.increase, growth.resets), expected);
        }
    }

    #[test]
    fn order_of_input_does_not_matter(
        ((modulus, readings), shuffled) in any_counter()
            .prop_flat_map(|it| (Just(it.clone()), Just(it.1).prop_shuffle())),
    ) {
        prop_assert_eq!(whole_wrapping(modulus, &readings), whole_wrapping(modulus, &shuffled));
    }

    #[test]
    fn what_is_forgotten_does_not_matter((modulus, mut readings) in any_counter()) {
        let expected = whole_wrapping(modulus, &readings);
        readings.sort();
        prop_assert_eq!(wrapping(modulus, &readings), Some(expected));
    }

    #[test]
    fn rollup_of_any_split_into_disjoint_time_ranges_equals_the_whole(
        (modulus, readings) in any_counter(),
        edges in any_edges(),
        turn in any::<Index>(),
    ) {
        let mut parts = buckets(modulus, &readings, &edges);
        let turn = turn.index(parts.len());
        parts.rotate_left(turn);
        let mut rollup = Rollup::<Global>::new_in(Global);
        parts.iter().for_each(|&it| rollup.push(it).unwrap());
        let expected = whole_wrapping(modulus, &readings);
        prop_assert_eq!(rollup.summary(Pause::NEVER).unwrap().unwrap(), expected);
    }

    #[test]
    fn growths_of_consecutive_buckets_add_up_if_no_value_falls_within_a_known_epoch(
        (modulus, readings) in any_counter(),
        edges in any_edges(),
    ) {
        let readings = match modulus {
            Some(_) => readings,
            None => without_falls(&readings),
        };
        let parts = buckets(modulus, &readings, &edges);
        prop_assert_eq!(added_up(&parts), whole_wrapping(modulus, &readings).growth());
    }

    #[test]
    fn growths_of_consecutive_buckets_are_never_less_if_all_epochs_are_known(
        readings in any_readings(),
        edges in any_edges(),
    ) {
        let known: Vec<_> = readings
            .iter()
            .map(|it| of_epoch(it.start().unwrap_or(0), it.time, it.value))
            .collect();
        let (sum, whole) = (added_up(&buckets(None, &known, &edges)), whole(&known).growth());
        prop_assert!(sum.increase >= whole.increase);
        prop_assert_eq!((sum.resets, sum.elapsed), (whole.resets, whole.elapsed));
    }

    #[test]
    fn never_negative((modulus, readings) in any_counter()) {
        let summary = whole_wrapping(modulus, &readings);
        let grown = i128::from(summary.last.value) - i128::from(summary.first.value);
        prop_assert!(summary.increase() as i128 >= grown.max(0));
        prop_assert!(summary.growth().rate().is_none_or(|rate| rate >= 0.0));
    }

    #[test]
    fn integers_are_exact_to_2_to_the_63(first in 0..=MAX, second in 0..=MAX) {
        let expected = if second < first { second } else { second - first };
        prop_assert_eq!(counted(&[first, second]).0, expected as u128);
    }

    #[test]
    fn forms_round_trip((modulus, readings) in any_counter()) {
        let summary = whole_wrapping(modulus, &readings);
        prop_assert_eq!(Summary::from_text(&summary.to_string()).unwrap(), summary);
        prop_assert_eq!(Summary::from_bytes(&summary.to_bytes()).unwrap(), summary);
    }

    #[test]
    fn damaged_bytes_are_an_error_or_a_summary_that_can_be_used(
        (modulus, readings) in any_counter(),
        changes in prop::collection::vec((any::<Index>(), prop_oneof![Just(0), Just(127), Just(255), any::<u8>()]), 1..6),
        length in prop::option::weighted(0.05, 0..120_usize),
        other in any_reading(),
    ) {
        let mut bytes = whole_wrapping(modulus, &readings).to_bytes();
        for (index, byte) in changes {
            *index.get_mut(&mut bytes[..]) = byte;
        }
        bytes.resize(length.unwrap_or(bytes.len()), 0);
        let Ok(damaged) = Summary::from_bytes(&bytes) else {
            return Ok(());
        };
        prop_assert_eq!(&damaged.to_bytes()[..], &bytes[..]);
        prop_assert_eq!(Summary::from_text(&damaged.to_string()).unwrap(), damaged);
        prop_assert!(damaged.growth().rate().is_none_or(|rate| rate >= 0.0));
        let mut rollup = Rollup::<Global>::new_in(Global);
        for summary in [damaged, Summary::new(other)] {
            rollup.push(summary).unwrap();
        }
        if let Ok(Some(merged)) = rollup.summary(Pause::NEVER) {
            prop_assert_eq!(Summary::from_bytes(&merged.to_bytes()).unwrap(), merged);
        }
    }
}
