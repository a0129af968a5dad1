//! Refusals, half answers and silence: readings wait, are divided or set aside.

use std::cell::RefCell;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::postgrest::error;
use super::server::{HTML, Reply, Server};
use super::{arrived, path, postgrest, secret};
use crate::common::machine::{COUNTING, Machine, texts};
use crate::common::{Database, Ended, unpack, wait_for, with_a_limit};

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
        let mut database = needs!(Database::new());
        refuse(&mut database, state);
        let server = postgrest(&database);
        let machine = Machine::new(COUNTING);
        let owner = database.column("SELECT current_user::text").remove(0);
        let token = secret(&machine, "token", &owner);
        for _ in 1..=3 {
            machine
                .run_once("http://127.0.0.1:1")
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
                    "scrape 2 is set aside in",
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
                let ended = machine.run_once(&server.url());
                assert_eq!(ended.code, Some(code), "{answer:?}: {}", ended.said);
                assert!(
                    ended.said.contains("1 scrape queued"),
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
                machine.run_once(&other.url()).succeeds_silently();
                assert_eq!(arrived(&other, 0), texts(1..=2), "{answer:?}");
            });
        }
    });
}

#[test]
fn a_server_that_says_nothing_costs_the_time_limit() {
    let tried = RefCell::new(None);
    let run = |limit: &str| {
        let (server, machine) = (Server::saying(vec![Reply::Silence]), Machine::new(COUNTING));
        // The limit for connecting is ten minutes here, and does not add to the limit for a request.
        let limits = ["--statement-timeout", limit];
        let ended = machine.once(&server.url()).args(&limits).run();
        tried.replace(Some((server, machine)));
        ended
    };
    let is_right = |ended: &Ended| {
        // The server may still be reading.
        thread::sleep(Duration::from_millis(100));
        let requests = tried.borrow().as_ref().map(|(server, _)| server.requests());
        // Both texts together, and then the first one alone.
        ended.said.contains("no answer within the time limit") && requests.unwrap().len() == 2
    };
    with_a_limit(run, is_right).is(69, &["1 scrape queued"]);
    let (_, machine) = tried.take().unwrap();
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
    machine.run_once(&server.url()).is(
        78,
        &[
            "MDT0001: HTTP 413: a proxy rejects requests of this size",
            "1 of 3 targets",
            "1 scrape queued",
        ],
    );
    let taken: Vec<_> = arrived(&server, 0);
    assert_eq!(taken, [small.to_owned(), small.replace("0000", "0002")]);
}

#[test]
fn nobody_who_is_asked_to_wait_comes_back_before() {
    let wait = Reply::of(429, "").with("Retry-After", "2");
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
    // The shipper's own pause after a first failure is at most a second.
    assert!(pause >= Duration::from_secs(2), "{pause:?}");
    let arrived = arrived(&server, 1);
    assert_eq!(arrived, texts(1..=arrived.len() as u32 / 2));
}
