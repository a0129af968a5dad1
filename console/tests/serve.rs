//! `serve`: users of a machine query their own jobs on a socket with peer credentials.
//!
//! `JOBSTATS_TEST_DATABASE_URL` names a server with the extension, on which databases and roles may be created. Root tests other users;
//! without root, the tests run as the current user.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod service;
mod world;

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use postgres::{Client, NoTls};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use service::Running;
use world::{Store, words};

/// A service, and a program that any user may run.
struct Service {
    running: Running,
    directory: TempDir,
    program: PathBuf,
}

impl Service {
    fn start(url: &str) -> Self {
        Self::start_with(url, |_| Vec::new())
    }

    /// Starts a service with further options, which may name files in its directory.
    fn start_with(url: &str, options: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
        let program = directory.path().join("jobstats-console");
        fs::copy(env!("CARGO_BIN_EXE_jobstats-console"), &program).unwrap();
        let socket = directory.path().join("socket");
        let mut command = Command::new(&program);
        command
            .args(["serve", "--connections", "4", "--time", "10m", "--socket"])
            .arg(&socket)
            .args(options(directory.path()))
            .env("JOBSTATS_DATABASE_URL", url)
            .env("TZ", "UTC");
        Self {
            running: Running::start(&mut command),
            directory,
            program,
        }
    }

    fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    /// Runs a command as a user.
    fn run(&self, uid: u32, arguments: &[&str]) -> Output {
        let mut program = Command::new(&self.program);
        program.args(arguments).arg("--socket").arg(self.socket());
        if geteuid().is_root() {
            program.uid(uid).gid(uid);
        }
        let program = program.env_clear().env("TZ", "Asia/Kolkata");
        program.output().unwrap()
    }

