//! Snapshots as text, and back.

use jobstats_core::base::pause::Pause;
use jobstats_core::rules::snapshot::{print, read, read_carried};

use crate::readings::records;

const TEXT: &str = r#"mdt.a-MDT0000.job_cleanup_interval=600
mdt.a-MDT0000.job_stats=
job_stats:
- job_id:          "1:1000:r01"
  snapshot_time:   1749555518.685497069 secs.nsecs
  start_time:      1749555508.597767178 secs.nsecs
  write_bytes:     { samples:           4, unit: bytes, min:        1, max: 4294967296, sum:       4294971393, sumsq:     17592186044416, hist: { 1: 1, 4K: 2, 2G: 1 } }
  open:            { samples:           3, unit: usecs, min:        1, max:        5, sum:               10, sumsq:                 40 }
  parallel_rename_file: { samples:           1, unit: usecs, min:        9, max:        9, sum:                9, sumsq:                 81 }
- job_id:          "has\x20sp.0"
  snapshot_time:   3143196.864165417 secs.nsecs
  start_time:      3143100.000000000 secs.nsecs
  last_seen:       1749555508.597767000 secs.nsecs
  sync:            { samples:           0, unit:  reqs }
- job_id:          cp.1000
  snapshot_time:   1381939592
  last_seen:       0.000001000 secs.nsecs
  read_bytes:      { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0 }
  teleport:        { samples:           0, unit: other, min:        0, max:        0, sum:                0, sumsq:                  0 }
"#;

#[test]
fn what_is_printed_is_read_again() {
    let snapshot = read_carried(TEXT.as_bytes(), Pause::NEVER).unwrap();
    assert_eq!(snapshot.problems, []);
    assert_eq!(String::from_utf8(print(&snapshot)).unwrap(), TEXT);
}

#[test]
fn no_server_says_when_a_record_was_last_seen() {
    let reading = read(TEXT.as_bytes(), Pause::NEVER).unwrap();
    let mut records = reading.snapshots[0].records.iter();
    assert!(records.all(|record| record.last_seen.is_none()));
}

#[test]
fn targets_without_records() {
    for text in [
        "mdt.a-MDT0000.job_stats=job_stats:\n",
        "obdfilter.a-OST0000.job_cleanup_interval=600\nobdfilter.a-OST0000.job_stats=job_stats:\n",
        "obdfilter.a-OST0000.job_cleanup_interval=600\n",
        "job_stats:\n",
    ] {
        let reading = read(text.as_bytes(), Pause::NEVER).unwrap();
        assert_eq!(
            String::from_utf8(print(&reading.snapshots[0])).unwrap(),
            text
        );
    }
}

/// Identifiers as stored and as printed.
#[test]
fn identifiers_are_quoted_where_lustre_quotes_them() {
    for (stored, printed) in [
        ("wget.1000", "wget.1000"),
        ("a@b/c-d_e", "a@b/c-d_e"),
        ("@1000@oss4", "\"@1000@oss4\""),
        ("1:1000:r01", "\"1:1000:r01\""),
        ("", ""),
        (" a ", "\"\\x20a\\x20\""),
        ("café", "\"caf\\xC3\\xA9\""),
        ("\\xE9", "\"\\x5CxE9\""),
        ("\"", "\"\\x22\""),
        ("a\nb", "\"a\\x0Ab\""),
    ] {
        assert_eq!(
            jobstats_core::text::job_stats::print_identifier(stored),
            printed
        );
        let text = format!("- job_id:          {printed}\n  sync: {{ samples: 1, unit: reqs }}\n");
        let reading = read(text.as_bytes(), Pause::NEVER).unwrap();
        let snapshot = &reading.snapshots[0];
        assert_eq!(snapshot.id(&snapshot.records[0]), stored);
    }
}

/// Carried records come from several observations.
#[test]
fn an_identifier_may_be_carried_several_times() {
    let text = "\
mdt.a-MDT0000.job_stats=
job_stats:
- job_id:          e
  last_seen:       1749555508.597767000 secs.nsecs
  open:            { samples:           3, unit:  reqs }
  sync:            { samples:           3, unit:  reqs }
- job_id:          e
  last_seen:       1749555510.597767000 secs.nsecs
  open:            { samples:           4, unit:  reqs }
";
    let snapshot = read_carried(text.as_bytes(), Pause::NEVER).unwrap();
    assert_eq!(
        records(&snapshot),
        "  'e' last seen 1749555508597767\n    open 3 Requests\n    sync 3 Requests\n  'e' last seen 1749555510597767\n    open 4 Requests\n"
    );
    assert_eq!(String::from_utf8(print(&snapshot)).unwrap(), text);
    assert!(read_carried(b"", Pause::NEVER).unwrap().records.is_empty());
}
