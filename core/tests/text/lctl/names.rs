//! Names of parameters as `lctl get_param` prints them, and other parameters.

use crate::{events, reading};

const NAME: &str = "obdfilter.scratch-OST0000.job_stats";

const VALUE: [&str; 4] = [
    "job_stats:",
    "- job_id:          dd.0",
    "  snapshot_time:   1510781837",
    "  punch:           { samples:           7, unit:  reqs }",
];

const READ: &str = "\
OST scratch-OST0000
  'dd.0' snapshot 1510781837.000000000
    punch 7 Requests
";

#[test]
fn variants_of_the_same() {
    let value = VALUE.join("\n");
    let records = VALUE[1..].join("\n");
    let usual = format!("{NAME}=\n{value}\n");
    let each_line = VALUE.map(|line| format!("{NAME}={line}\n")).concat();
    for (variant, text) in [
        ("header on its own line", usual.clone()),
        ("header on the name's line", format!("{NAME}={value}\n")),
        ("2.17 without header", format!("{NAME}=\n{records}\n")),
        ("header twice", format!("{NAME}=\njob_stats:\n{value}\n")),
        ("-y", format!("{NAME}: {value}\n")),
        ("-y without header", format!("{NAME}: {records}\n")),
        ("-H", each_line.clone()),
        (
            "-H with an empty last line",
            format!("{each_line}{NAME}=\n"),
        ),
        (
            "colours",
            format!("\x1b[94m\x1b[1m{NAME}=\n{value}\x1b[0m\n"),
        ),
        (
            "colours reset on a line",
            format!("\x1b[95m{NAME}=\n{value}\n\x1b[0m\n"),
        ),
        ("line ends of DOS", usual.replace('\n', "\r\n")),
        ("empty lines", usual.replace('\n', "\n\n")),
        ("tabs", usual.replace("  ", "\t")),
        ("no indentation", usual.replace("\n  ", "\n")),
        ("few blanks", usual.replace("      ", "")),
        (
            "no blanks",
            usual
                .replace(": ", ":")
                .replace("{ ", "{")
                .replace(" }", "}"),
        ),
        ("no final line feed", usual.trim_end().to_owned()),
    ] {
        assert_eq!(reading(&text), READ, "{variant}");
    }
}

#[test]
fn without_names_there_is_a_target_without_name() {
    let value = VALUE.join("\n");
    let read = READ.replace("OST scratch-OST0000", "no name");
    assert_eq!(reading(format!("{value}\n")), read);
    let two = format!("{value}\njob_stats:\n{}\n", value.replace("dd", "cp"));
    assert_eq!(
        reading(two),
        "\
no name
  'dd.0' snapshot 1510781837.000000000
    punch 7 Requests
  'cp.0' snapshot 1510781837.000000000
    punch 7 Requests
"
    );
}

/// `{}` is the name.
#[test]
fn targets_without_jobs() {
    for text in [
        "{}=job_stats:\n",
        "{}=\njob_stats:\n",
        "{}=\n",
        "{}=",
        "{}=job_stats:",
        "{}: job_stats:\n",
        "{}: \n",
        "{}:\n",
        "{}=job_stats:\r\n",
    ] {
        let text = text.replace("{}", NAME);
        assert_eq!(reading(&text), "OST scratch-OST0000\n", "{text:?}");
    }
}

#[test]
fn nothing_at_all() {
    assert_eq!(reading(""), "");
    assert_eq!(reading("\n \r\n"), "");
}

#[test]
fn targets_follow_each_other() {
    let value = VALUE.join("\n");
    let text = format!(
        "obdfilter.a-OST0000.job_stats=job_stats:\n\
         obdfilter.a-OST0001.job_stats=\n{value}\n\
         mdt.a-MDT0000.job_stats=\n{value}\n"
    );
    assert_eq!(
        reading(text),
        "\
OST a-OST0000
OST a-OST0001
  'dd.0' snapshot 1510781837.000000000
    punch 7 Requests
MDT a-MDT0000
  'dd.0' snapshot 1510781837.000000000
    punch 7 Requests
"
    );
}

#[test]
fn the_same_target_again_is_one_snapshot() {
    let text = format!(
        "obdfilter.a-OST0000.job_cleanup_interval=600\n\
         mdt.a-MDT0000.job_cleanup_interval=60\n\
         obdfilter.a-OST0000.job_stats=\n{}\n\
         mdt.a-MDT0000.job_stats=job_stats:\n\
         obdfilter.a-OST0000.job_stats=\n{}\n",
        VALUE.join("\n"),
        VALUE.join("\n").replace("dd", "cp"),
    );
    assert_eq!(
        reading(text),
        "\
OST a-OST0000, interval 600
  'dd.0' snapshot 1510781837.000000000
    punch 7 Requests
  'cp.0' snapshot 1510781837.000000000
    punch 7 Requests
MDT a-MDT0000, interval 60
"
    );
}

#[test]
fn an_interval_alone_is_no_observation() {
    assert_eq!(
        reading("mdt.a-MDT0000.job_cleanup_interval=300\n"),
        "MDT a-MDT0000, not observed, interval 300\n"
    );
}

#[test]
fn intervals() {
    for (value, read) in [
        ("=600\n", "600"),
        ("=600", "600"),
        (": 600\n", "600"),
        ("=\n600\n", "600"),
        ("=0\n", "0"),
        ("=4294967295\n", "4294967295"),
    ] {
        let text = format!("mdt.a-MDT0000.job_cleanup_interval{value}");
        let expected = format!("cleanup interval of MDT a-MDT0000 {read}\n");
        assert_eq!(events(&text), expected, "{text:?}");
    }
    for value in ["=4294967296\n", "=-1\n", "=ten\n"] {
        let text = format!("mdt.a-MDT0000.job_cleanup_interval{value}");
        let expected = format!("1 bad number: {text}");
        assert_eq!(events(&text), expected);
    }
}

#[test]
fn other_parameters_are_stepped_over() {
    let text = format!(
        "\
version=2.15.8
jobid_var=procname_uid
devices=
  0 UP osd-zfs a-OST0000-osd a-OST0000-osd_UUID 5
{NAME}=
{}
obdfilter.scratch-OST0000.brw_stats=
snapshot_time:         1510781837.123 secs.nsecs
                           read      |     write
disk fragmented I/Os  ios   % cum %  |  ios         % cum %
1:\t\t       0   0   0   | 7  100 100
obdfilter.scratch-OST0000.job_cleanup_interval=600
mdt.a-MDT0000.md_stats=
snapshot_time             1510781837.123 secs.nsecs
open                      7 samples [usecs] 1 2 3
mdt.a-MDT0000.rename_stats=
rename_stats:
- snapshot_time:  1510781837.123
- same_dir:
ldlm.namespaces.mdt-a-MDT0000_UUID.pool.stats: none
mdt.a-MDT0000.exports.10.0.0.1@o2ib.uuid=x
nis=
0@lo up
",
        VALUE.join("\n")
    );
    let read = READ.replace("OST0000\n", "OST0000, interval 600\n");
    assert_eq!(reading(text), read);
}

#[test]
fn names_of_targets() {
    let longest = "x".repeat(64);
    for name in ["a", "OST0001", "my_fs-MDT00ff", &longest] {
        let text = format!("mdt.{name}.job_stats=job_stats:\n");
        assert_eq!(reading(text), format!("MDT {name}\n"));
    }
    for name in ["", "*", "a.b", "a b", &format!("{longest}x")] {
        let text = format!("mdt.{name}.job_stats=job_stats:\n");
        assert!(!reading(text).starts_with("MDT"), "{name}");
    }
}
