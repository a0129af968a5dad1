//! A text that ends too early between two records, with only correct lines.

use crate::support::{EPOCH, Target, booted, born, job};

/// A record that began at a second and was last active at another.
fn active(id: &str, start: i64, last: i64, counters: &str) -> String {
    let began = |second: i64| format!("snapshot_time:   {}.5", EPOCH + second);
    born(id, start, counters).replace(&began(start), &began(last))
}

/// A record on the boot clock.
fn active_since_boot(id: &str, start: i64, last: i64, counters: &str) -> String {
    let began = |second: i64| format!("snapshot_time   : {second}.5");
    booted(id, start, counters).replace(&began(start), &began(last))
}

/// Three entries, all active a moment before the first observation.
fn busy() -> [String; 3] {
    [("a", 1), ("b", 5), ("c", 7)].map(|(id, open)| active(id, -900, -1, &format!("open {open}")))
}

#[test]
fn rule_3_a_text_that_lacks_active_records_at_its_end_is_cut() {
    let mut target = Target::first(&busy());
    let seen = target.observe(120, &busy()[..1]);
    assert!(seen.ends_early);
    assert_eq!((seen.removed, seen.carried_count), (0, 2));
    assert_eq!(seen.carried, ["b @ 0: open=5", "c @ 0: open=7"]);
}

#[test]
fn rule_3_a_text_is_not_cut_where_the_missing_records_may_have_been_idle() {
    let [a, b, _] = busy();
    let idle = active("c", -9_000, -480, "open 7");
    let mut target = Target::first(&[a.clone(), b.clone(), idle]);
    let both = [a, b];
    // Lustre may drop it 600 s after its last activity.
    assert!(target.clone().observe(119, &both).ends_early);
    assert!(!target.observe(120, &both).ends_early);
}

#[test]
fn rule_3_a_text_that_goes_on_behind_the_missing_records_is_not_cut() {
    let [a, b, c] = busy();
    let target = Target::first(&[a.clone(), b, c.clone()]);
    // A record was skipped, or removed by hand: the text went on behind it.
    assert!(
        !target
            .clone()
            .observe(120, &[a.clone(), c.clone()])
            .ends_early
    );
    // A new entry is at the end.
    let new = [a.clone(), born("d", 60, "open 1")];
    assert!(!target.clone().observe(120, &new).ends_early);
    // So does an entry that began anew.
    let again = [born("a", 60, "open 1")];
    assert!(!target.clone().observe(120, &again).ends_early);
    assert!(!target.clone().observe(120, &[]).ends_early);
}

#[test]
fn rule_3_a_text_of_another_server_is_not_cut() {
    let mut target = Target::first(&busy());
    target.server = "mds2".to_owned();
    assert!(!target.observe(120, &busy()[..1]).ends_early);
}

#[test]
fn rule_3_without_start_time_counters_show_that_the_others_go_on() {
    let mut target = Target::first(&[job("a", "open 3"), job("b", "open 5")]);
    assert!(
        target
            .clone()
            .observe(120, &[job("a", "open 4")])
            .ends_early
    );
    assert!(!target.observe(120, &[job("a", "open 2")]).ends_early);
}

#[test]
fn rule_3_a_boot_clock_shows_activity_if_any_entry_was_active_since() {
    let record = |id, last| active_since_boot(id, 10, last, "open 3");
    let target = Target::first(&[record("a", 900), record("b", 950)]);
    assert!(
        target
            .clone()
            .observe(120, &[record("a", 1_000)])
            .ends_early
    );
    // Its delay does not show on that clock.
    assert!(!target.clone().observe(120, &[record("a", 900)]).ends_early);
    assert!(
        !target
            .clone()
            .observe(560, &[record("a", 1_000)])
            .ends_early
    );
}

#[test]
fn rule_3_what_began_behind_a_cut_is_counted() {
    let mut target = Target::first(&busy());
    target.observe(120, &busy()[..1]);
    let records = [
        busy().as_slice(),
        &[born("d", 60, "open 9"), born("e", 0, "open 2")],
    ]
    .concat();
    let seen = target.observe(240, &records);
    assert_eq!(seen.rows, ["d (60, 240] open=9"]);
    // That e was not seen at 0 s is not proven.
    assert_eq!((seen.added, seen.unknown), (1, 1));
}

#[test]
fn rule_3_what_began_while_the_clock_was_ahead_is_counted_if_anything_is_carried() {
    // The text at 360 s was really read at 120 s; d began after that, when the clock was right again.
    let counted = |records: &[String]| {
        let mut target = Target::first(records);
        target.observe(360, &busy()[1..]);
        target.observe(480, &[&busy()[1..], &[born("d", 200, "open 9")]].concat())
    };
    let seen = counted(&busy());
    assert_eq!(seen.rows, ["d (200, 480] open=9"]);
    // The clock may have been right. That d was skipped at 360 s, and seen before, is as likely.
    let seen = counted(&busy()[1..]);
    assert_eq!((seen.rows.len(), seen.unknown), (0, 1));
}
