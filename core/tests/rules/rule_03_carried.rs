use crate::support::{Target, born, job, text};

const DAY: i64 = 86_400;

/// Two entries. The second is missing for a while.
fn skipping(last_of_b: &str, missing: &[i64]) -> Target {
    let mut target = Target::first(&[job("a", "open 1"), job("b", last_of_b)]);
    for time in missing {
        target.observe(*time, &[job("a", "open 1")]);
    }
    target
}

#[test]
fn rule_3_a_skipped_record_goes_on_from_where_it_was_last_seen() {
    let mut target = Target::first(&[job("b", "open 5"), job("a", "open 1")]);
    let seen = target.observe(120, &[job("a", "open 1")]);
    assert_eq!(seen.carried, ["b @ 0: open=5"]);
    assert_eq!((seen.removed, seen.carried_count), (1, 1));
    let seen = target.observe(240, &[job("a", "open 1"), job("b", "open 7")]);
    assert_eq!(seen.rows, ["b (0, 240] open=2"]);
    assert_eq!((seen.added, seen.unknown), (0, 0));
    assert_eq!(seen.carried, [""; 0]);
}

#[test]
fn rule_3_without_start_time_carrying_ends_after_one_and_a_half_cleanup_intervals() {
    let mut target = skipping("open 5", &[300, 600]);
    assert_eq!(
        target
            .clone()
            .observe(899, &[job("a", "open 1")])
            .carried_count,
        1
    );
    let seen = target.observe(900, &[job("a", "open 1")]);
    assert_eq!(seen.carried_count, 0);
    let seen = target.observe(960, &[job("a", "open 1"), job("b", "open 7")]);
    assert_eq!(seen.rows, ["b (900, 960] open=7"]);
}

#[test]
fn rule_3_the_cleanup_interval_is_the_one_of_the_target() {
    let mut target = Target::first(&[job("a", "open 1"), job("b", "open 5")]);
    target.cleanup_interval = 60;
    assert_eq!(
        target
            .clone()
            .observe(90, &[job("a", "open 1")])
            .carried_count,
        0
    );
    assert_eq!(
        target
            .clone()
            .observe(89, &[job("a", "open 1")])
            .carried_count,
        1
    );
    target.cleanup_interval = 0;
    assert_eq!(
        target
            .clone()
            .observe(DAY - 1, &[job("a", "open 1")])
            .carried_count,
        1
    );
    assert_eq!(target.observe(DAY, &[job("a", "open 1")]).carried_count, 0);
}

#[test]
fn rule_3_a_returning_record_with_lower_values_is_a_reset() {
    let mut target = skipping("open 5", &[120]);
    let seen = target.observe(240, &[job("a", "open 1"), job("b", "open 3")]);
    assert_eq!(seen.rows, ["b (120, 240] open=3 reset"]);
}

#[test]
fn rule_3_without_start_time_nothing_is_carried_to_another_server() {
    let mut target = Target::first(&[job("a", "open 1"), job("b", "open 5")]);
    target.server = "mds2".to_owned();
    assert_eq!(target.observe(120, &[job("a", "open 1")]).carried_count, 0);
}

#[test]
fn rule_3_without_start_time_nothing_is_carried_if_no_record_survived() {
    let mut target = Target::first(&[job("a", "open 2"), job("b", "open 5")]);
    assert_eq!(target.clone().observe(120, &[]).carried_count, 0);
    assert_eq!(
        target
            .clone()
            .observe(120, &[job("a", "open 1")])
            .carried_count,
        0
    );
    assert_eq!(target.observe(120, &[job("a", "open 2")]).carried_count, 1);
}

#[test]
fn rule_3_with_start_time_a_record_is_carried_for_a_day_whatever_happens() {
    let mut target = Target::first(&[born("a", -9, "open 1"), born("b", -9, "open 5")]);
    target.server = "mds2".to_owned();
    let seen = target.observe(DAY / 2, &[]);
    assert_eq!(seen.carried, ["a @ 0: open=1", "b @ 0: open=5"]);
    let seen = target.clone().observe(DAY - 1, &[born("b", -9, "open 7")]);
    assert_eq!(seen.rows, [format!("b (0, {}] open=2", DAY - 1)]);
    assert_eq!(seen.carried, ["a @ 0: open=1"]);
    assert_eq!(target.observe(DAY, &[]).carried_count, 0);
}

#[test]
fn rule_3_with_start_time_those_seen_last_are_carried_and_no_more_than_the_text_has() {
    let jobs = |names: &str, count| -> Vec<String> {
        (0..count)
            .map(|job| born(&format!("{names}{job}"), -9, "open 1"))
            .collect()
    };
    let (long, short, new) = (jobs("long", 50), jobs("short", 60), jobs("new", 90));
    let mut target = Target::first(&[long.clone(), short.clone()].concat());
    assert_eq!(
        target.observe(120, &[short, new].concat()).carried_count,
        50
    );
    // There is room for 100. The 150 that were seen last in one text stay together, and the 50 seen before go.
    assert_eq!(target.observe(240, &[]).carried_count, 150);
    let seen = target.observe(360, &long[..1]);
    assert_eq!((seen.rows.len(), seen.unknown), (0, 1));
    assert_eq!(seen.carried_count, 150);
}

