use proptest::prelude::*;

use super::*;
use crate::base::instant::{HOUR, MINUTE};
use crate::base::operation;
use crate::rules::increment::packed::tests::{packed, shown};
use crate::rules::snapshot::HISTOGRAM_LEN;

const OPEN: &str = "open";
const WRITE: &str = "write_bytes";

fn operation(name: &str) -> usize {
    operation::find(name.as_bytes()).expect("an operation of the list")
}

fn calls(name: &str) -> Column {
    Column::Total(operation(name))
}

fn usecs(name: &str) -> Column {
    Column::Usecs(operation(name))
}

fn increment<'a>(id: &'a str, totals: &[(Column, i64)], detail: Option<&str>) -> Increment<'a> {
    Increment {
        line: 1,
        id,
        folded: None,
        since: 0,
        time: 10,
        reset: false,
        last_active: None,
        totals: totals.to_vec(),
        histograms: None,
        detail: detail.map(packed),
    }
}

/// The user of names like `sh.0`, if it is a user of the system.
fn system(name: &str) -> Option<u32> {
    let (_, uid) = name.rsplit_once('.')?;
    let uid = uid.split(' ').next()?;
    uid.parse().ok().filter(|uid| *uid < 1000)
}

fn folded(increments: Vec<Increment<'_>>) -> Vec<Increment<'_>> {
    let mut comparison = Comparison {
        increments,
        ..Comparison::default()
    };
    comparison.fold(system, Pause::NEVER).expect("memory");
    comparison.increments
}

#[test]
fn a_sum_was_active_as_long_as_any_of_its_entries() {
    let last_active = |times: [Option<i64>; 2]| {
        let entries = ["sh.0", "cron.0"].into_iter().zip(times);
        let entries = entries.map(|(id, last_active)| Increment {
            last_active,
            ..increment(id, &[(calls(OPEN), 1)], None)
        });
        folded(entries.collect())[0].last_active
    };
    assert_eq!(last_active([Some(3), Some(5)]), Some(5));
    assert_eq!(last_active([Some(3), None]), None);
}

#[test]
fn entries_of_a_user_become_one() {
    let sums = folded(vec![
        increment("sh.0", &[(calls(OPEN), 1), (usecs(OPEN), 3)], None),
        increment("sh.1000", &[(calls(OPEN), 100)], None),
        increment("cron.0", &[(calls(OPEN), 2), (usecs(OPEN), 10)], None),
        increment("ntp.38", &[(calls(OPEN), 7)], None),
    ]);
    let names: Vec<_> = sums.iter().map(Increment::entry).collect();
    assert_eq!(names, ["sh.1000", &folded_name(0), &folded_name(38)]);
    assert_eq!(sums[1].totals, [(calls(OPEN), 3), (usecs(OPEN), 13)]);
    assert_eq!(sums[2].totals, [(calls(OPEN), 7)]);
}

#[test]
fn a_user_has_a_sum_for_each_bucket() {
    let of = |id, since, opens| Increment {
        since: since * MINUTE,
        time: 5 * MINUTE,
        ..increment(id, &[(calls(OPEN), opens)], Some(r#"{"open":{"max":9}}"#))
    };
    let sums = folded(vec![of("a.0", -5, 10), of("b.0", 2, 2), of("c.0", -1, 6)]);
    let spans = sums.iter().map(|it| (it.since, it.time, it.totals[0].1));
    let of_detail = sums.iter().map(|it| it.detail.is_some());
    assert_eq!(
        spans.collect::<Vec<_>>(),
        [(-5 * MINUTE, 0, 6), (0, 5 * MINUTE, 12)]
    );
    assert_eq!(of_detail.collect::<Vec<_>>(), [false, true]);
    assert!(sums.iter().all(|it| it.observed() == 5 * MINUTE));
}

#[test]
fn after_a_long_gap_edges_are_as_far_apart_as_ever() {
    let hours = |hours: i64| Increment {
        since: -hours * HOUR,
        time: 0,
        ..increment("a.0", &[(calls(OPEN), 60 * hours)], None)
    };
    let sums = folded(vec![hours(7), hours(1)]);
    let widths: Vec<_> = sums.iter().map(|it| it.time - it.since).collect();
    assert_eq!(widths.iter().filter(|width| **width == HOUR).count(), 7);
    assert_eq!(
        widths.iter().filter(|width| **width == 10 * MINUTE).count(),
        6
    );
}

#[test]
fn what_follows_from_columns_of_each_is_said_of_their_sum() {
    // One call of 3 µs, two alike of 5 µs each: 9 + 50. Alike calls of 13 µs would have another sum of squares.
    let sums = folded(vec![
        increment("a.0", &[(calls(OPEN), 1), (usecs(OPEN), 3)], None),
        increment(
            "b.0",
            &[(calls(OPEN), 2), (usecs(OPEN), 10)],
            Some(r#"{"open":{}}"#),
        ),
    ]);
    assert_eq!(
        shown(&sums[0].detail),
        r#"{"open":{"max":5,"min":5,"sumsq":59}}"#
    );
}

#[test]
fn bounds_are_those_of_all() {
    let sums = folded(vec![
        increment(
            "a.0",
            &[(calls(OPEN), 2), (usecs(OPEN), 9)],
            Some(r#"{"open":{"min":2,"sumsq":53}}"#),
        ),
        increment(
            "b.0",
            &[(calls(OPEN), 2), (usecs(OPEN), 9)],
            Some(r#"{"open":{"max":8,"min":1,"sumsq":65}}"#),
        ),
    ]);
    let expected = r#"{"open":{"max":8,"min":1,"sumsq":118}}"#;
    assert_eq!(shown(&sums[0].detail), expected);
}

#[test]
fn operations_without_a_column_are_added_up() {
    let detail =
        r#"{"fly":{"hist":[1,2],"max":9,"min":1,"samples":2,"sum":10,"sumsq":82,"unit":"usecs"}}"#;
    let sums = folded(vec![
        increment("a.0", &[], Some(detail)),
        increment("b.0", &[], Some(detail)),
    ]);
    let sum =
        r#"{"fly":{"hist":[2,4],"max":9,"min":1,"samples":4,"sum":20,"sumsq":164,"unit":"usecs"}}"#;
    assert_eq!(shown(&sums[0].detail), sum);
}

#[test]
fn what_is_counted_otherwise_stays_apart() {
    let of = |unit| format!(r#"{{"fly":{{"samples":2,"unit":"{unit}"}}}}"#);
    let (time, size) = (of("usecs"), of("bytes"));
    let sums = folded(vec![
        increment("a.0", &[], Some(&time)),
        increment("b.0", &[], Some(&size)),
        increment("c.0", &[], Some(&time)),
    ]);
    let names: Vec<_> = sums.iter().map(Increment::entry).collect();
    assert_eq!(names, ["b.0", &folded_name(0)]);
    assert_eq!(
        shown(&sums[1].detail),
        r#"{"fly":{"samples":4,"unit":"usecs"}}"#
    );
}

#[test]
fn a_sum_that_nobody_would_believe_is_not_made() {
    let half = (1 << 52) + 1;
    let sums = folded(vec![
        increment("a.0", &[(calls(OPEN), half)], None),
        increment("b.0", &[(calls(OPEN), half)], None),
    ]);
    let totals: Vec<_> = sums.iter().map(|it| it.totals[0].1).collect();
    assert_eq!(totals, [half, half]);
}

/// The growth of two operations of an entry: calls and sums, and the squares that its detail gives.
type Entry = (String, Micros, [i64; 4], Option<u64>);

fn entry() -> impl Strategy<Value = Entry> {
    let name = ("[a-c]", prop::sample::select(vec![0, 7, 999, 1000]));
    let name = name.prop_map(|(program, uid)| format!("{program}.{uid}"));
    let growth = prop::array::uniform4(1..1_000_i64);
    (name, -25..5_i64, growth, prop::option::of(0..9_999_u64))
}

fn made(
    (name, since, [opens, open_time, writes, bytes], squares): &(
        String,
        Micros,
        [i64; 4],
        Option<u64>,
    ),
) -> Increment<'_> {
    let mut elements = [0; 2 * HISTOGRAM_LEN];
    elements[HISTOGRAM_LEN + 3] = *writes;
    let detail = squares.map(|squares| format!(r#"{{"open":{{"sumsq":{squares}}}}}"#));
    Increment {
        since: *since * MINUTE,
        time: 5 * MINUTE,
        histograms: Some(Box::new(elements)),
        ..increment(
            name,
            &[
                (calls(OPEN), *opens),
                (usecs(OPEN), *open_time),
                (calls("write"), *writes),
                (calls(WRITE), *bytes),
            ],
            detail.as_deref(),
        )
    }
}

/// The sums by user and bucket of each column and of the histogram, and by user the squares as readers compute them.
fn sums(increments: &[Increment<'_>]) -> BTreeMap<(Option<u32>, Micros, String), u128> {
    let mut sums = BTreeMap::new();
    let mut whole: BTreeMap<String, Increment<'_>> = BTreeMap::new();
    for increment in increments {
        let user = system(&increment.entry());
        for part in split(increment.clone()) {
            let bucket = (part.time - 1).div_euclid(10 * MINUTE);
            let mut add = |what: String, growth: u128| {
                *sums.entry((user, bucket, what)).or_default() += growth;
            };
            for (column, growth) in &part.totals {
                add(format!("{column:?}"), growth.unsigned_abs().into());
            }
            let elements = part.histograms.iter().flat_map(|it| it.iter());
            add(
                "histogram".to_owned(),
                elements.map(|it| u128::from(it.unsigned_abs())).sum(),
            );
        }
        // Readers take the rows that one observation added to an entry together, and one of them has the details.
        match whole
            .get_mut(&*increment.entry())
            .filter(|_| increment.folded.is_some())
        {
            Some(sum) => {
                let detail = sum.detail.take().or(increment.detail.clone());
                sum.take_in(increment.clone());
                sum.detail = detail;
            }
            None => {
                let name = format!("{}{}", increment.entry(), whole.len());
                let name = if increment.folded.is_some() {
                    increment.entry().into_owned()
                } else {
                    name
                };
                whole.insert(name, increment.clone());
            }
        }
    }
    for increment in whole.values() {
        let user = system(&increment.entry());
        for (operation, detail) in details(increment) {
            let squares = sums.entry((user, 0, format!("{operation:?} squared")));
            *squares.or_default() += u128::from(detail.sumsq.unwrap_or(0));
        }
    }
    sums
}

/// Returns the sums of the users of the system.
fn of_system(entries: &[Entry]) -> Vec<Increment<'_>> {
    let mut sums = folded(entries.iter().map(made).collect());
    sums.retain(|it| it.folded.is_some());
    sums
}

proptest! {
    /// Whatever is added up, no sum changes, and a user of the system has one increment in each bucket.
    #[test]
    fn all_sums_stay(entries in prop::collection::vec(entry(), 0..12)) {
        let before: Vec<_> = entries.iter().map(made).collect();
        let after = folded(before.clone());
        prop_assert_eq!(sums(&before), sums(&after));
        let mut spans = std::collections::BTreeSet::new();
        for it in after.iter().filter(|it| it.folded.is_some()) {
            prop_assert!(spans.insert((it.entry(), (it.time - 1).div_euclid(10 * MINUTE))));
            prop_assert_eq!(split(it.clone()).count(), 1);
        }
    }

    /// The order of a text does not matter: an observation that is computed again has the same rows.
    #[test]
    fn the_order_does_not_matter(
        entries in prop::collection::vec(entry(), 0..12).prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
    ) {
        prop_assert_eq!(of_system(&entries.0), of_system(&entries.1));
    }
}
