//! The way to the database: secrets, retries, refusals, time-outs.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use crate::common::{Database, Fake, Shipper, not_run, wait_for, with_a_limit};

const TWO_TARGETS: &str =
    "printf 'mdt.fs-MDT0000.job_stats=job_stats:\\nmdt.fs-MDT0001.job_stats=job_stats:\\n'";

fn lctl() -> Fake {
    Fake::new(TWO_TARGETS)
}

fn without_database(lctl: &Fake) -> Shipper {
    Shipper::new(&["once", "--lctl", lctl.path().to_str().unwrap()])
}

/// Runs for the first row to arrive, or for the first few.
fn trigger(database: &mut Database, body: &str) {
    database.execute(&format!(
        "CREATE SEQUENCE tries;
         CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NEW; END $$;
         CREATE TRIGGER trouble BEFORE INSERT ON jobstats.feed FOR EACH ROW EXECUTE FUNCTION trouble()"
    ));
}

#[test]
fn the_environment_names_the_database() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(&format!("env >\"$0.env\"; {TWO_TARGETS}"));
    without_database(&lctl)
        .env("JOBSTATS_DATABASE_URL", &database.url())
        .env("PGPASSWORD", "s3cret")
        .run()
        .succeeds_silently();
    assert_eq!(database.count(), 2);
    // lctl does not inherit the secrets.
    let inherited = fs::read_to_string(lctl.file("lctl.env")).unwrap();
    assert!(inherited.contains("LC_ALL=C"));
    assert!(!inherited.contains("s3cret") && !inherited.contains("DATABASE_URL"));
}

#[test]
fn a_file_names_the_database_if_nobody_else_can_read_it() {
    let mut database = needs!(Database::new());
    let lctl = lctl();
    let file = lctl.file("shipper.conf");
    fs::write(
        &file,
        format!(
            "JOBSTATS_DATABASE_URL={}\nPGPASSWORD=s3cret\n",
            database.url()
        ),
    )
    .unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let with_file = || without_database(&lctl).args(&["--config", file.to_str().unwrap()]);
    with_file().run().is(78, &["chmod 600"]);
    assert_eq!(database.count(), 0);
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    with_file().run().succeeds_silently();
    assert_eq!(database.count(), 2);
}

#[test]
fn a_password_on_the_command_line_is_refused_and_not_repeated() {
    let refused = without_database(&lctl())
        .args(&["--database-url", "postgresql://writer:s3cret@db1/jobstats"])
        .run();
    assert!(
        !refused
            .is(78, &["PGPASSWORD", "--config"])
            .said
            .contains("s3cret")
    );
}

#[test]
fn secrets_are_in_no_message() {
    let url = "postgresql://writer:s3cret@127.0.0.1:1/jobstats";
    let failed = without_database(&lctl())
        .env("JOBSTATS_DATABASE_URL", url)
        .run();
    assert!(!failed.is(69, &["2 of 2 targets"]).said.contains("s3cret"));
    let broken = without_database(&lctl())
        .env("JOBSTATS_DATABASE_URL", &format!("{url}?s3cret"))
        .run();
    assert!(
        !broken
            .is(78, &["JOBSTATS_DATABASE_URL"])
            .said
            .contains("s3cret")
    );
    let help = Shipper::new(&["once", "--help"])
        .env("JOBSTATS_DATABASE_URL", url)
        .command()
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&help.stdout).contains("s3cret"));
}

#[test]
fn no_database_is_guessed() {
    without_database(&lctl())
        .run()
        .is(78, &["no database given"]);
}

