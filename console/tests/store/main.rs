//! `top` on a store filled by the simulator: numbers equal SQL, now and in the past, and errors are explained.
//!
//! Needs a server with the extension: `JOBSTATS_TEST_DATABASE_URL` names one where databases and roles may be made.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

#[path = "../database/mod.rs"]
mod database;
mod numbers;
#[path = "../outcome/mod.rs"]
mod outcome;

use std::collections::BTreeMap;
use std::process::{Command, Output};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::Filters;
use jobstats_console::{Source, Step, StoreSource, TargetStates, Update};
use postgres::Client;
use serde_json::Value;

use database::{Database, connect, options};
use outcome::{fails, said};

impl Database {
    /// Runs `top` on the store.
    fn top(&self, arguments: &[&str]) -> Output {
        top(&[&["--database-url", &self.url], arguments].concat())
    }

    /// Returns the lines of `top --json`.
    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.top(&[&["--json"], arguments].concat());
        assert_eq!(said(&output), (0, String::new()));
        let lines = String::from_utf8(output.stdout).unwrap();
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    /// Returns numbers by names, as a statement answers them.
    fn numbers(&mut self, statement: &str) -> BTreeMap<String, f64> {
        let rows = self.client.query(statement, &[]).unwrap();
        let number = |row: &postgres::Row| (row.get(0), row.get(1));
        rows.iter().map(number).collect()
    }
}

fn top(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_jobstats-console"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PG")) {
        program.env_remove(name);
    }
    program.env_remove("JOBSTATS_DATABASE_URL");
    program.arg("top").args(arguments).env("TZ", "Asia/Kolkata");
    program.output().unwrap()
}

