use proptest::prelude::*;

use super::*;
use crate::base::target::TargetKind;

const MDT: TargetName<'static> = TargetName {
    kind: TargetKind::Mdt,
    name: b"fs-MDT0000",
};

/// The samples as `target name{label=value} value`, and the problems as `line code`.
fn samples(parameter: Parameter<'_>, value: &str) -> Vec<String> {
    let others = [Other {
        parameter,
        line: 1,
        value: value.as_bytes().into(),
    }];
    let mut problems = Problems::default();
    let samples = read(&others, &mut problems, Pause::NEVER).unwrap();
    let mut shown = Vec::new();
    for sample in samples {
        assert!(sample.value >= 0 && sample.target == parameter.target());
        let labels: String = sample
            .labels
            .iter()
            .map(|(name, value)| format!(" {name}={value}"))
            .collect();
        shown.push(format!("{}{labels} {}", sample.name, sample.value));
    }
    let problems = problems.kept.iter();
    shown.extend(problems.map(|it| format!("line {} {}", it.line, it.reason.code())));
    shown
}

#[test]
fn space() {
    let space = |value| samples(Parameter::Space(MDT, "kbytestotal"), value);
    assert_eq!(space("2602832\n"), ["kbytestotal 2602832"]);
    assert_eq!(space("\n2602832\n"), ["kbytestotal 2602832"]);
    assert_eq!(
        space("2602832\n7\n"),
        ["kbytestotal 2602832"],
        "through a symbolic link"
    );
    assert_eq!(
        space("9223372036854775807\n"),
        ["kbytestotal 9223372036854775807"]
    );
    for bad in ["-1\n", "9223372036854775808\n", "1.5\n", "12 KiB\n"] {
        assert_eq!(space(bad), ["line 1 bad number"], "{bad}");
    }
    assert_eq!(space("26028"), ["line 1 cut line"]);
}

#[test]
fn health() {
    let health = |value: &str| samples(Parameter::Health, value);
    assert_eq!(health("healthy\n"), ["unhealthy 0"]);
    assert_eq!(health("NOT HEALTHY\n"), ["unhealthy 1"]);
    assert_eq!(health("LBUG\n"), ["unhealthy 1"]);
    let devices = "device fs-OST0012 reported unhealthy\ndevice fs-OST0014 reported unhealthy\n";
    assert_eq!(health(&format!("{devices}NOT HEALTHY\n")), ["unhealthy 2"]);
    assert_eq!(health(devices), ["unhealthy 2"]);
    assert_eq!(health("healthy\nNOT HEALTHY\n"), ["unhealthy 1"]);
    assert_eq!(health("sick\n"), ["line 1 unreadable line"]);
    assert_eq!(health("healthy"), ["line 1 cut line"]);
}

#[test]
fn rules_of_a_token_bucket_filter() {
    let rules = |value: &str| samples(Parameter::Rules("ost_io"), value);
    assert_eq!(
        rules(
            "\nregular_requests:\nCPT 0:\nbulk {dd.1000 a b} 100, ref 2\ndefault {*} 10000, ref 1\nCPT 1:\nbulk {dd.1000 a b} 100, ref 1\n\
             high_priority_requests:\nCPT 0:\nx uid={5}&jobid={, ref 9 7} 7, ref 0, active\n"
        ),
        [
            "tbf_rate service=ost_io rule=bulk 100",
            "tbf_clients service=ost_io rule=bulk 3",
            "tbf_rate service=ost_io rule=default 10000",
            "tbf_clients service=ost_io rule=default 1",
            "tbf_rate service=ost_io rule=x 7",
            "tbf_clients service=ost_io rule=x 0",
        ]
    );
    for line in ["bulk", "bulk {*} 5", "bulk 5, ref 1", "CPT"] {
        assert_eq!(
            rules(&format!("{line}\n")),
            ["line 1 unreadable line"],
            "{line}"
        );
    }
    assert_eq!(rules("a {*} many, ref 1\n"), ["line 1 bad number"]);
    assert_eq!(rules("a {*} 1, ref -1\n"), ["line 1 bad number"]);
    let many: String = (0..=POLICIES_MAX)
        .map(|n| format!("r{n} {{*}} 1, ref 1\n"))
        .collect();
    let found = rules(&many);
    assert_eq!(found.len(), 2 * POLICIES_MAX + 1);
    assert_eq!(
        found.last().map(String::as_str),
        Some("line 65 too many lines")
    );
}

