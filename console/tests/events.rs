//! Events on the command line, to Nagios, and in reports.
//!
//! Needs a server with the extension: `JOBSTATS_TEST_DATABASE_URL` names one where databases may be made.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod world;

use postgres::{Client, NoTls};

use world::{Store, words};

/// The users to whom a rise is due, as a reader of everything sees them.
const CULPRITS: &str = r#"{"by": "uid", "named": true, "slow": [], "load": {},
    "subjects": [{"uid": 1000, "user_name": "user1000", "account": "physics", "share": 0.71}]}"#;

#[test]
fn events_are_told() {
    let Some(store) = Store::new("events") else {
        return;
    };
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    nothing_is_said_in_one_line(&store);
    let waiting = add(&mut client, "waiting", "warning", Some(0.3));
    add(&mut client, "failover", "info", None);
    they_are_listed_and_explained(&store, waiting);
    reports_have_them(&store, waiting);
    checks_count_them(&store, &mut client, waiting);
    a_role_with_own_rights_is_one_user(&store, &mut client, waiting);
}

/// Adds an event that has lasted for an hour.
fn add(client: &mut Client, kind: &str, severity: &str, value: Option<f64>) -> i64 {
    let row = "INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, updated, severity, targets, servers, value, usual, rate, details, culprits, notified)
        VALUES ($1, '', 'scratch', now() - interval '1 hour', now(), now(), now(), $2, '{scratch-OST0000}', '{mds1}', $3, 0.02, 5, '{}',
            CASE $1 WHEN 'waiting' THEN $4::text::jsonb END, now()) RETURNING event_id";
    let row = client.query_one(row, &[&kind, &severity, &value, &CULPRITS]);
    row.unwrap().get(0)
}

fn check(store: &Store, arguments: &[&str]) -> (i32, String) {
    let output = store.run(&[&["check"], arguments].concat());
    let line = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), line)
}

fn report(store: &Store) -> String {
    store.text(&["report", "--from", "3h", "-o", "-"])
}

fn nothing_is_said_in_one_line(store: &Store) {
    let none = store.text(&["events"]);
    assert_eq!(
        none,
        "No alerts in this window. --all also lists events without an alert.\n"
    );
    let line = "JOBSTATS OK - no alerts | critical=0 warning=0\n";
    assert_eq!(check(store, &[]), (0, line.to_owned()));
    assert!(report(store).contains("<p>No events were found.</p>"));
}

fn they_are_listed_and_explained(store: &Store, waiting: i64) {
    let listed = words(&store.text(&["events"]));
    let who = "user1000 (physics), 71 % of the rise";
    let line = format!("waiting scratch mds1 300 ms, typically 20 ms {who}");
    assert!(listed.contains(&line), "{listed}");
    assert!(!listed.contains("failover") && store.text(&["events", "--all"]).contains("failover"));
    let json = &store.json(&["events", "--json"])[0];
    assert_eq!(
        (&json["event_id"], &json["name"]),
        (&waiting.into(), &"user1000, physics".into())
    );
    let explained = store.text(&["events", &waiting.to_string()]);
    assert!(explained.starts_with("what      Since "), "{explained}");
    let began: jiff::Timestamp = json["began"].as_str().unwrap().parse().unwrap();
    let began = began.in_tz("Asia/Kolkata").unwrap();
    let began = began.strftime("%F %H:%M").to_string();
    let zone = ["--zone", "Asia/Kolkata"];
    let end = "All times are Asia/Kolkata\n";
    for arguments in [&["events"][..], &["events", &waiting.to_string()]] {
        let text = store.text(&[arguments, &zone].concat());
        assert!(text.contains(&began) && text.ends_with(end), "{text}");
    }
    let line = check(store, &zone).1;
    assert!(line.contains(&format!("since {began} IST, ")), "{line}");
}

fn reports_have_them(store: &Store, waiting: i64) {
    let page = report(store);
    for said in [
        "1 alert: waiting on mds1 since ",
        "<p>Events without an alert: 1 failover.</p>",
        "user1000 (physics), 71",
        &format!("jobstats_explain(&#34;event_id&#34; =&#62; {waiting});"),
    ] {
        assert!(page.contains(said), "{said}\n{page}");
    }
    let before = store.text(&["report", "--from", "3h", "--to", "2h", "-o", "-"]);
    assert!(before.contains("No events were found"), "{before}");
}

fn checks_count_them(store: &Store, client: &mut Client, waiting: i64) {
    let (code, line) = check(store, &["--names"]);
    assert!(
        code == 1 && line.contains("scratch: waiting since ") && line.contains("user1000"),
        "{line}"
    );
    assert!(!check(store, &[]).1.contains("user1000"));
    assert_eq!(check(store, &["--filesystem", "home"]).0, 0);
    let stalled = add(client, "stalled", "critical", Some(0.0));
    let (code, line) = check(store, &[]);
    assert!(
        code == 2 && line.contains("; 1 more | critical=1 warning=1"),
        "{line}"
    );
    let known =
        "SELECT jobstats_confirm_event(event_id, 'known') FROM unnest($1::bigint[]) event_id";
    client.query(known, &[&vec![waiting, stalled]]).unwrap();
    assert_eq!(check(store, &[]).0, 0);
    let page = report(store);
    assert!(
        page.contains("real or known: stalled 1 of 1, waiting 1 of 1."),
        "{page}"
    );
    let nowhere = "postgresql://reader@127.0.0.1:1/jobstats?sslmode=disable";
    assert_eq!(store.run_as(nowhere, &["check"]).status.code(), Some(3));
}

fn a_role_with_own_rights_is_one_user(store: &Store, client: &mut Client, event: i64) {
    let role = format!("{}_own", store.name);
    let made = format!("CREATE ROLE {role} LOGIN; SELECT jobstats_grant_own('{role}', 1000)");
    client.batch_execute(&made).unwrap();
    let own = |arguments: &[&str]| {
        let output = store.run_as(&store.url_of(&role), arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(words(&own(&["user", "--from", "4h"])).contains("Written 328 MB"));
    let jobs = own(&["jobs"]);
    assert!(jobs.starts_with("The last 2 jobs of user1000, "), "{jobs}");
    // The next steps are for an admin.
    let explained = own(&["events", &event.to_string()]);
    assert!(!explained.contains("\nnext "), "{explained}");
    assert!(
        store
            .text(&["events", &event.to_string()])
            .contains("\nnext ")
    );
    // A role that sees all is no user.
    let all = store.run(&["user"]);
    let said = String::from_utf8(all.stderr).unwrap();
    assert!(
        all.status.code() == Some(64) && said.contains("give one"),
        "{said}"
    );
    let dropped = format!("DELETE FROM jobstats.members; DROP ROLE {role}");
    client.batch_execute(&dropped).unwrap();
}
