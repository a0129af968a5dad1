//! The pages of the console, of a store that the simulator filled and of one with hostile names, as their readers see them:
//! `scripts/pages.py` opens them in Chromium. Needs a server with the extension, too.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod database;
mod service;

use std::env;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use database::Database;
use jiff::{SignedDuration, Timestamp};
use service::Running;
use tempfile::TempDir;

/// The stores: a simulated cluster, and one with hostile names.
const SIMULATED: &str = "simulated";
const HOSTILE: &str = "hostile";

/// Reports in a directory.
struct Reports {
    directory: TempDir,
    files: Vec<PathBuf>,
}

impl Reports {
    /// Writes reports of all kinds. Without a server it prints so and returns `None`.
    fn new() -> Option<Self> {
        let simulated = simulated()?;
        let hostile = hostile(HOSTILE)?;
        let mut reports = Self {
            directory: TempDir::new().unwrap(),
            files: Vec::new(),
        };
        let console = database::simulator::build_program("jobstats-console");
        reports.write(&console, SIMULATED, &simulated);
        reports.write(&console, HOSTILE, &hostile);
        Some(reports)
    }

    fn write(&mut self, console: &Path, store: &str, database: &Database) {
        let (user, jobs, filesystem, target) = database.largest();
        let from = "3h";
        for (kind, arguments) in [
            (
                "filesystem",
                vec!["report", &filesystem, "--from", from, "-o"],
            ),
            ("job", vec!["job", &jobs[0], "--html"]),
            ("user", vec!["user", &user, "--from", from, "--html"]),
            ("target", vec!["target", &target, "--from", from, "--html"]),
            ("compare", vec!["compare", &jobs[0], &jobs[1], "-o"]),
        ] {
            let file = self.directory.path().join(format!("{store}-{kind}.html"));
            let written = Command::new(console)
                .args(&arguments)
                .arg(&file)
                .env("JOBSTATS_DATABASE_URL", &database.url)
                .output()
                .unwrap();
            assert!(written.status.success(), "{arguments:?}: {written:?}");
            self.files.push(file);
        }
    }

    /// Returns the reports of a store.
    fn of(&self, store: &str) -> Vec<&PathBuf> {
        let named = |it: &&PathBuf| it.file_name().unwrap().to_str().unwrap().starts_with(store);
        let files: Vec<_> = self.files.iter().filter(named).collect();
        assert_eq!(files.len(), 5);
        files
    }
}

