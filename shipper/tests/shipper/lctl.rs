//! Output of lctl is sent, and failed readings are reported.

use std::fs;

use crate::common::{Database, Fake, Shipper, wait_for, with_a_limit};

/// An OSS of two targets, which has no MDT; the second target takes its time.
const OSS: &str = r#"
    echo "error: get_param: param_path 'mdt/*/job_cleanup_interval': No such file or directory" >&2
    echo obdfilter.fs-OST0000.job_cleanup_interval=600
    echo obdfilter.fs-OST0001.job_cleanup_interval=300
    echo "error: get_param: param_path 'mdt/*/job_stats': No such file or directory" >&2
    printf 'obdfilter.fs-OST0000.job_stats=\njob_stats:\n- job_id:          a.1000\n'
    sleep 0.1
    printf 'obdfilter.fs-OST0001.job_stats=\njob_stats:\n- job_id:          b.10'
    sleep 0.1
    printf '00\n'
    exit 2"#;

#[test]
fn each_target_arrives_as_a_row_with_its_interval_in_front() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(OSS);
    Shipper::once(&database, &lctl.path())
        .args(&["--cluster", "puhti"])
        .run()
        .succeeds_silently();
    assert_eq!(
        database.bodies(),
        [
            "obdfilter.fs-OST0000.job_cleanup_interval=600\nobdfilter.fs-OST0000.job_stats=\njob_stats:\n\
             - job_id:          a.1000\n",
            "obdfilter.fs-OST0001.job_cleanup_interval=300\nobdfilter.fs-OST0001.job_stats=\njob_stats:\n\
             - job_id:          b.1000\n",
        ]
    );
    let who = database.column(
        "SELECT DISTINCT concat_ws('|', cluster, server, shipper, body) FROM jobstats.feed",
    );
    assert_eq!(
        who,
        [format!(
            "puhti|oss1|jobstats-shipper {}",
            env!("CARGO_PKG_VERSION")
        )]
    );
}

#[test]
fn time_is_that_of_the_first_byte_and_duration_ends_with_the_last() {
    let mut database = needs!(Database::new());
    // It notes when it goes on. More than a pipe holds is printed before, so the shipper has read the first part of it.
    let lctl = Fake::new(
        r#"more() { head -c 300000 /dev/zero | tr '\0' '\n'; sleep 0.2; date +%s.%N >>"$0.times"; }
           printf 'obdfilter.fs-OST0000.job_stats=\n- job_id: a\n'; more
           printf 'obdfilter.fs-OST0001.job_stats=\n- job_id: b\n'; more; echo"#,
    );
    let before = database.column("SELECT clock_timestamp()::text").remove(0);
    Shipper::once(&database, &lctl.path())
        .run()
        .succeeds_silently();
    let times = fs::read_to_string(lctl.file("lctl.times")).unwrap();
    let times: Vec<_> = times
        .lines()
        .map(|time| format!("to_timestamp({time})"))
        .collect();
    let [second, last] = times.as_slice() else {
        unreachable!("two times: {times:?}")
    };
    let row = format!(
        r#"SELECT concat_ws(' ',
               min("time") BETWEEN '{before}' AND {second} - interval '0.1 s',
               max("time") BETWEEN {second} - interval '0.1 s' AND {last},
               sum(duration) >= {last} - min("time") - interval '0.1 s',
               sum(duration) < clock_timestamp() - '{before}') FROM jobstats.feed"#
    );
    assert_eq!(database.column(&row), ["t t t t"]);
}

#[test]
fn lctl_is_asked_for_intervals_and_stats_once() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new("echo \"$@\" >>\"$0.asked\"; echo 'mdt.fs-MDT0000.job_stats=job_stats:'");
    // The documentation has the same list.
    let page = include_str!("../../../docs/shipper.md");
    let begin = page.find("    lctl get_param mdt.*.md_stats").unwrap();
    let end = begin + page[begin..].find("\n\n").unwrap();
    let usual = page[begin..end].replace('\\', "");
    let usual: Vec<_> = usual.split_whitespace().skip(1).collect();
    let used = "osd-*.*.quota_slave.acct_user osd-*.*.quota_slave.acct_group osd-*.*.quota_slave.acct_project";
    let stats = "mdt.*.job_cleanup_interval obdfilter.*.job_cleanup_interval mdt.*.job_stats obdfilter.*.job_stats";
    let mut asked = Vec::new();
    let mut once = |lock: &str, arguments: &str, expected: String| {
        let arguments: Vec<_> = arguments.split_whitespace().collect();
        Shipper::once(&database, &lctl.path())
            .lock(&lctl.file(lock))
            .args(&arguments)
            .run()
            .succeeds_silently();
        asked.push(expected);
    };
    let usual = usual.join(" ");
    let all = usual.replace(stats, &format!("{used} {stats}"));
    // The two readings are within the same century.
    once("lock", "--used-every 36500d", all.clone());
    once("lock", "--used-every 36500d", usual.clone());
    once("other lock", "", all);
    once("third lock", "--used-every never", usual);
    let alone = "--parameters none --used-every 0";
    once("third lock", alone, format!("get_param {stats}"));
    once(
        "third lock",
        "--parameters none",
        format!("get_param {used} {stats}"),
    );
    let nids = "obdfilter.*.exports.10.0.0.1@tcp.stats obdfilter.*.exports.10.0.0.1@tcp.uuid";
    let mine = "--used-every 0 --parameters health_check,ost.OSS.*.stats --mds-nids 10.0.0.1@tcp";
    once(
        "third lock",
        mine,
        format!("get_param health_check ost.OSS.*.stats {nids} {stats}"),
    );
    let calls = fs::read_to_string(lctl.file("lctl.asked")).unwrap();
    assert_eq!(calls.lines().collect::<Vec<_>>(), asked);
    assert_eq!(database.count(), 7);
}

