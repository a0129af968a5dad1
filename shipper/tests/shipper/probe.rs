//! Directories that are probed.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::common::machine::readings;
use crate::common::{AWAY, Database, Running, Shipper, unpack, wait_for};
use rustix::system::uname;
use tempfile::TempDir;

const STEPS: [&str; 5] = ["create", "stat", "write", "read", "unlink"];

/// A client with directories.
struct Client {
    directory: TempDir,
}

impl Client {
    fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn make(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn probe(&self, place: &str, more: &[&str]) -> Shipper {
        Shipper::new(&["probe", place])
            .args(&["--server", "login1"])
            .args(more)
            .lock(&self.path("lock"))
    }

    /// Probes a directory once, and returns its output.
    fn print(&self, directory: &Path) -> Output {
        let place = format!("fs-OST0001={}", directory.display());
        let mut probe = self.probe(&place, &["--print"]);
        probe.command().output().unwrap()
    }

    /// Probes a directory again and again.
    fn run(&self, directory: &Path, url: &str) -> Running {
        let mut probe = self.shipper(directory, url);
        Running(probe.command().stderr(Stdio::null()).spawn().unwrap())
    }

    fn shipper(&self, directory: &Path, url: &str) -> Shipper {
        let spool = self.path("spool");
        let spool = spool.to_str().unwrap();
        let more = ["--interval", "1d", "--spool", spool, "--database-url", url];
        self.probe(directory.to_str().unwrap(), &more)
    }
}

/// Returns the name of the file that a probe of this machine makes.
fn file_name() -> String {
    format!(".jobstats-probe.{}", uname().nodename().to_str().unwrap())
}

fn names(directory: &Path) -> Vec<String> {
    let files = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_probe_tells_of_each_step_and_leaves_only_what_is_not_its_own() {
    let client = Client::new();
    let directory = client.make("directory");
    let others = [".jobstats-probe.another-machine", "file"];
    for name in others {
        fs::write(directory.join(name), name).unwrap();
    }
    // A probe was killed.
    fs::write(directory.join(file_name()), "stale").unwrap();
    let output = client.print(&directory);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let labels = format!(
        "directory=\"{}\",target=\"fs-OST0001\"",
        directory.display()
    );
    for step in STEPS {
        let begin = format!("jobstats_probe_seconds{{{labels},step=\"{step}\"}} 0.");
        assert!(text.contains(&begin), "{begin} is not in {text}");
    }
    let failures = text
        .lines()
        .filter(|line| line.starts_with("jobstats_probe_failed{"));
    let failures: Vec<_> = failures.collect();
    assert_eq!(failures.len(), 5, "{text}");
    assert!(failures.iter().all(|line| line.ends_with(" 0")), "{text}");
    assert_eq!(names(&directory), others);
    for name in others {
        assert_eq!(fs::read_to_string(directory.join(name)).unwrap(), name);
    }
}

#[test]
fn a_place_that_others_could_change_is_refused() {
    let client = Client::new();
    let [victim, open, taken, own] = ["victim", "open", "taken", "own"].map(|it| client.make(it));
    fs::write(victim.join("file"), "precious").unwrap();
    fs::set_permissions(&open, Permissions::from_mode(0o1777)).unwrap();
    symlink(&own, client.path("link")).unwrap();
    // Other files at the place of the probe's file are neither followed nor removed.
    symlink(victim.join("file"), taken.join(file_name())).unwrap();
    for (name, word) in [
        ("link", "link: "),
        ("missing", "No such file"),
        ("victim/file", "Not a directory"),
        ("open", "chmod go-w"),
        ("taken", "not a file of the probe"),
    ] {
        let output = client.print(&client.path(name));
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(output.status.code(), Some(78), "{name}: {said}");
        assert!(said.contains(word), "{name}: {said}");
        assert!(output.stdout.is_empty());
    }
    assert_eq!(fs::read(victim.join("file")).unwrap(), b"precious");
    assert_eq!(names(&taken), [file_name()]);
    assert!(names(&own).is_empty() && names(&open).is_empty());
}

#[test]
fn texts_wait_in_the_spool_and_a_second_probe_gives_way() {
    let client = Client::new();
    let directory = client.make("directory");
    let _running = client.run(&directory, AWAY);
    let spool = client.path("spool");
    let waiting = || match spool.exists() {
        true => readings(&spool),
        false => Vec::new(),
    };
    wait_for("text", || !waiting().is_empty());
    let [file] = &waiting()[..] else {
        panic!("{:?}", waiting());
    };
    assert!(file.ends_with(".openmetrics.zst"), "{file}");
    let text = unpack(&fs::read(spool.join(file)).unwrap());
    assert!(text.contains("jobstats_probe_seconds{"), "{text}");
    let second = client.shipper(&directory, AWAY);
    second.run().is(75, &["another instance"]);
}

#[test]
fn a_store_has_the_times_of_a_target() {
    let mut database = needs!(Database::with_store());
    database.execute("SELECT jobstats_setup(metrics => '{jobstats_probe_*}')");
    let client = Client::new();
    let directory = client.make("directory");
    let _running = client.run(&directory, &database.url());
    let steps = "SELECT labels ->> 'step' FROM jobstats.samples WHERE name = 'jobstats_probe_seconds' AND value < 600 ORDER BY 1";
    wait_for("samples", || !database.column(steps).is_empty());
    let mut expected = STEPS;
    expected.sort_unstable();
    assert_eq!(database.column(steps), expected);
    let failed =
        "SELECT sum(value)::text FROM jobstats.samples WHERE name = 'jobstats_probe_failed'";
    assert_eq!(database.column(failed), ["0"]);
}
