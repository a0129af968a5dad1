//! Lines that cannot be used: each is reported, and costs no other entry.

use crate::reading;

const FIRST: &str = "\
obdfilter.a-OST0000.job_stats=
job_stats:
- job_id:          one
  snapshot_time:   1510781837
  read_bytes:      { samples:           2, unit: bytes, min:    4096, max:    8192, sum:           12288 }
  punch:           { samples:           7, unit:  reqs }
  sync:            { samples:           1, unit:  reqs }
- job_id:          two
  snapshot_time:   1510781838
  read_bytes:      { samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }
  punch:           { samples:           1, unit:  reqs }
  sync:            { samples:           0, unit:  reqs }
";

const READ: &str = "\
OST a-OST0000
  'one' snapshot 1510781837.000000000
    read_bytes 2 Bytes 4096..8192 sum 12288 sumsq 0
    sync 1 Requests
    punch 7 Requests
  'two' snapshot 1510781838.000000000
    read_bytes 0
    sync 0
    punch 1 Requests
";

/// The text with one line replaced, and the reading of the whole text with some lines replaced.
fn check(line: u32, instead: &str, changes: &[(&str, &str)], problems: &str) {
    let mut lines: Vec<_> = FIRST.lines().collect();
    lines[line as usize - 1] = instead;
    let mut expected = READ.to_owned();
    for (from, to) in changes {
        assert!(expected.contains(from), "{from}");
        expected = expected.replacen(from, to, 1);
    }
    let text = lines.join("\n") + "\n";
    assert_eq!(reading(text), expected + problems, "{instead}");
}

#[test]
fn the_text_is_read_whole() {
    assert_eq!(reading(FIRST), READ);
}

#[test]
fn a_counter_that_cannot_be_used_is_left_out() {
    #[rustfmt::skip]
    let cases = [
        ("{ samples: 18446744073709551616, unit:  reqs }", "bad number"),
        ("{ samples:          -7, unit:  reqs }", "bad number"),
        ("{ samples:          +7, unit:  reqs }", "bad number"),
        ("{ samples:         7.5, unit:  reqs }", "bad number"),
        ("{ samples:         0x7, unit:  reqs }", "bad number"),
        ("{ samples:         7 7, unit:  reqs }", "bad number"),
        ("{ samples:            , unit:  reqs }", "bad number"),
        ("{ samples:           7 }", "unreadable counter"),
        ("{ unit:  reqs }", "unreadable counter"),
        ("{ }", "unreadable counter"),
        ("{ samples:           7  unit:  reqs }", "bad number"),
        ("{ samples            7, unit:  reqs }", "unreadable counter"),
        ("{ samples: 7, samples: 7, unit: reqs }", "unreadable counter"),
        ("{ samples:           7, unit: re qs }", "unreadable counter"),
        ("{ samples:           7, unit:  reqs } }", "unreadable counter"),
        ("{ samples:           7, unit:  reqs } and more", "unreadable counter"),
        ("{ samples: 7, unit: reqs, hist: { 4K: 7, 5K: 1 } }", "unknown bucket"),
        ("{ samples: 7, unit: reqs, hist: { 1024: 7 } }", "unknown bucket"),
        ("{ samples: 7, unit: reqs, hist: { 4G: 7 } }", "unknown bucket"),
        ("{ samples: 7, unit: reqs, hist: { 4K: -7 } }", "bad number"),
        ("{ samples: 7, unit: reqs, hist: { 4K } }", "unreadable counter"),
        ("{ samples: 7, unit: reqs, hist: { 4K: 7,  } }", "unreadable counter"),
        ("{ samples: 7, unit: reqs, hist: 7 }", "unreadable counter"),
    ];
    for (fields, reason) in cases {
        let line = format!("  punch:           {fields}");
        check(
            6,
            &line,
            &[("    punch 7 Requests\n", "")],
            &format!("! 6 {reason} of 'one': punch:           {fields}\n"),
        );
    }
}

