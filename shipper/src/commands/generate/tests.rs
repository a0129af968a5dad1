use std::fs;

use super::*;

#[test]
fn the_pages_are_those_of_this_program() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path()).unwrap();
    let page = fs::read_to_string(directory.path().join("jobstats-shipper-once.1")).unwrap();
    assert!(page.contains("database\\-url"), "{page}");
    Options::command().debug_assert();
}