/// Checks pages in a browser. Without the tools it prints so and returns false.
fn look<A: AsRef<OsStr>>(command: &str, arguments: impl IntoIterator<Item = A>) -> bool {
    let python = env::var_os("JOBSTATS_TEST_PYTHON").unwrap_or_else(|| "python3".into());
    let looked = Command::new(python)
        .args(["../scripts/pages.py", command])
        .args(arguments)
        .output();
    let looked = match looked {
        Ok(looked) if looked.status.code() != Some(77) => looked,
        _ => {
            eprintln!("not run: pages: Chromium or Playwright is missing: run make setup-dev");
            return false;
        }
    };
    let said = [looked.stdout, looked.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    assert!(looked.status.success(), "{}", said.concat());
    true
}

impl Database {
    /// Returns the user and two jobs that did most, the file system, and a target.
    fn largest(&self) -> (String, Vec<String>, String, String) {
        let mut client = database::connect(&self.url);
        let mut column = |statement: &str| -> Vec<String> {
            let rows = client.query(statement, &[]).unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        };
        let top = |by: &str| {
            format!(
                "SELECT labels ->> '{by}' FROM jobstats_top(now() - interval '3 hours', now(), 'bytes', '{by}', 5) \
                 WHERE labels ->> '{by}' IS NOT NULL ORDER BY rank"
            )
        };
        let user = column(&top("uid")).remove(0);
        let jobs = column(&top("job"));
        let target =
            column("SELECT name FROM jobstats.targets WHERE kind = 'OST' ORDER BY 1").remove(0);
        let filesystem = column("SELECT filesystem FROM jobstats.targets ORDER BY 1").remove(0);
        (user, jobs, filesystem, target)
    }
}

/// Returns a store of an hour of a simulated cluster.
fn simulated() -> Option<Database> {
    let mut store = Database::with_store("simulated")?;
    store.load("small", 10);
    store
        .client
        .batch_execute("CALL jobstats_maintain()")
        .unwrap();
    Some(store)
}

/// The names that somebody gives to a job, to an account, and to a program.
fn hostile_names() -> [String; 3] {
    [
        "<script>alert(1)</script>\u{202e}\u{1b}[31m'\"".repeat(200),
        "</title></svg><img src=x onerror=alert(1)>".to_owned(),
        "\"><b>&amp;".to_owned(),
    ]
}

/// Returns a store in which everything that users name is hostile.
fn hostile(name: &str) -> Option<Database> {
    let mut store = Database::with_store(name)?;
    // The first text is of the day before, so that it is known who added space.
    let minutes = [-1440].into_iter().chain((0..=110).step_by(10));
    let start = Timestamp::now() - SignedDuration::from_hours(2);
    let [job_name, account, program] = hostile_names();
    for minute in minutes {
        let time = start + SignedDuration::from_mins(minute);
        let mut body = beside(time);
        if minute >= 0 {
            body += &printed(minute as u64 + 1, &program);
        }
        store
            .client
            .execute(
                "INSERT INTO jobstats.feed (server, \"time\", body) VALUES ('oss1', $1::text::timestamptz, $2)",
                &[&time.to_string(), &body],
            )
            .unwrap();
    }
    let header = "JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|Partition|State|ExitCode|NNodes|NCPUS|JobName\n";
    let runs: String = (11..=12)
        .map(|job| {
            let start = start.as_second();
            format!("{job}|{job}|alpha|{start}|{start}|Unknown|1000|{account}|{account}|{program}|RUNNING|0:0|2|32|{job_name}\n")
        })
        .collect();
    let passwd = format!("{account}:x:1000:1000:{job_name}:/:/bin/sh\n");
    for (source, body) in [
        ("slurm", (header.to_owned() + &runs).replace('|', "\x1f")),
        ("passwd", passwd),
    ] {
        store
            .client
            .execute(
                "SELECT * FROM jobstats_ingest('', $1, now(), source => $1, body => $2::text)",
                &[&source, &body],
            )
            .unwrap();
    }
    store
        .client
        .batch_execute("UPDATE jobstats.settings SET refresh_lag = '0'")
        .unwrap();
    store
        .client
        .batch_execute("CALL jobstats_maintain()")
        .unwrap();
    Some(store)
}

/// Returns what a server prints of a user's space, which grows with time, and of a service that lets requests wait for 50 ms.
fn beside(time: Timestamp) -> String {
    let second = time.as_second();
    format!(
        "osd-ldiskfs.scratch-OST0000.quota_slave.acct_user=\nusr_accounting:\n- id:      1000\n  usage:   {{ inodes:  9, kbytes:  {second} }}\n\
         ost.OSS.ost_io.stats=\nsnapshot_time {second}.000000000 secs.nsecs\nstart_time 1.000000000 secs.nsecs\nelapsed_time 1.000000000 \
         secs.nsecs\nreq_waittime {second} samples [usecs] 1 90000 {} 0\n",
        50_000 * second
    )
}

/// Returns what a server prints of two jobs, and of a program, that have worked for some minutes.
fn printed(minutes: u64, program: &str) -> String {
    let entry = |job: &str, each: u64| {
        let (samples, sum) = (1000 * minutes, 1000 * minutes * each);
        format!(
            "- job_id: {job}\n  write_bytes: {{ samples: {samples}, unit: bytes, min: {each}, max: {each}, sum: {sum}, sumsq: {} }}\n  \
             write: {{ samples: {samples}, unit: usecs, min: 500, max: 500, sum: {}, sumsq: {} }}\n",
            sum * each,
            500 * samples,
            250_000 * samples
        )
    };
    let entries = [
        entry("1000:11:n01", 4096),
        entry("1000:12:n02", 65_536),
        entry(&format!("{program}.1000"), 1024),
    ];
    format!(
        "obdfilter.scratch-OST0000.job_stats=\njob_stats:\n{}",
        entries.concat()
    )
}

#[test]
fn reports_look_as_they_should_and_can_be_read_by_everybody() {
    let Some(reports) = Reports::new() else {
        return;
    };
    // Hostile names change only texts, not the findings of axe.
    let _ = look("check", reports.of(SIMULATED)) && look("inspect", reports.of(HOSTILE));
}

/// The secret of a web server, and the user that it names.
const SECRET: &str = "5ac33f6f6bd7d7b0";
const USER: &str = "daemon";

/// A service behind a web server.
struct Service {
    running: Running,
    _directory: TempDir,
}

impl Service {
    /// Starts a service in which the user of the web server, whose number is 1, has all work of user 1000.
    fn start(store: &mut Database) -> Self {
        let role = format!("{}_web", store.name);
        let own: String = ["entries", "jobs", "job_ids", "job_summaries"]
            .map(|table| format!("UPDATE jobstats.{table} SET uid = 1 WHERE uid = 1000;"))
            .concat();
        store
            .client
            .batch_execute(&format!(
                "{own} UPDATE jobstats.users SET uid = 1 WHERE uid = 1000; UPDATE jobstats.settings SET system_uids_below = 1;
                 CREATE ROLE {role} LOGIN; SELECT jobstats_grant_proxy('{role}')"
            ))
            .unwrap();
        let directory = TempDir::new().unwrap();
        let [socket, secret] = ["socket", "secret"].map(|name| directory.path().join(name));
        fs::write(&secret, SECRET).unwrap();
        fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
        let mut command = Command::new(database::simulator::build_program("jobstats-console"));
        command
            .args(["serve", "--time", "10m", "--listen", "127.0.0.1:0"])
            .arg("--socket")
            .arg(socket)
            .arg("--secret-file")
            .arg(secret)
            .env("JOBSTATS_DATABASE_URL", store.url_of(&role));
        Self {
            running: Running::start(&mut command),
            _directory: directory,
        }
    }
}

#[test]
fn pages_of_the_service_run_nothing_and_can_be_read_by_everybody() {
    let Some(mut store) = hostile("served") else {
        return;
    };
    let service = Service::start(&mut store);
    let headers = [
        format!("jobstats-secret={SECRET}"),
        format!("x-remote-user={USER}"),
    ];
    let urls = |paths: &[&str]| -> Vec<String> {
        let urls = paths
            .iter()
            .map(|it| format!("http://{}{it}", service.running.address()));
        headers.iter().cloned().chain(urls).collect()
    };
    let pages = urls(&[
        "/",
        "/jobs?n=1",
        "/compare/11,10_2",
        "/job/11",
        "/job/4711",
        "/user/1?from=4h",
        "/report?from=4h",
    ]);
    look("visit", pages);
    drop(service);
    store
        .client
        .batch_execute(&format!(
            "DELETE FROM jobstats.proxies; DROP ROLE {}_web",
            store.name
        ))
        .unwrap();
}
