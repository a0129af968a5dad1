use crate::support::{Target, born, job, text};

#[test]
fn rule_3_a_start_time_after_the_previous_observation_proves_a_birth() {
    let mut target = Target::first(&[]);
    let seen = target.observe(120, &[born("a", 1, "open 5")]);
    assert_eq!(seen.rows, ["a (1, 120] open=5"]);
    assert_eq!((seen.added, seen.unknown), (1, 0));
}

#[test]
fn rule_3_the_row_of_a_birth_begins_at_its_start_time() {
    for start in [1, 60, 119] {
        let seen = Target::first(&[]).observe(120, &[born("a", start, "open 5")]);
        assert_eq!(seen.rows, [format!("a ({start}, 120] open=5")]);
    }
}

#[test]
fn rule_3_a_birth_that_is_not_before_its_text_begins_at_the_previous_observation() {
    // It began when the text was being printed, or the server's clock is ahead. No row is empty.
    for start in [120, 121, 9_999] {
        let seen = Target::first(&[]).observe(120, &[born("a", start, "open 5")]);
        assert_eq!(seen.rows, ["a (0, 120] open=5"]);
        assert_eq!((seen.added, seen.unknown), (1, 0));
    }
}

#[test]
fn rule_3_a_birth_is_divided_at_the_edges_after_its_start_time() {
    let mut target = Target::first(&[]);
    // 400 s are an edge of ten minutes: 1,700,000,400 is a multiple of 600.
    let seen = target.observe(500, &[born("a", 300, "open 50")]);
    assert_eq!(seen.rows, ["a (300, 500] open=50"]);
    let parts = ["25", "25"].map(|open| ("a".to_owned(), "open".to_owned(), open.parse().unwrap()));
    assert_eq!(seen.divided, parts);
}

#[test]
fn rule_3_an_entry_that_began_before_the_previous_observation_is_a_baseline() {
    let mut target = Target::first(&[]);
    for start in [0, -1] {
        let seen = target.clone().observe(120, &[born("a", start, "open 5")]);
        assert_eq!(seen.rows, [""; 0]);
        assert_eq!((seen.added, seen.unknown), (0, 1));
    }
    target.observe(120, &[born("a", -1, "open 5")]);
    let seen = target.observe(240, &[born("a", -1, "open 9")]);
    assert_eq!(seen.rows, ["a (120, 240] open=4"]);
    assert_eq!(seen.unknown, 0);
}

#[test]
fn rule_3_without_start_time_a_complete_previous_text_proves_a_birth() {
    let mut target = Target::first(&[job("a", "open 1")]);
    let seen = target.observe(120, &[job("a", "open 1"), job("b", "open 5")]);
    assert_eq!(seen.rows, ["b (0, 120] open=5"]);
    assert_eq!((seen.added, seen.unknown), (1, 0));
}

#[test]
fn rule_3_an_incomplete_previous_text_proves_nothing() {
    let cut = text(&[job("a", "open 1, close 1"), job("b", "open 1, close 1")]);
    let cut = cut
        .strip_suffix("close: { samples: 1, unit: reqs }\n")
        .unwrap();
    let mut target = Target::default();
    target.observe_text(0, cut);
    let records = [
        job("a", "open 1, close 1"),
        job("b", "open 1, close 1"),
        job("c", "open 5, close 5"),
    ];
    let seen = target.observe(120, &records);
    assert_eq!(seen.rows, [""; 0]);
    // c may have been behind the cut; of b, close was.
    assert_eq!((seen.added, seen.unknown), (0, 2));
}

#[test]
fn rule_3_a_start_time_proves_a_birth_even_after_an_incomplete_text() {
    let mut target = Target::default();
    target.observe_text(
        0,
        &(text(&[born("a", -9, "open 1, close 1")]) + "- job_id:          b"),
    );
    let records = [
        born("a", -9, "open 1, close 1"),
        born("c", 60, "open 5, close 5"),
    ];
    assert_eq!(
        target.observe(120, &records).rows,
        ["c (60, 120] open=5 close=5"]
    );
}

#[test]
fn rule_3_an_error_message_that_names_the_target_makes_its_text_incomplete() {
    let message = |name: &str| {
        let mut target = Target::default();
        let error = format!("error: get_param: reading {name}: Input/output error\n");
        target.observe_text(0, &(text(&[job("a", "open 1")]) + &error));
        target.observe(120, &[job("a", "open 1"), job("b", "open 5")])
    };
    assert_eq!(message("mdt.fs-MDT0000.job_stats").unknown, 1);
    assert_eq!(
        message("mdt.fs-MDT0007.job_stats").rows,
        ["b (0, 120] open=5"]
    );
}

#[test]
fn rule_3_a_missing_newline_at_the_end_leaves_a_text_complete() {
    let mut target = Target::default();
    target.observe_text(0, text(&[job("a", "open 1")]).trim_end());
    let seen = target.observe(120, &[job("a", "open 1"), job("b", "open 5")]);
    assert_eq!(seen.rows, ["b (0, 120] open=5"]);
}

#[test]
fn rule_3_a_previous_text_that_is_gone_proves_nothing_without_start_time() {
    let mut target = Target::first(&[job("a", "open 1")]);
    target.last.as_mut().unwrap().text = None;
    let seen = target.observe(
        120,
        &[
            job("a", "open 3"),
            born("b", 60, "open 5"),
            born("c", -60, "open 5"),
        ],
    );
    assert_eq!(seen.rows, ["b (60, 120] open=5"]);
    assert_eq!((seen.added, seen.unknown), (1, 2));
}

#[test]
fn rule_3_what_a_text_that_is_gone_had_of_a_new_epoch_was_counted_then() {
    let mut target = Target::first(&[born("a", -9, "open 5"), job("b", "open 5")]);
    target.observe_text(60, "mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_i");
    target.last.as_mut().unwrap().text = None;
    let seen = target
        .clone()
        .observe(120, &[born("a", 30, "open 3"), job("b", "open 2")]);
    assert_eq!((seen.rows.len(), seen.resets, seen.unknown), (0, 0, 2));
    let seen = target.observe(120, &[born("a", 90, "open 3"), job("b", "open 6")]);
    assert_eq!(seen.rows, ["a (90, 120] open=3 reset", "b (0, 120] open=1"]);
}