/// A value of a known operation that is no counter; and unknown lines.
#[test]
fn a_line_that_is_nothing_known_is_left_out() {
    for line in [
        "  punch:           [ samples:           7, unit:  reqs }",
        "  punch:           7",
        "  punch            { samples:           7, unit:  reqs }",
        "  pu nch:          { samples:           7, unit:  reqs }",
        "  punch;           ! samples:           7, unit:  reqs }",
        "* punch:           { samples:           7, unit:  reqs }",
        "punch",
        "\u{fffd}",
    ] {
        let problem = format!("! 6 unreadable line of 'one': {}\n", line.trim());
        check(6, line, &[("    punch 7 Requests\n", "")], &problem);
    }
}

/// A record may lack lines if the unreadable line could be the beginning of another record.
#[test]
fn where_a_record_could_begin_it_may_be_hidden() {
    check(
        7,
        "  sync:            { samples:           1, unit",
        &[
            ("OST0000", "OST0000, incomplete"),
            ("    sync 1 Requests\n", ""),
        ],
        "! 7 unclosed counter of 'one': sync:            { samples:           1, unit\n",
    );
    check(
        7,
        "what is this",
        &[
            ("OST0000", "OST0000, incomplete"),
            ("    sync 1 Requests\n", ""),
        ],
        "! 7 unreadable line of 'one': what is this\n",
    );
}

#[test]
fn a_time_that_cannot_be_read_is_left_out() {
    for value in [
        "yesterday",
        "-1",
        "1510781837.1234567890 secs.nsecs",
        "1510781837. secs.nsecs",
        "1510781837.5secs.nsecs",
        "1510781837 msecs",
        "18446744073709551616",
        "",
    ] {
        check(
            4,
            &format!("  snapshot_time:   {value}"),
            &[("'one' snapshot 1510781837.000000000", "'one'")],
            &format!(
                "! 4 bad time of 'one': {}\n",
                format!("snapshot_time:   {value}").trim()
            ),
        );
    }
}

#[test]
fn an_unreadable_job_id_line_does_not_give_its_counters_to_the_record_before() {
    let second = &READ[READ.find("  'two'").unwrap()..];
    for (line, entry) in [
        ("- jXb_id:          two", ""),
        ("-", ""),
        ("X job_id:          two", " of 'one'"),
        ("  job_id:          two", " of 'one'"),
        ("job_id=two", " of 'one'"),
    ] {
        let problems = format!(
            "\
! 8 unreadable line{entry}: {}
! 9 line without record: snapshot_time:   1510781838
! 10 line without record: read_bytes:      {{ samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }}
! 11 line without record: punch:           {{ samples:           1, unit:  reqs }}
! 12 line without record: sync:            {{ samples:           0, unit:  reqs }}
",
            line.trim(),
        );
        let changes = [(second, ""), ("OST0000", "OST0000, incomplete")];
        check(8, line, &changes, &problems);
    }
}

#[test]
fn an_operation_twice_tells_that_a_job_id_line_is_missing() {
    let lines: Vec<_> = FIRST
        .lines()
        .filter(|line| !line.contains("two") && !line.ends_with("838"))
        .collect();
    assert_eq!(
        reading(lines.join("\n")),
        "\
OST a-OST0000, incomplete
  'one' snapshot 1510781837.000000000
    read_bytes 2 Bytes 4096..8192 sum 12288 sumsq 0
    sync 1 Requests
    punch 7 Requests
! 8 duplicate operation of 'one': read_bytes:      { samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }
! 9 line without record of 'one': punch:           { samples:           1, unit:  reqs }
! 10 line without record of 'one': sync:            { samples:           0, unit:  reqs }
"
    );
}

#[test]
fn a_record_without_counters_is_none() {
    let lines: Vec<_> = FIRST
        .lines()
        .filter(|line| !line.starts_with("  ") || line.contains("1, unit"))
        .collect();
    let text = lines.join("\n").replace(
        "- job_id:          two\n",
        "- job_id:          none\n- job_id:          two\n",
    );
    assert_eq!(
        reading(text),
        "\
OST a-OST0000, incomplete
  'one'
    sync 1 Requests
  'two'
    punch 1 Requests
! 5 record without counters of 'none': - job_id:          none
"
    );
}

