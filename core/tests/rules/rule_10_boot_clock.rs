use crate::support::{Target, booted};

#[test]
fn rule_10_equal_times_since_boot_are_the_same_epoch() {
    let mut target = Target::first(&[booted("a", 500, "open 5")]);
    assert_eq!(
        target.observe(120, &[booted("a", 500, "open 6")]).rows,
        ["a (0, 120] open=1"]
    );
    let seen = target.observe(240, &[booted("a", 700, "open 8")]);
    assert_eq!(seen.rows, ["a (120, 240] open=8 reset"]);
    // The server booted: the clock restarted as well.
    let seen = target.observe(360, &[booted("a", 20, "open 9")]);
    assert_eq!(seen.rows, ["a (240, 360] open=9 reset"]);
}

#[test]
fn rule_10_a_time_since_boot_is_no_date_that_proves_a_birth() {
    let mut target = Target::first(&[booted("a", 500, "open 5")]);
    // The text before was complete, and this proves it.
    let seen = target.clone().observe(
        120,
        &[booted("a", 500, "open 5"), booted("b", 20, "open 3")],
    );
    assert_eq!(seen.rows, ["b (0, 120] open=3"]);
    target.last.as_mut().unwrap().text = None;
    let seen = target.observe(
        120,
        &[booted("a", 500, "open 5"), booted("b", 900, "open 3")],
    );
    assert_eq!((seen.rows.len(), seen.unknown), (0, 2));
}

#[test]
fn rule_10_records_are_carried_for_a_day_since_their_epoch_is_known() {
    let mut target = Target::first(&[booted("a", 500, "open 5"), booted("b", 500, "open 5")]);
    assert_eq!(target.observe(5_000, &[]).carried_count, 2);
    let seen = target.observe(
        9_000,
        &[booted("a", 500, "open 6"), booted("b", 60, "open 9")],
    );
    assert_eq!(
        seen.rows,
        ["a (0, 9000] open=1", "b (5000, 9000] open=9 reset"]
    );
}

#[test]
fn rule_10_two_epochs_are_told_apart() {
    let mut target = Target::first(&[booted("a", 500, "open 5")]);
    let seen = target.observe(
        120,
        &[booted("a", 500, "open 6"), booted("a", 600, "open 2")],
    );
    assert_eq!(seen.rows, ["a (0, 120] open=1", "a (0, 120] open=2 reset"]);
    // After a boot neither is the known one, and both are new.
    let seen = target.observe(
        240,
        &[booted("a", 20, "open 1"), booted("a", 700, "open 2")],
    );
    assert_eq!(
        seen.rows,
        ["a (120, 240] open=1 reset", "a (120, 240] open=2 reset"]
    );
}
