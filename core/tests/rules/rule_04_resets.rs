use crate::support::{Target, booted, born, job, text};

/// The rows of an entry with these counters, then those.
fn rows(before: &str, after: &str) -> Vec<String> {
    let mut target = Target::first(&[job("a", before)]);
    target.observe(120, &[job("a", after)]).rows
}

#[test]
fn rule_4_another_start_time_is_a_reset_even_if_no_counter_fell() {
    let mut target = Target::first(&[born("a", -9, "open 5, close 2")]);
    let seen = target.observe(120, &[born("a", 60, "open 8, close 0")]);
    assert_eq!(seen.rows, ["a (60, 120] open=8 reset"]);
    assert_eq!((seen.resets, seen.added), (1, 0));
}

#[test]
fn rule_4_an_earlier_start_time_is_a_reset_too_since_clocks_are_set_back() {
    let mut target = Target::first(&[born("a", -9, "open 5")]);
    let seen = target.observe(120, &[born("a", -500, "open 8")]);
    assert_eq!(seen.rows, ["a (0, 120] open=8 reset"]);
    assert_eq!(
        target.observe(240, &[born("a", -500, "open 9")]).rows,
        ["a (120, 240] open=1"]
    );
}

#[test]
fn rule_4_a_counter_that_falls_within_a_epoch_is_a_problem() {
    let mut target = Target::first(&[born("a", -9, "open 5, close 5")]);
    let seen = target.observe(120, &[born("a", -9, "open 3, close 7")]);
    assert_eq!(seen.rows, ["a (0, 120] close=2"]);
    assert_eq!(
        seen.problems,
        ["a open line 3: counter fell: samples fell from 5 to 3, but the entry is the same"]
    );
    assert_eq!(seen.carried, ["a @ 0: open=5"]);
    let seen = target.observe(240, &[born("a", -9, "open 4, close 7")]);
    assert_eq!(
        (seen.rows.len(), seen.carried),
        (0, vec!["a @ 0: open=5".to_owned()])
    );
    let seen = target.observe(360, &[born("a", -9, "open 6, close 8")]);
    assert_eq!(seen.rows, ["a (0, 360] open=1", "a (240, 360] close=1"]);
}

#[test]
fn rule_4_a_sum_or_a_histogram_element_that_falls_is_a_problem_too() {
    let mut target = Target::first(&[born(
        "a",
        -9,
        "write_bytes 2 bytes 4096 8192 12288 9 4K=1+8K=1",
    )]);
    let seen = target.clone().observe(
        60,
        &[born(
            "a",
            -9,
            "write_bytes 3 bytes 4096 8192 12287 9 4K=2+8K=1",
        )],
    );
    assert_eq!(seen.rows, [""; 0]);
    assert!(
        seen.problems[0].contains("sum fell from 12288 to 12287"),
        "{:?}",
        seen.problems
    );
    let seen = target.observe(
        60,
        &[born("a", -9, "write_bytes 3 bytes 4096 8192 20480 9 8K=3")],
    );
    assert_eq!(seen.rows, [""; 0]);
    assert!(
        seen.problems[0].contains("hist fell from 1 to 0"),
        "{:?}",
        seen.problems
    );
}

#[test]
fn rule_4_without_start_time_fewer_samples_are_a_reset() {
    assert_eq!(
        rows("open 5, close 1", "open 4, close 7"),
        ["a (0, 120] open=4 close=7 reset"]
    );
    assert_eq!(
        rows("open 5, close 1", "open 5, close 7"),
        ["a (0, 120] close=6"]
    );
}

