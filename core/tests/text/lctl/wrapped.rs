//! Lines that a terminal wrapped.

use crate::reading;

const RECORD: &str = "\
- job_id:          e
  write_bytes:     { samples: 3, unit: bytes, min: 1, max: 4096, sum: 4098, sumsq: 16777218, hist: { 1: 2, 4K: 1 } }
  sync:            { samples: 1, unit: reqs }
";

const READ: &str = "\
no name
  'e'
    write_bytes 3 Bytes 1..4096 sum 4098 sumsq 16777218 1:2 4K:1
    sync 1 Requests
";

#[test]
fn a_counter_may_stand_on_several_lines() {
    let open = RECORD.find('{').unwrap();
    let close = RECORD.find("} }").unwrap();
    for (offset, _) in RECORD.match_indices([',', ':', ' ']) {
        if !(open..close).contains(&offset) {
            continue;
        }
        for feed in ["\n", "\r\n", "\n    ", "\n\n", "\t\n\t"] {
            let (before, after) = RECORD.split_at(offset + 1);
            assert_eq!(reading(format!("{before}{feed}{after}")), READ, "{before}");
        }
    }
    let everywhere = RECORD.replace(", ", ",\n").replace("{ ", "{\n");
    assert_eq!(reading(everywhere), READ);
}

/// Lines that a counter does not contain end it.
#[test]
fn an_open_counter_ends_where_something_else_begins() {
    let cut = RECORD.find("max").unwrap();
    let (before, after) = RECORD.split_at(cut);
    let rest = &after[after.find('\n').unwrap() + 1..];
    let problem =
        "! 2 unclosed counter of 'e': write_bytes:     { samples: 3, unit: bytes, min: 1,\n";
    for (next, read) in [
        ("", "no name\n  'e'\n    sync 1 Requests\n"),
        (
            "- job_id: f\n",
            "no name, incomplete\n  'e'\n  'f'\n    sync 1 Requests\n",
        ),
        (
            "obdfilter.a-OST0000.job_stats=\n- job_id: f\n",
            "no name, incomplete\n  'e'\n",
        ),
        (
            "job_stats:\n- job_id: f\n",
            "no name, incomplete\n  'e'\n  'f'\n    sync 1 Requests\n",
        ),
        (
            "  4096\n  and more\n",
            "no name\n  'e'\n    sync 1 Requests\n",
        ),
    ] {
        let expected = format!("{read}{problem}");
        let read = reading(format!("{before}\n{next}{rest}"));
        assert!(read.starts_with(&expected), "{read}");
    }
    let time = "  snapshot_time:   1510781838\n";
    let read = reading(format!("{before}\n{time}{rest}"));
    assert_eq!(
        read,
        format!(
            "no name, incomplete\n  'e'\n{problem}! 3 line without record: {}\n! 4 line without record: sync:            {{ samples: 1, unit: reqs }}\n",
            time.trim()
        )
    );
}

/// The fields of all lines count together.
#[test]
fn what_is_wrong_on_several_lines_is_one_problem() {
    let text = RECORD
        .replace("max: 4096", "max:\n-4096,\n\n")
        .replace(", hist", ",\nhist");
    assert_eq!(
        reading(text),
        "\
no name
  'e'
    sync 1 Requests
! 2 bad number of 'e': write_bytes:     { samples: 3, unit: bytes, min: 1, max:
"
    );
}
