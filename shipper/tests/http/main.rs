//! The way over HTTP: against the statement of PostgREST in a real database, and against proxies of all kinds.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

#[path = "../common/mod.rs"]
mod common;
mod postgrest;
mod server;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use common::machine::{COUNTING, Machine, texts};
use common::{Database, Ended, Fake, Shipper, simulator, unpack, wait_for};
use postgrest::{Postgrest, error};
use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use serde_json::Value;
use server::{ConnectProxy, HTML, Reply, Request, Server};
use tempfile::TempDir;

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Makes a file beside lctl that only its owner can read.
fn secret(machine: &Machine, name: &str, text: &str) -> PathBuf {
    let file = machine.lctl.file(name);
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    file
}

/// The objects of a request.
fn objects(request: &Request) -> Vec<Value> {
    serde_json::from_slice(&request.body).unwrap()
}

/// The texts of a request.
fn bodies(request: &Request) -> Vec<String> {
    let text = |object: &Value| {
        let hex = object["body_zstd"]
            .as_str()
            .unwrap()
            .strip_prefix("\\x")
            .unwrap();
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        unpack(&(0..hex.len()).step_by(2).map(byte).collect::<Vec<_>>())
    };
    objects(request).iter().map(text).collect()
}

/// The texts that a server took from this request on.
fn arrived(server: &Server, from: usize) -> Vec<String> {
    server.requests()[from..].iter().flat_map(bodies).collect()
}

/// A PostgREST before this database, for whoever is called like one of its roles.
fn postgrest(database: &Database) -> Server {
    let postgrest = Postgrest {
        url: database.url(),
    };
    Server::new(move |request| postgrest.answer(request))
}

// What arrives.

#[test]
fn a_reading_is_one_request_with_an_object_for_each_target() {
    let server = Server::new(|_| Reply::created());
    let machine = Machine::new(COUNTING);
    let token = secret(&machine, "token", "first\n");
    let once = || {
        machine
            .once(&server.url())
            .args(&["--cluster", "puhti", "--token-file", path(&token)])
    };
    once().run().succeeds_silently();
    fs::write(&token, "second\n").unwrap();
    once()
        .args(&["--verbose"])
        .run()
        .is(0, &["mdt.fs-MDT0001: 38 bytes sent as"]);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(machine.files("").is_empty());
    for (request, token) in requests.iter().zip(["first", "second"]) {
        assert_eq!(request.method, "POST");
        assert_eq!(
            request.path,
            "/feed?columns=cluster,server,time,body_zstd,duration,shipper"
        );
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(request.header("content-profile"), Some("jobstats"));
        assert_eq!(request.header("prefer"), Some("return=minimal"));
        assert_eq!(
            request.header("authorization"),
            Some(format!("Bearer {token}").as_str())
        );
        assert_eq!(request.header("content-encoding"), None);
        assert_eq!(request.header("transfer-encoding"), None);
        let objects = objects(request);
        assert_eq!(objects.len(), 2);
        assert!(
            objects
                .iter()
                .all(|object| object["server"] == "mds1" && object["cluster"] == "puhti")
        );
    }
    assert_eq!(arrived(&server, 0), texts(1..=2));
}

