use crate::support::{Target, born, job, text};

/// The record with the line of this operation damaged.
fn damaged(record: &str, operation: &str) -> String {
    let broken = record.replace(
        &format!("  {operation}: {{ samples: "),
        &format!("  {operation}: {{ samples: x"),
    );
    assert_ne!(broken, record);
    broken
}

#[test]
fn rule_3_a_missing_counter_keeps_its_last_value() {
    let mut target = Target::first(&[job("a", "open 1, close 1"), job("b", "open 1, close 1")]);
    let seen = target.observe(120, &[job("a", "open 3"), job("b", "open 1, close 1")]);
    assert_eq!(seen.rows, ["a (0, 120] open=2"]);
    assert_eq!(seen.carried, ["a @ 0: close=1"]);
    let seen = target.observe(
        240,
        &[job("a", "open 4, close 5"), job("b", "open 1, close 1")],
    );
    assert_eq!(seen.rows, ["a (120, 240] open=1", "a (0, 240] close=4"]);
    assert_eq!((seen.active, seen.unknown, seen.carried_count), (1, 0, 0));
}

#[test]
fn rule_3_so_does_a_counter_that_cannot_be_read() {
    let mut target = Target::first(&[job("a", "open 1, close 1"), job("b", "open 1, close 1")]);
    let records = [
        damaged(&job("a", "open 1, close 3"), "close"),
        job("b", "open 1, close 1"),
    ];
    let seen = target.observe(120, &records);
    assert_eq!(
        (&seen.rows[..], &seen.carried[..]),
        (&[][..], &["a @ 0: close=1".to_owned()][..])
    );
    let seen = target.observe(
        240,
        &[job("a", "open 1, close 5"), job("b", "open 1, close 1")],
    );
    assert_eq!(seen.rows, ["a (0, 240] close=4"]);
}

#[test]
fn rule_3_counters_can_be_missing_since_different_times() {
    let others = || job("z", "open 1, close 1, link 1");
    let mut target = Target::first(&[job("a", "open 1, close 1, link 1"), others()]);
    target.observe(60, &[job("a", "open 2, close 2"), others()]);
    let seen = target.observe(120, &[job("a", "open 3"), others()]);
    assert_eq!(seen.carried, ["a @ 60: close=2", "a @ 0: link=1"]);
    // Then the whole record is missing, and comes back.
    let seen = target.observe(180, &[others()]);
    assert_eq!(
        seen.carried,
        ["a @ 120: open=3", "a @ 60: close=2", "a @ 0: link=1"]
    );
    assert_eq!(seen.carried_count, 1);
    let seen = target.observe(240, &[job("a", "open 9, close 9, link 9"), others()]);
    assert_eq!(
        seen.rows,
        [
            "a (120, 240] open=6",
            "a (60, 240] close=7",
            "a (0, 240] link=8"
        ]
    );
}

#[test]
fn rule_3_a_newborn_record_that_lacks_a_counter_began_it_at_zero() {
    let dated = |id: &str, counters: &str| born(id, 60, counters);
    for (newborn, began) in [(job as fn(&str, &str) -> String, 0), (dated, 60)] {
        let mut target = Target::first(&[job("a", "open 1, close 1")]);
        let seen = target.observe(120, &[newborn("b", "open 4"), job("a", "open 1, close 1")]);
        assert_eq!(seen.rows, [format!("b ({began}, 120] open=4")]);
        assert_eq!(seen.carried, [format!("b @ {began}: close=0")]);
        let seen = target.observe(
            240,
            &[newborn("b", "open 4, close 3"), job("a", "open 1, close 1")],
        );
        assert_eq!(seen.rows, [format!("b ({began}, 240] close=3")]);
        assert_eq!(seen.unknown, 0);
    }
}