/// The text of additional parameters.
const OTHERS: &str = "obdfilter.fs-OST0000.stats=\nsnapshot_time             1700000000.5 secs.nsecs\n\
    read_bytes                2 samples [bytes] 4096 4096 8192 33554432\n\
    obdfilter.fs-OST0001.stats=snapshot_time             1700000000.5 secs.nsecs\nosd-zfs.fs-OST0000.filesfree=7\n";

/// The messages of a server that lacks some of them, and must not read others.
const UNREAD: &str = r#"
    for name in mdt/\*/md_stats mds/MDS/\*/stats mdd/\*/changelog_users; do
        echo "error: get_param: param_path '$name': No such file or directory" >&2
    done
    echo "error: read_param: '/sys/kernel/debug/lustre/health_check': Permission denied" >&2"#;

#[test]
fn other_parameters_are_a_row_beside_those_of_the_targets_and_cost_them_nothing() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(&format!("printf '{OTHERS}'; {UNREAD}\n{OSS}"));
    let once = || Shipper::once(&database, &lctl.path());
    once().run().succeeds_silently();
    let words = [
        "lctl: error: get_param: param_path 'mds/MDS/*/stats': No such file or directory\n",
        "lctl: error: read_param: '/sys/kernel/debug/lustre/health_check': Permission denied\n",
        "text without a target: 254 bytes sent as ",
        "obdfilter.fs-OST0001: ",
    ];
    once().args(&["--verbose"]).run().is(0, &words);
    let target = |number: u8, interval: u16, id: char| {
        format!(
            "obdfilter.fs-OST000{number}.job_cleanup_interval={interval}\nobdfilter.fs-OST000{number}.job_stats=\njob_stats:\n\
             - job_id:          {id}.1000\n"
        )
    };
    let reading = [OTHERS.to_owned(), target(0, 600, 'a'), target(1, 300, 'b')];
    let mut sent = [&reading[..], &reading].concat();
    let mut bodies = database.bodies();
    // Rows of a reading come in any order.
    bodies.sort();
    sent.sort();
    assert_eq!(bodies, sent);
    let names = database.column("SELECT DISTINCT concat(cluster, '|', server) FROM jobstats.feed");
    assert_eq!(names, ["|oss1"]);
}

#[test]
fn lctl_that_does_not_get_to_job_stats_is_called_for_them_alone() {
    let mut database = needs!(Database::new());
    // It hangs, is killed or fails when other parameters are requested, after more text than a pipe holds.
    let others = "head -c 300000 /dev/zero | tr '\\0' '\\n'; echo health_check=healthy";
    for end in ["exec sleep 86400", "kill -9 $$", "exit 5"] {
        let lctl = Fake::new(&format!(
            "echo >>\"$0.calls\"; case \"$*\" in *health_check*) {others}; {end};; esac; {OSS}"
        ));
        let run = |limit: &str| {
            let limit = ["--lctl-timeout", limit];
            Shipper::once(&database, &lctl.path()).args(&limit).run()
        };
        with_a_limit(run, |ended| ended.code == Some(0))
            .is(0, &["calling lctl again for job_stats alone: "]);
        let calls = fs::read_to_string(lctl.file("lctl.calls")).unwrap();
        assert!(calls.len() >= 2, "{end}");
    }
    assert_eq!(database.count(), 6);
}

#[test]
fn a_server_without_targets_sends_nothing_whatever_else_it_has() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(
        r#"echo >>"$0.calls"; echo health_check=healthy
        for kind in mdt obdfilter; do
            for name in stats job_cleanup_interval job_stats; do
                echo "error: get_param: param_path '$kind/*/$name': No such file or directory" >&2
            done
        done; exit 2"#,
    );
    assert_eq!(
        Shipper::once(&database, &lctl.path())
            .run()
            .is(66, &[])
            .said,
        ""
    );
    assert_eq!(fs::read_to_string(lctl.file("lctl.calls")).unwrap(), "\n");
    assert_eq!(database.count(), 0);
}

