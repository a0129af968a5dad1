use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Json;

use crate::support::{Target, born, job};

/// The rows of an entry with these counters, then those.
fn rows(before: &str, after: &str) -> Vec<String> {
    let mut target = Target::first(&[job("a", before)]);
    target.observe(120, &[job("a", after)]).rows
}

#[test]
fn rule_7_detail_has_new_bounds_and_the_growth_of_squares() {
    let rows = rows(
        "open 2 usecs 3 9 12 90, close 1 usecs 4 4 4 16",
        "open 4 usecs 2 9 20 130, close 3 usecs 4 5 13 57",
    );
    let detail = r#"{"close":{"max":5,"sumsq":41},"open":{"min":2,"sumsq":40}}"#;
    assert_eq!(
        rows,
        [format!(
            "a (0, 120] open=2 open_usecs=8 close=2 close_usecs=9 {detail}"
        )]
    );
}

#[test]
fn rule_7_the_growth_of_squares_is_left_out_where_calls_and_sum_say_it() {
    // One call of 5; two calls of 4: 8² / 2 = 32.
    assert_eq!(
        rows(
            "open 2 usecs 3 9 12 90, close 1 usecs 3 3 3 9",
            "open 3 usecs 3 9 17 115, close 3 usecs 3 4 11 41"
        ),
        [r#"a (0, 120] open=1 open_usecs=5 close=2 close_usecs=8 {"close":{"max":4}}"#]
    );
    // 5² / 2 is 12 and a half, rounded down; real sums are never less than that.
    assert_eq!(
        rows("open 1 usecs 2 3 3 9", "open 3 usecs 2 3 8 21"),
        ["a (0, 120] open=2 open_usecs=5"]
    );
    assert_eq!(
        rows("open 1 usecs 2 3 3 9", "open 3 usecs 2 3 8 22"),
        [r#"a (0, 120] open=2 open_usecs=5 {"open":{"sumsq":13}}"#]
    );
}

#[test]
fn rule_7_squares_are_counted_modulo_2_to_the_64() {
    // Two calls of 2^32 bytes: 2 × 2^64.
    assert_eq!(
        rows(
            "write_bytes 1 bytes 1 4294967296 1 1",
            "write_bytes 3 bytes 1 4294967296 8589934593 1"
        ),
        ["a (0, 120] write_bytes=8589934592 write=2"]
    );
}

#[test]
fn rule_7_squares_at_their_limit_are_said_not_to_grow() {
    let limit = i64::MAX;
    assert_eq!(
        rows(
            &format!("open 1 usecs 2 3 3 {limit}"),
            &format!("open 2 usecs 2 3 5 {limit}")
        ),
        [r#"a (0, 120] open=1 open_usecs=2 {"open":{"sumsq":0}}"#]
    );
}

#[test]
fn rule_7_after_a_birth_it_has_the_bounds_themselves() {
    let mut target = Target::first(&[]);
    let seen = target.observe(
        120,
        &[born(
            "a",
            60,
            "open 2 usecs 0 9 9 81, close 0 usecs 0 0 0 0",
        )],
    );
    assert_eq!(
        seen.rows,
        [r#"a (60, 120] open=2 open_usecs=9 {"open":{"max":9,"min":0,"sumsq":81}}"#]
    );
}

#[test]
fn rule_7_first_calls_that_are_all_alike_leave_the_operation_empty() {
    assert_eq!(
        rows("open 0 usecs 0 0 0 0", "open 1 usecs 0 0 0 0"),
        [r#"a (0, 120] open=1 {"open":{}}"#]
    );
    let mut target = Target::first(&[]);
    let counters = "read_bytes 3 bytes 8 8 24 192, read 3 usecs 5 5 15 75";
    assert_eq!(
        target.observe(120, &[born("a", 60, counters)]).rows,
        [r#"a (60, 120] read_bytes=24 read=3 read_usecs=15 {"read":{},"read_bytes":{}}"#]
    );
    // Torn: the sum has one call more than there are.
    assert_eq!(
        rows("open 0 usecs 0 0 0 0", "open 1 usecs 4 4 8 16"),
        [r#"a (0, 120] open=1 open_usecs=8 {"open":{"max":4,"min":4,"sumsq":16}}"#]
    );
}

#[test]
fn rule_7_of_an_entry_with_several_rows_detail_says_all() {
    // `close` was missing from the text before.
    let mut target = Target::first(&[job("a", "open 1 usecs 4 4 4 16, close 1 usecs 4 4 4 16")]);
    target.observe(
        120,
        &[job("a", "open 1 usecs 4 4 4 16"), job("b", "open 1")],
    );
    let after = job("a", "open 2 usecs 4 4 8 32, close 2 usecs 4 4 8 32");
    let seen = target.observe(240, &[after]);
    assert_eq!(
        seen.rows,
        [
            r#"a (120, 240] open=1 open_usecs=4 {"open":{"sumsq":16}}"#,
            r#"a (0, 240] close=1 close_usecs=4 {"close":{"sumsq":16}}"#
        ]
    );
}

#[test]
fn rule_7_detail_is_null_when_there_is_nothing_to_say() {
    assert_eq!(rows("open 1", "open 2"), ["a (0, 120] open=1"]);
    assert_eq!(
        rows("open 2 usecs 4 4 8", "open 3 usecs 4 4 12"),
        ["a (0, 120] open=1 open_usecs=4"]
    );
}

#[test]
fn rule_7_operations_without_a_column_are_kept_whole() {
    let rows = rows(
        "open 1, tickle 1 usecs 5 5 5 25, poke 2 bytes 8 8 16 128 8=2",
        "open 1, tickle 3 usecs 5 7 17 99, poke 3 bytes 8 8 24 192 8=3",
    );
    assert_eq!(
        rows,
        [concat!(
            r#"a (0, 120] {"poke":{"hist":[0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"#,
            r#""samples":1,"sum":8,"sumsq":64,"unit":"bytes"},"#,
            r#""tickle":{"max":7,"samples":2,"sum":12,"sumsq":74,"unit":"usecs"}}"#
        )]
    );
}

#[test]
fn rule_7_so_are_operations_in_a_unit_without_a_column() {
    assert_eq!(
        rows("open 1 pages 1 1 1", "open 3 pages 1 2 4"),
        [r#"a (0, 120] {"open":{"max":2,"samples":2,"sum":3}}"#]
    );
}

#[test]
fn rule_7_growth_of_2_to_the_53_is_not_believed() {
    // In less than three hours that would be impossible for another reason (rule 14).
    let mut target = Target::first(&[job("a", "open 1")]);
    let seen = target.observe(10_000, &[job("a", &format!("open {}", 1_u64 << 53))]);
    assert_eq!(
        seen.rows,
        [format!("a (0, 10000] open={}", (1_u64 << 53) - 1)]
    );
    let mut target = Target::first(&[job("a", "open 0, close 0")]);
    let seen = target.observe(120, &[job("a", &format!("open {}, close 1", 1_u64 << 53))]);
    assert_eq!(seen.rows, ["a (0, 120] close=1"]);
    assert_eq!(
        seen.problems,
        ["a open line 3: too large: samples grew by 9007199254740992, which is impossible"]
    );
}

#[test]
fn rule_7_each_number_is_judged_alone() {
    let mut target = Target::first(&[job("a", "write_bytes 0 bytes 0 0 0")]);
    let seen = target.observe(
        120,
        &[job(
            "a",
            &format!("write_bytes 2 bytes 1 1 {} 1 1=2", u64::MAX),
        )],
    );
    let row = seen.rows[0].split(" {").next();
    assert_eq!(row, Some("a (0, 120] write=2 write_bytes_hist[1]=2"));
    assert!(
        seen.problems[0].contains("sum grew by 18446744073709551615"),
        "{:?}",
        seen.problems
    );
}

#[test]
fn rule_7_a_sum_that_stays_at_its_limit_is_a_problem() {
    for (name, limit) in [("write", i64::MAX as u64), ("tickle", u64::MAX)] {
        let counter = |samples, sum| job("a", &format!("{name} {samples} usecs 1 9 {sum}"));
        let mut target = Target::first(&[counter(10, limit - 20)]);
        // The calls are counted, and as much of the time as is proven.
        let seen = target.observe(120, &[counter(15, limit)]);
        assert!(seen.rows[0].contains("20"), "{:?}", seen.rows);
        let stuck = format!("a {name} line 3: stuck: sum stays at {limit}, its maximum");
        assert_eq!(seen.problems, [stuck.as_str()]);
        let seen = target.observe(240, &[counter(16, limit)]);
        assert_eq!((seen.rows.len(), seen.problems), (1, vec![stuck]));
        // Without a call there is no loss.
        assert!(
            target
                .observe(360, &[counter(16, limit)])
                .problems
                .is_empty()
        );
    }
}

#[test]
fn rule_7_operations_without_a_column_are_told_apart_by_name_in_whatever_order_they_come() {
    let mut target = Target::first(&[job("a", "tickle 1, poke 2")]);
    let seen = target.observe(120, &[job("a", "poke 2, tickle 3")]);
    assert_eq!(
        seen.rows,
        [r#"a (0, 120] {"tickle":{"samples":2,"unit":"reqs"}}"#]
    );
    // Position by position this is unchanged.
    let seen = target.observe(240, &[job("a", "tickle 2, poke 3")]);
    let detail = r#"{"poke":{"samples":3,"unit":"reqs"},"tickle":{"samples":2,"unit":"reqs"}}"#;
    assert_eq!(seen.rows, [format!("a (120, 240] reset {detail}")]);
}

/// The counter after these calls, and the values to reconstruct: calls, sum, sum of squares modulo 2^64, least and
/// greatest.
fn counter(calls: &[u64]) -> (String, [u64; 5]) {
    let sum = calls.iter().sum();
    let squares = calls.iter().fold(0_u64, |squares, call| {
        squares.wrapping_add(call.wrapping_mul(*call))
    });
    let least = calls.iter().min().copied().unwrap_or(0);
    let greatest = calls.iter().max().copied().unwrap_or(0);
    let count = calls.len() as u64;
    (
        format!("open {count} usecs {least} {greatest} {sum} {squares}"),
        [count, sum, squares, least, greatest],
    )
}

fn sizes() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => 0..4_u64,
        1 => 0..1_u64 << 40,
        1 => (0..41_u32).prop_map(|bits| 1 << bits),
    ]
}

proptest! {
    #[test]
    fn rule_7_what_is_left_out_follows_from_the_columns(earlier in vec(sizes(), 0..4), later in vec(sizes(), 1..6)) {
        let all: Vec<u64> = earlier.iter().chain(&later).copied().collect();
        let (before, [_, _, _, known_least, known_greatest]) = counter(&earlier);
        let (now, [_, _, printed, least, greatest]) = counter(&all);
        // A sum of squares that is a multiple of 2^64 looks like zero.
        prop_assume!(printed > 0 || all.iter().all(|call| *call == 0));
        let (_, [calls, sum, squares, ..]) = counter(&later);
        let rows = rows(&before, &now);
        let detail = rows[0].split_once(" {").map_or("{}".to_owned(), |(_, fields)| format!("{{{fields}"));
        let detail: Json = serde_json::from_str(&detail).unwrap();
        let said = |field: &str| detail["open"][field].as_u64();
        let is_empty = detail["open"].as_object().is_some_and(|fields| fields.is_empty());
        let known = |bound| if is_empty { sum / calls } else { bound };
        prop_assert_eq!(said("min").unwrap_or(known(known_least)), least);
        prop_assert_eq!(said("max").unwrap_or(known(known_greatest)), greatest);
        let derived = u128::from(sum) * u128::from(sum) / u128::from(calls) % (1 << 64);
        prop_assert_eq!(said("sumsq").map_or(derived, u128::from), u128::from(squares));
    }
}