#[test]
fn counters_of_a_nodemap() {
    let value = "snapshot_time 1510781853.000000001 secs.nsecs\nopen 12 samples [usecs] 5 90 400 15000\nread_bytes 3 samples [bytes] 1 9 15 100\nx\n";
    assert_eq!(
        samples(Parameter::Nodemap("tenant", "md_stats"), value),
        [
            "nodemap_requests nodemap=tenant stats=md_stats operation=open 12",
            "nodemap_requests nodemap=tenant stats=md_stats operation=read_bytes 3",
            "nodemap_bytes nodemap=tenant stats=md_stats operation=read_bytes 15",
            "line 4 unreadable line",
        ]
    );
}

#[test]
fn recovery() {
    let recovery = |value| samples(Parameter::Recovery(MDT), value);
    assert_eq!(recovery("status: INACTIVE\n"), ["recovering 0"]);
    assert_eq!(
        recovery(
            "\nstatus: COMPLETE\nrecovery_start: 1510781837\nrecovery_duration: 9\ntime_remaining: 0\nVBR: DISABLED\n"
        ),
        ["recovering 0"]
    );
    assert_eq!(
        recovery(
            "\nstatus: RECOVERING\nrecovery_start: 1510781837\ntime_remaining: 84\nconnected_clients: 3/5\n"
        ),
        ["recovering 1", "recovery_left 84"]
    );
    assert_eq!(
        recovery("status: WAITING\nnon-ready MDTs:  0001 0002\n"),
        ["recovering 1"]
    );
    assert_eq!(
        recovery("status: RECOVERING\ntime_remaining: -4\n"),
        ["recovering 1", "line 2 bad number"]
    );
    assert_eq!(recovery("status: FLYING\n"), ["line 1 unreadable line"]);
    assert_eq!(recovery("damaged\n"), ["line 1 unreadable line"]);
    assert_eq!(recovery("status: COMPLETE"), ["line 1 cut line"]);
}

#[test]
fn readers_of_a_changelog() {
    let changelog = |value| samples(Parameter::Changelog(MDT), value);
    assert_eq!(
        changelog(
            "\ncurrent_index: 1000\nID                            index (idle) mask\ncl1                           400 (86400) mask=CREAT,MKDIR\ncl2-audit                     1000 (0)\n"
        ),
        [
            "changelog_behind reader=cl1 600",
            "changelog_idle reader=cl1 86400",
            "changelog_behind reader=cl2-audit 0",
            "changelog_idle reader=cl2-audit 0",
        ]
    );
    assert_eq!(
        changelog("current index: 10\nID    index\ncl1   4\ncl3   11\n"),
        [
            "changelog_behind reader=cl1 6",
            "changelog_behind reader=cl3 0"
        ],
        "old"
    );
    assert_eq!(
        changelog("current_index: 0\nID  index (idle) mask\n"),
        [""; 0]
    );
    assert_eq!(
        changelog("current_index: 9\ncl1 4\ncl1 5\n"),
        ["changelog_behind reader=cl1 5"],
        "the first counts"
    );
    for (value, problem) in [
        ("cl1 4\n", "line 1 unreadable line"),
        ("current_index: x\n", "line 1 bad number"),
        ("current_index: 9\ncl1\n", "line 2 unreadable line"),
        ("current_index: 9\ncl1;id 4\n", "line 2 unreadable line"),
        ("current_index: 9\nxy 4\n", "line 2 unreadable line"),
        ("current_index: 9\ncl1 -4\n", "line 2 bad number"),
        ("current_index: 9\ncl1 4 (x)\n", "line 2 bad number"),
        ("current_index: 9\ncl1 4", "line 2 cut line"),
    ] {
        assert_eq!(changelog(value), [problem], "{value}");
    }
}

