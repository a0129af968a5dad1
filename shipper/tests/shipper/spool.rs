//! Readings are queued on disk while they cannot be sent; each is delivered exactly once.

use std::collections::HashSet;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::common::machine::{COUNTING, Machine, texts};
use crate::common::{AWAY, Database, Running, Shipper, refusing, wait_for};
use jobstats_client::spool::{Data, Directory, Index, Text};
use serde_json::Value;

/// Creates a database whose feed numbers its rows in the order in which they arrive.
fn numbered() -> Option<Database> {
    let mut database = Database::new()?;
    database.execute("ALTER TABLE jobstats.feed ADD number serial");
    Some(database)
}

/// The texts in the order in which they came.
fn arrived(database: &mut Database) -> Vec<String> {
    let rows = database
        .client
        .query("SELECT body_zstd FROM jobstats.feed ORDER BY number", &[])
        .unwrap();
    rows.iter()
        .map(|row| crate::common::unpack(row.get(0)))
        .collect()
}

/// Runs a trigger for each row.
fn trigger(database: &mut Database, body: &str) {
    database.execute(&format!(
        "CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NEW; END $$;
         CREATE TRIGGER trouble BEFORE INSERT ON jobstats.feed FOR EACH ROW EXECUTE FUNCTION trouble()"
    ));
}

