use proptest::prelude::*;

use super::*;

fn between(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|name| name.chars().collect::<Vec<_>>());
    distance(&one, &other)
}

#[test]
fn a_changed_missing_or_further_character_is_one_step() {
    assert_eq!(between("4711", "4711"), 0);
    assert_eq!(between("4711", "4712"), 1);
    assert_eq!(between("4711", "411"), 1);
    assert_eq!(between("4711", "47115"), 1);
    assert_eq!(between("", "47"), 2);
}

#[test]
fn swapped_neighbors_are_one_step() {
    assert_eq!(between("4711", "7411"), 1);
    assert_eq!(between("scratch", "scartch"), 1);
    assert_eq!(between("ab", "ba"), 1);
}

#[test]
fn the_nearest_come_first_and_equally_near_ones_by_name() {
    let known = [
        "scratch-OST0001",
        "home-OST0000",
        "scratch-OST0000",
        "scratch-OST0002",
        "scratch-MDT0000",
    ];
    assert_eq!(
        nearest("scratch-OST000", known, 3),
        ["scratch-OST0000", "scratch-OST0001", "scratch-OST0002"]
    );
}

#[test]
fn a_part_of_a_name_is_near() {
    assert_eq!(
        nearest("OST0001", ["scratch-OST0000", "scratch-OST0001"], 3),
        ["scratch-OST0001"]
    );
    assert_eq!(
        nearest("4711", ["4711_1", "4711_12", "5000"], 3),
        ["4711_1", "4711_12"]
    );
}

#[test]
fn names_that_are_quite_different_are_not_suggested() {
    assert_eq!(nearest("4711", ["rsync", "8000", ""], 3), [""; 0]);
    assert_eq!(nearest("", ["rsync", "8000"], 3), [""; 0]);
}

#[test]
fn the_same_name_is_suggested_once() {
    assert_eq!(nearest("4712", ["4711", "4711"], 3), ["4711"]);
}

proptest! {
    #[test]
    fn the_distance_is_the_same_in_both_directions(one in "[ab1]{0,8}", other in "[ab1]{0,8}") {
        prop_assert_eq!(between(&one, &other), between(&other, &one));
        prop_assert_eq!(between(&one, &other) == 0, one == other);
        let (shorter, longer) = (one.len().min(other.len()), one.len().max(other.len()));
        prop_assert!((longer - shorter..=longer).contains(&between(&one, &other)));
    }
}
