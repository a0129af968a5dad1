//! The program as it is called.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use std::path::Path;
use std::process::{Command, Output};

const TIME: &str = "2026-03-01T08:00:00Z";

fn simulator(arguments: &str) -> Output {
    run(
        Path::new(env!("CARGO_BIN_EXE_jobstats-simulator")),
        arguments,
    )
}

fn run(program: &Path, arguments: &str) -> Output {
    Command::new(program)
        .args(arguments.split_whitespace())
        .env_remove("JOBSTATS_DATABASE_URL")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn print(arguments: &str) -> String {
    stdout(&simulator(arguments))
}

#[test]
fn the_servers_of_a_cluster_are_listed() {
    let listed = print("servers --preset puhti");
    let lines: Vec<_> = listed.lines().collect();
    assert_eq!(lines.len(), 28);
    assert_eq!(lines[0], "puhti-mds1\tpuhti-MDT0000");
    assert_eq!(lines[4], "puhti-oss1\tpuhti-OST0000");
    assert_eq!(lines[27], "puhti-oss8\tpuhti-OST0017");
}

#[test]
fn a_script_stands_in_for_lctl() {
    let directory = tempfile::tempdir().unwrap();
    let place = format!("--server small-oss1 --time {TIME} --layout 2.17 --seed 7");
    let path = directory.path().to_str().unwrap();
    let written = simulator(&format!("lctl-script {path} {place}"));
    assert!(written.status.success());
    let lctl = directory.path().join("lctl");
    let played = run(
        &lctl,
        "get_param obdfilter.*.job_cleanup_interval obdfilter.*.job_stats",
    );
    assert!(played.status.success());
    assert!(played.stdout.starts_with(
        b"obdfilter.small-OST0000.job_cleanup_interval=600\nobdfilter.small-OST0001.job_cleanup_interval=600\n"
    ));
    // The server has no MDT: the same, but for the complaint.
    let printed = simulator(&format!("print --job-stats-only {place}"));
    assert_eq!(stdout(&printed), stdout(&played));
    let all = print(&format!("print {place}"));
    assert!(all.starts_with("obdfilter.small-OST0000.stats=\n"));
    assert!(all.contains(".exports.10.0.0.1@o2ib.uuid=small-MDT0000-mdtlov_UUID\n"));
    assert!(all.ends_with(&stdout(&played)));
    assert_eq!(printed.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&printed.stderr),
        "error: get_param: param_path 'mdt/*/job_cleanup_interval': No such file or directory\n\
         error: get_param: param_path 'mdt/*/job_stats': No such file or directory\n"
    );
}

#[test]
fn what_is_played_now_is_what_is_printed_for_now() {
    // Whatever the time is, no server is down.
    let place = "print --undisturbed --server small-mds1";
    let now = simulator(&format!("{place} --time now"));
    let now = stdout(&now);
    assert!(now.starts_with("mdt.small-MDT0000.md_stats=\nsnapshot_time"));
    assert!(now.contains("\nmdt.small-MDT0000.job_cleanup_interval=600\nmdt."));
}

#[test]
fn an_unknown_server_is_named_with_those_that_are_known() {
    let refused = simulator("print --server oss99");
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&refused.stderr),
        "jobstats-simulator: no server \"oss99\"; there are small-mds1, small-oss1\n"
    );
}

