//! Readings that are delivered: their requests, and the rows that a database stores.

use std::fs;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::postgrest::Postgrest;
use super::server::{HTML, Reply, Server};
use super::{arrived, bodies, objects, path, postgrest, secret};
use crate::common::machine::{COUNTING, Machine, texts};
use crate::common::{Database, Fake, Shipper, simulator};

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
            "/feed?columns=cluster,server,time,body_zstd,duration,shipper,source,covers"
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
    // Both texts together; after a 429 there is no retry at once.
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
        let made = Command::new(simulator::build())
            .args(["lctl-script", "--server", "small-oss1", "--time", time])
            .arg(lctl.path())
            .status();
        assert!(made.unwrap().success());
        fs::write(&real, path(&lctl.path().join("lctl"))).unwrap();
        machine
            .once("http://127.0.0.1:1")
            .args(&["--cluster", "puhti"])
            .run()
            .is(69, &[" queued"]);
    }
    fs::remove_file(real).unwrap();
    let other = Machine::new("exit 5");
    fs::create_dir(other.spool()).unwrap();
    for file in machine.files("") {
        fs::copy(machine.spool().join(&file), other.spool().join(&file)).unwrap();
    }
    // Both writers may feed one of the two targets, and read nothing.
    let grants = |role: &str| {
        format!("SELECT jobstats_grant_writer('{role}', 'puhti', 'mds1', '*-OST0000')")
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
    // PostgREST does not report rejected texts.
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
            "SELECT to_jsonb(t) - 'target_id' - 'received' FROM jobstats.targets t",
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
    let mut database = needs!(Database::new());
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
    let mut shipper = machine.once(&server.url());
    let command = shipper.command();
    // The memory not shared with other processes, in KiB.
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