/// Lets the feed recognize a repeat of a text at its time, as the real one does.
fn ignore_repeats(database: &mut Database) {
    database.execute(r#"CREATE UNIQUE INDEX ON jobstats.feed (server, "time", body_zstd)"#);
    trigger(
        database,
        r#"IF EXISTS (SELECT FROM jobstats.feed f WHERE f."time" = NEW."time" AND f.body_zstd = NEW.body_zstd)
           THEN RAISE WARNING 'repeated'; RETURN NULL; END IF;"#,
    );
}

#[test]
fn a_reading_is_sent_and_removed() {
    let mut database = needs!(Database::new());
    let machine = Machine::new(COUNTING);
    machine.run_once(&database.url()).succeeds_silently();
    assert_eq!(database.bodies().len(), 2);
    assert!(machine.files("").is_empty());
    let who = database.column("SELECT concat_ws('|', server, duration IS NULL) FROM jobstats.feed");
    assert_eq!(who, ["mds1|f", "mds1|f"]);
}

#[test]
fn an_outage_loses_nothing_and_doubles_nothing() {
    let mut database = needs!(numbered());
    let machine = Machine::new(COUNTING);
    for call in 1..=5 {
        let waiting = match call {
            1 => "1 scrape queued in ".to_owned(),
            call => format!("{call} scrapes queued in "),
        };
        machine.run_once(AWAY).is(69, &[&waiting, "2 of 2 targets"]);
    }
    assert_eq!(machine.files("").len(), 5);
    machine.run_once(&database.url()).succeeds_silently();
    assert_eq!(arrived(&mut database), texts(1..=6));
    assert!(machine.files("").is_empty());
    // The times are from the readings, not from sending.
    let ordered = database.column(
        r#"SELECT (array_agg("time" ORDER BY number) = array_agg("time" ORDER BY "time"))::text FROM jobstats.feed"#,
    );
    assert_eq!(ordered, ["true"]);
}

#[test]
fn a_file_of_the_spool_is_text_for_zstdcat() {
    let machine = Machine::new(COUNTING);
    machine.run_once(AWAY).is(69, &[]);
    let file = fs::read(machine.spool().join(&machine.files("")[0])).unwrap();
    assert_eq!(crate::common::unpack(&file), texts([1]).concat());
    assert_eq!(machine.losses(), [0; 4]);
}

#[test]
fn a_text_that_is_refused_for_good_is_set_aside_and_holds_up_nothing() {
    let mut database = needs!(numbered());
    let machine = Machine::new(COUNTING);
    for _ in 1..=3 {
        machine.run_once(AWAY).is(69, &[]);
    }
    // The numbers count attempts: the fourth is the second text of the second reading.
    trigger(
        &mut database,
        "IF NEW.number = 4 THEN RAISE SQLSTATE '54000' USING MESSAGE = 'too large'; END IF;",
    );
    machine.run_once(&database.url()).is(
        65,
        &[
            "MDT0001: too large",
            "scrape 2 is set aside in",
            "1 of 2 targets",
        ],
    );
    let mut expected = texts(1..=4);
    expected.remove(3);
    assert_eq!(arrived(&mut database), expected);
    assert!(machine.files("").is_empty());
    assert_eq!(machine.files("rejected"), ["0000000000000002.lctl.zst"]);
    assert_eq!(machine.losses(), [0, 0, 1, 0]);
    // It is queued again on request.
    let requeue = |numbers: &[&str]| {
        Shipper::new(&["requeue", "--spool", machine.spool().to_str().unwrap()])
            .args(numbers)
            .run_without_lock()
    };
    requeue(&["1"]).is(66, &["no such set-aside scrape"]);
    requeue(&["2"]).is(0, &["1 scrape queued again in "]);
    requeue(&[]).is(66, &[]);
    assert!(machine.files("rejected").is_empty());
    let before = arrived(&mut database).len();
    machine.run_once(&database.url()).succeeds_silently();
    let expected = [texts([2]), texts([5])].concat();
    assert_eq!(arrived(&mut database)[before..], expected);
}

#[test]
fn a_database_that_refuses_connections_with_an_internal_error_refuses_no_text() {
    // A server whose disk is full answers so.
    let url = refusing("XX000", "could not write\u{1b}]0;init\u{7} file\nforged");
    let machine = Machine::new(COUNTING);
    let said = "could not write ]0;init  file forged (SQLSTATE XX000)";
    let ended = machine.run_once(&url);
    let ended = ended.is(69, &[said, "1 scrape queued"]);
    assert!(!ended.said.contains('\u{1b}'), "{}", ended.said);
    assert_eq!(machine.files("").len(), 1);
    assert!(machine.files("rejected").is_empty());
    assert_eq!(machine.losses(), [0; 4]);
}

#[test]
fn a_text_that_is_rejected_is_kept_because_the_database_keeps_little_of_it() {
    let mut database = needs!(Database::new());
    trigger(
        &mut database,
        "IF NEW.\"time\" > clock_timestamp() + interval '5 min' THEN
            RAISE WARNING 'jobstats rejected a text: clock'; RETURN NULL; END IF;",
    );
    let machine = Machine::new(COUNTING);
    let text = machine.lctl.file("text");
    fs::write(&text, "mdt.fs-MDT0000.job_stats=\n- job_id: a\n").unwrap();
    let input = |time: &str| {
        Shipper::new(&["once", "--server", "mds1", "--time", time])
            .args(&["--database-url", &database.url()])
            .args(&["--input", text.to_str().unwrap()])
            .args(&["--spool", machine.spool().to_str().unwrap()])
            .run()
    };
    input("2999-12-31T12:00:00Z").is(65, &["clock", "scrape 1 is set aside in"]);
    input("2025-12-31T12:00:00Z").succeeds_silently();
    assert!(machine.files("").is_empty());
    assert_eq!(machine.files("rejected"), ["0000000000000001.lctl.zst"]);
    assert_eq!(machine.losses(), [0, 0, 1, 0]);
    assert_eq!(database.count(), 1);
}

#[test]
fn readings_that_were_rejected_are_sent_again_when_the_clock_of_the_database_is_right() {
    let mut database = needs!(numbered());
    trigger(
        &mut database,
        "IF current_setting('test.clock', true) <> '' THEN
            RAISE WARNING 'jobstats rejected 1 of 1 texts (1 clock)'; RETURN NULL; END IF;",
    );
    let behind = database.url_with("options=-c%20test.clock%3Dbehind");
    let machine = Machine::new(COUNTING);
    machine.run_once(&database.url()).succeeds_silently();
    for reading in [2, 3] {
        let said = format!("scrape {reading} is set aside in");
        machine.run_once(&behind).is(65, &[&said]);
    }
    assert_eq!(machine.files("rejected").len(), 2);
    let words = ["the database accepts current timestamps again: 2 scrapes queued again"];
    machine.run_once(&database.url()).is(0, &words);
    let expected = [texts([1]), texts([4]), texts([2, 3])].concat();
    assert_eq!(arrived(&mut database), expected);
    assert!(machine.files("").is_empty() && machine.files("rejected").is_empty());
}

#[test]
fn errors_of_access_store_version_role_and_disk_set_nothing_aside() {
    let mut database = needs!(numbered());
    trigger(
        &mut database,
        "IF current_setting('test.state', true) <> '' THEN
            RAISE EXCEPTION USING ERRCODE = current_setting('test.state'), MESSAGE = 'trouble'; END IF;",
    );
    let machine = Machine::new(COUNTING);
    let mut calls = 0;
    for state in [
        "28000", "42501", "42703", "42P01", "55000", "53100", "57P03", "25006", "55P03", "23514",
        "0A000",
    ] {
        calls += 1;
        let url = database.url_with(&format!("options=-c%20test.state%3D{state}"));
        let ended = machine.run_once(&url);
        assert!(
            ended.said.contains(state) && ended.said.contains(" queued"),
            "{}",
            ended.said
        );
        assert_ne!(ended.code, Some(0));
        assert_eq!(machine.files("").len(), calls);
    }
    assert!(machine.files("rejected").is_empty());
    machine.run_once(&database.url()).succeeds_silently();
    assert_eq!(arrived(&mut database), texts(1..=calls as u32 + 1));
}

#[test]
fn a_crash_after_the_commit_repeats_a_text_unchanged() {
    let mut database = needs!(Database::new());
    ignore_repeats(&mut database);
    let machine = Machine::new(COUNTING);
    machine.run_once(AWAY).is(69, &[]);
    let file = machine.spool().join(&machine.files("")[0]);
    let content = fs::read(&file).unwrap();
    machine.run_once(&database.url()).succeeds_silently();
    assert_eq!(database.count(), 4);
    // As if the sender had been killed between the commit and the removal.
    fs::write(&file, content).unwrap();
    machine
        .run_once(&database.url())
        .is(0, &["MDT0000: repeated", "MDT0001: repeated"]);
    assert_eq!(database.count(), 6);
    assert!(machine.files("").is_empty());
}

#[test]
fn a_damaged_file_is_set_aside_and_holds_up_nothing() {
    let mut database = needs!(numbered());
    let machine = Machine::new(COUNTING);
    for _ in 1..=3 {
        machine.run_once(AWAY).is(69, &[]);
    }
    let file = machine.spool().join(&machine.files("")[1]);
    let mut content = fs::read(&file).unwrap();
    let last = content.len() - 1;
    content[last] ^= 1;
    fs::write(&file, content).unwrap();
    machine
        .run_once(&database.url())
        .is(71, &["the checksum of its data is wrong", "1 damaged"]);
    assert_eq!(arrived(&mut database), texts([1, 3, 4]));
    assert_eq!(
        machine.files("rejected"),
        ["0000000000000002.lctl.zst.damaged"]
    );
    assert_eq!(machine.losses(), [0, 0, 0, 1]);
}

#[test]
fn limits_drop_the_oldest_and_say_how_many() {
    let mut database = needs!(numbered());
    let machine = Machine::new(COUNTING);
    machine.run_once(AWAY).is(69, &[]);
    let bytes = fs::metadata(machine.spool().join(&machine.files("")[0]))
        .unwrap()
        .len();
    let size = (bytes * 3 + bytes / 2).to_string();
    let limited = |url: &str| machine.once(url).args(&["--spool-size", &size]);
    for _ in 2..=3 {
        limited(AWAY).run().is(69, &[]);
    }
    for _ in 4..=6 {
        limited(AWAY).run().is(
            69,
            &[
                "dropped 1 queued and 0 set-aside scrapes",
                "3 scrapes queued",
            ],
        );
    }
    limited(&database.url()).run().is(0, &["dropped 1 queued"]);
    assert_eq!(arrived(&mut database), texts([5, 6, 7]));
    assert_eq!(machine.losses(), [4, 0, 0, 0]);
}

#[test]
fn old_readings_are_dropped() {
    let mut database = needs!(Database::new());
    let machine = Machine::new(COUNTING);
    machine.run_once(AWAY).is(69, &[]);
    let file = fs::File::open(machine.spool().join(&machine.files("")[0])).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(7200))
        .unwrap();
    machine
        .once(&database.url())
        .args(&["--spool-age", "1h"])
        .run()
        .is(0, &["dropped 1 queued", "--spool-age"]);
    assert_eq!(database.bodies(), texts([2]));
}

