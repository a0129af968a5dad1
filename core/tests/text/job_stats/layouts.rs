//! The layouts of all generations of Lustre.

use crate::events;

#[test]
fn lustre_2_5_counts_bytes_in_read_and_write() {
    let text = "\
obdfilter.scratch-OST0000.job_stats=
job_stats:
- job_id:          cp.1000
  snapshot_time:   1381939592
  read:            { samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }
  write:           { samples:           3, unit: bytes, min:      29, max: 1048576, sum:         1052701 }
  setattr:         { samples:        3478, unit:  reqs }
";
    assert_eq!(
        events(text),
        "\
1 target OST scratch-OST0000
3 record cp.1000
4 snapshot 1381939592.000000000
5 read 0 bytes min 0 max 0 sum 0
6 write 3 bytes min 29 max 1048576 sum 1052701
7 setattr 3478 reqs
"
    );
}

#[test]
fn up_to_2_14_a_long_number_takes_the_place_of_the_blank() {
    let text = "\
mdt.scratch-MDT0000.job_stats=
job_stats:
- job_id:          dd.0
  snapshot_time:   1614767417
  open:            { samples:           1, unit: usecs, min:12345678, max:12345678, sum:1234567890123456, sumsq:    152415765279684 }
  write_bytes:     { samples:          25, unit: bytes, min: 1048576, max:16777216, sum:        26214400 }
";
    assert_eq!(
        events(text),
        "\
1 target MDT scratch-MDT0000
3 record dd.0
4 snapshot 1614767417.000000000
5 open 1 usecs min 12345678 max 12345678 sum 1234567890123456 sumsq 152415765279684
6 write_bytes 25 bytes min 1048576 max 16777216 sum 26214400
"
    );
}

#[test]
fn the_mdt_of_2_12_counts_bytes_in_requests() {
    let text = "\
mdt.scratch-MDT0000.job_stats=
job_stats:
- job_id:          dd.0
  snapshot_time:   1614767417
  read_bytes:      { samples:           0, unit:  reqs, min:       0, max:       0, sum:               0 }
";
    assert_eq!(
        events(text),
        "\
1 target MDT scratch-MDT0000
3 record dd.0
4 snapshot 1614767417.000000000
5 read_bytes 0 reqs min 0 max 0 sum 0
"
    );
}

#[test]
fn lustre_2_15_0_prints_times_since_boot_at_the_beginning_of_the_line() {
    let text = "\
obdfilter.scratch-OST0000.job_stats=
job_stats:
- job_id:          dd.0
snapshot_time   : 3143196.864165417 secs.nsecs
start_time      : 3143100.000000001 secs.nsecs
elapsed_time    : 96.864165416 secs.nsecs
  punch:           { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }
";
    assert_eq!(
        events(text),
        "\
1 target OST scratch-OST0000
3 record dd.0
4 snapshot boot 3143196.864165417
5 start boot 3143100.000000001
7 punch 0 usecs min 0 max 0 sum 0 sumsq 0
"
    );
}

#[test]
fn lustre_2_16_prints_start_times_and_histograms() {
    let text = r#"
obdfilter.scratch-OST0000.job_stats=
job_stats:
- job_id:          "123:1000:r01c01"
  snapshot_time:   1749555518.685497069 secs.nsecs
  start_time:      1749555508.597767178 secs.nsecs
  elapsed_time:    10.087729891 secs.nsecs
  read_bytes:      { samples:           0, unit: bytes, min:        0, max:        0, sum:                0, sumsq:                  0, hist: {  } }
  write_bytes:     { samples:           4, unit: bytes, min:        1, max: 4294967296, sum:       4294971393, sumsq:  17592186044416, hist: { 1: 1, 4K: 2, 2G: 1 } }
  read:            { samples:           0, unit: usecs, min:        0, max:        0, sum:                0, sumsq:                  0 }
"#;
    assert_eq!(
        events(text),
        "\
2 target OST scratch-OST0000
4 record 123:1000:r01c01
5 snapshot 1749555518.685497069
6 start 1749555508.597767178
8 read_bytes 0 bytes min 0 max 0 sum 0 sumsq 0 hist
9 write_bytes 4 bytes min 1 max 4294967296 sum 4294971393 sumsq 17592186044416 hist 1:1 4K:2 2G:1
10 read 0 usecs min 0 max 0 sum 0 sumsq 0
"
    );
}