#[test]
fn without_a_spool_a_reading_is_sent_at_once_or_dropped() {
    let lctl = Fake::new(COUNTING);
    let once = |server: &Server| {
        Shipper::new(&[
            "once",
            "--server",
            "mds1",
            "--to",
            &server.url(),
            "--lctl",
            path(&lctl.path()),
        ])
        .run()
    };
    let server = Server::saying(vec![
        Reply::of(502, HTML),
        Reply::created(),
        Reply::of(429, ""),
    ]);
    once(&server).succeeds_silently();
    assert_eq!(arrived(&server, 1), texts([1]));
    once(&server).is(
        75,
        &[
            "mdt.fs-MDT0000 and 1 more: HTTP 429: too many requests",
            "2 of 2 targets",
        ],
    );
    // Both texts together; who says 429 is not asked again at once.
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_writer_behind_postgrest_stores_exactly_what_one_with_a_connection_stores() {
    let (Some(mut direct), Some(mut relayed)) = (Database::with_store(), Database::with_store())
    else {
        return;
    };
    // Two readings of two targets wait in a spool of each way.
    let machine =
        Machine::new("[ ! -e \"$0.real\" ] || exec \"$(cat \"$0.real\")\" \"$@\"; exit 5");
    let real = machine.lctl.file("lctl.real");
    for time in ["2026-01-01T08:00:00Z", "2026-01-01T08:02:00Z"] {
        let lctl = TempDir::new().unwrap();
        let made = Command::new(simulator())
            .args(["lctl-script", "--server", "small-oss1", "--time", time])
            .arg(lctl.path())
            .status();
        assert!(made.unwrap().success());
        fs::write(&real, path(&lctl.path().join("lctl"))).unwrap();
        machine
            .once("http://127.0.0.1:1")
            .args(&["--cluster", "puhti"])
            .run()
            .is(69, &["readings wait"]);
    }
    fs::remove_file(real).unwrap();
    let other = Machine::new("exit 5");
    fs::create_dir(other.spool()).unwrap();
    for file in machine.files("") {
        fs::copy(machine.spool().join(&file), other.spool().join(&file)).unwrap();
    }
    // Both writers may feed one target of the two, and read nothing.
    let grants = |role: &str| {
        format!("SELECT jobstats_grant_writer('{role}', 'puhti', 'mds1', '%-OST0000')")
    };
    let writer = direct.role("LOGIN");
    direct.execute(&grants(&writer));
    let ended = Shipper::new(&[
        "once",
        "--server",
        "mds1",
        "--lctl",
        path(&other.lctl.path()),
    ])
    .args(&["--spool", path(&other.spool())])
    .args(&[
        "--database-url",
        &direct.url_with(&format!("user={writer}")),
    ])
    .run();
    ended.is(74, &["jobstats rejected 1 of 1 texts", "1 of 2 targets"]);
    let writer = relayed.role("NOLOGIN");
    relayed.execute(&grants(&writer));
    let authenticator = format!("{writer}_auth");
    relayed.execute(&format!(
        "CREATE ROLE {authenticator} LOGIN NOINHERIT; GRANT {writer} TO {authenticator}"
    ));
    let postgrest = Postgrest {
        url: relayed.url_with(&format!("user={authenticator}")),
    };
    let server = Server::new(move |request| postgrest.answer(request));
    let token = secret(&machine, "token", &writer);
    let ended = machine
        .once(&server.url())
        .args(&["--token-file", path(&token)])
        .run();
    // PostgREST says nothing of rejected texts.
    assert!(!ended.is(74, &["exit code 5"]).said.contains("rejected"));
    for machine in [&machine, &other] {
        assert!(machine.files("").is_empty());
    }
    for (rows, statement) in [
        (
            2,
            "SELECT to_jsonb(o) - 'received' - 'target_id' FROM jobstats.observations o",
        ),
        (2, "SELECT to_jsonb(r) - 'target_id' FROM jobstats.raw r"),
        (
            2,
            "SELECT to_jsonb(r) - 'target_id' FROM jobstats.raw_text r",
        ),
        (2, "SELECT to_jsonb(r) - 'received' FROM jobstats.rejects r"),
        (
            1,
            "SELECT to_jsonb(t) - 'target_id' FROM jobstats.targets t",
        ),
        (
            0,
            "SELECT to_jsonb(i) - 'target_id' - 'entry_id' FROM jobstats.increments i",
        ),
    ] {
        let rows_of = |database: &mut Database| {
            database.column(&format!(
                "SELECT j::text FROM ({statement}) s (j) ORDER BY 1"
            ))
        };
        let stored = rows_of(&mut direct);
        assert_eq!(stored, rows_of(&mut relayed), "{statement}");
        assert!(stored.len() >= rows.max(1), "{statement}: {stored:?}");
    }
    relayed.execute(&format!(
        "DROP OWNED BY {authenticator}; DROP ROLE {authenticator}"
    ));
}

#[test]
fn another_source_names_itself_and_the_time_that_it_covers() {
    let Some(mut database) = Database::with_sources() else {
        return;
    };
    let server = postgrest(&database);
    let machine = Machine::new("exit 5");
    let owner = database.column("SELECT current_user::text").remove(0);
    Shipper::new(&["once", "--server", "login1", "--to", &server.url()])
        .args(&["--token-file", path(&secret(&machine, "token", &owner))])
        .args(&[
            "--source",
            "passwd",
            "--command",
            "echo a:b",
            "--covers",
            "20m",
        ])
        .run()
        .succeeds_silently();
    let row = r#"SELECT concat_ws('|', server, source, upper(covers) - lower(covers), lower_inc(covers), upper_inc(covers),
        "time" >= upper(covers)) FROM jobstats.feed"#;
    assert_eq!(database.column(row), ["login1|passwd|00:20:00|t|f|t"]);
    assert_eq!(database.bodies(), ["a:b\n"]);
}