#[test]
fn rule_3_a_carried_record_that_began_anew_counts_from_zero() {
    let mut target = Target::first(&[born("a", -9, "open 1"), born("b", -9, "open 5")]);
    target.observe(120, &[born("a", -9, "open 1")]);
    let skipped_too = [born("a", -9, "open 1"), born("b", 60, "open 7")];
    let seen = target.clone().observe(240, &skipped_too);
    assert_eq!(seen.rows, ["b (60, 240] open=7 reset"]);
    let since = [born("a", -9, "open 1"), born("b", 180, "open 7")];
    let seen = target.observe(240, &since);
    assert_eq!(seen.rows, ["b (180, 240] open=7 reset"]);
}

#[test]
fn rule_3_everything_from_before_an_incomplete_text_is_carried() {
    let mut target = Target::first(&[job("a", "open 1"), job("b", "open 5"), job("c", "open 7")]);
    let cut = text(&[job("a", "open 2")]) + "- job_id:          b\n  snapshot_ti";
    let seen = target.observe_text(3_000, &cut);
    assert_eq!(seen.rows, ["a (0, 3000] open=1"]);
    assert_eq!(seen.carried, ["b @ 0: open=5", "c @ 0: open=7"]);
    assert_eq!(seen.removed, 0);
    let records = [
        job("a", "open 2"),
        job("b", "open 6"),
        job("c", "open 9"),
        job("d", "open 1"),
    ];
    let seen = target.observe(3_120, &records);
    assert_eq!(seen.rows, ["b (0, 3120] open=1", "c (0, 3120] open=2"]);
    assert_eq!((seen.added, seen.unknown), (0, 1));
}

#[test]
fn rule_3_a_text_cut_to_nothing_changes_nothing() {
    let mut target = Target::first(&[job("a", "open 1"), job("b", "open 5")]);
    let seen = target.observe_text(120, "mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_i");
    assert_eq!((seen.entries, seen.carried_count, seen.removed), (0, 2, 0));
    let seen = target.observe(240, &[job("a", "open 2"), job("b", "open 5")]);
    assert_eq!(seen.rows, ["a (0, 240] open=1"]);
}

#[test]
fn rule_3_what_incomplete_texts_carry_goes_after_a_day() {
    let mut target = Target::first(&[job("a", "open 1"), job("b", "open 5")]);
    let cut = text(&[job("a", "open 1")]) + "- job_id:          b\n  snapshot_ti";
    for time in [DAY / 2, DAY - 1] {
        assert_eq!(target.observe_text(time, &cut).carried_count, 1);
    }
    assert_eq!(target.observe_text(DAY, &cut).carried_count, 0);
    // Except for entries that the text before still had.
    let mut target = Target::first(&[job("a", "open 1"), job("b", "open 5")]);
    assert_eq!(target.observe_text(3 * DAY, &cut).carried_count, 1);
}

#[test]
fn rule_3_a_last_record_that_lost_counters_means_a_cut_text() {
    let mut target = Target::first(&[
        job("a", "open 1"),
        job("b", "open 5, close 5"),
        job("c", "open 1, close 1"),
    ]);
    // Only the known entries show that the text ends too early: each record has one operation.
    let seen = target.observe(120, &[job("a", "open 1"), job("b", "open 6")]);
    assert_eq!(seen.rows, ["b (0, 120] open=1"]);
    assert_eq!(seen.carried, ["b @ 0: close=5", "c @ 0: open=1 close=1"]);
    assert_eq!(seen.removed, 0);
    let records = [
        job("a", "open 1"),
        job("b", "open 6, close 6"),
        job("d", "open 1, close 1"),
    ];
    let seen = target.observe(240, &records);
    assert_eq!(seen.rows, ["b (0, 240] close=1"]);
    // d may have been behind the cut.
    assert_eq!((seen.added, seen.unknown), (0, 1));
}

#[test]
fn rule_3_order_of_records_does_not_matter() {
    let (a, b, c) = (job("a", "open 1"), job("b", "open 2"), job("c", "open 3"));
    let mut target = Target::first(&[a, b, c]);
    let records = [
        job("d", "open 9"),
        job("c", "open 4"),
        job("a", "open 1"),
        job("b", "open 4"),
    ];
    let seen = target.observe(120, &records);
    assert_eq!(
        seen.rows,
        [
            "d (0, 120] open=9",
            "c (0, 120] open=1",
            "b (0, 120] open=2"
        ]
    );
}
