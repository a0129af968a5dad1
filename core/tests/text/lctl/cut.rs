//! Texts that end too soon, and values that do.

use crate::reading;

const TEXT: &str = "\
obdfilter.a-OST0000.job_stats=
job_stats:
- job_id:          wget.1000
  snapshot_time:   1510781837
  read_bytes:      { samples:           2, unit: bytes, min:    4096, max:    8192, sum:           12288 }
  punch:           { samples:           7, unit:  reqs }
- job_id:          cp.1000
  snapshot_time:   1510781838
  read_bytes:      { samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }
  punch:           { samples:           1, unit:  reqs }
";

const FIRST: &str = "  'wget.1000' snapshot 1510781837.000000000
    read_bytes 2 Bytes 4096..8192 sum 12288 sumsq 0
    punch 7 Requests
";

const WHOLE: &str = "  'cp.1000' snapshot 1510781838.000000000
    read_bytes 0
    punch 1 Requests
";

/// A cut in the second record, the part of the record that is read, and the problem.
const CUTS: [(&str, &str, &str); 13] = [
    ("-", "", "! 7 cut line: -\n"),
    ("- job", "", "! 7 cut line: - job\n"),
    (
        "- job_id:          cp.1",
        "",
        "! 7 cut line: - job_id:          cp.1\n",
    ),
    (
        "- job_id:          cp.1000",
        "",
        "! 7 cut line: - job_id:          cp.1000\n",
    ),
    (
        "cp.1000\n",
        "",
        "! 7 record without counters of 'cp.1000': - job_id:          cp.1000\n",
    ),
    (
        "snapshot_time:   151",
        "",
        "! 7 record without counters of 'cp.1000': - job_id:          cp.1000\n! 8 cut line of 'cp.1000': snapshot_time:   151\n",
    ),
    (
        "1510781838\n",
        "",
        "! 7 record without counters of 'cp.1000': - job_id:          cp.1000\n",
    ),
    (
        "  re",
        "",
        "! 7 record without counters of 'cp.1000': - job_id:          cp.1000\n! 9 cut line of 'cp.1000': re\n",
    ),
    (
        "read_bytes:    ",
        "",
        "! 7 record without counters of 'cp.1000': - job_id:          cp.1000\n! 9 cut line of 'cp.1000': read_bytes:\n",
    ),
    (
        "max:   ",
        "",
        "! 7 record without counters of 'cp.1000': - job_id:          cp.1000\n! 9 cut line of 'cp.1000': read_bytes:      { samples:           0, unit: bytes, min:       0, max:\n",
    ),
    (
        "sum:               0 }",
        "  'cp.1000' snapshot 1510781838.000000000\n    read_bytes 0\n",
        "",
    ),
    (
        "punch:           { samples:           1",
        "  'cp.1000' snapshot 1510781838.000000000\n    read_bytes 0\n",
        "! 10 cut line of 'cp.1000': punch:           { samples:           1\n",
    ),
    (
        "punch:           { samples:           1, unit:  reqs ",
        "  'cp.1000' snapshot 1510781838.000000000\n    read_bytes 0\n",
        "! 10 cut line of 'cp.1000': punch:           { samples:           1, unit:  reqs\n",
    ),
];

fn cut_after(what: &str) -> &str {
    let second = TEXT.rfind("- job_id").unwrap();
    let end = TEXT[second..].find(what).unwrap();
    &TEXT[..second + end + what.len()]
}

#[test]
fn the_text_is_whole_also_without_its_last_line_feed() {
    assert_eq!(reading(TEXT), format!("OST a-OST0000\n{FIRST}{WHOLE}"));
    assert_eq!(
        reading(TEXT.trim_end()),
        format!("OST a-OST0000\n{FIRST}{WHOLE}")
    );
}

#[test]
fn a_cut_text_is_read_up_to_the_cut() {
    for (what, read, problems) in CUTS {
        let expected = format!("OST a-OST0000, incomplete\n{FIRST}{read}{problems}");
        assert_eq!(reading(cut_after(what)), expected, "{what}");
    }
}

/// An `lctl` up to 2.12 that fails to read goes on with the next parameter where it stopped.
#[test]
fn a_value_can_end_in_the_middle_of_a_line_with_the_next_name() {
    let next = TEXT.replace("a-OST0000", "a-OST0001");
    for (what, read, problems) in CUTS {
        let expected = format!(
            "OST a-OST0000, incomplete\n{FIRST}{read}{problems}OST a-OST0001\n{FIRST}{WHOLE}"
        );
        let text = format!("{}{next}", cut_after(what));
        assert_eq!(reading(&text), expected, "{text}");
    }
}

#[test]
fn a_value_can_end_with_other_parameters() {
    let text = cut_after("samples:           1");
    let read = "  'cp.1000' snapshot 1510781838.000000000\n    read_bytes 0\n";
    let problem = "! 10 cut line of 'cp.1000': punch:           { samples:           1\n";
    let interval = "obdfilter.a-OST0001.job_cleanup_interval=600\n";
    assert_eq!(
        reading(format!("{text}{interval}")),
        format!(
            "OST a-OST0000, incomplete\n{FIRST}{read}{problem}OST a-OST0001, not observed, interval 600\n"
        )
    );
    let other =
        "obdfilter.a-OST0001.brw_stats=\nsnapshot_time:         1510781837.123 secs.nsecs\n";
    assert_eq!(
        reading(format!("{text}{other}")),
        format!("OST a-OST0000, incomplete\n{FIRST}{read}{problem}")
    );
}

/// The name of a target can be an identifier: before 2.15.2 that is whatever a user names a program.
#[test]
fn an_identifier_that_looks_like_a_name_is_none() {
    for id in [
        "mdt.a-MDT0000.job_stats=",
        "x mdt.a-MDT0000.job_stats=",
        "mdt.x.job_stats=job_stats:",
    ] {
        let text = TEXT.replace("cp.1000", id);
        assert_eq!(
            reading(text),
            format!("OST a-OST0000\n{FIRST}{}", WHOLE.replace("cp.1000", id))
        );
    }
}

/// Fewer operations than in the record before: an `lctl` that stopped at the end of a line.
#[test]
fn a_last_record_with_fewer_operations_is_not_whole() {
    let read = "  'cp.1000' snapshot 1510781838.000000000\n    read_bytes 0\n";
    let text = cut_after("sum:               0 }\n").to_owned();
    assert_eq!(
        reading(&text),
        format!("OST a-OST0000, incomplete\n{FIRST}{read}")
    );
    let followed = format!("{text}obdfilter.a-OST0001.job_stats=job_stats:\n");
    assert_eq!(
        reading(followed),
        format!("OST a-OST0000, incomplete\n{FIRST}{read}OST a-OST0001\n")
    );
}

/// A counter that is rejected is an operation all the same.
#[test]
fn a_last_record_with_a_rejected_counter_is_whole() {
    let text = TEXT.replace("samples:           1", "samples:           x");
    let read = "  'cp.1000' snapshot 1510781838.000000000\n    read_bytes 0\n";
    let problem =
        "! 10 bad number of 'cp.1000': punch:           { samples:           x, unit:  reqs }\n";
    assert_eq!(
        reading(text),
        format!("OST a-OST0000\n{FIRST}{read}{problem}")
    );
}