#[test]
fn the_truth_comes_with_what_nobody_can_know() {
    let truth = print("--truth --layout 2.12 --hours 6");
    let mut lines = truth.lines();
    assert_eq!(
        lines.next().unwrap(),
        "cluster,target,entry,operation,truth,after_last_reading,baseline,unknown,hidden_reset,rule5,stored"
    );
    let mut operations = std::collections::BTreeSet::new();
    for line in lines {
        // Identifiers may contain commas, but here they do not.
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
    for operation in "read_bytes read write_bytes write open statfs".split(' ') {
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
    let described = print("describe --layout 2.17");
    for label in [
        "after_last_reading",
        "headers stolen",
        "clock steps",
        "records doubled",
    ] {
        assert!(described.contains(label), "{described}");
    }
}

/// Writes a table of work to a temporary directory.
fn table(rows: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("work.csv");
    let header = "job,uid,node,target,operation,calls,bytes,usecs,from,until";
    std::fs::write(&path, format!("{header}\n{rows}\n")).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

#[test]
fn given_work_is_all_that_is_done() {
    let (_directory, path) = table(
        "4711,1000,c1,small-MDT0000,open,1000,0,120,2026-03-01T08:15:00Z,2026-03-01T08:45:00Z\n\
         4711,1000,c1,small-OST0001,write,1024,1073741824,900,2026-03-01T08:15:00Z,2026-03-01T08:45:00Z",
    );
    let scene = format!("--work {path} --undisturbed --interval 10m --from {TIME} --hours 2");
    let truth = print(&format!("truth {scene}"));
    let rows: Vec<&str> = truth.lines().skip(1).collect();
    assert_eq!(
        rows,
        [
            "small,small-MDT0000,1000:4711:c1,open,1000,0,0,0,0,0,1000",
            "small,small-MDT0000,1000:4711:c1,open_usecs,120000,0,0,0,0,0,120000",
            "small,small-OST0001,1000:4711:c1,write_bytes,1073741824,0,0,0,0,0,1073741824",
            "small,small-OST0001,1000:4711:c1,write,1024,0,0,0,0,0,1024",
            "small,small-OST0001,1000:4711:c1,write_usecs,921600,0,0,0,0,0,921600",
            "small,small-OST0001,1000:4711:c1,write_bytes_hist[21],1024,0,0,0,0,0,1024",
        ]
    );
    // A third of it after a third of the time.
    let at = |time| {
        let place = format!("print --work {path} --undisturbed --server small-mds1");
        print(&format!("{place} --time {time}"))
    };
    assert!(at("2026-03-01T08:25:00Z").contains(
        "  open:            { samples:         333, unit: usecs, min:      120, max:      120, sum:            39960,"
    ));
    assert!(!at("2026-03-01T08:15:00Z").contains("job_id"));
    assert!(!at("2026-03-01T09:05:00Z").contains("job_id"));
}

#[test]
fn work_that_makes_no_sense_is_refused() {
    let span = "2026-03-01T08:15:00Z,2026-03-01T08:45:00Z";
    for (row, problem) in [
        ("open,0,0,1", "nothing is done"),
        ("write_bytes,1,1,1", "there is no such operation"),
        ("write,3,10,1", "the bytes are not the same"),
    ] {
        let (_directory, path) = table(&format!("1,1,c1,small-MDT0000,{row},{span}"));
        let refused = simulator(&format!("truth --work {path}"));
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1));
        assert!(said.contains(&format!("work 1: {problem}")), "{said}");
    }
    let (_directory, path) = table("1,1,c1,small-MDT0000,open,many,0,1,now,now");
    let refused = simulator(&format!("truth --work {path}"));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("field 5"));
}

