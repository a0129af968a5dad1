//! The program as a person calls it.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod outcome;

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use outcome::said;

fn run(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_jobstats-console"));
    program.env_remove("JOBSTATS_DATABASE_URL");
    program.args(arguments).env("TZ", "UTC");
    if arguments[0] == "top" {
        program.args(["--timeout", "10m"]);
    }
    program.output().unwrap()
}

/// A command that prints a counter that grows with each call.
fn growing(directory: &std::path::Path) -> String {
    let count = directory.join("count").display().to_string();
    format!(
        "n=$(cat {count} 2>/dev/null || echo 0); n=$((n + 1)); echo $n >{count}; echo $((1700000000 + 10 * n)); \
         printf 'mdt.scratch-MDT0000.job_stats=\\njob_stats:\\n- job_id: 1000:4711_2:r01c01\\n  open: {{ samples: %s, unit: usecs, \
         min: 1, max: 1, sum: %s, sumsq: 1 }}\\n' $((100 * n)) $((5000000 * n))"
    )
}

#[test]
fn a_table_is_printed_recorded_and_printed_again() {
    let directory = tempfile::tempdir().unwrap();
    let recording = directory.path().join("recording").display().to_string();
    let input = growing(directory.path());
    let live = run(&[
        "top", "--once", "-i", "1ms", "--server", "mds1", "--input", &input, "--record",
        &recording, "--width", "80",
    ]);
    assert_eq!(said(&live), (0, String::new()));
    let text = String::from_utf8(live.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines[0].starts_with(" scratch") && lines[0].contains("0.5 in service"),
        "{text}"
    );
    assert!(lines[0].ends_with("UTC over 10 s"), "{text}");
    assert_eq!(lines[1], " by user · ranked by requests in service");
    assert_eq!(
        lines[3],
        "  1  1000         1  ███████   0.5   100 %   10/s         0            0"
    );
    assert_eq!(lines.len(), 4, "{text}");

    let replayed = run(&["top", &recording, "--once", "--width", "80"]);
    let replayed = String::from_utf8(replayed.stdout).unwrap();
    assert_eq!(replayed, text);
    let zoned = ["top", &recording, "--once", "--zone", "Asia/Kolkata"];
    let zoned = run(&zoned);
    let zoned = String::from_utf8(zoned.stdout).unwrap();
    assert!(
        zoned.lines().next().unwrap().contains(" 2023-11-15 03:4"),
        "{zoned}"
    );
    let json = run(&["top", &recording, "--json"]);
    assert_eq!(String::from_utf8(json.stdout).unwrap().lines().count(), 1);
}

