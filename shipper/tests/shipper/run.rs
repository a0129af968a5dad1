//! One instance at a time, again and again, in little memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::common::{Database, Fake, Shipper, wait_for};

const ONE_TARGET: &str = "echo mdt.fs-MDT0000.job_stats=job_stats:";

#[test]
fn a_second_instance_gives_way() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(&format!(
        "touch \"$0.started\"; while [ ! -e \"$0.go\" ]; do sleep 0.05; done; {ONE_TARGET}"
    ));
    let (program, lock) = (lctl.path(), lctl.file("shared.lock"));
    let url = database.url();
    let once = || {
        let arguments = [
            "once",
            "--lctl",
            program.to_str().unwrap(),
            "--database-url",
            &url,
        ];
        Shipper::new(&arguments).lock(&lock)
    };
    let mut first = once();
    let mut first = first.command().stderr(Stdio::null()).spawn().unwrap();
    wait_for("first instance", || lctl.file("lctl.started").exists());
    once().run().is(75, &["another instance", "shared.lock"]);
    fs::write(lctl.file("lctl.go"), "").unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(database.count(), 1);
    // The leftover file does not block the lock.
    once().run().succeeds_silently();
    assert_eq!(database.count(), 2);
}

/// Starts an instance, waits until its lctl has written the number of a process, and kills the instance. Returns the
/// directory of that process.
fn killed(mut shipper: Shipper, lctl: &Fake) -> PathBuf {
    let mut first = shipper.command().stderr(Stdio::null()).spawn().unwrap();
    let started = lctl.file("lctl.started");
    let process = || fs::read_to_string(&started).unwrap_or_default();
    wait_for("lctl", || process().ends_with('\n'));
    first.kill().unwrap();
    first.wait().unwrap();
    Path::new("/proc").join(process().trim())
}

#[test]
fn a_killed_instance_takes_its_lctl_with_it() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(&format!(
        "[ ! -e \"$0.started\" ] || {{ {ONE_TARGET}; exit; }}; echo $$ >\"$0.started\"; exec sleep 600"
    ));
    let lock = lctl.file("shared.lock");
    let once = || Shipper::once(&database, &lctl.path()).lock(&lock);
    let process = killed(once(), &lctl);
    wait_for("end of lctl", || !process.exists());
    once().run().succeeds_silently();
    assert_eq!(database.count(), 1);
}

