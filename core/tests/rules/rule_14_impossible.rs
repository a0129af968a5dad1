use crate::support::{Target, job};

/// 2^53 − 1, the largest increment that is believed of one entry.
const HUGE: u64 = (1 << 53) - 1;

#[test]
fn rule_14_what_is_impossible_is_dropped_and_named() {
    let mut target = Target::first(&[job("a", "open 1, close 1"), job("b", "open 1, close 1")]);
    let huge = format!("open {HUGE}, close 5");
    let seen = target.observe(60, &[job("a", &huge), job("b", "open 3, close 1")]);
    assert_eq!(seen.rows, ["a (0, 60] close=4", "b (0, 60] open=2"]);
    assert_eq!(
        seen.problems,
        [
            "a open line 3: impossible: 9007199254740990 calls are impossible: \
             all entries together can have 65970697666560 since the previous text"
        ]
    );
    assert_eq!(seen.active, 2);
}

#[test]
fn rule_14_what_follows_counts_from_the_new_value() {
    let mut target = Target::first(&[job("a", "open 1")]);
    let seen = target.observe(60, &[job("a", &format!("open {HUGE}"))]);
    assert_eq!(
        (seen.rows.len(), seen.active, seen.problems.len()),
        (0, 0, 1)
    );
    let seen = target.observe(120, &[job("a", &format!("open {}", HUGE + 4))]);
    assert_eq!(seen.rows, ["a (60, 120] open=4"]);
    // Back to the first value: a restart.
    let seen = target.observe(180, &[job("a", "open 7")]);
    assert_eq!(seen.rows, ["a (120, 180] open=7 reset"]);
}

#[test]
fn rule_14_many_entries_share_the_limit() {
    let entries = |calls: u64| -> Vec<String> {
        let entry = |n: u64| job(&format!("job{n}"), &format!("open {}", calls * (n + 1)));
        (0..64).map(entry).collect()
    };
    let mut target = Target::first(&entries(0));
    // 1 + 2 + … + 64 = 2080 times 2^30 in two seconds; 2048 fit.
    let seen = target.observe(2, &entries(1 << 30));
    let sum: i64 = seen.totals.iter().map(|(_, _, calls)| calls).sum();
    assert_eq!(sum, (2080 - 64) << 30);
    assert_eq!((seen.active, seen.problems.len()), (63, 1));
    assert!(
        seen.problems[0].starts_with("job63 open"),
        "{:?}",
        seen.problems
    );
    // Within a day it is normal.
    let seen = target.observe(86_402, &entries(1 << 40));
    assert_eq!((seen.active, seen.problems.len()), (64, 0));
}

#[test]
fn rule_14_a_second_has_room_for_2_to_the_40_of_each_column() {
    let mut target = Target::first(&[job("a", "open 0")]);
    let seen = target.observe(1, &[job("a", &format!("open {}", 1_u64 << 40))]);
    assert_eq!(seen.problems, [""; 0]);
    let seen = target.observe(2, &[job("a", &format!("open {}", (1_u64 << 41) + 1))]);
    assert_eq!(seen.problems.len(), 1);
}