#[test]
fn the_schedule_lists_what_is_read_and_what_the_clock_shows() {
    let scene = "--interval 10m --seed 7 --hours 6";
    let list = |more: &str| print(&format!("schedule {scene} {more}"));
    // Two servers, six times an hour.
    assert_eq!(list("--undisturbed").lines().count(), 72);
    let listed = list("");
    let lines: Vec<Vec<&str>> = listed
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(lines.is_sorted_by_key(|line| line[1]));
    let wrong = lines.iter().filter(|line| line[1] != line[2]);
    assert!(wrong.clone().count() > 0 && wrong.clone().all(|line| line[0] == "small-mds1"));
    let refused = simulator("schedule --interval 11m");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn accounting_is_printed_for_a_window() {
    let window = "--from 2025-06-01T00:00:00Z --to 2025-06-01T01:00:00Z";
    let call = |more: &str| simulator(&format!("accounting {window} {more}"));
    let sacct = stdout(&call("--scheduler slurm"));
    assert!(sacct.starts_with("JobIDRaw\x1fJobID\x1fCluster\x1fSubmit\x1f"));
    assert!(sacct.lines().count() > 20);
    let flux = stdout(&call("--scheduler flux"));
    assert!(flux.starts_with("{\"jobs\": [{"));
    let empty = simulator("accounting --scheduler lsf --to 2025-05-01T00:00:00Z");
    assert_eq!(empty.status.code(), Some(1));
}

#[test]
fn the_calls_of_a_span_are_files_beside_the_truth() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let written = simulator(&format!(
        "accounting --scheduler pbs --jobs 100 --clusters 2 --directory {path}"
    ));
    assert!(written.status.success());
    let mut names: Vec<_> = std::fs::read_dir(directory.path().join("beta"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 253);
    assert_eq!(names[0], "2025-06-01T00:05:00Z");
    assert!(names.contains(&"2025-06-01T02:30:30Z".to_owned()));
    let read = |name| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let passwd = read("passwd");
    assert_eq!(
        passwd.lines().next(),
        Some("ada:x:20000:5000::/home/ada:/bin/bash")
    );
    assert_eq!(passwd.lines().count(), 32);
    assert!(read("group").starts_with("grp0:x:5000:\ngrp1:x:5010:\n"));
    let truth = read("truth.jsonl");
    assert!(
        truth
            .lines()
            .any(|line| line.starts_with("{\"kind\":\"run\",\"scheduler\":\"beta\""))
    );
    assert!(
        truth
            .lines()
            .any(|line| line.starts_with("{\"kind\":\"entry\""))
    );
}

#[test]
fn texts_of_job_stats_and_of_accounting_belong_together() {
    let site = "--scheduler slurm --jobs 300 --seed 5";
    let place = "print --undisturbed --server small-oss1 --time 2025-06-01T12:00:00Z";
    let printed = print(&format!("{place} {site}"));
    let window = "accounting --undisturbed --from 2025-06-01T11:00:00Z --to 2025-06-01T12:00:00Z";
    let sacct = print(&format!("{window} {site}"));
    let known: std::collections::BTreeSet<(&str, &str)> = sacct
        .lines()
        .map(|row| row.split('\x1f').collect::<Vec<_>>())
        .filter(|row| row.len() > 6)
        .map(|row| (row[0], row[6]))
        .collect();
    let ids = printed
        .lines()
        .filter_map(|line| line.strip_prefix("- job_id:"))
        .map(|id| id.trim().trim_matches('"').split(':').collect::<Vec<_>>());
    let jobs: Vec<_> = ids
        .filter(|id| id.len() == 3 && id[1].starts_with('1'))
        .collect();
    assert!(jobs.len() > 5);
    for id in jobs {
        let job = sacct
            .lines()
            .any(|row| row.starts_with(&format!("{}\x1f", id[1])));
        assert!(
            job && (id[0] == "0" || known.contains(&(id[1], id[0]))),
            "{id:?}"
        );
    }
}

/// The runs of digits of a text, and the pieces between them.
fn tokens(text: &str) -> Vec<&str> {
    text.as_bytes()
        .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
        .map(|token| std::str::from_utf8(token).unwrap_or_default())
        .collect()
}

#[test]
fn a_world_that_is_played_later_differs_in_its_times_alone() {
    let server = "--server small-oss1 --layout";
    let parameters = format!("get_param *.*.*.stats obdfilter.*.* osd-*.*.* {server}");
    let accounting = "accounting --jobs 100 --scheduler";
    let with_times = [
        format!("{parameters} 2.5"),
        format!("{parameters} 2.17"),
        format!("print {server} 2.12"),
        format!("print {server} 2.16"),
        format!("{accounting} slurm"),
        format!("{accounting} lsf"),
        format!("{accounting} flux"),
    ];
    // The entries of a server that shows the time since it booted have no other times.
    let without = [format!("get_param *.*.job_stats {server} 2.15.0")];
    let time: jiff::Timestamp = TIME.parse().unwrap();
    let near = |seconds: i64| (seconds - time.as_second()).abs() < 10 * 86_400;
    for (days, call) in [-400, 1].into_iter().flat_map(|days| {
        with_times
            .iter()
            .chain(&without)
            .map(move |call| (days, call))
    }) {
        let play = |days: i64| {
            let seconds = days * 86_400;
            let at = |hours: i64| {
                let time = jiff::Timestamp::from_second(time.as_second() + seconds + hours * 3600);
                time.unwrap().to_string()
            };
            let (from, to) = (at(0), at(2));
            let when = match call.starts_with("accounting") {
                true => format!("--from {from} --to {to}"),
                false => format!("--time {from}"),
            };
            print(&format!("{call} {when} --later {days}"))
        };
        let (then, later) = (play(0), play(days));
        let (then, later) = (tokens(&then), tokens(&later));
        assert!(then.len() > 100 && then.len() == later.len(), "{call:?}");
        let mut times = 0;
        for (then, later) in then.into_iter().zip(later) {
            match then.parse::<i64>() {
                Ok(seconds) if near(seconds) => {
                    times += 1;
                    assert_eq!(later.parse(), Ok(seconds + days * 86_400), "{call:?}");
                }
                _ => assert_eq!(then, later, "{call:?}"),
            }
        }
        assert_eq!(times > 0, with_times.contains(call), "{call:?}");
    }
}

#[test]
fn a_schedule_is_played_later_and_a_script_remembers_it() {
    let list = |from: &str, days| {
        let scene = format!("schedule --hours 1 --from {from} --later {days}");
        print(&scene)
    };
    let then = list("2026-03-01T08:00:00Z", "0");
    assert!(then.lines().count() > 5);
    assert_eq!(
        then.replace("2026-03-01T", "2026-03-08T"),
        list("2026-03-08T08:00:00Z", "7")
    );
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let written = simulator(&format!("lctl-script {path} --server small-oss1 --later 7"));
    assert!(written.status.success());
    let script = std::fs::read_to_string(directory.path().join("lctl")).unwrap();
    assert!(script.contains("export JOBSTATS_SIMULATOR_LATER='7'\n"));
}

#[test]
fn a_script_plays_planned_incidents() {
    let directory = tempfile::tempdir().unwrap();
    let plan = directory.path().join("plan.json");
    let failover = r#"[{"kind": "failover", "from": "2026-03-01T08:00:00Z", "until": "2026-03-01T09:00:00Z", "targets": ["scratch-OST0000"]}]"#;
    std::fs::write(&plan, failover).unwrap();
    let [path, plan] = [directory.path(), &plan].map(|it| it.to_str().unwrap());
    let scene = format!("--preset medium --undisturbed --incident-plan {plan}");
    for (time, status) in [("2026-03-01T08:30:00Z", 2), ("2026-03-01T09:30:00Z", 0)] {
        let place = format!("lctl-script {path} --server scratch-oss1 --time {time}");
        assert!(simulator(&format!("{place} {scene}")).status.success());
        let lctl = directory.path().join("lctl");
        let played = run(&lctl, "get_param obdfilter.*.job_stats");
        assert_eq!(played.status.code(), Some(status), "{time}: {played:?}");
    }
}

#[test]
fn given_work_comes_beside_the_jobs_of_a_scheduler() {
    let (_directory, path) = table(
        "4711,1000,c1,small-MDT0000,open,1000,0,120,2026-03-01T08:15:00Z,2026-03-01T08:45:00Z",
    );
    let scene =
        "truth --scheduler slurm --undisturbed --from 2026-03-02T08:00:00Z --hours 2 --later 1";
    let jobs = print(scene);
    let both = print(&format!("{scene} --work {path}"));
    let (mut jobs, mut both): (Vec<_>, Vec<_>) = (jobs.lines().collect(), both.lines().collect());
    jobs.extend([
        "small,small-MDT0000,1000:4711:c1,open,1000,0,0,0,0,0,1000",
        "small,small-MDT0000,1000:4711:c1,open_usecs,120000,0,0,0,0,0,120000",
    ]);
    jobs.sort_unstable();
    both.sort_unstable();
    assert_eq!(jobs, both);
    assert!(jobs.len() > 100);
}

#[test]
fn users_have_easy_names_where_jobs_have() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let written = simulator(&format!(
        "accounting --scheduler slurm --odd 0 --jobs 900 --days 0.1 --directory {path}"
    ));
    assert!(written.status.success());
    let passwd = std::fs::read_to_string(directory.path().join("passwd")).unwrap();
    let names: std::collections::BTreeSet<_> = passwd
        .lines()
        .filter_map(|line| line.split(':').next())
        .collect();
    assert_eq!(names.len(), 90);
    let is_easy = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    assert!(names.iter().all(is_easy));
    assert!(names.contains("petra1") && names.contains("ada2"));
}