fn policy(name: &str, state: &str, queued: u32, active: u32) -> String {
    format!(
        "  - name: {name}\n    state: {state}\n    fallback: yes\n    queued: {queued}\n    active: {active}\n\n"
    )
}

#[test]
fn requests_by_policy() {
    let policies = |value: &str| samples(Parameter::Policies("ost_io"), value);
    let value = format!(
        "\nregular_requests:\n{}{}{}high_priority_requests:\n{}",
        policy("fifo", "started", 7, 3),
        policy("crrn", "stopped", 9, 9),
        policy("tbf", "started", 1, 2),
        policy("fifo", "started", 10, 20),
    );
    assert_eq!(
        policies(&value),
        [
            "requests_queued service=ost_io policy=fifo 17",
            "requests_active service=ost_io policy=fifo 23",
            "requests_queued service=ost_io policy=tbf 1",
            "requests_active service=ost_io policy=tbf 2",
        ]
    );
    for (from, to, problem) in [
        ("    queued: 7\n", "", "line 3 unreadable line"),
        ("queued: 7", "queued: -7", "line 6 bad number"),
        (
            "fallback: yes\n    queued: 7",
            "fallback\n    queued: 7",
            "line 5 unreadable line",
        ),
    ] {
        let found = policies(&value.replacen(from, to, 1));
        assert!(found.contains(&problem.to_owned()), "{found:?}");
        assert!(found.contains(&"requests_queued service=ost_io policy=tbf 1".to_owned()));
    }
    assert_eq!(policies("queued: 7\n"), ["line 1 unreadable line"]);
    assert_eq!(policies(value.trim_end()), ["line 26 cut line"]);
}

#[test]
fn other_parameters_have_no_samples() {
    assert_eq!(samples(Parameter::Service("mdt"), "x"), [""; 0]);
}

#[test]
fn a_text_has_a_limited_number_of_samples() {
    let readers = (0..SAMPLES_MAX + 5).map(|reader| format!("cl{reader} 4\n"));
    let value = "current_index: 9\n".to_owned() + &readers.collect::<String>();
    let found = samples(Parameter::Changelog(MDT), &value);
    assert_eq!(found.len(), SAMPLES_MAX + 5);
    assert_eq!(found[SAMPLES_MAX..], ["line 1 too many lines"; 5]);
}

proptest! {
    /// Target, name and labels identify a sample in any text.
    #[test]
    fn samples_are_told_apart(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "current_index: 9", "cl1 4 (7)", "cl2 5", "- name: fifo", "- name: tbf", "state: stopped", "queued: 1", "active: 2",
                "regular_requests:", "status: RECOVERING", "time_remaining: 3", "healthy", "LBUG", "12", "x", "",
            ]), 0..20),
    ) {
        let value = lines.join("\n") + "\n";
        let parameters = [
            Parameter::Space(MDT, "filesfree"), Parameter::Health, Parameter::Recovery(MDT), Parameter::Changelog(MDT),
            Parameter::Policies("mdt"), Parameter::Policies("ost"),
        ];
        let others = parameters.map(|parameter| Other { parameter, line: 1, value: value.as_bytes().into() });
        let mut problems = Problems::default();
        let samples = read(&others, &mut problems, Pause::NEVER).unwrap();
        let keys: BTreeSet<_> = samples.iter().map(|it| (it.target, it.name, it.labels.clone())).collect();
        prop_assert_eq!(keys.len(), samples.len());
    }
}