#[test]
fn now_is_the_last_reading_and_the_past_is_played_up_to_it() {
    let Some(mut store) = Database::with_store("past") else {
        return;
    };
    let until = store.load("small", 0);
    let now = &store.json(&["--once"])[0];
    let expected = store.numbers(
        "SELECT labels ->> 'uid', sum(service_time) FROM jobstats_now(n => 1000000) WHERE labels ->> 'uid' IS NOT NULL GROUP BY 1",
    );
    equal(&column(now, "service_time", "rate"), &expected);
    let at = (until - SignedDuration::from_mins(32)).to_string();
    let played = store.json(&["--at", &at]);
    // The cluster is read every five minutes.
    assert!((6..=8).contains(&played.len()), "{}", played.len());
    let times: Vec<_> = played.iter().map(|it| it["time"].as_str()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let last = played.last().unwrap();
    for field in ["rows", "total"] {
        assert_eq!(last[field], now[field]);
    }
    let text = store.top(&["--once", "--width", "100"]);
    assert_eq!(said(&text), (0, String::new()));
    let text = String::from_utf8(text.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with(" small "), "{text}");
    assert!(lines[0].contains("1 MDT, 2 OST ok"), "{text}");
    assert!(lines[0].ends_with("over 5 min"), "{text}");
}

#[test]
fn names_and_accounts_are_those_of_the_store_and_clusters_can_be_chosen() {
    let Some(mut store) = Database::with_store("names") else {
        return;
    };
    store.load("small", 0);
    store.load("other", 0);
    let user = &store.json(&["--once"])[0]["rows"][0]["uid"];
    let user = user.as_u64().unwrap();
    store
        .client
        .batch_execute(&format!(
            "INSERT INTO jobstats.users (uid, user_name) VALUES ({user}, E'<b>a\\x1b[31m\\u202e\"=1')"
        ))
        .unwrap();
    // Whoever is busiest at this time of day has the account, also for work of login nodes.
    store
        .client
        .batch_execute(
            "WITH one AS (INSERT INTO jobstats.job_ids (scheduler, job, runs, started, last_started, account) \
             VALUES ('slurm', '1', 1, now(), now(), 'project_1') RETURNING job_no) \
             INSERT INTO jobstats.entry_jobs (entry_id, valid_from, valid_to, job_no, status, alone) \
             SELECT entry_id, '-infinity', 'infinity', job_no, 'known', true FROM jobstats.entries, one",
        )
        .unwrap();
    let both = &store.json(&["--once"])[0];
    assert_eq!(both["targets"].as_array().unwrap().len(), 6);
    assert_eq!(both["targets"][0]["target"], "other/small-MDT0000");
    let named = &both["rows"][0];
    assert_eq!(named["uid"], user);
    assert_eq!(named["user"], "<b>a\u{1b}[31m\u{202e}\"=1");
    assert_eq!(named["account"], "project_1");
    let one = &store.json(&["--once", "--cluster", "oth*", "--by", "account"])[0];
    assert_eq!(one["targets"].as_array().unwrap().len(), 3);
    assert_eq!(one["targets"][0]["target"], "small-MDT0000");
    let expected = store.numbers(
        "SELECT labels ->> 'account', sum(service_time) FROM jobstats_now(n => 1000000, filter => 'cluster=other') \
         WHERE labels ->> 'account' IS NOT NULL GROUP BY 1",
    );
    equal(&column(one, "service_time", "rate"), &expected);
    let text = store.top(&["--once", "--width", "300"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains(r#"<b>a\x1B[31m\u{202e}"=1"#), "{text}");
    assert!(text.contains("project_1"), "{text}");
    let nothing = store.top(&["--once", "--filesystem", "nowhere"]);
    fails(
        &nothing,
        66,
        "no target matches this cluster and file system",
    );
}

#[test]
fn whatever_is_missing_is_told_with_what_to_do() {
    let Some(mut store) = Database::new("missing") else {
        return;
    };
    fails(&store.top(&["--once"]), 78, "CREATE EXTENSION jobstats");
    store
        .client
        .batch_execute("CREATE EXTENSION jobstats")
        .unwrap();
    fails(&store.top(&["--once"]), 78, "SELECT jobstats_setup()");
    store
        .client
        .batch_execute("SELECT jobstats_setup()")
        .unwrap();
    fails(&store.top(&["--once"]), 66, "jobstats-shipper");

    let role = &format!("{}_reader", store.name);
    store
        .client
        .batch_execute(&format!("CREATE ROLE {role}"))
        .unwrap();
    let separator = if store.url.ends_with('?') { "" } else { "&" };
    let url = format!("{}{separator}options=-c%20role%3D{role}", store.url);
    let once = ["--once", "--database-url", &url];
    let denied = format!("SELECT jobstats_grant_reader('{role}')");
    fails(&top(&once), 77, &denied);
    store.client.batch_execute(&denied).unwrap();
    store.load("small", 0);
    let read = top(&once);
    assert_eq!(said(&read), (0, String::new()));

    let before = store.top(&["--once", "--at", "2020-01-01"]);
    fails(&before, 66, "no data for that time; observations begin");
    fails(&before, 66, " IST\n");
    let future = Timestamp::now() + SignedDuration::from_hours(1);
    let future = store.top(&["--once", "--at", &future.to_string()]);
    fails(&future, 64, "Z is in the future: it is ");
    store
        .client
        .batch_execute("UPDATE jobstats.settings SET version = '99.0.0'")
        .unwrap();
    fails(&store.top(&["--once"]), 78, "ALTER EXTENSION");
    let gone = "postgresql://localhost:1/nowhere?sslmode=disable";
    fails(
        &top(&["--once", "--database-url", gone]),
        69,
        "cannot connect to localhost:1/nowhere",
    );
    fails(&top(&["--once"]), 66, "--database-url");
    let dropped = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    store.client.batch_execute(&dropped).unwrap();
}

#[test]
fn a_profile_names_the_database() {
    let Some(store) = Database::with_store("profile") else {
        return;
    };
    store.load("small", 0);
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let text = format!("[profile.one]\ndatabase_url = '{}'\n", store.url);
    std::fs::write(path, &text).unwrap();
    let profile = ["-P", "one", "--profiles", path, "--once"];
    let output = top(&profile);
    assert_eq!(said(&output), (0, String::new()));
    assert!(output.stdout.starts_with(b" small "));
    std::fs::write(path, format!("{text}[profile.one.input]\na = 'true'\n")).unwrap();
    fails(&top(&profile), 78, "both a database and an input");
    std::fs::write(path, "[profile.one]\ninterval = '5s'\n").unwrap();
    fails(&top(&profile), 78, "no database_url");
}

fn step(source: &mut StoreSource, step: Step, history: &mut TargetStates) -> Update {
    let update = source.step(step).unwrap();
    let copy = Update {
        is_live: update.is_live,
        until_next: update.until_next,
        begins_anew: update.begins_anew,
        medians: update.medians.clone(),
        ..Update::default()
    };
    update.apply(history, &mut Default::default());
    copy
}

#[test]
fn a_screen_goes_through_time_and_survives_a_lost_connection() {
    let Some(mut store) = Database::with_store("screen") else {
        return;
    };
    let mut source = StoreSource::new(
        &options(&store.url),
        Filters::default(),
        None,
        TimeZone::UTC,
        true,
    )
    .unwrap();
    let mut history = TargetStates::default();
    step(&mut source, Step::Next, &mut history);
    let silent = |it: &TargetStates| it.silent.values().next().map(|it| it.reason.clone());
    assert!(silent(&history).unwrap().contains("jobstats-shipper"));

    store.load("small", 0);
    let update = step(&mut source, Step::Next, &mut history);
    assert_eq!(silent(&history), None);
    // The first screen does not wait for baselines.
    assert!(update.medians.is_none());
    assert_eq!(history.targets().count(), 3);
    assert!(
        history
            .targets()
            .all(|it| !it.is_late() && it.last().is_some())
    );
    // Nor does any other picture fail without it.
    let rename = |from: &str, to: &str| format!("ALTER FUNCTION {from} RENAME TO {to}");
    store
        .client
        .batch_execute(&rename("jobstats_baseline", "other"))
        .unwrap();
    let update = step(&mut source, Step::Next, &mut history);
    assert!(update.medians.is_some() && silent(&history).is_none());
    store
        .client
        .batch_execute(&rename("other", "jobstats_baseline"))
        .unwrap();
    let (live, last) = (
        history.time,
        history.targets().next().unwrap().snapshot.time,
    );

    // A reading back is one reading of each target, which is five minutes.
    let update = step(&mut source, Step::By(-1), &mut history);
    assert_eq!((update.is_live, update.begins_anew), (Some(false), true));
    assert!(!source.is_live());
    let minutes = |micros: i64| micros as f64 / 60e6;
    assert!((4.0..12.0).contains(&minutes(live - history.time)));
    let before = history.targets().next().unwrap().snapshot.time;
    assert!((4.0..6.0).contains(&minutes(last - before)));
    let update = step(&mut source, Step::Next, &mut history);
    assert!(!update.begins_anew && history.time >= last);
    assert_eq!(history.targets().next().unwrap().snapshot.time, last);
    step(&mut source, Step::Begin, &mut history);
    assert!((45.0..66.0).contains(&minutes(live - history.time)));
    // Before the first round the screen stays.
    let begin = history.time;
    step(&mut source, Step::By(-10), &mut history);
    assert!(history.time <= begin && minutes(begin - history.time) < 6.0);
    step(&mut source, Step::By(10), &mut history);
    assert!((40.0..60.0).contains(&minutes(history.time - begin)));
    let update = step(&mut source, Step::End, &mut history);
    assert_eq!((update.is_live, source.is_live()), (Some(true), true));
    // From live, a step before the first observation fails, and the screen shows it.
    let update = step(&mut source, Step::By(-1_000), &mut history);
    assert_eq!((update.is_live, source.is_live()), (Some(true), true));

    let ended = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND application_name = 'jobstats-console'",
        store.name
    );
    store.client.batch_execute(&ended).unwrap();
    let update = step(&mut source, Step::Next, &mut history);
    assert!(silent(&history).is_some() && update.until_next.is_some());
    assert_eq!(history.targets().count(), 3);
    assert!(history.targets().all(|it| !it.is_late()));
    step(&mut source, Step::Next, &mut history);
    assert_eq!(silent(&history), None);
}

#[test]
fn rollups_show_what_increments_do_no_longer() {
    let Some(mut store) = Database::with_store("rollups") else {
        return;
    };
    store
        .client
        .batch_execute("SELECT jobstats_setup(raw_retention => '7 days')")
        .unwrap();
    // The hour of the day decides which rollup has the data.
    let today = Timestamp::now().as_second() / 86_400;
    let until = Timestamp::from_second((today - 5) * 86_400).unwrap()
        + SignedDuration::from_mins(13 * 60 + 20);
    store.load_from("small", until - SignedDuration::from_hours(1));
    let before = &store.json(&["--once", "--at", &until.to_string()])[0];
    let interval = before["targets"][0]["interval"].as_f64().unwrap();
    assert!((200.0..400.0).contains(&interval), "{interval}");
    store
        .client
        .batch_execute("CALL jobstats_maintain()")
        .unwrap();
    store
        .client
        .batch_execute("SELECT jobstats_setup(raw_retention => '1 day', retention => '2 days', rollup_10m_retention => '2 days')")
        .unwrap();
    store
        .client
        .batch_execute("CALL jobstats_maintain()")
        .unwrap();
    let kept =
        store.numbers("SELECT 'increments', count(*)::double precision FROM jobstats.increments");
    assert_eq!(kept["increments"], 0.0);
    let at = (until - SignedDuration::from_mins(30)).to_string();
    let hour = &store.json(&["--once", "--at", &at])[0];
    assert_eq!(hour["targets"][0]["interval"], 3600.0);
    let end = hour["time"].as_str().unwrap();
    let expected = store.numbers(&format!(
        "SELECT labels ->> 'uid', total::double precision FROM jobstats_totals(timestamptz '{end}' - interval '1 hour', '{end}', \
         'service_time', 'uid') WHERE labels ->> 'uid' IS NOT NULL"
    ));
    equal(&column(hour, "service_time", "total"), &expected);
    // What follows is played hour by hour, and a time without work is passed over.
    let early = (until - SignedDuration::from_mins(90)).to_string();
    let played = store.json(&["--at", &early]);
    assert!((1..=3).contains(&played.len()), "{}", played.len());
}

/// Returns a number of each row by its name.
fn column(table: &Value, measure: &str, of: &str) -> BTreeMap<String, f64> {
    let rows = table["rows"].as_array().unwrap().iter();
    let cell = |row: &Value| {
        let name = row["name"].as_str().unwrap().to_owned();
        (name, row[measure][of].as_f64().unwrap())
    };
    rows.map(cell).collect()
}

#[track_caller]
fn equal(shown: &BTreeMap<String, f64>, expected: &BTreeMap<String, f64>) {
    let names = |numbers: &BTreeMap<String, f64>| numbers.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(shown), names(expected));
    assert!(!shown.is_empty());
    for (name, value) in shown {
        let other = expected[name];
        let difference = (value - other).abs();
        assert!(
            difference <= 1e-9 * value.abs().max(1e-3),
            "{name}: {value} is not {other}"
        );
    }
}