#[test]
fn a_killed_instance_leaves_its_lock_to_what_its_lctl_left_running() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(&format!(
        "[ ! -e \"$0.started\" ] || {{ {ONE_TARGET}; exit; }}
         (while [ ! -e \"$0.go\" ]; do sleep 0.05; done) & echo $! >\"$0.started\"; wait"
    ));
    let lock = lctl.file("shared.lock");
    let once = || Shipper::once(&database, &lctl.path()).lock(&lock);
    let process = killed(once(), &lctl);
    once().run().is(75, &["another instance"]);
    fs::write(lctl.file("lctl.go"), "").unwrap();
    wait_for("end of its child", || !process.exists());
    once().run().succeeds_silently();
    assert_eq!(database.count(), 1);
}

#[test]
fn instances_for_different_servers_do_not_meet() {
    let mut database = needs!(Database::new());
    let locks = Fake::new("");
    let url = database.url();
    for (server, input) in [("oss/1", "a"), ("oss 2", "b")] {
        let text = locks.file(input);
        fs::write(&text, "mdt.fs-MDT0000.job_stats=job_stats:\n").unwrap();
        let ended = std::process::Command::new(env!("CARGO_BIN_EXE_jobstats-shipper"))
            .args([
                "once",
                "--input",
                text.to_str().unwrap(),
                "--server",
                server,
                "--database-url",
                &url,
            ])
            .env("TMPDIR", locks.directory.path())
            .status()
            .unwrap();
        assert!(ended.success());
    }
    assert_eq!(
        database.column("SELECT server FROM jobstats.feed ORDER BY 1"),
        ["oss 2", "oss/1"]
    );
}

#[test]
fn run_reads_at_every_interval_and_survives_failures() {
    let mut database = needs!(Database::new());
    // The second of each three runs fails.
    let lctl = Fake::new(&format!(
        "echo x >>\"$0.runs\"; [ $(($(wc -l <\"$0.runs\") % 3)) -ne 2 ] || exit 5; {ONE_TARGET}"
    ));
    let url = database.url();
    let arguments = [
        "run",
        "--interval",
        "1s",
        "--server",
        "mds1",
        "--database-url",
        &url,
    ];
    let mut shipper = Shipper::new(&arguments).args(&["--lctl", lctl.path().to_str().unwrap()]);
    let mut running = shipper.command().stderr(Stdio::piped()).spawn().unwrap();
    // Whole seconds apart, give or take what a start of lctl takes; the failed one in between left out. A busy machine may
    // delay some.
    let apart = r#"SELECT bool_or(one BETWEEN 1.5 AND 2.5 AND two - one BETWEEN 0.5 AND 1.5)::text
        FROM (SELECT extract(epoch FROM lead("time", 1) OVER later - "time") AS one,
                     extract(epoch FROM lead("time", 2) OVER later - "time") AS two
              FROM jobstats.feed WINDOW later AS (ORDER BY "time")) AS rows"#;
    wait_for("readings 2 s and 1 s apart", || {
        database.column(apart) == ["true"]
    });
    running.kill().unwrap();
    let said = String::from_utf8(running.wait_with_output().unwrap().stderr).unwrap();
    let failed = said.matches("exit code 5").count() as i64;
    let rows = database.count();
    assert!(
        failed == rows / 2 || failed == (rows + 1) / 2,
        "{rows}: {said}"
    );
}

#[test]
fn a_session_is_kept_until_it_ends() {
    let mut database = needs!(Database::new());
    database.execute("ALTER TABLE jobstats.feed ADD session integer DEFAULT pg_backend_pid()");
    let lctl = Fake::new(ONE_TARGET);
    let url = database.url();
    let arguments = ["run", "--interval", "1s", "--database-url", &url];
    let mut shipper = Shipper::new(&arguments).args(&["--lctl", lctl.path().to_str().unwrap()]);
    let mut running = shipper.command().stderr(Stdio::piped()).spawn().unwrap();
    wait_for("second row", || database.count() >= 2);
    let sessions = "SELECT DISTINCT session::text FROM jobstats.feed";
    let first = database.column(sessions);
    assert_eq!(first.len(), 1);
    database.execute(&format!("SELECT pg_terminate_backend({})", first[0]));
    let more = database.count() + 2;
    wait_for("row after that", || database.count() >= more);
    assert_eq!(database.column(sessions).len(), 2);
    running.kill().unwrap();
    let said = String::from_utf8(running.wait_with_output().unwrap().stderr).unwrap();
    assert_eq!(said, "");
}

#[test]
fn memory_stays_below_32_mib_with_a_large_target() {
    let mut database = needs!(Database::new());
    // Digits without a pattern: 20 MB of them are over 8 MB when compressed.
    let mut state = 1_u64;
    let mut line = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        format!("  {:016}\n", (state >> 11) % 10_u64.pow(16))
    };
    let text: String = (0..1_050_000).map(|_| line()).collect();
    let lctl = Fake::new("cat \"$0.text\"");
    fs::write(
        lctl.file("lctl.text"),
        format!("mdt.fs-MDT0000.job_stats=\n{text}"),
    )
    .unwrap();
    let mut shipper = Shipper::once(&database, &lctl.path());
    // The memory not shared with other processes, in KiB.
    let ended = limited(shipper.command(), "ulimit -d 32768");
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    let size = "SELECT (length(body_zstd) > 8000000)::text FROM jobstats.feed";
    assert_eq!(database.column(size), ["true"]);
    assert!(database.bodies()[0].ends_with(&text));
}

/// Runs the command under a limit of the shell.
fn limited(command: &std::process::Command, limit: &str) -> std::process::Output {
    let mut shell = std::process::Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("{limit} && exec \"$0\" \"$@\""))
        .arg(command.get_program())
        .args(command.get_args());
    shell.stdin(Stdio::null()).output().unwrap()
}