#[test]
fn rule_4_without_start_time_a_smaller_sum_is_a_reset() {
    let rows = rows("open 2 usecs 5 9 14", "open 2 usecs 5 9 13");
    assert_eq!(
        rows,
        [r#"a (0, 120] open=2 open_usecs=13 reset {"open":{"max":9,"min":5}}"#]
    );
}

#[test]
fn rule_4_without_start_time_a_smaller_max_is_a_reset() {
    let rows = rows("open 2 usecs 5 9 14", "open 9 usecs 5 8 60");
    assert_eq!(
        rows,
        [r#"a (0, 120] open=9 open_usecs=60 reset {"open":{"max":8,"min":5}}"#]
    );
}

#[test]
fn rule_4_without_start_time_a_larger_min_is_a_reset_if_it_had_counted() {
    let grown = rows("open 2 usecs 5 9 14", "open 9 usecs 6 9 70");
    assert_eq!(
        grown,
        [r#"a (0, 120] open=9 open_usecs=70 reset {"open":{"max":9,"min":6}}"#]
    );
    let grown = rows("open 0 usecs 0 0 0", "open 9 usecs 6 9 70");
    assert_eq!(
        grown,
        [r#"a (0, 120] open=9 open_usecs=70 {"open":{"max":9,"min":6}}"#]
    );
}

#[test]
fn rule_4_the_sum_of_squares_never_decides() {
    let wrapped = rows(
        "open 2 usecs 5 9 14 18446744073709551615",
        "open 4 usecs 5 9 27 84",
    );
    assert_eq!(
        wrapped,
        [r#"a (0, 120] open=2 open_usecs=13 {"open":{"sumsq":85}}"#]
    );
}

#[test]
fn rule_4_nor_does_the_snapshot_time() {
    let mut target = Target::first(&[job("a", "open 5")]);
    let earlier = job("a", "open 6").replace("snapshot_time:   17", "snapshot_time:   16");
    assert_eq!(target.observe(120, &[earlier]).rows, ["a (0, 120] open=1"]);
}

#[test]
fn rule_4_where_the_stats_header_was_switched_on_or_off_the_counters_decide() {
    let (on, off) = (
        |counters| born("a", -9, counters),
        |counters| job("a", counters),
    );
    let mut target = Target::first(&[on("open 5, close 1")]);
    assert_eq!(
        target.observe(120, &[off("open 6, close 1")]).rows,
        ["a (0, 120] open=1"]
    );
    assert_eq!(
        target.observe(240, &[on("open 8, close 1")]).rows,
        ["a (120, 240] open=2"]
    );
    let seen = target.observe(360, &[off("open 7, close 1")]);
    assert_eq!(seen.rows, ["a (240, 360] open=7 close=1 reset"]);
    let seen = target.observe(480, &[on("open 6, close 1")]);
    assert_eq!(seen.rows, ["a (360, 480] open=6 close=1 reset"]);
}

#[test]
fn rule_4_a_counter_that_was_missing_decides_only_since_it_was_seen() {
    let mut target = Target::first(&[job("a", "open 5, close 5"), job("b", "open 1, close 1")]);
    target.observe(120, &[job("a", "open 5"), job("b", "open 1, close 1")]);
    let seen = target.observe(
        240,
        &[job("a", "open 6, close 2"), job("b", "open 1, close 1")],
    );
    // When did it restart? `open` did not fall, and at 120 s may have been in the new epoch.
    assert_eq!(
        seen.rows,
        ["a (120, 240] open=1", "a (0, 240] close=2 reset"]
    );
    assert_eq!(seen.resets, 1);
}

#[test]
fn rule_4_what_is_carried_of_an_entry_stays_its_own_when_the_stats_header_is_switched() {
    let (on, off) = (
        |counters| born("a", -9, counters),
        |counters| job("a", counters),
    );
    let mut target = Target::first(&[on("open 1, close 1"), job("b", "open 1, close 1")]);
    target.observe(60, &[on("open 1"), job("b", "open 1, close 1")]);
    target.observe(120, &[off("open 1"), job("b", "open 1, close 1")]);
    let seen = target.observe(180, &[off("open 1, close 4"), job("b", "open 1, close 1")]);
    assert_eq!(seen.rows, ["a (0, 180] close=3"]);
}

#[test]
fn rule_4_an_operation_that_is_not_in_the_list_keeps_its_larger_value_too() {
    let mut target = Target::first(&[born("a", -9, "open 1, tickle 5")]);
    for time in [60, 120] {
        let seen = target.observe(time, &[born("a", -9, "open 1, tickle 3")]);
        assert_eq!(seen.carried, ["a @ 0: tickle=5"]);
        assert_eq!(seen.problems.len(), 1);
    }
    let seen = target.clone().observe(180, &[]);
    assert_eq!(seen.carried, ["a @ 120: open=1", "a @ 0: tickle=5"]);
    let seen = target.observe(180, &[born("a", -9, "open 1, tickle 6")]);
    assert_eq!(
        seen.rows,
        [r#"a (0, 180] {"tickle":{"samples":1,"unit":"reqs"}}"#]
    );
}

#[test]
fn rule_4_counters_seen_after_a_restart_that_shows_late_stay_known() {
    let other = || job("z", "open 1, close 1, link 1");
    let mut target = Target::first(&[job("a", "open 5, close 5, link 1"), other()]);
    target.observe(120, &[job("a", "open 5, link 2"), other()]);
    let seen = target.observe(240, &[job("a", "open 6, close 2"), other()]);
    assert_eq!(
        seen.rows,
        ["a (120, 240] open=1", "a (0, 240] close=2 reset"]
    );
    assert_eq!(seen.carried, ["a @ 120: link=2"]);
}

#[test]
fn rule_4_a_epoch_that_began_while_the_text_before_was_printed_counts_once() {
    let mut target = Target::first(&[born("a", -9, "open 1, close 5"), job("z", "open 1")]);
    // The header is off, and the text ends in the record of a, which began again after its first byte came.
    target.observe(60, &[job("z", "open 1"), job("a", "open 3")]);
    let seen = target.observe(120, &[born("a", 61, "open 4, close 2"), job("z", "open 1")]);
    assert_eq!(seen.rows, ["a (60, 120] open=1 close=2 reset"]);
}

/// A target that had b, and then was read at 120 s without it.
fn without_b(record: impl Fn(&str, &str) -> String) -> Target {
    let mut target = Target::first(&[record("a", "open 1"), record("b", "open 5")]);
    target.observe(120, &[record("a", "open 1")]);
    target
}

/// A target that had b, and then a text at 120 s that ends before b.
fn cut_before_b(record: impl Fn(&str, &str) -> String) -> Target {
    let mut target = Target::first(&[record("a", "open 1"), record("b", "open 5")]);
    target.observe_text(
        120,
        &(text(&[record("a", "open 1")]) + "- job_id:          b"),
    );
    target
}

#[test]
fn rule_4_an_entry_that_was_dropped_and_came_back_begins_at_the_previous_observation() {
    let seen = without_b(job).observe(240, &[job("a", "open 1"), job("b", "open 3")]);
    assert_eq!(seen.rows, ["b (120, 240] open=3 reset"]);
    assert_eq!((seen.resets, seen.added), (1, 0));
    // So does an entry whose boot clock shows another epoch.
    let at = |start| move |id: &str, counters: &str| booted(id, start, counters);
    let seen = without_b(at(500)).observe(240, &[at(500)("a", "open 1"), at(900)("b", "open 7")]);
    assert_eq!(seen.rows, ["b (120, 240] open=7 reset"]);
}

#[test]
fn rule_4_after_an_incomplete_text_a_reset_begins_where_the_entry_was_last_seen() {
    let seen = cut_before_b(job).observe(240, &[job("a", "open 1"), job("b", "open 3")]);
    assert_eq!(seen.rows, ["b (0, 240] open=3 reset"]);
    let at = |start| move |id: &str, counters: &str| booted(id, start, counters);
    let seen =
        cut_before_b(at(500)).observe(240, &[at(500)("a", "open 1"), at(900)("b", "open 7")]);
    assert_eq!(seen.rows, ["b (0, 240] open=7 reset"]);
    // Only the text before counts: a complete one would have had the new epoch.
    let mut target = cut_before_b(job);
    target.observe(240, &[job("a", "open 1")]);
    let seen = target.observe(360, &[job("a", "open 1"), job("b", "open 3")]);
    assert_eq!(seen.rows, ["b (240, 360] open=3 reset"]);
}

#[test]
fn rule_4_a_start_time_says_where_a_new_epoch_begins_even_before_the_previous_observation() {
    let old = |id: &str, counters: &str| born(id, -9, counters);
    for mut target in [without_b(old), cut_before_b(old)] {
        let skipped_too = [old("a", "open 1"), born("b", 60, "open 7")];
        let seen = target.clone().observe(240, &skipped_too);
        assert_eq!(seen.rows, ["b (60, 240] open=7 reset"]);
        let seen = target.observe(240, &[old("a", "open 1"), born("b", 180, "open 7")]);
        assert_eq!(seen.rows, ["b (180, 240] open=7 reset"]);
    }
}

#[test]
fn rule_4_a_start_time_that_cannot_be_is_not_where_a_new_epoch_begins() {
    let old = |id: &str, counters: &str| born(id, -9, counters);
    // The clock was set back, or is ahead of the time of the text; or the entry began when that was being printed.
    for (start, complete, incomplete) in [
        (-500, 120, 0),
        (0, 120, 0),
        (240, 120, 120),
        (999, 120, 120),
    ] {
        for (mut target, since) in [(without_b(old), complete), (cut_before_b(old), incomplete)] {
            let seen = target.observe(240, &[old("a", "open 1"), born("b", start, "open 7")]);
            assert_eq!(seen.rows, [format!("b ({since}, 240] open=7 reset")]);
        }
    }
}

#[test]
fn rule_4_a_counter_that_a_new_epoch_lacks_at_first_was_zero_when_it_began() {
    let other = || job("z", "open 1, close 1");
    let mut target = Target::first(&[job("a", "open 5, close 5"), other()]);
    target.observe(120, &[other()]);
    let seen = target.observe(240, &[job("a", "open 2"), other()]);
    assert_eq!(seen.rows, ["a (120, 240] open=2 reset"]);
    assert_eq!(seen.carried, ["a @ 120: close=0"]);
    let seen = target.observe(360, &[job("a", "open 2, close 7"), other()]);
    assert_eq!(seen.rows, ["a (120, 360] close=7"]);
}
