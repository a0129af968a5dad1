use crate::support::{Target, born, job};

#[test]
fn rule_9_after_a_failover_counters_restart() {
    let mut target = Target::first(&[born("a", -9, "open 5"), born("b", -9, "open 5")]);
    target.server = "mds2".to_owned();
    let seen = target.observe(120, &[born("a", 60, "open 7")]);
    assert_eq!(seen.rows, ["a (60, 120] open=7 reset"]);
    target.server = "mds1".to_owned();
    let seen = target.observe(240, &[born("a", 180, "open 1"), born("b", 180, "open 2")]);
    assert_eq!(
        seen.rows,
        ["a (180, 240] open=1 reset", "b (180, 240] open=2 reset"]
    );
}

#[test]
fn rule_9_without_start_time_values_that_fall_show_it() {
    let mut target = Target::first(&[job("a", "open 5"), job("b", "open 5")]);
    target.server = "mds2".to_owned();
    let seen = target.observe(120, &[job("a", "open 2")]);
    assert_eq!(seen.rows, ["a (0, 120] open=2 reset"]);
    // b is not carried: on the new server it begins at zero.
    let seen = target.observe(240, &[job("a", "open 2"), job("b", "open 7")]);
    assert_eq!(seen.rows, ["b (120, 240] open=7"]);
}

#[test]
fn rule_9_without_start_time_an_entry_that_comes_back_on_the_new_server_begins_at_the_previous_observation()
 {
    let mut target = Target::first(&[job("a", "open 1"), job("b", "open 5")]);
    target.observe(120, &[job("a", "open 1")]);
    target.server = "mds2".to_owned();
    let seen = target.observe(240, &[job("b", "open 2")]);
    assert_eq!(seen.rows, ["b (120, 240] open=2 reset"]);
}
