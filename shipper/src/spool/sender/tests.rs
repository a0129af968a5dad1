use std::path::PathBuf;
use std::time::SystemTime;

use super::*;

fn entries(sources: &[&str]) -> Vec<Entry> {
    let numbered = (1..).zip(sources);
    numbered
        .map(|(sequence, source)| Entry {
            sequence,
            source: (*source).to_owned(),
            path: PathBuf::new(),
            bytes: 0,
            written: SystemTime::UNIX_EPOCH,
        })
        .collect()
}

fn order(sources: &[&str]) -> Vec<u64> {
    let entries = in_turns(entries(sources));
    entries.iter().map(|entry| entry.sequence).collect()
}

#[test]
fn readings_of_one_source_keep_their_order() {
    assert_eq!(order(&["lctl", "lctl", "lctl"]), [1, 2, 3]);
}

#[test]
fn a_source_does_not_wait_behind_the_backlog_of_another() {
    assert_eq!(
        order(&["lctl", "lctl", "lctl", "passwd", "lctl", "passwd", "slurm"]),
        [1, 4, 7, 2, 6, 3, 5]
    );
}

#[test]
fn a_source_that_comes_later_waits_for_a_few_readings_only() {
    assert_eq!(order(&["lctl"; 1000]).len(), TURNS as usize);
}