    #[track_caller]
    fn text(&self, uid: u32, arguments: &[&str]) -> String {
        let output = self.run(uid, arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn refuses(&self, uid: u32, arguments: &[&str], code: i32) -> String {
        let output = self.run(uid, arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    }

    /// Sends a request as the user who runs the test, and returns all that comes back.
    fn send(&self, request: &str) -> String {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        // It may be refused before it is at its end.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }
}

#[test]
fn users_see_their_own_jobs_at_a_socket() {
    let Some(mut store) = Store::new("serve") else {
        return;
    };
    let role = format!("{}_web", store.name);
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    store
        .server
        .batch_execute(&format!("CREATE ROLE {role} LOGIN"))
        .unwrap();
    client
        .batch_execute(&format!("SELECT jobstats_grant_proxy('{role}')"))
        .unwrap();
    // Whoever runs the test is one of the users, unless it is root.
    let (ada, bob) = match geteuid() {
        root if root.is_root() => (1000, 1001),
        user => (user.as_raw(), user.as_raw() + 1),
    };
    if ada != 1000 {
        let moved = format!(
            "UPDATE jobstats.entries SET uid = {ada} WHERE uid = 1000; UPDATE jobstats.jobs SET uid = {ada} WHERE uid = 1000;
             UPDATE jobstats.job_ids SET uid = {ada} WHERE uid = 1000; UPDATE jobstats.job_summaries SET uid = {ada} WHERE uid = 1000"
        );
        client.batch_execute(&moved).unwrap();
    }
    add_event(&mut client, ada);
    let service = Service::start(&store.url_of(&role));
    own_work_is_shown(&service, &store, ada);
    own_jobs_are_listed_and_compared(&service, ada);
    own_events_are_listed_and_explained(&service, ada);
    no_answer_speaks_sql(&service, ada);
    if geteuid().is_root() {
        others_are_refused(&service, bob);
    }
    requests_are_bounded(&service);
    who_says_nothing_keeps_nobody_from_asking(&service, ada);
    a_signal_ends_it(service);
    a_web_server_says_who_asks(&mut client, &store.url_of(&role));
    a_role_that_sees_more_answers_nothing(&store, ada);
    client
        .batch_execute(&format!("DELETE FROM jobstats.proxies; DROP ROLE {role}"))
        .unwrap();
}

fn own_work_is_shown(service: &Service, store: &Store, ada: u32) {
    let text = service.text(ada, &["job", "10_1"]);
    // The output of a full reader, except for notes.
    let whole = store.text(&["job", "10_1"]);
    for part in ["Written 328 MB", "Server time 7.33 min", "State: COMPLETED"] {
        assert!(
            words(&text).contains(part) && words(&whole).contains(part),
            "{part}\n{text}"
        );
    }
    // Times are of the caller's zone, not of the service's.
    assert!(text.contains("All times are Asia/Kolkata\n"), "{text}");
    let json: Value = serde_json::from_str(&service.text(ada, &["job", "11", "--json"])).unwrap();
    assert_eq!(json["kind"], "job", "{json}");
    let page = service.text(ada, &["job", "11", "--html", "-"]);
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("</html>"),
        "{page}"
    );
    let user = service.text(ada, &["user", &ada.to_string(), "--from", "4h"]);
    assert!(words(&user).contains("Written 328 MB"), "{user}");
    // Job 12 belongs to another user, and 4711 does not exist.
    service.refuses(ada, &["job", "12", "--html", "-"], 66);
    own_report_is_written(service, ada);
    // A finished job is printed at once; another user's job is not done.
    assert_eq!(service.text(ada, &["job", "10_1", "--wait"]), text);
    let waited = service.refuses(ada, &["job", "13", "--wait=1ms"], 66);
    assert!(waited.contains("job 13 has not finished yet"), "{waited}");
    let foreign = service.refuses(ada, &["job", "12"], 66);
    assert_eq!(
        foreign,
        service
            .refuses(ada, &["job", "4711"], 66)
            .replace("4711", "12")
    );
    service.refuses(ada, &["user", "1001", "--from", "4h"], 66);
    service.refuses(ada, &["job", "11", "--from", "nonsense"], 64);
}

/// Returns the names of the listed jobs.
fn listed(answer: &str) -> Vec<String> {
    let list: Value = serde_json::from_str(answer).unwrap();
    let jobs = list["jobs"].as_array().unwrap().iter();
    jobs.map(|job| job["job"].as_str().unwrap().to_owned())
        .collect()
}

fn own_jobs_are_listed_and_compared(service: &Service, ada: u32) {
    let text = service.text(ada, &["jobs"]);
    assert!(
        text.starts_with("The last 2 jobs of user1000, ") && text.lines().count() == 6,
        "{text}"
    );
    let of = |options: &[&str]| {
        let asked = ["jobs", "--json"];
        let mut jobs = listed(&service.text(ada, &[&asked, options].concat()));
        jobs.sort();
        jobs
    };
    assert_eq!(of(&[]), ["10_1", "10_2"]);
    assert_eq!(of(&["-n", "1"]).len(), 1);
    service.refuses(ada, &["jobs", "-n", "1001"], 64);
    // The account is that of others, too, and user 1001 has jobs.
    assert_eq!(of(&["--account", "physics"]), ["10_1", "10_2"]);
    assert_eq!(of(&["--user", "1001"]), [""; 0]);
    assert_eq!(of(&["--from", "2020-01-01", "--to", "2020-01-02"]), [""; 0]);
    let page = service.text(ada, &["jobs", "--html", "-"]);
    assert!(page.contains("The last 2 jobs of user1000") && !page.contains("href=\"job/"));
    let oneself = words(&service.text(ada, &["user", "--from", "4h"]));
    let title = format!(" User {ada} ");
    assert!(
        oneself.contains(&title) && oneself.contains("Written 328 MB"),
        "{oneself}"
    );
    let compared = service.text(ada, &["compare", "11", "10_2.batch", "-o", "-"]);
    assert!(
        compared.contains("<title>Jobs 11, 10_2</title>"),
        "{compared}"
    );
    let said = service.refuses(ada, &["compare", "11", "12", "-o", "-"], 66);
    assert!(said.contains("no data for job 12"), "{said}");
}

fn own_events_are_listed_and_explained(service: &Service, ada: u32) {
    let listed = service.text(ada, &["events", "--json"]);
    let list: Value = serde_json::from_str(&listed).unwrap();
    let number = list[0]["event_id"].to_string();
    let explained = service.text(ada, &["events", &number]);
    let text = service.text(ada, &["events"]);
    assert!(
        text.contains("waiting") && text.contains("ada (physics), 25 %"),
        "{text}"
    );
    let place = "a probe of scratch-MDT0000";
    assert!(
        explained.contains(place) && !explained.contains("\nnext "),
        "{explained}"
    );
    for text in [text, listed, explained] {
        assert!(!text.contains("1001"), "{text}");
    }
    let elsewhere = service.text(ada, &["events", "--filesystem", "home", "--all"]);
    assert_eq!(elsewhere, "No events in this window.\n");
}

/// Users of a service have no role to run SQL with.
fn no_answer_speaks_sql(service: &Service, ada: u32) {
    let pages = [
        &["job", "11"][..],
        &["job", "10"],
        &["job", "11", "--html", "-"],
        &["user", "--html", "-"],
        &["jobs", "--html", "-"],
        &["compare", "11", "10_2", "-o", "-"],
        &["report", "-o", "-", "--from", "4h"],
    ];
    let answers = pages.map(|asked| service.text(ada, asked));
    let refused = [
        (&["job", "4711"][..], 66),
        (&["events", "4711"], 65),
        (&["report", "elsewhere", "-o", "-"], 66),
    ];
    let refusals = refused.map(|(asked, code)| service.refuses(ada, asked, code));
    for answer in answers.iter().chain(&refusals) {
        assert!(!answer.contains("SELECT"), "{answer}");
        let names = answer.match_indices("jobstats");
        let mut names = names.map(|(at, name)| &answer[at + name.len()..]);
        assert!(names.all(|rest| rest.starts_with("-console")), "{answer}");
    }
    assert!(answers[1].contains("10 is an array"), "{}", answers[1]);
}

fn own_report_is_written(service: &Service, ada: u32) {
    let report = |options: &[&str]| {
        let asked = ["report", "-o", "-", "--from", "4h"];
        service.text(ada, &[&asked, options].concat())
    };
    let page = report(&[]);
    let title = format!("<title>User {ada}: ");
    assert!(page.contains(&title) && page.ends_with("</html>"), "{page}");
    let who = "ada (physics), 25";
    assert!(
        page.contains("waiting on mds1 since ") && page.contains(who),
        "{page}"
    );
    // The shares of job 11 exclude other users.
    assert!(words(&page).contains("100 % by job 11 ("), "{page}");
    for foreign in ["user1001", "user1002", "(no user)", "(no job)"] {
        assert!(!page.contains(foreign), "{foreign}\n{page}");
    }
    assert!(report(&["scratch"]).contains(&format!("<title>User {ada} on scratch: ")));
    let text = service.text(ada, &["report", "--from", "4h"]);
    assert!(
        text.contains("── Load ──") && !text.contains("<html"),
        "{text}"
    );
    let said = service.refuses(ada, &["report", "elsewhere", "-o", "-"], 66);
    let unknown = "no data for your jobs on elsewhere in this window";
    assert!(said.contains(unknown), "{said}");
    let day = [
        "report",
        "-o",
        "-",
        "--from",
        "2020-01-01",
        "--to",
        "2020-01-02",
    ];
    service.refuses(ada, &day, 66);
}

/// Adds an event with two culprits: another user is named, and the caller did less, for account physics.
fn add_event(client: &mut Client, ada: u32) {
    let event = format!(
        r#"INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, updated, severity, targets, servers, value, usual, rate, details, culprits, notified)
        SELECT 'waiting', '', 'scratch', now() - interval '1 hour', now(), now(), now(), 'warning', '{{scratch-MDT0000}}', '{{mds1}}', 0.3, 0.02, 5, '{{}}',
            '{{"by": "uid", "named": true, "slow": [], "load": {{}}, "subjects": [{{"uid": 1001, "user_name": "user1001", "share": 0.5}},
            {{"uid": {ada}, "user_name": "ada", "account": "physics", "share": 0.25}}]}}', now()"#
    );
    client.batch_execute(&event).unwrap();
}