#[test]
fn memory_does_not_grow_with_the_text() {
    let server = Server::new(|_| Reply::created());
    // Digits without a pattern: 20 MB of them are over 8 MB when compressed, and over 16 MB in hexadecimal digits.
    let mut random = fastrand::Rng::with_seed(1);
    let lines: String = (0..1_050_000)
        .map(|_| format!("  {:016}\n", random.u64(..10_u64.pow(16))))
        .collect();
    let machine = Machine::new("cat \"$0.text\"");
    fs::write(
        machine.lctl.file("lctl.text"),
        format!("mdt.fs-MDT0000.job_stats=\n{lines}"),
    )
    .unwrap();
    let mut shipper =
        machine
            .once(&server.url())
            .args(&["--lctl-timeout", "10m", "--statement-timeout", "10m"]);
    let command = shipper.command();
    // What is not shared with other processes, in KiB.
    let ended = Command::new("sh")
        .args(["-c", "ulimit -d 16384 && exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        ended.status.success(),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    let requests = server.requests();
    assert!(requests[0].body.len() > 16_000_000);
    assert!(bodies(&requests[0])[0].ends_with(&lines));
}

// What fails.

/// Raises an error for the second text of the second reading.
fn refuse(database: &mut Database, state: &str) {
    database.execute(&format!(
        "ALTER TABLE jobstats.feed ADD number serial;
         CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.body_zstd = (SELECT refused FROM refusals) THEN RAISE SQLSTATE '{state}' USING MESSAGE = 'trouble'; END IF;
            RETURN NEW; END $$;
         CREATE TABLE refusals (refused bytea);
         CREATE TRIGGER trouble BEFORE INSERT ON jobstats.feed FOR EACH ROW EXECUTE FUNCTION trouble()"
    ));
}

#[test]
fn a_text_that_is_refused_for_good_is_set_aside_and_holds_up_nothing() {
    for state in ["22P02", "54000"] {
        let Some(mut database) = Database::new() else {
            return;
        };
        refuse(&mut database, state);
        let server = postgrest(&database);
        let machine = Machine::new(COUNTING);
        let owner = database.column("SELECT current_user::text").remove(0);
        let token = secret(&machine, "token", &owner);
        for _ in 1..=3 {
            machine
                .once("http://127.0.0.1:1")
                .run()
                .is(69, &["no connection"]);
        }
        let refused = zstd_of(&machine, 1, 1);
        database
            .client
            .execute("INSERT INTO refusals VALUES ($1)", &[&refused])
            .unwrap();
        machine
            .once(&server.url())
            .args(&["--token-file", path(&token)])
            .run()
            .is(
                65,
                &[
                    "MDT0001: HTTP",
                    "trouble",
                    state,
                    "reading 2 is set aside in",
                    "1 of 2 targets",
                ],
            );
        let mut expected = texts(1..=4);
        expected.remove(3);
        let rows = database
            .client
            .query("SELECT body_zstd FROM jobstats.feed ORDER BY number", &[])
            .unwrap();
        let stored: Vec<_> = rows.iter().map(|row| unpack(row.get(0))).collect();
        assert_eq!(stored, expected);
        assert!(machine.files("").is_empty());
        assert_eq!(machine.files("rejected"), ["0000000000000002.lctl.zst"]);
    }
}

/// The compressed text in the file of this index, as the feed gets it.
fn zstd_of(machine: &Machine, file: usize, text: usize) -> Vec<u8> {
    let file = machine.spool().join(&machine.files("")[file]);
    let file = jobstats_client::spool::SpoolFile::open(&file).unwrap();
    file.packed(&file.index.texts[text]).unwrap()
}

#[test]
fn no_other_answer_sets_anything_aside() {
    let html = |status| Reply::of(status, HTML);
    let answers = vec![
        (
            77,
            error(401, "PGRST301", "No suitable key or wrong key type"),
        ),
        (77, error(401, "22023", "role \"x\" does not exist")),
        (77, error(403, "42501", "permission denied for view feed")),
        (
            78,
            error(404, "42P01", "relation \"jobstats.feed\" does not exist"),
        ),
        (78, error(404, "PGRST205", "Could not find the table")),
        (
            69,
            error(
                405,
                "25006",
                "cannot execute INSERT in a read-only transaction",
            ),
        ),
        (78, error(400, "42703", "column does not exist")),
        (78, error(400, "PGRST102", "Empty or invalid json")),
        (65, error(400, "23514", "no partition of relation")),
        (65, error(409, "23505", "duplicate key")),
        (65, error(500, "XX000", "tuple concurrently updated")),
        (75, error(500, "40P01", "deadlock detected")),
        (75, error(503, "53100", "No space left on device")),
        (75, error(503, "PGRST001", "Database client error")),
        (69, error(504, "PGRST003", "Timed out acquiring connection")),
        (78, html(400)),
        (77, html(403)),
        (78, html(404)),
        (78, html(409)),
        (78, html(413)),
        (78, html(422)),
        (75, html(429)),
        (69, html(500)),
        (69, html(502)),
        (75, html(503)),
        (69, html(504)),
        // The page of a proxy that wants a login first.
        (78, html(200)),
        (78, Reply::of(204, "")),
        (
            78,
            Reply::of(302, HTML).with("Location", "https://login.example.org/"),
        ),
        // Half answers.
        (69, Reply::Bytes("")),
        (69, Reply::Bytes("HTTP/1.1 201 Crea")),
        (69, Reply::Bytes("HTTP/1.1 201 Created\r\nContent-Le")),
        (
            69,
            Reply::Bytes("HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\nhalf"),
        ),
        (
            69,
            Reply::Bytes(
                "HTTP/1.1 400 Bad Request\r\nContent-Length: 99\r\n\r\n{\"code\":\"22P02\"}",
            ),
        ),
        (69, Reply::Bytes("not HTTP at all\r\n\r\n")),
    ];
    thread::scope(|scope| {
        for (code, answer) in answers {
            scope.spawn(move || {
                let server = Server::saying(vec![answer.clone()]);
                let machine = Machine::new(COUNTING);
                let ended = machine.once(&server.url()).run();
                assert_eq!(ended.code, Some(code), "{answer:?}: {}", ended.said);
                assert!(
                    ended.said.contains("1 readings wait"),
                    "{answer:?}: {}",
                    ended.said
                );
                assert!(
                    !machine.spool().join("rejected").exists()
                        || machine.files("rejected").is_empty(),
                    "{answer:?}"
                );
                assert_eq!(machine.files("").len(), 1, "{answer:?}");
                let other = Server::saying(vec![Reply::created()]);
                machine.once(&other.url()).run().succeeds_silently();
                assert_eq!(arrived(&other, 0), texts(1..=2), "{answer:?}");
            });
        }
    });
}

#[test]
fn a_server_that_says_nothing_costs_the_time_limit() {
    let server = Server::saying(vec![Reply::Silence]);
    let machine = Machine::new(COUNTING);
    let start = Instant::now();
    machine
        .once(&server.url())
        .args(&["--connect-timeout", "1s", "--statement-timeout", "1s"])
        .run()
        .is(69, &["no answer within the time limits", "1 readings wait"]);
    // Both texts together, and then the first one alone.
    assert_eq!(server.requests().len(), 2);
    assert!(start.elapsed() < Duration::from_secs(30));
    machine
        .once(&Server::saying(vec![Reply::created()]).url())
        .run()
        .succeeds_silently();
}

#[test]
fn a_request_that_is_too_large_is_divided_and_only_a_text_that_is_too_large_waits() {
    let server = Server::limited(50_000, |_| Reply::created());
    let small = "mdt.fs-MDT0000.job_stats=\n- job_id: small\n";
    let mut random = fastrand::Rng::with_seed(1);
    let noise: String = (0..6_000)
        .map(|_| format!("{:016x}\n", random.u64(..)))
        .collect();
    let text = format!(
        "{small}mdt.fs-MDT0001.job_stats=\n{noise}{}",
        small.replace("0000", "0002")
    );
    let machine = Machine::new("cat \"$0.text\"");
    fs::write(machine.lctl.file("lctl.text"), text).unwrap();
    machine.once(&server.url()).run().is(
        78,
        &[
            "MDT0001: HTTP 413: a proxy takes no request of this size",
            "1 of 3 targets",
            "1 readings wait",
        ],
    );
    let taken: Vec<_> = arrived(&server, 0);
    assert_eq!(taken, [small.to_owned(), small.replace("0000", "0002")]);
}

#[test]
fn nobody_who_is_asked_to_wait_comes_back_before() {
    let wait = Reply::of(429, "").with("Retry-After", "3");
    let server = Server::saying(vec![wait, Reply::created()]);
    let machine = Machine::new(COUNTING);
    let mut shipper = machine
        .shipper("run", &server.url())
        .args(&["--interval", "200ms"]);
    let mut running = shipper.command().stderr(Stdio::null()).spawn().unwrap();
    wait_for("delivery", || server.requests().len() >= 8);
    running.kill().unwrap();
    running.wait().unwrap();
    let requests = server.requests();
    let pause = requests[1].at - requests[0].at;
    assert!(pause >= Duration::from_secs(3), "{pause:?}");
    let arrived = arrived(&server, 1);
    assert_eq!(arrived, texts(1..=arrived.len() as u32 / 2));
}

// Secrets.

#[test]
fn a_redirect_carries_the_token_nowhere() {
    let other = Server::new(|_| Reply::created());
    for status in [301, 302, 303, 307, 308] {
        let place = format!("{}/feed?ticket=s3cret", other.url());
        let server = Server::saying(vec![Reply::of(status, "").with("Location", &place)]);
        let machine = Machine::new(COUNTING);
        let token = secret(&machine, "token", "t0ken");
        let ended = machine
            .once(&server.url())
            .args(&["--token-file", path(&token)])
            .run();
        let ended = ended.is(
            78,
            &[
                "redirects are not followed",
                &other.url(),
                "1 readings wait",
            ],
        );
        assert!(
            !ended.said.contains("s3cret") && !ended.said.contains("t0ken"),
            "{}",
            ended.said
        );
    }
    assert!(other.requests().is_empty());
}

#[test]
fn a_token_that_others_can_read_is_not_used() {
    let server = Server::new(|_| Reply::created());
    let machine = Machine::new(COUNTING);
    let token = secret(&machine, "token", "t0ken");
    let once = || {
        machine
            .once(&server.url())
            .args(&["--token-file", path(&token)])
            .run()
    };
    fs::set_permissions(&token, Permissions::from_mode(0o644)).unwrap();
    once().is(78, &["chmod 600"]);
    for text in ["", "\n", "t0ken\ntwo", "t0ken \u{1}", "t0ken\r\nX-Evil: 1"] {
        fs::write(&token, text).unwrap();
        fs::set_permissions(&token, Permissions::from_mode(0o600)).unwrap();
        let ended = once().is(78, &["has no token"]);
        assert!(!ended.said.contains("t0ken"), "{}", ended.said);
    }
    assert!(server.requests().is_empty());
    fs::remove_file(&token).unwrap();
    once().is(78, &["No such file"]);
    // Nothing was lost.
    secret(&machine, "token", "t0ken");
    once().succeeds_silently();
    assert_eq!(arrived(&server, 0), texts(1..=8));
}

#[test]
fn a_url_with_a_password_or_without_tls_is_refused() {
    for url in [
        "https://user:s3cret@db1",
        "http://db1",
        "https://db1/?token=s3cret",
    ] {
        let refused = Shipper::new(&["once", "--to", url]).run();
        refused.is(64, &["--to"]);
    }
    Shipper::new(&[
        "once",
        "--to",
        "https://db1",
        "--database-url",
        "postgresql://db1",
    ])
    .run()
    .is(64, &["--to"]);
}

#[test]
fn doctor_asks_postgrest_to_store_nothing() {
    let Some(mut database) = Database::with_store() else {
        return;
    };
    let writer = database.role("NOLOGIN");
    let server = postgrest(&database);
    let machine = Machine::new(COUNTING);
    let token = secret(&machine, "token", &writer);
    let doctor = |expected: i32, words: &[&str]| {
        let ended = Shipper::new(&["doctor", "--server", "mds1", "--to", &server.url()])
            .args(&[
                "--lctl",
                path(&machine.lctl.path()),
                "--token-file",
                path(&token),
            ])
            .output();
        let said = String::from_utf8_lossy(&ended.stdout);
        assert_eq!(ended.status.code(), Some(expected), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    doctor(
        2,
        &[
            "FAILED   delivery    http://localhost",
            "permission denied",
            "42501",
        ],
    );
    database.execute(&format!("SELECT jobstats_grant_writer('{writer}')"));
    doctor(
        0,
        &[
            "ok       delivery    http://localhost",
            "may insert into jobstats.feed",
        ],
    );
    assert_eq!(
        database.column("SELECT name FROM jobstats.targets"),
        [""; 0]
    );
    fs::write(&token, "nobody").unwrap();
    doctor(
        2,
        &[
            "FAILED   delivery    http://localhost",
            "HTTP 401",
            "role \"nobody\" does not exist",
        ],
    );
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.body == b"[]")
    );
}

// Certificates and proxies.

/// An authority, a server's certificate for localhost, and a client's certificate, in files.
struct Certificates {
    directory: TempDir,
    authority: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Certificates {
    fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = parameters.self_signed(&key).unwrap();
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join("ca.pem"), authority.pem()).unwrap();
        let issuer = Issuer::new(parameters, key);
        Self {
            directory,
            authority,
            issuer,
        }
    }

    fn file(&self, name: &str) -> String {
        path(&self.directory.path().join(name)).to_owned()
    }

    fn certificate(&self, name: &str) -> (Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap();
        (certificate.signed_by(&key, &self.issuer).unwrap(), key)
    }

    /// Writes the files of a client.
    fn client(&self, name: &str) -> [String; 2] {
        let (certificate, key) = self.certificate(name);
        let files = [
            self.file(&format!("{name}.pem")),
            self.file(&format!("{name}.key")),
        ];
        fs::write(&files[0], certificate.pem()).unwrap();
        fs::write(&files[1], key.serialize_pem()).unwrap();
        fs::set_permissions(&files[1], Permissions::from_mode(0o600)).unwrap();
        files
    }

    /// A server that wants the certificate of a client, or does not.
    fn server(&self, wants_client: bool) -> Server {
        let (certificate, key) = self.certificate("localhost");
        let provider = Arc::new(ring::default_provider());
        let mut trusted = RootCertStore::empty();
        trusted.add(self.authority.der().clone()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let config = match wants_client {
            true => {
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(trusted), provider);
                config.with_client_cert_verifier(verifier.build().unwrap())
            }
            false => config.with_no_client_auth(),
        };
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        Server::with_tls(config.with_single_cert(chain, key).unwrap(), |_| {
            Reply::created()
        })
    }
}

#[test]
fn the_certificate_of_the_server_is_verified() {
    let certificates = Certificates::new();
    let server = certificates.server(false);
    let machine = Machine::new(COUNTING);
    let ca = certificates.file("ca.pem");
    machine
        .once(&server.url())
        .run()
        .is(78, &["UnknownIssuer", "1 readings wait"]);
    let other = Certificates::new();
    let stranger = other.file("ca.pem");
    machine
        .once(&server.url())
        .args(&["--ca-file", &stranger])
        .run()
        .is(78, &["TLS: ", "2 readings wait"]);
    let address = server.url().replace("localhost", "127.0.0.1");
    machine
        .once(&address)
        .args(&["--ca-file", &ca])
        .run()
        .is(78, &["not valid for name"]);
    assert!(server.requests().is_empty());
    machine
        .once(&server.url())
        .args(&["--ca-file", &ca])
        .run()
        .succeeds_silently();
    assert_eq!(arrived(&server, 0), texts(1..=4));
}

#[test]
fn a_client_certificate_is_shown_to_a_server_that_wants_one() {
    let certificates = Certificates::new();
    let server = certificates.server(true);
    let ca = certificates.file("ca.pem");
    let machine = Machine::new(COUNTING);
    let once = || machine.once(&server.url()).args(&["--ca-file", &ca]);
    once()
        .run()
        .is(78, &["CertificateRequired", "1 readings wait"]);
    let [certificate, key] = certificates.client("mds1");
    let [_, other_key] = certificates.client("other");
    let with = |key: &str| {
        once()
            .args(&["--client-certificate", &certificate, "--client-key", key])
            .run()
    };
    with(&other_key).is(78, &["TLS: "]);
    with(&certificate).is(78, &["chmod 600"]);
    assert!(server.requests().is_empty());
    with(&key).succeeds_silently();
    assert_eq!(arrived(&server, 0), texts(1..=4));
    once()
        .args(&["--client-certificate", &certificate])
        .run()
        .is(64, &["--client-key"]);
}

#[test]
fn the_environment_names_the_proxy() {
    let certificates = Certificates::new();
    let server = certificates.server(false);
    let machine = Machine::new(COUNTING);
    let ca = certificates.file("ca.pem");
    let once = |variables: &[(&str, String)]| -> Ended {
        let shipper = machine.once(&server.url()).args(&["--ca-file", &ca]);
        variables
            .iter()
            .fold(shipper, |shipper, (name, value)| shipper.env(name, value))
            .run()
    };
    let proxy = ConnectProxy::new(None);
    let address = format!("http://user:s3cret@{}", proxy.address);
    once(&[("HTTPS_PROXY", address.clone())]).succeeds_silently();
    let asked = proxy.asked();
    assert_eq!((asked.len(), asked[0].method.as_str()), (1, "CONNECT"));
    assert_eq!(asked[0].path, server.url().replace("https://", ""));
    assert_eq!(
        asked[0].header("proxy-authorization"),
        Some("Basic dXNlcjpzM2NyZXQ=")
    );
    assert_eq!(arrived(&server, 0), texts([1]));
    once(&[
        ("HTTPS_PROXY", address.clone()),
        ("NO_PROXY", "db1,localhost".to_owned()),
    ])
    .succeeds_silently();
    once(&[("HTTP_PROXY", address)]).succeeds_silently();
    assert_eq!(proxy.asked().len(), 1);

    let refusing = ConnectProxy::new(Some(502));
    once(&[("https_proxy", format!("http://{}", refusing.address))])
        .is(69, &["no connection", "502", "1 readings wait"]);
    let ended = once(&[("ALL_PROXY", "socks5://user:s3cret@127.0.0.1:1".to_owned())]);
    assert!(
        !ended
            .is(78, &["ALL_PROXY", "http://HOST:PORT"])
            .said
            .contains("s3cret")
    );
    once(&[]).succeeds_silently();
    assert_eq!(arrived(&server, 0), texts(1..=6));
}
