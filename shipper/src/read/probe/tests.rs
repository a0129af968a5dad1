use std::{fs, process};

use clap::Parser;
use tempfile::TempDir;

use super::fault::{BUSY, ERROR, FULL, Fault};
use super::*;
use crate::commands::options::{Command, Options};
use crate::system::lock::Lock;

fn options(arguments: &[&str]) -> Option<ProbeOptions> {
    let arguments = [&["jobstats-shipper", "probe"], arguments].concat();
    match Options::try_parse_from(arguments).ok()?.command {
        Command::Probe(options) => Some(options.probe),
        _ => None,
    }
}

#[test]
fn a_directory_may_have_the_name_of_its_target() {
    let places = |text: &str| options(&[text]).map(|options| options.directories);
    let place = |target: Option<&str>, directory: &str| Place {
        target: target.map(str::to_owned),
        directory: directory.into(),
    };
    for (text, expected) in [
        ("/scratch//probe/", place(None, "/scratch/probe")),
        ("/scratch/a=b", place(None, "/scratch/a=b")),
        (
            "scratch-OST0003=/scratch/a=b",
            place(Some("scratch-OST0003"), "/scratch/a=b"),
        ),
    ] {
        assert_eq!(places(text), Some(vec![expected]), "{text}");
    }
    let long = format!("/{}", "x".repeat(LONGEST));
    for text in ["probe", "=/probe", "a\"b=/probe", "/a\nb", "a=b", "", &long] {
        assert_eq!(places(text), None, "{text}");
    }
}

#[test]
fn a_probe_takes_little_of_a_target_and_ends_before_the_next_one() {
    let check = |arguments: &[&str]| {
        let options = options(&[arguments, &["/a", "/b"]].concat()).unwrap();
        options.check().map_err(|error| error.to_string())
    };
    for arguments in [
        &[][..],
        &["--size", "16MiB"],
        &["--size", "300kB", "--bandwidth", "1MB"],
        &["--interval", "10s", "--timeout", "5s"],
    ] {
        assert_eq!(check(arguments), Ok(()));
    }
    for (arguments, word) in [
        (&["--size", "17MiB"][..], "--size"),
        (&["--size", "301kB", "--bandwidth", "1MB"], "--bandwidth"),
        (&["--interval", "1s", "--timeout", "100ms"], "--bandwidth"),
        (&["--interval", "39s"], "--timeout"),
        (&["/a/"], "given twice"),
    ] {
        let said = check(arguments).unwrap_err();
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn the_text_is_that_of_an_exporter() {
    let options = options(&["t-OST0000=/a\\\"b", "/full", "/hangs"]).unwrap();
    let outcome = |steps: &[u64], fault| Outcome {
        steps: steps.iter().copied().map(Duration::from_millis).collect(),
        elapsed: Duration::from_secs(20),
        fault,
    };
    let outcomes = [
        outcome(&[1, 2, 3, 4, 5], None),
        outcome(&[1, 2], Some(Fault::new(FULL, "write"))),
        outcome(&[1, 2], Some(Fault::new("timeout", "hangs"))),
    ];
    let text = exposition(options.directories.iter().zip(&outcomes));
    for line in [
        r#"jobstats_probe_seconds{directory="/a\\\"b",target="t-OST0000",step="create"} 0.001000"#,
        r#"jobstats_probe_seconds{directory="/a\\\"b",target="t-OST0000",step="unlink"} 0.005000"#,
        r#"jobstats_probe_failed{directory="/a\\\"b",target="t-OST0000",reason="error"} 0"#,
        r#"jobstats_probe_failed{directory="/full",reason="full"} 1"#,
        r#"jobstats_probe_failed{directory="/full",reason="timeout"} 0"#,
        r#"jobstats_probe_seconds{directory="/hangs",step="write"} 19.997000"#,
        r#"jobstats_probe_failed{directory="/hangs",reason="timeout"} 1"#,
    ] {
        assert!(text.lines().any(|it| it == line), "{line} is not in {text}");
    }
    assert_eq!(text.lines().count(), 4 + 5 + 2 + 3 + 3 * 5);
}

/// Returns a probe of a directory that calls this shell script, and the directory.
fn probe_with(script: &str, timeout: Duration) -> (Probe, TempDir) {
    let directory = TempDir::new().unwrap();
    let program = directory.path().join("program");
    // A separate process writes the file, or the kernel might refuse to run it while a child of another test has it open.
    let write = r##"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 755 "$0""##;
    let written = process::Command::new("sh")
        .args(["-c", write])
        .args([program.as_os_str(), script.as_ref()])
        .status();
    assert!(written.unwrap().success());
    let mut options = options(&[directory.path().to_str().unwrap()]).unwrap();
    options.timeout = timeout;
    let probe = Probe {
        turns: Mutex::new(Turns::new(1, timeout)),
        lock: directory.path().join("lock"),
        program,
        options,
    };
    (probe, directory)
}

#[test]
fn a_process_that_hangs_is_ended_and_its_time_is_told() {
    let mut timeout = Duration::from_millis(100);
    let text = loop {
        let script = "echo create 0.25; echo stat 0.125; exec sleep 3600";
        let text = probe_with(script, timeout).0.round();
        assert!(text.contains("reason=\"timeout\"} 1"), "{text}");
        // A busy machine needs longer for the first steps.
        match text.contains("\"stat\"} 0.125") {
            true => break text,
            false => timeout *= 2,
        }
    };
    assert!(text.contains("\"create\"} 0.25"), "{text}");
    assert!(text.contains("step=\"write\"}"), "{text}");
    assert!(!text.contains("step=\"read\"}"), "{text}");
}

#[test]
fn a_process_says_what_failed() {
    let long = Duration::from_secs(600);
    for (script, expected) in [
        (
            "echo create 1; echo failed full No space left",
            (FULL, "No space left"),
        ),
        (
            "echo failed unusable It is not there",
            (UNUSABLE, "It is not there"),
        ),
        ("exit 3", (ERROR, "exit code 3")),
        ("kill -9 $$", (ERROR, "signal 9")),
    ] {
        let (probe, _directory) = probe_with(script, long);
        let fault = probe.turn(1).remove(0).fault.unwrap();
        assert_eq!((fault.reason, fault.message.as_str()), expected, "{script}");
    }
    let (probe, directory) = probe_with("echo create 1", long);
    assert_eq!(probe.turn(1).remove(0).fault, None);
    // A process that hangs since before this program was started has the lock.
    let files = fs::read_dir(&directory).unwrap();
    let lock = files.map(|file| file.unwrap().path());
    let lock = lock.filter(|path| path.file_stem() == Some("lock".as_ref()));
    let _lock = Lock::take(&lock.last().unwrap()).unwrap();
    assert_eq!(probe.turn(1).remove(0).fault.unwrap().reason, BUSY);
}

#[test]
fn the_process_has_the_name_that_job_stats_shows() {
    let directory = TempDir::new().unwrap();
    let attempt = Attempt {
        size: 0,
        directory: directory.path().to_owned(),
    };
    let name = std::thread::spawn(move || {
        attempt.execute();
        fs::read_to_string("/proc/thread-self/comm").unwrap()
    });
    assert_eq!(name.join().unwrap(), "jobstats-probe\n");
}