#[test]
fn what_may_pass_is_tried_again() {
    // Deadlock, serialization failure, no lock, full disk, no memory, a standby, a session that was idle too long.
    for state in [
        "40P01", "40001", "55P03", "53100", "53200", "25006", "25P03", "57P03", "XX000",
    ] {
        let mut database = needs!(Database::new());
        trigger(
            &mut database,
            &format!("IF nextval('tries') <= 2 THEN RAISE SQLSTATE '{state}'; END IF;"),
        );
        Shipper::once(&database, &lctl().path())
            .run()
            .succeeds_silently();
        assert_eq!(database.count(), 2);
        assert_eq!(database.column("SELECT last_value::text FROM tries"), ["4"]);
    }
}

#[test]
fn a_lasting_conflict_is_given_up_and_the_other_targets_are_sent() {
    let mut database = needs!(Database::new());
    trigger(
        &mut database,
        "IF nextval('tries') <= 5 THEN RAISE SQLSTATE '40P01'; END IF;",
    );
    Shipper::once(&database, &lctl().path())
        .run()
        .is(75, &["mdt.fs-MDT0000: ", "40P01", "1 of 2 targets"]);
    assert_eq!(database.bodies(), ["mdt.fs-MDT0001.job_stats=job_stats:\n"]);
}

#[test]
fn a_broken_connection_is_made_again() {
    let mut database = needs!(Database::new());
    trigger(
        &mut database,
        "IF nextval('tries') = 2 THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); END IF;",
    );
    Shipper::once(&database, &lctl().path())
        .run()
        .succeeds_silently();
    assert_eq!(database.count(), 2);
}

#[test]
fn a_refused_text_does_not_stop_the_others() {
    let mut database = needs!(Database::new());
    trigger(
        &mut database,
        "IF nextval('tries') = 1 THEN RAISE SQLSTATE '54000' USING MESSAGE = 'too large', HINT = 'raise max_text';
         END IF;",
    );
    Shipper::once(&database, &lctl().path()).run().is(
        65,
        &["MDT0000: ", "too large (SQLSTATE 54000)", "raise max_text"],
    );
    assert_eq!(database.bodies(), ["mdt.fs-MDT0001.job_stats=job_stats:\n"]);
}

#[test]
fn a_missing_store_and_missing_rights_have_their_exit_codes() {
    let mut database = needs!(Database::empty());
    Shipper::once(&database, &lctl().path())
        .run()
        .is(78, &["jobstats", "SQLSTATE"]);
    database.execute("CREATE SCHEMA jobstats; CREATE TABLE jobstats.feed (cluster text, server text, \"time\" timestamptz,
        body_zstd bytea, duration interval, shipper text, source text, covers tstzrange)");
    // A role that exists everywhere and has no privileges here.
    let url = database.url_with("options=-c%20role%3Dpg_monitor");
    without_database(&lctl())
        .args(&["--database-url", &url])
        .run()
        .is(77, &["permission denied", "42501"]);
    assert_eq!(database.count(), 0);
}

#[test]
fn the_feed_sees_read_committed_whatever_the_default_is() {
    let mut database = needs!(Database::new());
    trigger(
        &mut database,
        "IF current_setting('transaction_isolation') <> 'read committed' THEN RAISE SQLSTATE '25001'; END IF;",
    );
    let url = database.url_with("options=-c%20default_transaction_isolation%3Dserializable");
    without_database(&lctl())
        .args(&["--database-url", &url])
        .run()
        .succeeds_silently();
    assert_eq!(database.count(), 2);
}

#[test]
fn a_commit_is_on_disk_before_it_counts() {
    for (default, expected) in [("off", "on"), ("on", "on"), ("local", "local")] {
        let mut database = needs!(Database::new());
        trigger(
            &mut database,
            "NEW.cluster := current_setting('synchronous_commit');",
        );
        let url = database.url_with(&format!("options=-c%20synchronous_commit%3D{default}"));
        without_database(&lctl())
            .args(&["--database-url", &url])
            .run()
            .succeeds_silently();
        let seen = database.column("SELECT DISTINCT cluster FROM jobstats.feed");
        assert_eq!(seen, [expected]);
    }
}

