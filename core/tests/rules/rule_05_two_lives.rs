use crate::support::{Target, born, job};

#[test]
fn rule_5_of_two_lives_the_older_is_differenced_and_the_newer_counts_from_zero() {
    let mut target = Target::first(&[born("a", -9, "open 5")]);
    let seen = target.observe(120, &[born("a", -9, "open 6"), born("a", 121, "open 3")]);
    assert_eq!(seen.rows, ["a (0, 120] open=1", "a (0, 120] open=3 reset"]);
    assert_eq!((seen.entries, seen.active, seen.resets), (2, 2, 1));
    // In whatever order they stand.
    let mut target = Target::first(&[born("a", -9, "open 5")]);
    let seen = target.observe(120, &[born("a", 121, "open 3"), born("a", -9, "open 6")]);
    assert_eq!(seen.rows, ["a (0, 120] open=1", "a (0, 120] open=3 reset"]);
    // Then only the newer one is left.
    let seen = target.observe(240, &[born("a", 121, "open 7")]);
    assert_eq!(seen.rows, ["a (120, 240] open=4"]);
    assert_eq!(seen.carried_count, 0);
}

#[test]
fn rule_5_two_lives_may_both_be_new() {
    let mut target = Target::first(&[]);
    let seen = target.observe(120, &[born("a", 20, "open 5"), born("a", 121, "open 3")]);
    assert_eq!(seen.rows, ["a (20, 120] open=5", "a (0, 120] open=3"]);
    let mut target = Target::first(&[born("a", -9, "open 9")]);
    let seen = target.observe(120, &[born("a", 20, "open 5"), born("a", 121, "open 3")]);
    assert_eq!(
        seen.rows,
        ["a (20, 120] open=5 reset", "a (0, 120] open=3 reset"]
    );
}

#[test]
fn rule_5_a_life_older_than_the_known_one_is_a_problem() {
    for newer in [born("a", 60, "open 4"), born("a", 180, "open 2")] {
        let mut target = Target::first(&[]);
        target.observe(120, &[born("a", 60, "open 3")]);
        let seen = target.observe(240, &[born("a", 20, "open 5"), newer]);
        assert_eq!(seen.rows.len(), 1, "{:?}", seen.rows);
        assert_eq!(
            seen.problems,
            ["a - line 3: older life: a later life of the entry was seen before"]
        );
    }
}

#[test]
fn rule_5_an_older_life_that_is_still_known_is_differenced() {
    let mut target = Target::first(&[born("a", -9, "open 5"), born("a", -2, "open 1")]);
    let seen = target.observe(120, &[born("a", -9, "open 6"), born("a", -2, "open 3")]);
    assert_eq!(seen.rows, ["a (0, 120] open=1", "a (0, 120] open=2"]);
}

#[test]
fn rule_5_identical_records_count_once() {
    let mut target = Target::first(&[job("a", "open 5")]);
    let seen = target.observe(120, &[job("a", "open 7"), job("a", "open 7")]);
    assert_eq!(
        (seen.entries, &seen.rows[..]),
        (1, &["a (0, 120] open=2".to_owned()][..])
    );
}

#[test]
fn rule_5_of_differing_records_of_one_life_the_later_is_used() {
    for record in [job, |id: &str, counters: &str| born(id, -9, counters)] {
        let mut target = Target::first(&[record("a", "open 5")]);
        let seen = target.observe(120, &[record("a", "open 7"), record("a", "open 8")]);
        assert_eq!(
            (seen.entries, &seen.rows[..]),
            (1, &["a (0, 120] open=3".to_owned()][..])
        );
    }
}

#[test]
fn rule_5_of_two_lives_after_a_switched_on_stats_header_the_older_goes_on() {
    let mut target = Target::first(&[job("a", "open 5")]);
    let seen = target.observe(120, &[born("a", -9, "open 6"), born("a", 60, "open 7")]);
    assert_eq!(seen.rows, ["a (0, 120] open=1", "a (60, 120] open=7 reset"]);
}

#[test]
fn rule_5_an_entry_read_twice_without_start_time_has_survived_until_then() {
    let mut target = Target::first(&[job("a", "open 5"), job("b", "open 5")]);
    // a was forgotten and began anew while it was read, and this is why b was skipped.
    let seen = target.observe(120, &[job("a", "open 5"), job("a", "open 1")]);
    assert_eq!(seen.rows, ["a (0, 120] open=1 reset"]);
    assert_eq!(seen.carried, ["b @ 0: open=5"]);
}
