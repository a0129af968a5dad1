//! The reports of the console, of a store that the simulator filled and of one with hostile names, as their readers see them.
//!
//! Needs Chromium, and a server with the extension: `JOBSTATS_TEST_DATABASE_URL` names one where databases may be made.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod browser;
#[path = "../../console/tests/database/mod.rs"]
mod database;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, Weak};

use database::Database;
use jiff::{SignedDuration, Timestamp};
use jobstats_browser::{axe, inspect};
use tempfile::TempDir;

/// The stores: that of a simulated cluster, and one in which everything that users name is hostile.
const SIMULATED: &str = "simulated";
const HOSTILE: &str = "hostile";

/// Reports in a directory.
struct Reports {
    directory: TempDir,
    files: Vec<PathBuf>,
}

impl Reports {
    /// Returns the reports, which tests share that run at the same time, or `None` where there is no server.
    fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Reports>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap();
        if let Some(reports) = shared.upgrade() {
            return Some(reports);
        }
        let reports = Arc::new(Self::new()?);
        *shared = Arc::downgrade(&reports);
        Some(reports)
    }

    /// Writes reports of all kinds. Returns `None`, and says so, where there is no server.
    fn new() -> Option<Self> {
        let simulated = simulated()?;
        let hostile = hostile()?;
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

    /// Asserts that this finds no fault in any report of these stores.
    #[track_caller]
    fn are_without(&self, stores: &[&str], faults: impl Fn(&Path) -> Vec<String>) {
        let (mut all, mut looked_at) = (Vec::new(), 0);
        for file in &self.files {
            let name = file.file_name().unwrap().to_str().unwrap();
            if stores.iter().any(|store| name.starts_with(store)) {
                looked_at += 1;
                all.extend(faults(file).into_iter().map(|it| format!("{name} {it}")));
            }
        }
        assert_eq!(looked_at, 5 * stores.len());
        assert!(all.is_empty(), "{} faults\n{}", all.len(), all.join("\n"));
    }
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
                "SELECT {by}::text FROM jobstats_top(now() - interval '3 hours', now(), 'bytes', '{{{by}}}', 5) \
                 WHERE {by} IS NOT NULL ORDER BY rank"
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
fn hostile() -> Option<Database> {
    let mut store = Database::with_store("hostile")?;
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
        entry("11:1000:n01", 4096),
        entry("12:1000:n02", 65_536),
        entry(&format!("{program}.1000"), 1024),
    ];
    format!(
        "obdfilter.scratch-OST0000.job_stats=\njob_stats:\n{}",
        entries.concat()
    )
}

#[test]
fn reports_look_as_they_should() {
    let Some(chromium) = browser::start("reports") else {
        return;
    };
    let Some(reports) = Reports::shared() else {
        return;
    };
    reports.are_without(&[SIMULATED, HOSTILE], |file| {
        inspect::faults(&chromium, file).unwrap()
    });
}

#[test]
fn reports_can_be_read_by_everybody() {
    let Some((chromium, axe)) = browser::start_with_axe("accessible") else {
        return;
    };
    let Some(reports) = Reports::shared() else {
        return;
    };
    // What users name changes texts alone, and nothing that axe looks at.
    reports.are_without(&[SIMULATED], |file| {
        axe::faults(&chromium, &axe, file).unwrap()
    });
}

/// Returns the page at a path of a service.
fn page_of(socket: &Path, path: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, page) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-type: text/html"), "{head}");
    page.to_owned()
}

/// The pages that the service has beside those about jobs and users.
#[test]
fn pages_of_the_service_can_be_read_by_everybody() {
    let Some((chromium, axe)) = browser::start_with_axe("served") else {
        return;
    };
    let Some(store) = Database::with_store("served") else {
        return;
    };
    let directory = TempDir::new().unwrap();
    let socket = directory.path().join("socket");
    let mut service = Command::new(database::simulator::build_program("jobstats-console"))
        .args(["serve", "--socket", socket.to_str().unwrap()])
        .env("JOBSTATS_DATABASE_URL", &store.url)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let out = service.stderr.as_mut().unwrap();
    BufReader::new(out).read_line(&mut said).unwrap();
    assert!(said.contains("answers at"), "{said}");
    let mut faults = Vec::new();
    // Nobody has work in this store, and its role asks for nobody.
    for (name, path) in [("index", "/"), ("refusal", "/job/4711")] {
        let file = directory.path().join(format!("{name}.html"));
        fs::write(&file, page_of(&socket, path)).unwrap();
        faults.extend(axe::faults(&chromium, &axe, &file).unwrap());
    }
    service.kill().unwrap();
    service.wait().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