#[test]
fn an_identifier_has_an_end() {
    let id = "x".repeat(255);
    let text = FIRST.replace("two", &id);
    assert_eq!(reading(&text), READ.replace("two", &id));
    let text = FIRST.replace("one", &format!("{id}x"));
    let read = reading(&text);
    assert!(
        read.starts_with("OST a-OST0000, incomplete\n  'two' "),
        "{read}"
    );
    assert!(read.contains(&format!(
        "! 3 long identifier: - job_id:          {id}x\n! 4 line without record: "
    )));
}

/// A damaged name must not give its records to the target before.
#[test]
fn a_damaged_name_costs_its_own_records_only() {
    let third = "\
obdfilter.a-OST0002.job_stats=
job_stats:
- job_id:          three
  punch:           { samples:           3, unit:  reqs }
";
    let second = FIRST.replace("OST0000", "OST0001");
    for name in [
        "obdfilter.a-OST0001.job_stXts=",
        "obdfXlter.a-OST0001.job_stats=",
        "obdfilter.a OST0001.job_stats=",
        "obdfilter.a-OST0001.job_statsX",
        "obdfilter.a-OST0001Xjob_stats=",
        "Xbdfilter.a-OST0001.job_stats=",
        "\u{fffd}bdfilter.a-OST0001.job_stats=",
    ] {
        let text = format!(
            "{FIRST}{}{third}",
            second.replace("obdfilter.a-OST0001.job_stats=", name)
        );
        let (problem, complete) = if name.contains(' ') || name.ends_with('X') || !name.is_ascii() {
            (
                format!("! 13 unreadable line of 'two': {name}\n"),
                ", incomplete",
            )
        } else {
            (String::new(), "")
        };
        let expected = format!(
            "\
{}{problem}OST a-OST0002
  'three'
    punch 3 Requests
! 15 record without target: - job_id:          one
! 20 record without target: - job_id:          two
",
            READ.replace("OST0000", &format!("OST0000{complete}"))
        );
        assert_eq!(reading(text), expected, "{name}");
    }
}

/// The parameter of another name without dots is stepped over; a record follows it only where it was no parameter.
#[test]
fn a_line_that_looks_like_a_parameter_is_no_end() {
    let changes = [("    punch 7 Requests\n", "")];
    check(
        6,
        "punch=7",
        &changes,
        "! 6 unreadable line of 'one': punch=7\n",
    );
    check(2, "job_stats=", &[], "");
}

#[test]
fn text_outside_of_targets() {
    assert_eq!(
        reading(
            "[root@oss1 ~]# lctl get_param obdfilter.*.job_stats\n  punch:           { samples:           3, unit:  reqs }\nobdfilter.a-OST0000.job_stats=job_stats:\n"
        ),
        "\
OST a-OST0000
! 1 unreadable line: [root@oss1 ~]# lctl get_param obdfilter.*.job_stats
! 2 line without record: punch:           { samples:           3, unit:  reqs }
"
    );
}

#[test]
fn a_target_has_room_for_many_unknown_operations() {
    let mut text = "job_stats:\n- job_id:          one\n".to_owned();
    for operation in 0..257 {
        text += &format!("  operation_{operation}: {{ samples: 1, unit: reqs }}\n");
    }
    let read = reading(&text);
    assert!(
        read.starts_with("no name\n  'one'\n    operation_0 1 Requests\n"),
        "{read}"
    );
    assert!(read.contains("    operation_255 1 Requests\n"));
    assert!(read.ends_with(
        "! 259 too many operations of 'one': operation_256: { samples: 1, unit: reqs }\n"
    ));
}

#[test]
fn what_can_be_the_beginning_of_another_record_ends_one_without_counters() {
    check(
        9,
        "- snapshot_time:   1510781838",
        &[
            ("OST0000\n", "OST0000, incomplete\n"),
            ("  'two' snapshot 1510781838.000000000\n    read_bytes 0\n    sync 0\n    punch 1 Requests\n", ""),
        ],
        "\
! 8 record without counters of 'two': - job_id:          two
! 9 unreadable line: - snapshot_time:   1510781838
! 10 line without record: read_bytes:      { samples:           0, unit: bytes, min:       0, max:       0, sum:               0 }
! 11 line without record: punch:           { samples:           1, unit:  reqs }
! 12 line without record: sync:            { samples:           0, unit:  reqs }
",
    );
}