#[test]
fn what_lctl_says_beside_a_good_reading_is_passed_on() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new("echo 'mdt.fs-MDT0000.job_stats=job_stats:'; echo 'a warning' >&2");
    Shipper::once(&database, &lctl.path())
        .run()
        .is(0, &["jobstats-shipper: lctl: a warning\n"]);
    assert_eq!(database.count(), 1);
}

#[test]
fn bytes_that_are_no_text_arrive_as_they_are() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(r"printf 'mdt.fs-MDT0000.job_stats=\n- job_id: \303\\xA9 \000\n'");
    Shipper::once(&database, &lctl.path())
        .run()
        .succeeds_silently();
    let packed: Vec<u8> = database
        .client
        .query_one("SELECT body_zstd FROM jobstats.feed", &[])
        .unwrap()
        .get(0);
    assert_eq!(
        zstd::stream::decode_all(packed.as_slice()).unwrap(),
        b"mdt.fs-MDT0000.job_stats=\n- job_id: \xC3\\xA9 \0\n"
    );
}

/// A failed reading: exit code 74, a message, and no delivery.
#[track_caller]
fn drops(script: &str, arguments: &[&str], words: &[&str]) {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(script);
    Shipper::once(&database, &lctl.path())
        .args(arguments)
        .run()
        .is(74, words);
    assert_eq!(database.count(), 0);
}

/// One target is whole before anything goes wrong.
fn after_a_target(script: &str) -> String {
    format!(
        "printf 'mdt.fs-MDT0000.job_stats=job_stats:\\nmdt.fs-MDT0001.job_stats=\\n- job_id: a\\n'\n{script}"
    )
}

#[test]
fn a_reading_that_ends_with_an_error_is_dropped_whole() {
    drops(
        &after_a_target("echo 'it broke' >&2; exit 5"),
        &[],
        &["exit code 5", "it broke"],
    );
}

#[test]
fn a_reading_that_a_signal_ended_is_dropped_whole() {
    drops(&after_a_target("kill -9 $$"), &[], &["signal 9"]);
}

#[test]
fn an_exit_code_without_a_reason_is_a_failure() {
    drops(&after_a_target("exit 2"), &[], &["exit code 2"]);
}

#[test]
fn a_cut_that_the_exit_code_hides_is_seen() {
    let cut = "echo \"error: get_param: param_path 'obdfilter/*/job_stats': No such file or directory\" >&2
        printf '  open: { sam'; exit 2";
    drops(&after_a_target(cut), &[], &["mid-line"]);
}

#[test]
fn a_server_without_targets_has_nothing_to_read() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(
        "echo \"error: get_param: param_path 'mdt/*/job_stats': No such file or directory\" >&2; exit 2",
    );
    let once = || Shipper::once(&database, &lctl.path());
    once().args(&["--verbose"]).run().is(66, &["no target"]);
    // A line every two minutes from each standby would hide others.
    assert_eq!(once().run().is(66, &[]).said, "");
    assert_eq!(database.count(), 0);
}

#[test]
fn a_reading_that_takes_too_long_is_dropped_and_lctl_killed_with_its_children() {
    let script = after_a_target("sleep 86400 & echo $! >\"$0.child\"; wait");
    let mut database = needs!(Database::new());
    let lctl = Fake::new(&script);
    let run = |limit: &str| {
        Shipper::once(&database, &lctl.path())
            .args(&["--lctl-timeout", limit])
            .run()
            .is(74, &["did not finish within ", "killed"])
    };
    let child = || fs::read_to_string(lctl.file("lctl.child")).unwrap_or_default();
    with_a_limit(run, |_| child().ends_with('\n'));
    assert_eq!(database.count(), 0);
    let child = child();
    // A process that was killed takes a moment to end. This one would live for a day.
    let ended = || {
        let state = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    };
    wait_for("end of the child", ended);
}

#[test]
fn a_missing_program_is_named() {
    let mut database = needs!(Database::new());
    let missing = std::path::Path::new("/nowhere/lctl");
    Shipper::once(&database, missing)
        .run()
        .is(74, &["/nowhere/lctl", "--lctl"]);
    assert_eq!(database.count(), 0);
}

#[test]
fn a_line_on_stderr_that_is_no_error_drops_no_reading() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(&format!(
        "echo 'lctl: no version information available' >&2\n{OSS}"
    ));
    Shipper::once(&database, &lctl.path())
        .run()
        .is(0, &["lctl: lctl: no version information available"]);
    assert_eq!(database.count(), 2);
}

#[test]
fn garbage_is_no_server_without_targets() {
    drops("echo garbage", &[], &["has no target"]);
    drops("true", &[], &["has no target"]);
}

#[test]
fn a_reading_that_is_too_large_is_dropped_before_it_fills_the_disk() {
    let endless = after_a_target("exec base64 /dev/urandom");
    drops(
        &endless,
        &["--max-reading", "2MB"],
        &["larger than 2000000 bytes", "--max-reading"],
    );
}