#[test]
fn rule_3_and_so_does_a_record_after_a_reset() {
    let mut target = Target::first(&[job("a", "open 5, close 5"), job("b", "open 1, close 1")]);
    let seen = target.observe(120, &[job("a", "open 2"), job("b", "open 1, close 1")]);
    assert_eq!(seen.rows, ["a (0, 120] open=2 reset"]);
    let seen = target.observe(
        240,
        &[job("a", "open 2, close 7"), job("b", "open 1, close 1")],
    );
    assert_eq!(seen.rows, ["a (0, 240] close=7"]);
}

#[test]
fn rule_3_a_counter_that_was_never_known_is_a_baseline() {
    let mut target = Target::first(&[job("a", "open 1"), job("b", "open 1, close 1")]);
    let seen = target.observe(
        120,
        &[job("a", "open 2, close 4"), job("b", "open 1, close 1")],
    );
    assert_eq!(seen.rows, ["a (0, 120] open=1"]);
    assert_eq!(seen.unknown, 1);
    let seen = target.observe(
        240,
        &[job("a", "open 2, close 5"), job("b", "open 1, close 1")],
    );
    assert_eq!(seen.rows, ["a (120, 240] close=1"]);
    assert_eq!(seen.unknown, 0);
}

#[test]
fn rule_3_a_row_begins_a_day_before_the_previous_observation_at_most() {
    const HOUR: i64 = 3600;
    let mut target = Target::first(&[job("a", "open 1, close 1"), job("b", "open 1, close 1")]);
    for hour in [20, 40, 60] {
        let seen = target.observe(hour * HOUR, &[job("a", "open 1"), job("b", "open 1")]);
        assert_eq!(seen.carried, ["a @ 0: close=1", "b @ 0: close=1"]);
    }
    // Counters that were missing; one of them fell: it restarted.
    let seen = target.observe(
        61 * HOUR,
        &[job("a", "open 1, close 8"), job("b", "open 1, close 0")],
    );
    assert_eq!(seen.rows, ["a (129600, 219600] close=7"]);
    let seen = target.observe(
        62 * HOUR,
        &[job("a", "open 1, close 8"), job("b", "open 1, close 3")],
    );
    assert_eq!(seen.rows, ["b (219600, 223200] close=3"]);
}

#[test]
fn rule_3_operations_that_are_not_in_the_list_are_carried_like_others() {
    let mut target = Target::first(&[
        job("a", "open 1, tickle 4, poke 1"),
        job("b", "open 1, poke 1, tickle 1"),
    ]);
    let seen = target.observe(
        120,
        &[
            job("a", "open 1, poke 1"),
            job("b", "open 1, poke 1, tickle 1"),
        ],
    );
    assert_eq!(seen.carried, ["a @ 0: tickle=4"]);
    let seen = target.observe(
        240,
        &[
            job("b", "open 1, tickle 1, poke 1"),
            job("a", "open 1, tickle 9, poke 1"),
        ],
    );
    assert_eq!(
        seen.rows,
        [r#"a (0, 240] {"tickle":{"samples":5,"unit":"reqs"}}"#]
    );
    // A newborn one.
    let seen = target.observe(
        360,
        &[
            job("c", "open 1, poke 1"),
            job("b", "open 1, tickle 1, poke 1"),
            job("a", "open 1, tickle 9, poke 1"),
        ],
    );
    assert_eq!(seen.carried, ["c @ 240: tickle=0"]);
}

#[test]
fn rule_3_a_cut_record_keeps_what_was_behind_the_cut() {
    let whole = text(&[job("a", "open 1, close 1"), job("b", "open 1, close 1")]);
    let mut target = Target::default();
    target.observe_text(0, &whole);
    let cut = whole
        .rsplit_once("  close")
        .unwrap()
        .0
        .replace("samples: 1", "samples: 2");
    let seen = target.observe_text(120, &cut);
    assert_eq!(
        seen.rows,
        ["a (0, 120] open=1 close=1", "b (0, 120] open=1"]
    );
    let seen = target.observe(
        240,
        &[job("a", "open 2, close 2"), job("b", "open 2, close 3")],
    );
    assert_eq!(seen.rows, ["b (0, 240] close=2"]);
}
