//! Values of other parameters.

use jobstats_core::base::pause::Pause;
use jobstats_core::rules::snapshot::read;
use jobstats_core::text::additional_parameters::Parameter;

use crate::reading;

/// The parameter, the line and the value of each.
fn others(text: &str) -> Vec<(String, u32, String)> {
    let contents = read(text.as_bytes(), Pause::NEVER).unwrap();
    let others = contents.others.into_iter();
    others
        .map(|other| {
            let parameter = match other.parameter {
                Parameter::Service(name) => name.to_owned(),
                Parameter::Health => "health".to_owned(),
                Parameter::Space(target, space) => format!("{} {}", target.shown(), space),
                other => other.target().unwrap().shown(),
            };
            let value = String::from_utf8(other.value.into_owned()).unwrap();
            (parameter, other.line, value)
        })
        .collect()
}

fn other(parameter: &str, line: u32, value: &str) -> (String, u32, String) {
    (parameter.to_owned(), line, value.to_owned())
}

const JOBS: &str = "\
obdfilter.fs-OST0000.job_stats=
job_stats:
- job_id:          dd.0
  snapshot_time:   1510781837
  punch:           { samples:           7, unit:  reqs }
";

#[test]
fn a_value_stands_below_its_name_or_beside_it() {
    let stats = "snapshot_time 1510781853.009826353 secs.nsecs\nopen 1 samples [reqs]\n";
    let text = format!(
        "memused=7\nmdt.fs-MDT0000.md_stats=\n{stats}{JOBS}osd-ldiskfs.MGS.kbytesfree=3\nosd-ldiskfs.fs-MDT0000.kbytesfree=4\n\
         ost.OSS.ost_seq.stats=snapshot_time 1.2 secs.nsecs\nversion=2.15.3\n"
    );
    let expected = [
        other("fs-MDT0000", 2, &format!("\n{stats}")),
        other("fs-MDT0000 kbytesfree", 11, "4\n"),
        other("ost_seq", 12, "snapshot_time 1.2 secs.nsecs\n"),
    ];
    assert_eq!(others(&text), expected);
    assert_eq!(reading(&text), reading(JOBS));
    assert_eq!(others(JOBS), []);
}

#[test]
fn a_value_is_named_by_other_forms_of_lctl() {
    for (form, text) in [
        (
            "-H",
            "mds.MDS.mdt.stats=a\nmds.MDS.mdt.stats=b\nmds.MDS.mdt.stats=\n",
        ),
        ("colours", "\x1b[94mmds.MDS.mdt.stats=a\nb\n"),
    ] {
        assert_eq!(others(text), [other("mdt", 1, "a\nb\n")], "{form}");
    }
    let yaml = others("mds.MDS.mdt.stats: a\nb\n");
    assert_eq!(yaml, [other("mdt", 1, " a\nb\n")]);
}

#[test]
fn an_error_message_is_no_value() {
    let message = "error: get_param: reading 'x': Interrupted system call\n";
    let name = "mds.MDS.mdt.stats=";
    for (text, value) in [
        (format!("{name}{message}"), None),
        (format!("{message}{name}\n{message}"), None),
        (format!("{name}\na\n{message}b\n"), Some("\na\n\nb\n")),
        (format!("{name}\na{message}b\nc\n"), Some("\nab\n\nc\n")),
        (
            format!("{name}\na{message}{message}b\nc\n"),
            Some("\nab\n\n\nc\n"),
        ),
        (format!("{name}\na\nb{message}{JOBS}"), Some("\na\nb")),
    ] {
        let found = others(&text);
        let values: Vec<_> = found.iter().map(|(_, _, value)| value.as_str()).collect();
        assert_eq!(values, Vec::from_iter(value), "{text}");
    }
}

#[test]
fn a_parameter_that_is_printed_twice_counts_once() {
    let text = "mds.MDS.mdt.stats=\nmds.MDS.io.stats=a\nosd-zfs.fs-OST0000.filesfree=1\nmds.MDS.mdt.stats=b\n\
                mds.MDS.io.stats=\nc\nosd-zfs.fs-OST0000.filesfree=2\n";
    let expected = [
        other("io", 2, "a\n"),
        other("fs-OST0000 filesfree", 3, "1\n"),
        other("mdt", 4, "b\n"),
    ];
    assert_eq!(others(text), expected);
}

#[test]
fn the_health_has_a_name_without_dots() {
    let health = "health_check=device fs-OST0012 reported unhealthy\nNOT HEALTHY\n";
    let expected = "device fs-OST0012 reported unhealthy\nNOT HEALTHY\n";
    for (text, line) in [
        (format!("{health}{JOBS}"), 1),
        (format!("{JOBS}{health}"), 6),
        (
            format!("{JOBS}{health}- job_id: cp.0\n  punch: {{ samples: 1, unit: reqs }}\n"),
            6,
        ),
    ] {
        assert_eq!(others(&text), [other("health", line, expected)], "{text}");
    }
}

/// Lustre up to 2.7 prints identifiers with line feeds.
#[test]
fn a_line_of_an_entry_is_no_health() {
    let text = JOBS.replace("dd.0", "dd\nhealth_check=LBUG");
    assert_eq!(others(&text), []);
}

#[test]
fn the_name_of_the_next_parameter_cuts_a_value() {
    let text = format!("mds.MDS.mdt.stats=\na\nb{JOBS}");
    assert_eq!(others(&text), [other("mdt", 1, "\na\nb")]);
    assert_eq!(reading(&text), reading(JOBS));
}

#[test]
fn a_hundred_thousand_values_are_kept() {
    let values = (0..100_001).map(|index| format!("mds.MDS.{index}.stats=x\n"));
    let text: String = values.collect();
    let contents = read(text.as_bytes(), Pause::NEVER).unwrap();
    assert_eq!(contents.others.len(), 100_000);
}
