//! The program as it is called.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use std::path::Path;
use std::process::{Command, Output};

const TIME: &str = "2026-03-01T08:00:00Z";

fn simulator(arguments: &[&str]) -> Output {
    run(
        Path::new(env!("CARGO_BIN_EXE_jobstats-simulator")),
        arguments,
    )
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .env_remove("DATABASE_URL")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_servers_of_a_cluster_are_listed() {
    let listed = stdout(&simulator(&["servers", "--preset", "puhti"]));
    let lines: Vec<_> = listed.lines().collect();
    assert_eq!(lines.len(), 28);
    assert_eq!(lines[0], "puhti-mds1\tpuhti-MDT0000");
    assert_eq!(lines[4], "puhti-oss1\tpuhti-OST0000");
    assert_eq!(lines[27], "puhti-oss8\tpuhti-OST0017");
}

#[test]
fn a_script_stands_in_for_lctl() {
    let directory = tempfile::tempdir().unwrap();
    let place = [
        "--server",
        "small-oss1",
        "--time",
        TIME,
        "--layout",
        "2.17",
        "--seed",
        "7",
    ];
    let written = simulator(
        &[
            &["lctl-script", directory.path().to_str().unwrap()],
            &place[..],
        ]
        .concat(),
    );
    assert!(written.status.success());
    let lctl = directory.path().join("lctl");
    let asked = [
        "get_param",
        "obdfilter.*.job_cleanup_interval",
        "obdfilter.*.job_stats",
    ];
    let played = run(&lctl, &asked);
    assert!(played.status.success());
    assert!(played.stdout.starts_with(
        b"obdfilter.small-OST0000.job_cleanup_interval=600\nobdfilter.small-OST0001.job_cleanup_interval=600\n"
    ));
    // The server has no MDT: the same, but for the complaint.
    let printed = simulator(&[&["print"], &place[..]].concat());
    assert_eq!(stdout(&printed), stdout(&played));
    assert_eq!(printed.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&printed.stderr),
        "error: get_param: param_path 'mdt/*/job_cleanup_interval': No such file or directory\n\
         error: get_param: param_path 'mdt/*/job_stats': No such file or directory\n"
    );
}

#[test]
fn what_is_played_now_is_what_is_printed_for_now() {
    let place = ["print", "--server", "small-mds1", "--time"];
    let now = simulator(&[&place[..], &["now"]].concat());
    assert!(
        now.stdout
            .starts_with(b"mdt.small-MDT0000.job_cleanup_interval=600\nmdt.")
    );
}

#[test]
fn an_unknown_server_is_named_with_those_that_are_known() {
    let refused = simulator(&["print", "--server", "oss99"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&refused.stderr),
        "jobstats-simulator: no server \"oss99\"; there are small-mds1, small-oss1\n"
    );
}

#[test]
fn the_truth_comes_with_what_nobody_can_know() {
    let truth = stdout(&simulator(&["--truth", "--layout", "2.12", "--hours", "6"]));
    let mut lines = truth.lines();
    assert_eq!(
        lines.next().unwrap(),
        "cluster,target,entry,operation,truth,after_last_reading,baseline,unknown,hidden_reset,rule5,stored"
    );
    let mut operations = std::collections::BTreeSet::new();
    for line in lines {
        // An identifier may hold commas, but none of these does.
        let fields: Vec<_> = line.rsplit(',').collect();
        let amounts: Vec<i64> = fields[..7]
            .iter()
            .map(|field| field.parse().unwrap())
            .collect();
        let [stored, rule5, hidden, unknown, baseline, after, truth] = amounts[..] else {
            unreachable!()
        };
        assert_eq!(stored, truth - after - baseline - unknown - hidden - rule5);
        operations.insert(fields[7].to_owned());
    }
    // Bytes and calls of 2.12 OSTs come from one counter; there are no times.
    for operation in [
        "read_bytes",
        "read",
        "write_bytes",
        "write",
        "open",
        "statfs",
    ] {
        assert!(operations.contains(operation), "{operation}");
    }
    assert!(
        operations
            .iter()
            .all(|operation| !operation.contains("usecs"))
    );
}

#[test]
fn a_description_counts_what_happens() {
    let described = stdout(&simulator(&["describe", "--layout", "2.17"]));
    for label in [
        "after_last_reading",
        "headers stolen",
        "clock steps",
        "records doubled",
    ] {
        assert!(described.contains(label), "{described}");
    }
}
