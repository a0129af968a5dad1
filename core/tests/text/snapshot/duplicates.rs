//! An identifier that occurs twice in one text (rule 5).

use crate::reading;

/// A record of entry `e`: start time, value of `punch`.
fn record(start: &str, punch: u64) -> String {
    let mut text =
        "- job_id:          e\n  snapshot_time:   1749555518.000000001 secs.nsecs\n".to_owned();
    if !start.is_empty() {
        text += &format!("  start_time:      {start}.000000001 secs.nsecs\n");
    }
    text + &format!("  punch:           {{ samples: {punch}, unit: reqs }}\n")
}

/// The result of reading: start time and value of each record, and the lines of problems.
fn read(records: &[(&str, u64)]) -> String {
    let text: String = records
        .iter()
        .map(|(start, punch)| record(start, *punch))
        .collect();
    let mut read = reading(text).replace("no name\n", "");
    for (long, short) in [
        ("  'e' snapshot 1749555518.000000001", ""),
        (" start ", ""),
        (".000000001\n    punch", ""),
        ("\n    punch", "-"),
        (" Requests\n", "; "),
        (" duplicate record of 'e': - job_id:          e\n", "; "),
    ] {
        read = read.replace(long, short);
    }
    read.trim_end_matches("; ").to_owned()
}

#[test]
fn different_start_times_are_two_epochs_the_older_first() {
    assert_eq!(
        read(&[("1749555000", 7), ("1749555500", 1)]),
        "1749555000 7; 1749555500 1"
    );
    assert_eq!(
        read(&[("1749555500", 1), ("1749555000", 7)]),
        "1749555000 7; 1749555500 1"
    );
    assert_eq!(
        read(&[("1749555500", 2), ("1749555000", 1), ("1749555510", 3)]),
        "1749555000 1; 1749555500 2; 1749555510 3"
    );
    // On the boot clock too.
    assert_eq!(read(&[("500", 1), ("400", 7)]), "boot 400 7; boot 500 1");
}

#[test]
fn identical_records_count_once() {
    assert_eq!(
        read(&[("1749555000", 7), ("1749555000", 7)]),
        "1749555000 7"
    );
    assert_eq!(read(&[("", 7), ("", 7), ("", 7)]), "- 7");
}

#[test]
fn of_differing_records_of_one_epoch_the_later_is_used() {
    assert_eq!(
        read(&[("1749555000", 7), ("1749555000", 8)]),
        "1749555000 8; ! 1"
    );
    assert_eq!(read(&[("", 7), ("", 8)]), "- 8; ! 1");
    assert_eq!(read(&[("", 7), ("", 7), ("", 9), ("", 9)]), "- 9; ! 1; ! 4");
    assert_eq!(
        read(&[("1749555000", 7), ("1749555500", 1), ("1749555000", 8)]),
        "1749555000 8; 1749555500 1; ! 1"
    );
}

/// Without start time, counters that fell distinguish the epochs.
#[test]
fn without_start_time_a_record_that_fell_is_of_a_later_epoch() {
    assert_eq!(read(&[("", 60), ("", 4)]), "- 60; - 4");
    assert_eq!(
        read(&[("", 8), ("", 7), ("", 9), ("", 7)]),
        "- 8; - 9; - 7; ! 4"
    );
}

/// The record has lost its start time: the line is damaged.
#[test]
fn a_record_without_start_time_beside_one_that_has_it_is_not_used() {
    assert_eq!(read(&[("1749555000", 7), ("", 8)]), "1749555000 7; ! 5");
    assert_eq!(read(&[("", 8), ("1749555000", 7)]), "1749555000 7; ! 1");
}

#[test]
fn a_histogram_makes_records_differ() {
    let record = |sizes: &str| {
        format!(
            "- job_id: e\n  read_bytes: {{ samples: 2, unit: bytes, min: 1, max: 2, sum: 3, sumsq: 5, hist: {{ {sizes} }} }}\n"
        )
    };
    let once = "no name\n  'e'\n    read_bytes 2 Bytes 1..2 sum 3 sumsq 5 1:1 2:1\n";
    assert_eq!(reading(record("1: 1, 2: 1").repeat(2)), once);
    assert_eq!(
        reading(record("1: 1, 4: 1") + &record("1: 1, 2: 1")),
        format!("{once}! 1 duplicate record of 'e': - job_id: e\n")
    );
}

#[test]
fn records_stay_in_the_order_of_the_text() {
    let other =
        |id: &str| record("", 1).replace("job_id:          e", &format!("job_id:          {id}"));
    let text = [other("a"), other("e"), other("b"), other("e"), other("c")].concat();
    let read = reading(text);
    let ids: Vec<_> = read
        .lines()
        .filter(|line| line.starts_with("  '"))
        .map(|line| &line[3..4])
        .collect();
    assert_eq!(ids, ["a", "e", "b", "c"]);
}

#[test]
fn the_same_identifier_on_two_targets_is_two_entries() {
    let text = format!(
        "mdt.a-MDT0000.job_stats=\n{}mdt.a-MDT0001.job_stats=\n{}",
        record("", 1),
        record("", 2)
    );
    assert_eq!(
        reading(text),
        "\
MDT a-MDT0000
  'e' snapshot 1749555518.000000001
    punch 1 Requests
MDT a-MDT0001
  'e' snapshot 1749555518.000000001
    punch 2 Requests
"
    );
}
