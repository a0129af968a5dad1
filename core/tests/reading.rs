//! Texts as they come from servers → what is read from them.

use jobstats_core::snapshot::{print, read};

#[test]
fn a_text_of_two_targets() {
    let text = b"\
obdfilter.scratch-OST0000.job_cleanup_interval=600
obdfilter.scratch-OST0000.job_stats=
job_stats:
- job_id:          wget.1000
  snapshot_time:   1510781837
  read_bytes:      { samples:           2, unit: bytes, min:    4096, max:16777216, sum:        16781312 }
  write_bytes:     { samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }
  getattr:         { samples:           0, unit:  reqs }
  punch:           { samples:           7, unit:  reqs }
obdfilter.scratch-OST0001.job_stats=job_stats:
";
    let reading = read(text).unwrap();
    assert_eq!(reading.snapshots.len(), 2);
    let first = &reading.snapshots[0];
    assert!(first.complete && first.observed && first.problems.is_empty());
    assert_eq!(first.cleanup_interval, Some(600));
    let printed = print(first);
    assert_eq!(
        String::from_utf8(printed).unwrap(),
        "\
obdfilter.scratch-OST0000.job_cleanup_interval=600
obdfilter.scratch-OST0000.job_stats=
job_stats:
- job_id:          wget.1000
  snapshot_time:   1510781837
  read_bytes:      { samples:           2, unit: bytes, min:     4096, max: 16777216, sum:         16781312, sumsq:                  0 }
  write_bytes:     { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0 }
  getattr:         { samples:           0, unit:  reqs }
  punch:           { samples:           7, unit:  reqs }
"
    );
}