#[test]
fn a_spool_that_takes_no_reading_sends_it_at_once() {
    let mut database = needs!(Database::new());
    let machine = Machine::new(COUNTING);
    let small = |url: &str| machine.once(url).args(&["--spool-size", "10"]);
    small(&database.url())
        .run()
        .is(0, &["larger than --spool-size"]);
    assert_eq!(database.bodies(), texts([1]));
    assert_eq!(machine.losses(), [0; 4]);
    small(AWAY).run().is(69, &["1 scrape was dropped"]);
    assert!(machine.files("").is_empty());
    assert_eq!(machine.losses(), [0, 1, 0, 0]);
}

#[test]
fn a_spool_on_a_read_only_file_system_sends_at_once_and_counts_what_is_lost() {
    let mut database = needs!(Database::new());
    let machine = Machine::new(COUNTING);
    machine.run_once(AWAY).is(69, &[]);
    let read_only = |url: &str| machine.once(url).run_read_only(&machine.spool());
    let sent = needs!(read_only(&database.url()));
    sent.is(
        0,
        &[
            "Read-only file system",
            "sending it directly",
            "1 scrape queued",
        ],
    );
    assert_eq!(database.bodies(), texts([2]));
    let lost = read_only(AWAY).unwrap();
    lost.is(69, &["1 scrape was dropped"]);
    // Losses are counted next to the lock until the spool is writable again.
    let lock = machine.lctl.file("reading.lock");
    let status = Shipper::new(&["status", "--json", "--lock", lock.to_str().unwrap()])
        .args(&["--spool", machine.spool().to_str().unwrap()])
        .output();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["spool"]["losses"]["dropped_for_lack_of_room"], 1);
    machine.run_once(&database.url()).succeeds_silently();
    assert_eq!(database.bodies(), texts([1, 2, 4]));
    assert_eq!(machine.losses(), [0, 1, 0, 0]);
}

