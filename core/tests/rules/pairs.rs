//! Pairs of whole texts as versions of Lustre print them, with increments computed by hand: `tests/pairs/<version>/`.

use std::fs;
use std::path::Path;

use crate::support::Target;

/// Compares what the two texts give with the lines of `expected` that are not comments.
fn check(version: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/pairs")
        .join(version);
    let file = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    let mut target = Target::default();
    target.observe_text(0, &file("first.txt"));
    let seen = target.observe_text(120, &file("second.txt"));
    let counts = format!(
        "entries {}, active {}, added {}, resets {}, removed {}, carried {}, unknown {}",
        seen.entries,
        seen.active,
        seen.added,
        seen.resets,
        seen.removed,
        seen.carried_count,
        seen.unknown
    );
    let expected = file("expected");
    let expected = expected
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let given: Vec<_> = seen.rows.into_iter().chain([counts]).collect();
    assert_eq!(given, expected.collect::<Vec<_>>());
    assert_eq!(seen.problems, [""; 0]);
}

#[test]
fn lustre_2_5() {
    check("2.5");
}

#[test]
fn lustre_2_12() {
    check("2.12");
}

#[test]
fn lustre_2_14_0() {
    check("2.14.0");
}

#[test]
fn lustre_2_15_8() {
    check("2.15.8");
}

#[test]
fn lustre_2_16() {
    check("2.16");
}