/// Returns a table of users and jobs on servers whose entries have these identifiers.
fn table_of(ids: &str, options: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let count = directory.path().join("count").display().to_string();
    let input = format!(
        "n=$(cat {count} 2>/dev/null || echo 0); n=$((n + 1)); echo $n >{count}; echo $((1700000000 + 10 * n)); \
         printf 'mdt.scratch-MDT0000.job_stats=\\njob_stats:\\n'; for id in {ids}; do \
         printf -- '- job_id: %s\\n  open: {{ samples: %s, unit: reqs }}\\n' $id $((100 * n)); done"
    );
    let arguments = [
        "top", "--once", "-i", "1ms", "--by", "job", "--input", &input,
    ];
    let output = run(&[&arguments, options].concat());
    assert_eq!(said(&output), (0, String::new()));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn formats_that_swap_user_and_job_are_read_on_one_file_system() {
    let ids =
        "1000:8004711:n1 1000:8004712:n1 8004713:1001:m1 1001:8004714:n2 8004715:1000:m2 make.1002";
    let table = table_of(ids, &[]);
    for (job, user) in [
        (8004711, 1000),
        (8004713, 1001),
        (8004714, 1001),
        (8004715, 1000),
    ] {
        assert!(table.contains(&format!("{job}   {user} ")), "{table}");
    }
    assert!(table.contains("without job 17 %"), "{table}");
}

#[test]
fn a_person_is_asked_for_the_format_if_either_number_may_be_the_user() {
    let id = "700001:800001:n101";
    let table = table_of(id, &[]);
    for line in [
        " Either number may be the user. Give the jobid_name of the clients:\n",
        " --format %j:%u:%H  700001:800001:n101 = user 800001, job 700001, node n101\n",
        " --format %u:%j:%H  700001:800001:n101 = user 700001, job 800001, node n101\n",
        "without job 100 %",
    ] {
        assert!(table.contains(line), "{table}");
    }
    let users = "echo ada:x:700001:1::/h:/s";
    for (options, row) in [
        (["--format", "%j:%u:%H"], "700001    800001 "),
        (["--format", "%u:%j:%H"], "800001    700001 "),
        (["--users", users], "800001    ada "),
    ] {
        let table = table_of(id, &options);
        assert!(table.contains(row) && !table.contains("Either"), "{table}");
    }
}

#[test]
fn a_profile_names_the_servers() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("console.toml").display().to_string();
    let input = growing(directory.path());
    fs::write(
        &config,
        format!(
            "[profile.scratch]\ninterval = '1ms'\n[profile.scratch.input]\nmds1 = '''{input}'''\n"
        ),
    )
    .unwrap();
    let output = run(&[
        "top",
        "-P",
        "scratch",
        "--profiles",
        &config,
        "--once",
        "--by",
        "target",
    ]);
    assert_eq!(said(&output), (0, String::new()));
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("MDT0000")
    );
    let named = [
        "top",
        "-P",
        "scratch",
        "--profiles",
        &config,
        "--once",
        "--users",
        "echo ada:x:1000:1::/h:/s",
    ];
    assert!(
        String::from_utf8(run(&named).stdout)
            .unwrap()
            .contains("  1  ada ")
    );
    let unnamed = [
        "top",
        "-P",
        "scratch",
        "--profiles",
        &config,
        "--once",
        "--users",
        "exit 1",
    ];
    assert_eq!(
        said(&run(&unnamed)),
        (
            74,
            "jobstats-console: the names of users cannot be read: exit code 1\n".to_owned()
        )
    );
    let (code, message) = said(&run(&[
        "top",
        "-P",
        "other",
        "--profiles",
        &config,
        "--once",
    ]));
    assert!(
        code == 78 && message.contains("it has scratch"),
        "{message}"
    );
}

/// The host is the third argument of ssh, which a script replaces here.
#[test]
fn the_profile_that_packages_have_as_an_example_can_be_used() {
    let directory = tempfile::tempdir().unwrap();
    let ssh = directory.path().join("ssh");
    let script = format!(
        "#!/bin/sh\n[ \"$4\" = lctl ] || exec echo ada:x:1000:1000::/h:/s\n{}\n",
        growing(directory.path()).replace("/count", "/count-$3")
    );
    let text = directory.path().join("text");
    fs::write(&text, script).unwrap();
    // Another process writes the program: while a child of another test has it open between fork and exec, the kernel does not run it
    // ("Text file busy").
    let mut install = Command::new("install");
    let installed = install.args(["-m", "755"]).args([&text, &ssh]).status();
    assert!(installed.unwrap().success());
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../packaging/console.toml");
    let path = format!(
        "{}:{}",
        directory.path().display(),
        env::var("PATH").unwrap()
    );
    let output = Command::new(env!("CARGO_BIN_EXE_jobstats-console"))
        .args(["top", "-P", "scratch", "--profiles", example, "--once"])
        .args(["-i", "1ms"])
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(said(&output), (0, String::new()));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("  1  ada "), "{shown}");
}

#[test]
fn a_profile_may_name_the_store_of_any_command() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("console.toml");
    let text = "[profile.store]\ndatabase_url = 'postgresql://reader@/nowhere?host=/nonexistent'\n[profile.servers]\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let page = directory.path().join("page.html");
    for command in [
        vec!["job", "4711"],
        vec!["user", "ada"],
        vec!["target", "scratch-MDT0000"],
        vec!["report", "-o", page.to_str().unwrap()],
        vec!["compare", "1", "2", "-o", page.to_str().unwrap()],
        vec!["export", directory.path().to_str().unwrap()],
    ] {
        let with = |profile| {
            let mut arguments = command.clone();
            arguments.extend(["-P", profile, "--profiles", file]);
            said(&run(&arguments))
        };
        let (code, error) = with("store");
        assert!(
            code == 69 && error.contains("/nonexistent"),
            "{command:?} {code} {error}"
        );
        let (code, error) = with("servers");
        assert!(
            code == 78 && error.contains("which name a store"),
            "{command:?} {code} {error}"
        );
        let (code, error) = with("other");
        assert!(
            code == 78 && error.contains("has no [profile.other]"),
            "{command:?} {code} {error}"
        );
    }
}