#[test]
fn a_source_holds_up_no_other() {
    let mut database = needs!(Database::new());
    trigger(
        &mut database,
        "IF NEW.server = 'db1' THEN RAISE SQLSTATE '42501'; END IF;",
    );
    let machine = Machine::new(COUNTING);
    let spool = Directory::open(&machine.spool()).unwrap();
    let text = zstd::stream::encode_all(&b"root:x:0:0::/root:/bin/sh\n"[..], 1).unwrap();
    let index = Index {
        sequence: 0,
        source: "passwd".to_owned(),
        covers: None,
        cluster: String::new(),
        server: "db1".to_owned(),
        texts: vec![Text {
            name: None,
            time: "2026-01-31T12:00:00Z".parse().unwrap(),
            duration: None,
            bytes: 26,
            frames: std::iter::once(0..text.len() as u64).collect(),
        }],
        data: Data {
            bytes: text.len() as u64,
            checksum: xxhash_rust::xxh3::xxh3_64(&text),
        },
    };
    spool.put(index.clone(), &mut text.as_slice()).unwrap();
    spool.put(index, &mut text.as_slice()).unwrap();
    machine
        .run_once(&database.url())
        .is(77, &["42501", "2 scrapes queued"]);
    assert_eq!(database.bodies(), texts([1]));
    assert_eq!(
        machine.files(""),
        ["0000000000000001.passwd.zst", "0000000000000002.passwd.zst"]
    );
}

#[test]
fn a_failed_reading_does_not_stop_what_waits() {
    let mut database = needs!(Database::new());
    let machine = Machine::new(&format!("[ ! -e \"$0.broken\" ] || exit 5\n{COUNTING}"));
    machine.run_once(AWAY).is(69, &[]);
    fs::write(machine.lctl.file("lctl.broken"), "").unwrap();
    machine.run_once(&database.url()).is(74, &["exit code 5"]);
    assert_eq!(database.bodies(), texts([1]));
}

