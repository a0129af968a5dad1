use super::*;

#[test]
fn swapped_neighbours_are_one_step() {
    // Two changed characters come after one swap.
    assert_eq!(nearest("4711", ["4788", "7411"], 1), ["7411"]);
    assert_eq!(nearest("ab", ["ba"], 3), ["ba"]);
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