#[test]
fn servers_are_read_by_ssh() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    // The shell of the server runs what ssh gets behind the name.
    for (name, script) in [
        (
            "ssh",
            "[ \"$*\" = \"-o BatchMode=yes -o ConnectTimeout=5 $5 lctl get_param '*.*.job_cleanup_interval' '*.*.job_stats'\" ] || exit 255; \
             shift 5; exec sh -c \"$*\"",
        ),
        ("lctl", &growing(directory.path())),
    ] {
        let file = directory.path().join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let path = format!(
        "{}:{}",
        directory.path().display(),
        std::env::var("PATH").unwrap()
    );
    let read = |hosts: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_jobstats-console"));
        program.args([
            "top",
            "--once",
            "-i",
            "1ms",
            "--timeout",
            "10m",
            "--json",
            "--ssh",
            hosts,
        ]);
        program.env("PATH", &path).output().unwrap()
    };
    let read_one = read("root@mds1");
    assert_eq!(said(&read_one), (0, String::new()));
    let line = String::from_utf8(read_one.stdout).unwrap();
    assert!(line.contains(r#""server":"mds1""#), "{line}");
    assert_eq!(said(&read("mds1,mds1")).0, 64);
    assert_eq!(said(&read("-oProxyCommand=x")).0, 64);
    assert_eq!(said(&read("mds1;x")).0, 64);
}

#[test]
fn what_is_wrong_is_told_with_its_exit_code() {
    let told = |arguments: &[&str]| said(&run(arguments));
    assert_eq!(told(&["top"]).0, 66);
    assert_eq!(told(&["top", "--flies"]).0, 64);
    assert_eq!(told(&["top", "--at", "someday"]).0, 64);
    assert_eq!(told(&["top", "--input", "x", "--at", "1h"]).0, 64);
    assert_eq!(told(&["top", "--input", "x", "--cluster", "a"]).0, 64);
    let password = "postgresql://a:secret@localhost/b";
    let (code, message) = told(&["top", "--once", "--database-url", password]);
    assert!(code == 78 && !message.contains("secret"), "{message}");
    assert_eq!(told(&["top", "/nonexistent", "--once"]).0, 71);
    assert_eq!(
        told(&["top", "--input", "ssh a x", "--input", "ssh a y", "--once"]).0,
        64
    );
    assert_eq!(
        told(&["top", "--input", "x", "--server", "a", "--server", "b"]).0,
        64
    );
    let (code, message) = told(&[
        "top",
        "--once",
        "--input",
        "echo 'ssh: no \u{1b}[31mroute' >&2; exit 255",
        "--server",
        "oss1",
    ]);
    assert_eq!(code, 74);
    assert_eq!(
        message,
        "jobstats-console: no server could be read\n  oss1: ssh: no \\x1B[31mroute (exit code 255)\n"
    );
    let (code, message) = told(&["top", "--input", "true"]);
    assert!(
        code == 71 && message.contains("needs a terminal"),
        "{message}"
    );
}

#[test]
fn a_signal_ends_the_commands_too() {
    let directory = tempfile::tempdir().unwrap();
    let number = directory.path().join("pid");
    let input = format!(
        "echo $$ >{}.new; mv {0}.new {0}; exec sleep 86400",
        number.display()
    );
    for signal in ["INT", "TERM"] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_jobstats-console"));
        program.args(["top", "--json", "--input", &input]);
        let mut child = program.stdout(Stdio::null()).spawn().unwrap();
        wait_for("the command", || number.exists());
        let command = fs::read_to_string(&number).unwrap().trim().to_owned();
        fs::remove_file(&number).unwrap();
        let own = child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &own]).status();
        assert!(sent.unwrap().success());
        let ended = child.wait().unwrap();
        assert_eq!(ended.code(), None, "{ended}");
        // A killed process is there until its parent, which may be any, has noticed.
        let is_there = || {
            let stat = fs::read_to_string(format!("/proc/{command}/stat")).unwrap_or_default();
            !stat.is_empty() && !stat.contains(") Z ")
        };
        wait_for("the end of the command", || !is_there());
    }
}

