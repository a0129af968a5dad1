use proptest::prelude::*;

use super::*;
use crate::operation;

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
        read_histogram: None,
        write_histogram: None,
        detail: detail.map(str::to_owned),
    }
}

/// The user of names like `sh.0`, if it is a user of the system.
fn system(name: &str) -> Option<u32> {
    let (_, uid) = name.rsplit_once('.')?;
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
fn entries_of_a_user_become_one() {
    let sums = folded(vec![
        increment("sh.0", &[(calls(OPEN), 1), (usecs(OPEN), 3)], None),
        increment("sh.1000", &[(calls(OPEN), 100)], None),
        increment("cron.0", &[(calls(OPEN), 2), (usecs(OPEN), 10)], None),
        increment("ntp.38", &[(calls(OPEN), 7)], None),
    ]);
    let names: Vec<_> = sums.iter().map(Increment::entry).collect();
    assert_eq!(names, ["sh.1000", "*.0", "*.38"]);
    assert_eq!(sums[1].totals, [(calls(OPEN), 3), (usecs(OPEN), 13)]);
    assert_eq!(sums[2].totals, [(calls(OPEN), 7)]);
}

#[test]
fn a_user_has_a_sum_for_each_span() {
    let earlier = Increment {
        since: -5,
        ..increment("a.0", &[(calls(OPEN), 1)], None)
    };
    let sums = folded(vec![
        earlier,
        increment("b.0", &[(calls(OPEN), 2)], None),
        increment("c.0", &[(calls(OPEN), 4)], None),
    ]);
    let spans: Vec<_> = sums.iter().map(|it| (it.since, it.totals[0].1)).collect();
    assert_eq!(spans, [(-5, 1), (0, 6)]);
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
        sums[0].detail.as_deref(),
        Some(r#"{"open":{"max":5,"min":5,"sumsq":59}}"#)
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
    assert_eq!(sums[0].detail.as_deref(), Some(expected));
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
    assert_eq!(sums[0].detail.as_deref(), Some(sum));
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
    assert_eq!(names, ["b.0", "*.0"]);
    assert_eq!(
        sums[1].detail.as_deref(),
        Some(r#"{"fly":{"samples":4,"unit":"usecs"}}"#)
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
    (name, 0..3_i64, growth, prop::option::of(0..9_999_u64))
}

fn made(
    (name, since, [opens, open_time, writes, bytes], squares): &(
        String,
        Micros,
        [i64; 4],
        Option<u64>,
    ),
) -> Increment<'_> {
    let mut elements = [0; HISTOGRAM_LEN];
    elements[3] = *writes;
    let detail = squares.map(|squares| format!(r#"{{"open":{{"sumsq":{squares}}}}}"#));
    Increment {
        since: *since,
        write_histogram: Some(Box::new(elements)),
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

/// Sums by user and span: each column, the histogram, and the squares as readers compute them.
fn sums(increments: &[Increment<'_>]) -> BTreeMap<(Option<u32>, Micros, String), u128> {
    let mut sums = BTreeMap::new();
    for increment in increments {
        let user = system(&increment.entry());
        let mut add = |what: String, growth: u128| {
            *sums.entry((user, increment.since, what)).or_default() += growth;
        };
        for (column, growth) in &increment.totals {
            add(format!("{column:?}"), growth.unsigned_abs().into());
        }
        let elements = increment.write_histogram.iter().flat_map(|it| it.iter());
        add(
            "histogram".to_owned(),
            elements.map(|it| u128::from(it.unsigned_abs())).sum(),
        );
        for (operation, detail) in details(increment) {
            add(
                format!("{operation} squared"),
                detail.sumsq.unwrap_or(0).into(),
            );
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
    /// Whatever is added up, no sum changes, and the system has one increment for each user and span.
    #[test]
    fn all_sums_stay(entries in prop::collection::vec(entry(), 0..12)) {
        let before: Vec<_> = entries.iter().map(made).collect();
        let after = folded(before.clone());
        prop_assert_eq!(sums(&before), sums(&after));
        let users = after.iter().filter(|it| it.folded.is_some()).count();
        let keys: std::collections::BTreeSet<_> =
            before.iter().filter_map(|it| Some((system(it.id)?, it.since))).collect();
        prop_assert_eq!(users, keys.len());
    }

    /// The order of a text does not matter: an observation that is computed again has the same rows.
    #[test]
    fn the_order_does_not_matter(
        entries in prop::collection::vec(entry(), 0..12).prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
    ) {
        prop_assert_eq!(of_system(&entries.0), of_system(&entries.1));
    }
}
