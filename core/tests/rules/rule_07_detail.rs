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
        "open 4 usecs 2 9 20 108, close 2 usecs 4 5 9 41",
    );
    let detail = r#"{"close":{"max":5,"sumsq":25},"open":{"min":2,"sumsq":18}}"#;
    assert_eq!(
        rows,
        [format!(
            "a (0, 120] open=2 open_usecs=8 close=1 close_usecs=5 {detail}"
        )]
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
        [r#"a (0, 120] open=2 open_usecs=9 {"open":{"max":9,"min":0,"sumsq":81}}"#]
    );
}

#[test]
fn rule_7_the_first_use_of_an_operation_gives_its_bounds() {
    let rows = rows("open 0 usecs 0 0 0 0", "open 1 usecs 0 0 0 0");
    assert_eq!(rows, [r#"a (0, 120] open=1 {"open":{"max":0,"min":0}}"#]);
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
    let almost = rows("open 1", &format!("open {}", 1_u64 << 53));
    assert_eq!(almost, [format!("a (0, 120] open={}", (1_u64 << 53) - 1)]);
    let mut target = Target::first(&[job("a", "open 0, close 0")]);
    let seen = target.observe(120, &[job("a", &format!("open {}, close 1", 1_u64 << 53))]);
    assert_eq!(seen.rows, ["a (0, 120] close=1"]);
    assert_eq!(
        seen.problems,
        ["a open line 3: too large: samples grew by 9007199254740992, more than can be true"]
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
fn rule_7_operations_without_a_column_are_told_apart_by_name_in_whatever_order_they_come() {
    let mut target = Target::first(&[job("a", "tickle 1, poke 2")]);
    let seen = target.observe(120, &[job("a", "poke 2, tickle 3")]);
    assert_eq!(
        seen.rows,
        [r#"a (0, 120] {"tickle":{"samples":2,"unit":"reqs"}}"#]
    );
    // Position by position nothing changed here.
    let seen = target.observe(240, &[job("a", "tickle 2, poke 3")]);
    let detail = r#"{"poke":{"samples":3,"unit":"reqs"},"tickle":{"samples":2,"unit":"reqs"}}"#;
    assert_eq!(seen.rows, [format!("a (120, 240] reset {detail}")]);
}