#[test]
fn a_recording_that_cannot_be_written_is_told_at_once() {
    let (code, message) = said(&run(&[
        "top",
        "--json",
        "--input",
        "sleep 300",
        "--record",
        "/proc/nowhere",
    ]));
    assert_eq!(code, 71, "{message}");
    assert!(
        message.contains("cannot be written to /proc/nowhere"),
        "{message}"
    );
    // A directory that is there and takes no file.
    let (code, message) = said(&run(&[
        "top",
        "--json",
        "--input",
        "sleep 300",
        "--record",
        "/proc/self",
    ]));
    assert_eq!(code, 71, "{message}");
}

/// The time after which something that a test waits for is taken to never come, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(600);

#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "in vain: {what}");
        sleep(Duration::from_millis(10));
    }
}

/// Runs the screen on a terminal of this size, presses each key when its word is shown, and returns what the terminal got.
fn on_a_terminal(arguments: &str, keys: &[(&str, &str)]) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_jobstats-console");
    let inside =
        format!("stty rows 24 cols 80; exec timeout --foreground 600 {program} {arguments}");
    let mut script = Command::new("script");
    script
        .args(["-qec", &inside, "/dev/null"])
        .env("TERM", "xterm");
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = script.spawn() else {
        println!("not run: there is no script, which makes terminals");
        return None;
    };
    let mut terminal = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let (mut drawn, mut piece) = (Vec::new(), [0; 4096]);
    for (word, key) in keys {
        while !String::from_utf8_lossy(&drawn).contains(word) {
            let read = screen.read(&mut piece).unwrap();
            assert!(read > 0, "{word}: {}", String::from_utf8_lossy(&drawn));
            drawn.extend_from_slice(&piece[..read]);
        }
        terminal.write_all(key.as_bytes()).unwrap();
        terminal.flush().unwrap();
    }
    screen.read_to_end(&mut drawn).unwrap();
    assert!(child.wait().unwrap().success());
    Some(String::from_utf8_lossy(&drawn).into_owned())
}

#[test]
fn a_screen_is_drawn_and_the_terminal_is_left_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let text = "mdt.scratch-MDT0000.job_stats=\njob_stats:\n- job_id: \"a\\x1B]0;gone\\x07.1000\"\n  open: { samples: 1, unit: usecs, min: 1, max: 1, sum: 1, sumsq: 1 }\n";
    let (first, second) = (
        directory.path().join("first"),
        directory.path().join("second"),
    );
    fs::write(&first, format!("1700000000\n{text}")).unwrap();
    fs::write(
        &second,
        format!(
            "1700000010\n{}",
            text.replace("samples: 1", "samples: 9")
                .replace("sum: 1", "sum: 9")
        ),
    )
    .unwrap();
    let input = format!(
        "cat {0}; mv {1} {0} 2>/dev/null; true",
        first.display(),
        second.display()
    );
    let arguments = format!("top --by entry --interval 200ms --server mds1 --input '{input}'");
    let Some(drawn) = on_a_terminal(
        &arguments,
        &[("x1B]0;gone", " "), ("PAUSED", "?"), ("Keys", "q")],
    ) else {
        return;
    };
    assert!(
        drawn.contains("\u{1b}[?1049h") && drawn.contains("MDT") && drawn.contains("PAUSED"),
        "{drawn:?}"
    );
    assert!(drawn.contains("x1B]0;gone"), "{drawn:?}");
    assert!(!drawn.contains("\u{1b}]0"), "{drawn:?}");
    assert!(drawn.contains("Keys"), "{drawn:?}");
    let left = drawn.rfind("\u{1b}[?1049l").unwrap();
    assert!(left > drawn.rfind("Keys").unwrap());
}