fn others_are_refused(service: &Service, bob: u32) {
    let running = service.run(bob, &["job", "12", "--wait=1ms"]);
    let [text, said] = [running.stdout, running.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(text.contains("State: RUNNING"), "{text}");
    assert!(said.contains("job 12 has not finished yet"), "{said}");
    service.refuses(bob, &["job", "11"], 66);
    let said = service.refuses(0, &["job", "11"], 77);
    assert!(said.contains("root has no jobs"), "{said}");
    let said = service.refuses(4242, &["job", "11"], 77);
    assert!(said.contains("no user with the number 4242"), "{said}");
}

fn requests_are_bounded(service: &Service) {
    let get = |path: &str| service.send(&format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"));
    assert!(get("/healthz").starts_with("HTTP/1.1 200 "));
    assert!(get("/v1/target").starts_with("HTTP/1.1 404 "));
    assert!(get("/v1/job?name=1&uid=0").starts_with("HTTP/1.1 400 "));
    let post =
        service.send("POST /v1/job?name=11 HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n");
    assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
    let long = get(&format!("/v1/job?name={}", "1".repeat(1 << 20)));
    assert!(
        !long.starts_with("HTTP/1.1 200 "),
        "{}",
        &long[..100.min(long.len())]
    );
}

fn who_says_nothing_keeps_nobody_from_asking(service: &Service, ada: u32) {
    let silent: Vec<_> = (0..1000)
        .filter_map(|_| UnixStream::connect(service.socket()).ok())
        .collect();
    assert!(silent.len() > 900, "{}", silent.len());
    if geteuid().is_root() {
        service.text(ada, &["job", "11"]);
    }
    drop(silent);
    // Their places are free again when the service has seen that they are gone.
    while !service
        .send("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        .starts_with("HTTP/1.1 200 ")
    {
        thread::sleep(Duration::from_millis(50));
    }
}

fn a_signal_ends_it(mut service: Service) {
    let pid = Pid::from_child(&service.running.child);
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(service.running.child.wait().unwrap().code(), Some(0));
    assert!(!service.socket().exists());
}

fn a_web_server_says_who_asks(client: &mut Client, url: &str) {
    // The user daemon, who manages an account.
    client
        .batch_execute("INSERT INTO jobstats.users (uid, user_name) VALUES (1, 'daemon'); INSERT INTO jobstats.managers VALUES (1, 'physics');
             UPDATE jobstats.settings SET system_uids_below = 1")
        .unwrap();
    let secret = "5ac33f6f6bd7d7b0";
    let service = Service::start_with(url, |directory| {
        let file = directory.join("secret");
        fs::write(&file, format!("{secret}\n")).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        let file = file.to_str().unwrap().to_owned();
        vec![
            "--listen".to_owned(),
            "127.0.0.1:0".to_owned(),
            "--secret-file".to_owned(),
            file,
        ]
    });
    let address = service.running.address();
    let get = |path: &str, headers: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\n{headers}\r\n").unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let believed = |user: &str| format!("jobstats-secret: {secret}\r\nx-remote-user: {user}\r\n");
    let page = get("/job/11", &believed("daemon"));
    assert!(
        page.starts_with("HTTP/1.1 200 ") && page.contains("Job 11"),
        "{page}"
    );
    assert!(
        page.contains("content-security-policy: default-src 'none';"),
        "{page}"
    );
    let index = get("/", &believed("daemon"));
    assert!(
        index.starts_with("HTTP/1.1 200 ") && index.contains("<form action=\"job\""),
        "{index}"
    );
    // Own jobs alone, and not those of the account that the user manages.
    assert!(index.contains("No job ran, "), "{index}");
    let managed = get("/jobs?account=physics", &believed("daemon"));
    assert!(
        managed.contains("<a href=\"job/10%5F1\"><span class=\"whole\">10_1</span></a>"),
        "{managed}"
    );
    assert!(managed.contains(">12</a>"), "{managed}");
    let events = get("/events", &believed("daemon"));
    assert!(
        events.contains("waiting on mds1 since ") && events.contains("ada (physics), 25"),
        "{events}"
    );
    assert!(!events.contains("1001"), "{events}");
    let missing = get("/job/%3Cb%3E4711", &believed("daemon"));
    assert!(
        missing.starts_with("HTTP/1.1 404 ") && missing.contains("text/html"),
        "{missing}"
    );
    assert!(
        missing.contains("&#60;b&#62;4711") || missing.contains("&lt;b&gt;4711"),
        "{missing}"
    );
    for (headers, what) in [
        ("x-remote-user: daemon\r\n".to_owned(), "no secret"),
        (believed("root"), "root"),
        (believed("no-such-user"), "nobody"),
        (believed("bin"), "a user whom the store does not know"),
    ] {
        let refused = get("/job/11", &headers);
        assert!(refused.starts_with("HTTP/1.1 403 "), "{what}: {refused}");
    }
    client
        .batch_execute("DELETE FROM jobstats.managers; DELETE FROM jobstats.users WHERE uid = 1")
        .unwrap();
}

fn a_role_that_sees_more_answers_nothing(store: &Store, ada: u32) {
    let mut service = Service::start(&store.url);
    let said = service.refuses(ada, &["job", "11"], 78);
    assert!(said.contains("the service is not set up"), "{said}");
    // Its admin reads the reason.
    let child = &mut service.running.child;
    child.kill().unwrap();
    let mut log = String::new();
    let mut out = child.stderr.take().unwrap();
    out.read_to_string(&mut log).unwrap();
    assert!(log.contains("jobstats_grant_proxy"), "{log}");
}
