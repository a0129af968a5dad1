//! The shipper leaves the server to its work: low priority, little memory, pauses after long readings.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::common::{AWAY, Database, Fake, Shipper, not_run};
use xxhash_rust::xxh3::xxh3_64;

const ONE_TARGET: &str = "echo mdt.fs-MDT0000.job_stats=job_stats:";

#[test]
fn lctl_runs_with_low_priority() {
    let mut database = needs!(Database::new());
    // The tests run at this process's priority.
    let nice = |number: i32| format!("echo \"nice $(nice)\" >\"$0.{number}\"; {ONE_TARGET}");
    let own = String::from_utf8(Command::new("nice").output().unwrap().stdout).unwrap();
    let own: i32 = own.trim().parse().unwrap();
    for number in [10, 15] {
        let lctl = Fake::new(&nice(number));
        let once = Shipper::once(&database, &lctl.path()).with_usual_priority();
        let arguments = ["--nice", &number.to_string()];
        let once = if number == 10 {
            once
        } else {
            once.args(&arguments)
        };
        once.run().succeeds_silently();
        let said = fs::read_to_string(lctl.file(&format!("lctl.{number}"))).unwrap();
        assert_eq!(said.trim(), format!("nice {}", own.max(number)));
    }
    assert_eq!(database.count(), 2);
}

#[test]
fn disk_access_has_low_priority_too() {
    let database = needs!(Database::new());
    if Command::new("ionice").arg("-V").output().is_err() {
        return not_run("ionice is not installed");
    }
    let lctl = Fake::new(&format!("ionice >\"$0.class\"; {ONE_TARGET}"));
    Shipper::once(&database, &lctl.path())
        .with_usual_priority()
        .args(&["--nice", "19"])
        .run()
        .succeeds_silently();
    // No I/O class, or the lowest level of the default class: in both cases the level follows the nice value.
    let class = fs::read_to_string(lctl.file("lctl.class")).unwrap();
    assert!(
        class.starts_with("none") || class.starts_with("best-effort: prio 7"),
        "{class}"
    );
}

#[test]
fn a_standby_says_nothing_unless_it_is_asked() {
    let database = needs!(Database::new());
    let lctl = Fake::new(
        r#"for p in mdt obdfilter; do
            echo "error: get_param: param_path '$p/*/job_stats': No such file or directory" >&2; done; exit 2"#,
    );
    let once = || Shipper::once(&database, &lctl.path());
    assert_eq!(once().run().is(66, &[]).said, "");
    once()
        .args(&["--verbose"])
        .run()
        .is(66, &["found no target"]);
    // With a spool it sends what waits.
    let spool = lctl.file("spool");
    let once = once().args(&["--spool", spool.to_str().unwrap()]);
    assert_eq!(once.run().is(66, &[]).said, "");
}

/// Lets readings take a tenth of the time, as usual. The last of two options counts.
fn pausing(shipper: Shipper) -> Shipper {
    shipper.args(&["--busy-limit", "10"])
}

#[test]
fn once_pauses_after_a_long_reading() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(ONE_TARGET);
    let lock = lctl.file("lock");
    let once = || pausing(Shipper::once(&database, &lctl.path())).lock(&lock);
    let began = |seconds: u64, took: u32| {
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap();
        let began = now.as_millis() - u128::from(seconds) * 1000;
        fs::write(&lock, format!("{began} {took}\n")).unwrap();
    };
    // Over two hours, and so a pause of most of a day.
    let long = 8_000_000;
    began(120, long);
    once()
        .run()
        .is(0, &["skipping scrapes until", "the last one took 8000.0s"]);
    began(80_001, long);
    once().run().succeeds_silently();
    let noted = fs::read_to_string(&lock).unwrap();
    assert!(!noted.contains(" 8000000\n"), "{noted}");
    began(0, 5_000);
    once().run().succeeds_silently();
    // What waits in the spool is sent nevertheless.
    let spool = lctl.file("spool");
    let spool = ["--spool", spool.to_str().unwrap()];
    Shipper::new(&["once", "--server", "oss1", "--database-url", AWAY])
        .args(&["--lctl", lctl.path().to_str().unwrap()])
        .args(&spool)
        .lock(&lock)
        .run()
        .is(69, &[]);
    began(60, long);
    once().args(&spool).run().is(0, &["skipping scrapes until"]);
    assert_eq!(database.count(), 3);
}

#[test]
fn run_stretches_its_interval_after_a_long_reading() {
    let database = needs!(Database::new());
    let lctl = Fake::new(&format!("[ -e \"$0.quick\" ] || sleep 1.1; {ONE_TARGET}"));
    let url = database.url();
    let mut shipper = pausing(Shipper::new(&[
        "run",
        "--interval",
        "1s",
        "--database-url",
        &url,
    ]))
    .args(&["--lctl", lctl.path().to_str().unwrap()]);
    let mut running = shipper.command().stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(running.stderr.take().unwrap()).lines();
    let said = lines.next().unwrap().unwrap();
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(
        said.contains("lctl: the scrape took")
            && said.contains("the interval is now")
            && !said.contains("now 1s"),
        "{said}"
    );
}

#[test]
fn once_waits_for_its_part_of_the_spread() {
    let mut database = needs!(Database::new());
    let part = |server: &String| xxh3_64(server.as_bytes()) % 500;
    let server = (0..)
        .map(|number| format!("oss{number}"))
        .find(|server| part(server) > 450);
    let lctl = Fake::new(ONE_TARGET);
    let start = Instant::now();
    Shipper::new(&[
        "once",
        "--server",
        &server.unwrap(),
        "--database-url",
        &database.url(),
    ])
    .args(&["--lctl", lctl.path().to_str().unwrap(), "--spread", "500ms"])
    .run()
    .succeeds_silently();
    assert!(start.elapsed() > Duration::from_millis(450));
    assert_eq!(database.count(), 1);
}

/// Text of 64 MB, twice what the shipper may have as memory.
fn large_text() -> Vec<u8> {
    let mut text = Vec::new();
    for line in 0..1_000_000_u32 {
        writeln!(text, "{line:062x}").unwrap();
    }
    text
}

#[test]
fn memory_does_not_grow_with_the_text_of_a_command_or_file() {
    let mut database = needs!(Database::new());
    let place = Fake::new("");
    let file = place.file("large");
    fs::write(&file, large_text()).unwrap();
    let (path, spool) = (file.to_str().unwrap(), place.file("spool"));
    let spool = ["--spool", spool.to_str().unwrap()];
    let url = database.url();
    let once = |way: &str, text: &str, more: &[&str]| {
        let mut shipper = Shipper::new(&["once", "--server", "login1", "--database-url", &url])
            .args(&["--source", "lsf", way, text])
            .args(more);
        limited(shipper.command(), "ulimit -d 32768")
    };
    for ended in [
        once("--command", &format!("cat {path}"), &[]),
        once("--follow", path, &spool),
    ] {
        assert!(
            ended.status.success(),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
    let sizes = "SELECT count(*)::text FROM jobstats.feed";
    // The file is sent in four parts of at most 16 MiB.
    assert_eq!(database.column(sizes), ["5"]);
    let bodies = database.bodies();
    assert!(bodies[0].len() == 63_000_000 && bodies[1..].concat() == bodies[0]);
}

/// Runs the command under a limit of the shell.
fn limited(command: &Command, limit: &str) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("{limit} && exec \"$0\" \"$@\""))
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}
