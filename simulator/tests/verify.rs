//! Tests the checks of the store: they find no difference in a correct store, and every defect in a damaged one.
//!
//! Needs a server with the extension: `JOBSTATS_TEST_DATABASE_URL` names one where databases may be made.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use std::process::{Command, Output};

use postgres::{Client, NoTls};

/// Unwraps a fixture, or ends the test where it is missing.
macro_rules! needs {
    ($fixture:expr) => {
        match $fixture {
            Some(it) => it,
            None => return,
        }
    };
}

/// A database that lives as long as this value.
struct Database {
    server_url: String,
    name: String,
}

impl Database {
    /// With a store; prints a line and returns `None` without a server.
    fn new(name: &str) -> Option<Self> {
        let Ok(server_url) = std::env::var("JOBSTATS_TEST_DATABASE_URL") else {
            eprintln!("not run: JOBSTATS_TEST_DATABASE_URL is not set");
            return None;
        };
        let name = format!("simulator_{name}_{}", std::process::id());
        let mut server = Client::connect(&server_url, NoTls).unwrap();
        server
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .unwrap();
        let database = Self { server_url, name };
        // The simulated day is long ago, and late text needs the raw text around it.
        database.execute(
            "CREATE EXTENSION jobstats; SELECT jobstats_setup();
             UPDATE jobstats.settings SET retention = '100 years', raw_retention = '100 years'",
        );
        Some(database)
    }

    fn url(&self) -> String {
        let (base, query) = match self.server_url.split_once('?') {
            Some((base, query)) => (base, format!("?{query}")),
            None => (self.server_url.as_str(), String::new()),
        };
        let (server, _) = base.rsplit_once('/').unwrap();
        format!("{server}/{}{query}", self.name)
    }

    fn execute(&self, sql: &str) {
        let mut client = Client::connect(&self.url(), NoTls).unwrap();
        client.batch_execute(sql).unwrap();
    }

    fn simulator(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_jobstats-simulator"))
            .args(arguments)
            .env("JOBSTATS_DATABASE_URL", self.url())
            .output()
            .unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let dropped = Client::connect(&self.server_url, NoTls).and_then(|mut server| {
            server.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name))
        });
        if let Err(error) = dropped {
            eprintln!("{}: {error}", self.name);
        }
    }
}

#[track_caller]
fn succeeds(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{stderr}");
    stdout
}

const LONG_AGO: &str = "2025-06-01T00:00:00Z";

#[test]
fn without_a_time_the_last_hours_are_loaded() {
    let database = needs!(Database::new("recent"));
    database.execute("UPDATE jobstats.settings SET raw_retention = '2 days'");
    let loaded = database.simulator(&["load", "--undisturbed", "--hours", "0.5"]);
    succeeds(&loaded);
    assert!(!String::from_utf8_lossy(&loaded.stderr).contains("stored"));
    // Six readings of three targets in half an hour.
    for readings in ["observations", "target_snapshots"] {
        database.execute(&format!(
            "DO 'BEGIN ASSERT 18 = (SELECT count(*) FROM jobstats.{readings}); END'"
        ));
    }
}

#[test]
fn a_load_whose_texts_are_all_rejected_fails() {
    let database = needs!(Database::new("rejected"));
    database.execute("UPDATE jobstats.settings SET raw_retention = '2 days'");
    let span = ["--hours", "0.5", "--from", LONG_AGO];
    let load = ["load", "--undisturbed", "--job-stats-only"];
    let loaded = database.simulator(&[&load[..], &span[..]].concat());
    let said = String::from_utf8_lossy(&loaded.stderr);
    assert_eq!(loaded.status.code(), Some(1));
    assert!(
        said.contains(
            "0 of 18 texts were stored, for the others see jobstats.rejects: jobstats rejected 1 of 1 texts (1 too late)"
        ),
        "{said}"
    );
}

#[test]
fn late_and_repeated_texts_change_nothing() {
    let database = needs!(Database::new("late"));
    let scene = ["--layout", "2.12", "--seed", "2", "--from", LONG_AGO];
    let disorder = ["--late", "0.05", "--repeated", "0.05"];
    succeeds(&database.simulator(&[&["load"], &scene[..], &disorder[..]].concat()));
    // A late text whose order relative to the next is unknown is no observation.
    let verified = succeeds(&database.simulator(&[&["verify", "--observed"], &scene[..]].concat()));
    assert!(
        verified.contains(" differences 0, above the truth 0\n"),
        "{verified}"
    );
}

#[test]
fn a_wrong_increment_is_found() {
    let database = needs!(Database::new("wrong"));
    let scene = ["--hours", "3", "--from", LONG_AGO];
    succeeds(&database.simulator(&[&["load"], &scene[..]].concat()));
    succeeds(&database.simulator(&[&["verify"], &scene[..]].concat()));
    database.execute(
        r#"UPDATE jobstats.increments SET statfs = statfs + 1000000
           WHERE ctid = (SELECT ctid FROM jobstats.increments WHERE statfs > 0 LIMIT 1)"#,
    );
    let verified = database.simulator(&[&["verify"], &scene[..]].concat());
    let stdout = String::from_utf8_lossy(&verified.stdout);
    assert_eq!(verified.status.code(), Some(1));
    assert!(stdout.contains(" statfs: stored 1000"), "{stdout}");
    // Every way finds it but the rankings: an OST that reports its free space does not count there.
    for way in [
        "increments",
        "jobstats_totals",
        "jobstats_totals in odd windows",
        "jobstats_rates × observed seconds",
    ] {
        let line = stdout
            .lines()
            .find(|line| line.starts_with(&format!("{way}: cells")))
            .unwrap();
        assert!(
            line.ends_with(", differences 1, above the truth 1"),
            "{stdout}"
        );
    }
}

#[test]
fn a_wrong_increment_of_a_target_is_found_and_a_lost_reading() {
    let database = needs!(Database::new("whole"));
    let scene = ["--hours", "3", "--from", LONG_AGO];
    succeeds(&database.simulator(&[&["load"], &scene[..]].concat()));
    let verify = |more: &[&str]| database.simulator(&[&["verify"], &scene[..], more].concat());
    succeeds(&verify(&[]));
    let line = |output: &Output, way: &str| {
        assert_eq!(output.status.code(), Some(1));
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = stdout.lines().find(|line| line.starts_with(way));
        line.unwrap_or_else(|| panic!("{stdout}")).to_owned()
    };
    assert!(line(&verify(&["--job-stats-only"]), "readings").ends_with(", not all"));
    database.execute(
        r#"UPDATE jobstats.target_increments SET statfs = statfs + 1000000
           WHERE ctid = (SELECT ctid FROM jobstats.target_increments WHERE statfs > 0 LIMIT 1)"#,
    );
    let verified = verify(&[]);
    // The total, and the requests outside its entries.
    for (way, differences) in [
        ("jobstats_untracked: cells", 2),
        ("jobstats_untracked in odd windows: cells", 1),
        ("jobstats_totals: cells", 0),
    ] {
        let line = line(&verified, way);
        let end = format!(", differences {differences}, above the truth {differences}");
        assert!(line.ends_with(&end), "{line}");
    }
    database.execute(
        r#"DELETE FROM jobstats.target_snapshots
           WHERE ctid = (SELECT ctid FROM jobstats.target_snapshots LIMIT 1)"#,
    );
    assert!(line(&verify(&[]), "readings of").ends_with(", not all"));
}