#[test]
fn with_enable_stats_header_0_only_the_snapshot_time_is_printed() {
    let text = "\
mdt.scratch-MDT0000.job_stats=
job_stats:
- job_id:          dd.0
  snapshot_time:   1749555518.685497069 secs.nsecs
  parallel_rename_file: { samples:           1, unit: usecs, min:        9, max:        9, sum:                9, sumsq:                 81 }
";
    assert_eq!(
        events(text),
        "\
1 target MDT scratch-MDT0000
3 record dd.0
4 snapshot 1749555518.685497069
5 parallel_rename_file 1 usecs min 9 max 9 sum 9 sumsq 81
"
    );
}

#[test]
fn operations_and_fields_to_come_are_kept_and_passed_over() {
    let text = "\
mdt.scratch-MDT0000.job_stats=
job_stats:
- job_id:          dd.0
  snapshot_time:   1749555518.685497069 secs.nsecs
  uid:             1000
  teleport:        { samples: 3, unit: jumps, median: 4, sum: 12, quantiles: { 50: 4, 90: 5 }, sumsq: 50 }
";
    assert_eq!(
        events(text),
        "\
1 target MDT scratch-MDT0000
3 record dd.0
4 snapshot 1749555518.685497069
6 teleport 3 jumps sum 12 sumsq 50
"
    );
}

#[test]
fn numbers_have_64_bits_without_a_sign() {
    let text = "\
job_stats:
- job_id:          dd.0
  snapshot_time:   18446744073709551615
  open:            { samples: 18446744073709551615, unit: usecs, min: 9223372036854775807, max: 9223372036854775808, sum: 0, sumsq: 10000000000000000000 }
";
    assert_eq!(
        events(text),
        "\
1 target without name
2 record dd.0
3 snapshot 18446744073709551615.000000000
4 open 18446744073709551615 usecs min 9223372036854775807 max 9223372036854775808 sum 0 sumsq 10000000000000000000
"
    );
}

/// The value of a `job_id` line and the identifier as stored.
#[test]
fn identifiers() {
    for (printed, stored) in [
        (&b"wget.1000"[..], "wget.1000"),
        (b"1234_5", "1234_5"),
        (b":1000:r01c01", ":1000:r01c01"),
        (b"\"1:1000:r01\"", "1:1000:r01"),
        (b"\"@1000@oss4\"", "@1000@oss4"),
        (b"\"has\\x20sp.0\"", "has sp.0"),
        (b"\"a\\x5Cb\\x22\\x2F\"", "a\\b\"/"),
        // Before 2.15.2 everything is printed as it is.
        (b"has sp.0", "has sp.0"),
        (b"  has sp.0 ", "has sp.0 "),
        (b"C\\x41 #{x}: 100%", "C\\x41 #{x}: 100%"),
        (b"a.b=c", "a.b=c"),
        (b"\"open", "\"open"),
        (b"\"", "\""),
        // No other escapes exist.
        (b"\"\\n\\x4\\xzz\\x2f\\\"", "\\n\\x4\\xzz\\x2f\\"),
        // UTF-8 is unchanged, also where one half of a character is escaped; other bytes and NUL stay escaped.
        (b"\"caf\xC3\\xA9.0\"", "café.0"),
        (b"caf\xC3\xA9.0", "café.0"),
        (b"caf\xE9.0", "caf\\xE9.0"),
        (b"\"caf\\xE9\\x00.0\"", "caf\\xE9\\x00.0"),
        (b"a\0b", "a\\x00b"),
        // Blanks alone are no identifier.
        (b"", ""),
        (b"  \t", ""),
        (b"\"\"", ""),
        (b"\"\\x20\"", ""),
    ] {
        let text = [b"- job_id:          ", printed, b"\n"].concat();
        let expected = format!("1 target without name\n1 record {stored}\n");
        assert_eq!(events(&text), expected, "{}", printed.escape_ascii());
    }
}

#[test]
fn the_shortest_job_id_line_has_no_blanks_at_its_end() {
    assert_eq!(events("- job_id:\n"), "1 target without name\n1 record \n");
}
