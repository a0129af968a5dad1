use crate::support::{Seen, Target, born, job};

#[test]
fn rule_2_a_first_observation_is_a_baseline() {
    let seen = Target::default().observe(0, &[job("a", "open 5"), born("b", -1, "open 7")]);
    assert_eq!(
        seen,
        Seen {
            entries: 2,
            ..Seen::default()
        }
    );
}

#[test]
fn rule_2_increments_begin_with_the_second_observation() {
    let mut target = Target::first(&[job("a", "open 5")]);
    assert_eq!(
        target.observe(60, &[job("a", "open 6")]).rows,
        ["a (0, 60] open=1"]
    );
}