#[test]
fn while_one_sends_another_reads_and_leaves_the_sending() {
    let mut database = needs!(numbered());
    trigger(
        &mut database,
        "WHILE EXISTS (SELECT FROM pg_class WHERE relname = 'stop') LOOP PERFORM pg_sleep(0.05); END LOOP;",
    );
    database.execute("CREATE TABLE stop ()");
    let machine = Machine::new(COUNTING);
    let mut first = machine.once(&database.url());
    let first = Running(first.command().stderr(Stdio::null()).spawn().unwrap());
    wait_for("sender", || {
        !database.column("SELECT 't' FROM pg_stat_activity WHERE query LIKE 'COPY jobstats.feed%' AND state = 'active'").is_empty()
    });
    machine.run_once(&database.url()).succeeds_silently();
    machine.run_once(&database.url()).succeeds_silently();
    assert_eq!(machine.files("").len(), 3);
    database.execute("DROP TABLE stop");
    wait_for("end", || database.count() == 6);
    drop(first);
    assert_eq!(arrived(&mut database), texts(1..=3));
}

#[test]
fn run_reads_on_while_the_database_is_away_and_sends_all_in_order() {
    let mut database = needs!(numbered());
    // The role may not log in until the outage is over.
    let name = database.column("SELECT current_database()::text").remove(0);
    let role = format!("{name}_run");
    database.execute(&format!(
        "CREATE ROLE {role} NOLOGIN; GRANT USAGE ON SCHEMA jobstats TO {role};
         GRANT INSERT ON jobstats.feed TO {role}; GRANT USAGE ON jobstats.feed_number_seq TO {role}"
    ));
    let url = database.url_with(&format!("user={role}"));
    let machine = Machine::new(COUNTING);
    let mut shipper = machine.shipper("run", &url).args(&["--interval", "500ms"]);
    let running = Running(shipper.command().stderr(Stdio::null()).spawn().unwrap());
    wait_for("backlog", || {
        machine.spool().exists() && machine.files("").len() >= 4
    });
    assert_eq!(database.count(), 0);
    database.execute(&format!("ALTER ROLE {role} LOGIN"));
    wait_for("delivery", || database.count() >= 14);
    drop(running);
    // The last reading may wait, and the next instance sends it. It repeats the texts that were stored when the first one was killed.
    machine.once_after_a_kill(&url).succeeds_silently();
    assert!(machine.files("").is_empty());
    assert_eq!(arrived(&mut database)[..14], texts(1..=7));
    database.execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn killed_instances_lose_nothing() {
    let mut database = needs!(Database::new());
    ignore_repeats(&mut database);
    let machine = Machine::new(COUNTING);
    let calls = || {
        let calls = fs::read_to_string(machine.lctl.file("lctl.calls"));
        calls.unwrap_or_default().lines().count()
    };
    for round in 0..12 {
        let (before, mut running) = (calls(), None);
        // The lctl of a killed instance may still hold the lock.
        wait_for("readings", || {
            let has_ended = |running: &mut Running| running.0.try_wait().unwrap().is_some();
            if running.as_mut().is_none_or(has_ended) {
                let mut shipper = machine
                    .shipper("run", &database.url())
                    .args(&["--interval", "50ms"]);
                let started = shipper.command().stderr(Stdio::null()).spawn();
                running = Some(Running(started.unwrap()));
            }
            calls() > before + round % 3
        });
        // Any moment will do.
        std::thread::sleep(Duration::from_millis(11 * round as u64));
        drop(running);
    }
    machine.once_after_a_kill(&database.url()).is(0, &[]);
    assert!(machine.files("").is_empty());
    // A kill costs at most the reading that was just being made; each other one is there once for each target.
    let calls = calls();
    let stored = database.bodies();
    let readings: HashSet<_> = stored
        .iter()
        .map(|text| text.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!(stored.len(), 2 * readings.len());
    assert!(
        readings.len() + 12 >= calls && readings.len() <= calls,
        "{} of {calls}",
        readings.len()
    );
}
