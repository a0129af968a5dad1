use crate::support::{Target, born, job};

#[test]
fn rule_5_of_two_epochs_the_older_is_differenced_and_the_newer_counts_from_zero() {
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
fn rule_5_two_epochs_may_both_be_new() {
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
fn rule_5_a_epoch_older_than_the_known_one_is_a_problem() {
    for newer in [born("a", 60, "open 4"), born("a", 180, "open 2")] {
        let mut target = Target::first(&[]);
        target.observe(120, &[born("a", 60, "open 3")]);
        let seen = target.observe(240, &[born("a", 20, "open 5"), newer]);
        assert_eq!(seen.rows.len(), 1, "{:?}", seen.rows);
        assert_eq!(
            seen.problems,
            ["a - line 3: older life: a later epoch of the entry was seen before"]
        );
    }
}

#[test]
fn rule_5_an_older_epoch_that_is_still_known_is_differenced() {
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
fn rule_5_of_differing_records_of_one_epoch_the_later_is_used() {
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
fn rule_5_of_two_epochs_after_a_switched_on_stats_header_the_older_goes_on() {
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

#[test]
fn rule_5_without_start_time_the_earlier_record_has_the_last_work_of_a_epoch_that_ended() {
    let mut target = Target::first(&[job("a", "open 10")]);
    let seen = target.observe(120, &[job("a", "open 30"), job("a", "open 35")]);
    assert_eq!(seen.rows, ["a (0, 120] open=25"]);
    let seen = target.observe(240, &[job("a", "open 60"), job("a", "open 4")]);
    assert_eq!(
        seen.rows,
        ["a (120, 240] open=25", "a (120, 240] open=4 reset"]
    );
    assert_eq!((seen.entries, seen.resets), (2, 1));
    let seen = target.observe(360, &[job("a", "open 9")]);
    assert_eq!(seen.rows, ["a (240, 360] open=5"]);
    // The epoch that ended is no longer known, even where the later record is cut.
    target.observe(480, &[job("a", "open 9, close 7"), job("a", "open 1")]);
    let seen = target.observe(600, &[job("a", "open 2, close 1")]);
    assert_eq!(seen.rows, ["a (480, 600] open=1", "a (360, 600] close=1"]);
}

#[test]
fn rule_5_a_epoch_may_end_unchanged_or_unknown_and_others_follow_it() {
    // The known epoch was idle, and the new one has already passed it.
    let mut target = Target::first(&[job("a", "open 3, close 9")]);
    let twice = [job("a", "open 3, close 9"), job("a", "open 5, close 1")];
    let seen = target.observe(120, &twice);
    assert_eq!(seen.rows, ["a (0, 120] open=5 close=1 reset"]);
    // Both epochs are new, and so is a third one.
    let mut target = Target::first(&[job("b", "open 1")]);
    let records = ["open 6", "open 2", "open 3", "open 1"].map(|counters| job("a", counters));
    let seen = target.observe(120, &[&[job("b", "open 1")], &records[..]].concat());
    assert_eq!(
        seen.rows,
        [
            "a (0, 120] open=6",
            "a (0, 120] open=3",
            "a (0, 120] open=1"
        ]
    );
    let seen = target.observe(240, &[job("b", "open 1"), job("a", "open 2")]);
    assert_eq!(seen.rows, ["a (120, 240] open=1"]);
}

#[test]
fn rule_5_records_that_stand_there_twice_in_text_after_text_prove_nothing() {
    let mut target = Target::first(&[job("a", "open 35")]);
    target.observe(120, &[job("a", "open 60"), job("a", "open 4")]);
    let seen = target.observe(240, &[job("a", "open 62"), job("a", "open 5")]);
    assert_eq!(seen.rows, ["a (120, 240] open=1"]);
    assert_eq!(
        seen.problems,
        ["a - line 3: older life: a later epoch of the entry was seen before"]
    );
}