#[test]
fn a_statement_that_takes_too_long_is_ended() {
    let mut database = needs!(Database::new());
    trigger(
        &mut database,
        "IF nextval('tries') = 1 THEN PERFORM pg_sleep(86400); END IF;",
    );
    let run = |limit: &str| {
        database.execute("ALTER SEQUENCE tries RESTART; TRUNCATE jobstats.feed");
        Shipper::once(&database, &lctl().path())
            .args(&["--statement-timeout", limit])
            .run()
    };
    with_a_limit(run, |ended| ended.said.contains("1 of 2")).is(75, &["57014"]);
    assert_eq!(database.count(), 1);
}

#[test]
fn a_database_that_never_answers_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "postgresql://writer@{}/jobstats",
        listener.local_addr().unwrap()
    );
    let arguments = ["--database-url", &url, "--connect-timeout", "300ms"];
    without_database(&lctl())
        .args(&arguments)
        .run()
        .is(69, &["within 300ms", "2 of 2"]);
}

#[test]
fn a_locked_store_costs_two_limits_and_not_one_per_target() {
    let mut database = needs!(Database::new());
    trigger(&mut database, "PERFORM pg_sleep(86400);");
    let targets = "for n in 0 1 2 3 4 5; do echo mdt.fs-MDT000$n.job_stats=job_stats:; done";
    let ended = Shipper::once(&database, &Fake::new(targets).path())
        .args(&["--statement-timeout", "200ms"])
        .run()
        .is(75, &["MDT0000: ", "MDT0001: ", "6 of 6 targets"]);
    assert_eq!(ended.said.matches("57014").count(), 2, "{}", ended.said);
}

/// Forwards between a client and a server until the client sends this word; then stays silent and keeps the connections open.
fn falls_silent_at(word: &'static [u8], server: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for client in listener.incoming() {
            let client = client.unwrap();
            let server = UnixStream::connect(&server).unwrap();
            kept.push((client.try_clone().unwrap(), server.try_clone().unwrap()));
            let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || pass_on(back.0, back.1, b"\0never said\0"));
            std::thread::spawn(move || pass_on::<TcpStream, UnixStream>(client, server, word));
        }
    });
    port
}

fn pass_on<F: Read, T: Write>(mut from: F, mut to: T, word: &[u8]) {
    let mut buffer = [0; 65536];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let text = &buffer[..read];
        if text.windows(word.len()).any(|window| window == word) || to.write_all(text).is_err() {
            // The connections are kept open by others.
            return;
        }
    }
}

#[test]
fn a_connection_that_dies_silently_before_the_commit_locks_nobody_out() {
    let mut database = needs!(Database::new());
    let sockets =
        database.column("SELECT split_part(current_setting('unix_socket_directories'), ',', 1)");
    let socket = format!(
        "{}/.s.PGSQL.{}",
        sockets[0],
        database.column("SELECT current_setting('port')")[0]
    );
    if UnixStream::connect(&socket).is_err() {
        return not_run("the server has no socket here");
    }
    // The zero byte distinguishes the statement from READ COMMITTED.
    let port = falls_silent_at(b"COMMIT\0", socket);
    let name = database.column("SELECT current_database()::text").remove(0);
    let user = database.column("SELECT current_user::text").remove(0);
    let url = format!("postgresql://{user}@127.0.0.1:{port}/{name}?sslmode=disable");
    let run = |limit: &str| {
        without_database(&lctl())
            .args(&["--database-url", &url, "--statement-timeout", limit])
            .run()
    };
    with_a_limit(run, |ended| ended.said.contains("did not answer")).is(69, &["2 of 2 targets"]);
    let idle = format!(
        "SELECT pid::text FROM pg_stat_activity WHERE datname = '{name}' AND state LIKE 'idle in transaction%'"
    );
    wait_for("end of the transaction", || {
        database.column(&idle).is_empty()
    });
    assert_eq!(database.count(), 0);
}
