//! The query commands, as a person calls them.
//!
//! Needs a server with the extension: `JOBSTATS_TEST_DATABASE_URL` names one where databases may be made.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod meanwhile;
mod pages;
mod sums;
#[path = "../world/mod.rs"]
mod world;

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;
use std::time::{SystemTime, UNIX_EPOCH};

use jobstats_core::base::operation::OPERATIONS;
use postgres::{Client, NoTls};
use serde_json::Value;

use meanwhile::a_job_is_judged_by_what_its_servers_did;
use pages::*;
use sums::*;
use world::{HOSTILE, Store, feed, words};

#[test]
fn a_store_is_asked() {
    let Some(mut store) = Store::new("inquiry") else {
        return;
    };
    a_job_is_one_screen(&store);
    an_array_is_one_job(&store);
    names_are_pasted(&store);
    the_last_jobs_are_listed(&store);
    a_job_can_be_waited_for(&store);
    what_is_special_of_a_job_is_said(&store);
    jobs_that_count_alike_are_told_apart(&store);
    a_user_and_a_target_have_a_window(&store);
    json_has_exact_numbers(&store);
    parts_add_up(&store);
    pages_are_written(&store);
    work_without_identifier_is_reported(&store);
    space_and_waiting_are_shown_beside_work(&store);
    what_is_wrong_is_told(&mut store);
    an_old_server_has_requests(&store);
    a_job_is_judged_by_what_its_servers_did(&store);
}

fn a_job_is_one_screen(store: &Store) {
    let text = store.text(&["job", "10_1"]);
    let lines: Vec<_> = text.lines().collect();
    assert!(lines.len() <= 65, "{} lines\n{text}", lines.len());
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let all = words(&text);
    let has = |what: &str| assert!(all.contains(what), "{what}\n{text}");
    has("Job 10_1");
    has("User: user1000");
    has("Nodes: 2");
    has("Account: physics");
    has("State: COMPLETED");
    has("Run time: 00:40:00");
    // 440 seconds of servers in 40 minutes on two nodes.
    has("Busy per node: 0.09");
    // 40 minutes of 100,000 opens on the MDT, and of 1000 writes of 4 kB on two OSTs.
    has("Written 328 MB");
    has("Metadata requests 4.00 M");
    has("Server time 7.33 min");
    has("scratch-MDT0000 ███████▎ 91 %");
    has("fair 91 % of its server time was on MDTs. Create, open");
    has("4 M files opened, 12.8 k per MiB read or written, in 91 % of its server time.");
    has("fair 80 k writes of 4.1 kB on average, in 9 % of its server time.");
    assert!(
        !text.contains('\u{1b}') && text.contains("<img src=x onerro"),
        "{text}"
    );
    assert!(words(&store.text(&["job", "11"])).contains("Label: 10_1"));
}

fn an_array_is_one_job(store: &Store) {
    let text = store.text(&["job", "10"]);
    let all = words(&text);
    for part in [
        "Job 10",
        "Elements: 2",
        "Longest: 10_1, 00:40:00",
        "Median time: 00:20:00",
        "Written 328 MB",
        "By element",
        "10_1 00:40:00, COMPLETED 100 %",
        "10 is an array",
    ] {
        assert!(all.contains(part), "{part}\n{text}");
    }
    let element = words(&store.text(&["job", "10_2"]));
    assert!(
        element.contains("State: FAILED") && element.contains("No I/O was observed."),
        "{element}"
    );
}

fn names_are_pasted(store: &Store) {
    for (kind, pasted, name) in [
        ("job", "11.batch", "Job 11"),
        ("job", "JobId=11", "Job 11"),
        ("job", "10[1]", "Job 10_1"),
        ("job", "10_1.ext+", "Job 10_1"),
        ("target", "ost1", "Target scratch-OST0001"),
        ("target", "scratch-OST0001_UUID", "Target scratch-OST0001"),
    ] {
        let text = store.text(&[kind, pasted]);
        assert!(text.contains(&format!(" {name}\n")), "{pasted}\n{text}");
    }
    let unknown = store.run(&["target", "OST0009"]);
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(
        said.ends_with("\n  known: scratch-MDT0000, scratch-OST0000, scratch-OST0001\n"),
        "{said}"
    );
}

fn the_last_jobs_are_listed(store: &Store) {
    let text = store.text(&["jobs", "--user", "user1000"]);
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines[0].starts_with("The last 2 jobs of user1000, "),
        "{text}"
    );
    let job = lines
        .iter()
        .position(|line| line.starts_with("10_1"))
        .unwrap();
    let row = words(lines[job]);
    assert!(row.contains(" COMPLETED "), "{text}");
    assert!(row.ends_with(" 00:40:00 2 0 328 MB 4.00 M"), "{text}");
    assert!(lines[job + 1].starts_with("  fair  "), "{text}");
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let list = store.json(&["jobs", "--json", "--account", "phys*", "-n", "100"]);
    let jobs = list["jobs"].as_array().unwrap();
    let job = |name: &str| jobs.iter().find(|it| it["job"] == name).unwrap();
    let findings = ["10_1", "12"].map(|name| job(name)["finding"]["level"].clone());
    assert_eq!(findings, [Value::from("fair"), Value::Null], "{list}");
    assert_eq!(job("10_1")["write_bytes"], 327_680_000, "{list}");
    // Two jobs with the number 21 have no findings, since the usage of both adds up.
    assert_eq!(jobs.len(), 6, "{list}");
}

fn a_job_can_be_waited_for(store: &Store) {
    let done = store.run(&["job", "11", "--wait"]);
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
    let running = store.run(&["job", "12", "--wait=1ms"]);
    let said = String::from_utf8(running.stderr).unwrap();
    assert!(said.contains("job 12 has not finished yet"), "{said}");
    assert!(running.status.success() && !running.stdout.is_empty());
}

fn what_is_special_of_a_job_is_said(store: &Store) {
    let running = store.text(&["job", "12"]);
    assert!(running.contains("State: RUNNING"), "{running}");
    assert!(running.contains("The job is still running"), "{running}");
    // Accounting does not know it, and its identifiers do.
    let unaccounted = store.text(&["job", "14"]);
    assert!(unaccounted.contains("User: 1002"), "{unaccounted}");
    let idle = store.text(&["job", "13"]);
    assert!(idle.contains("No I/O was observed."), "{idle}");
    let unknown = store.run(&["job", "4\u{1b}[31m"]);
    assert_eq!(unknown.status.code(), Some(66));
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(said.contains("no data for job 4\\x1B[31m"), "{said}");
    assert!(said.contains("no known job matches"), "{said}");
    // Without the increments only the summary of the job is left.
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    let made = client.query_one(
        "SELECT count(*) FROM jobstats.job_summaries WHERE job = '11'",
        &[],
    );
    assert_eq!(made.unwrap().get::<_, i64>(0), 1);
    let copied = |table: &str, changes: &str, numbers: &str| {
        format!(
            "INSERT INTO jobstats.{table} OVERRIDING SYSTEM VALUE SELECT (jsonb_populate_record(s, {changes})).* \
             FROM jobstats.{table} s, {numbers} WHERE job = '11';"
        )
    };
    let old =
        "jsonb '{\"job_no\": -1, \"job\": \"999\", \"label\": \"99_9\", \"job_group\": null}'";
    let old = ["job_ids", "job_summaries"].map(|table| copied(table, old, "(SELECT) one"));
    client.batch_execute(&old.concat()).unwrap();
    // Jobs that the same user ran on the days before made servers half as busy.
    let half = |first: i32, last: i32| {
        let numbers = format!("generate_series({first}, {last}) n");
        let changes = "jsonb_build_object('job_no', -n, 'job', 990 + n, 'label', NULL, 'job_group', NULL, 'ended', s.started - n * interval '1 day'";
        let sum = format!("{changes}, 'service_time', s.service_time / 2)");
        copied("job_ids", &format!("{changes})"), &numbers)
            + &copied("job_summaries", &sum, &numbers)
    };
    client.batch_execute(&half(2, 5)).unwrap();
    let few = store.text(&["job", "11"]);
    assert!(!few.contains("Baseline:"), "four are too few: {few}");
    client.batch_execute(&half(6, 6)).unwrap();
    let compared = words(&store.text(&["job", "11"]));
    let fact = "Baseline: 2 times as busy as this user's median job (of 5 in the 30 days before)";
    assert!(compared.contains(fact), "{compared}");
    let old = store.text(&["job", "99_9"]);
    assert!(old.contains("older than the store's increments"), "{old}");
    assert!(words(&old).contains("Written 328 MB"), "{old}");
}

fn jobs_that_count_alike_are_told_apart(store: &Store) {
    let said = |arguments: &[&str], code: i32| {
        let output = store.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(output.stdout.is_empty());
        words(&String::from_utf8(output.stderr).unwrap())
    };
    let several = said(&["job", "21"], 64);
    for part in [
        "several schedulers have a job 21, choose one:",
        "--scheduler alpha: user1001, physics, <img src=x",
        "--scheduler beta: user1004, physics, <img src=x",
        "FAILED, started ",
    ] {
        assert!(several.contains(part), "{part}: {several}");
    }
    let unknown = said(&["job", "21", "--scheduler", "gamma"], 66);
    assert!(
        unknown.contains("no data for job 21 of scheduler gamma --scheduler alpha"),
        "{unknown}"
    );
    // An unambiguous job needs no option.
    assert!(
        store
            .text(&["job", "11", "--scheduler", "alpha"])
            .contains("Account: physics")
    );
    let beta = store.text(&["job", "21", "--scheduler", "beta"]);
    assert!(
        beta.contains("User: user1004") && beta.contains("Scheduler: beta"),
        "{beta}"
    );
    let compared = said(&["compare", "21", "21", "-o", "-"], 64);
    assert!(
        compared.contains("--scheduler beta: user1004"),
        "{compared}"
    );
    let page = store.text(&["compare", "21", "21", "--scheduler", "beta", "-o", "-"]);
    assert!(
        page.contains("user1004") && !page.contains("user1001"),
        "{page}"
    );
}

fn a_user_and_a_target_have_a_window(store: &Store) {
    let user = store.text(&["user", "user1001", "--from", "3h"]);
    assert!(user.contains("User user1001"), "{user}");
    assert!(user.contains("Active jobs: 1"), "{user}");
    assert!(words(&user).contains("Read 1.15 GB"), "{user}");
    let number = store.text(&["user", "1001", "--from", "3h"]);
    assert!(words(&number).contains("Read 1.15 GB"), "{number}");
    // A job has the level of its own page.
    let judged = words(&store.text(&["user", "user1000", "--from", "3h"]));
    let finding = "fair Job 10_1: 91 % of its server time was on MDTs.";
    assert!(judged.contains(finding), "{judged}");
    let target = store.text(&["target", "scratch-OST0001", "--from", "3h"]);
    assert!(!target.contains("Findings"), "{target}");
    assert!(target.contains("Rank: 1 of 2, by bytes"), "{target}");
    assert!(
        target.contains("By user") && target.contains("user1001"),
        "{target}"
    );
    for (kind, name) in [("user", "nobody"), ("target", "scratch-OST0009")] {
        let output = store.run(&[kind, name]);
        assert_eq!(output.status.code(), Some(66), "{output:?}");
    }
    let similar = store.run(&["target", "ost"]);
    let said = String::from_utf8(similar.stderr).unwrap();
    assert!(
        said.contains("known: scratch-OST0000, scratch-OST0001"),
        "{said}"
    );
}

fn json_has_exact_numbers(store: &Store) {
    let job = store.json(&["job", "11", "--json"]);
    assert_eq!((&job["version"], &job["kind"]), (&1.into(), &"job".into()));
    assert_eq!(job["facts"]["job_name"], HOSTILE);
    assert_eq!(job["facts"]["run_time"], 2400.0);
    let usage = job["usage"].as_array().unwrap();
    let written = usage
        .iter()
        .find(|usage| usage["operation"] == "write_bytes")
        .unwrap();
    assert_eq!(written["total"], 2 * 40 * 1000 * 4096);
    assert_eq!(written["calls"], 80_000);
    let course = job["course"].as_array().unwrap();
    let sum: f64 = course
        .iter()
        .map(|step| step["write_bytes"].as_f64().unwrap() * step["seconds"].as_f64().unwrap())
        .sum();
    assert!((sum - 327_680_000.0).abs() < 1.0, "{sum}");
}

/// Servers without times have requests instead. Requests of OSTs are no metadata requests.
fn an_old_server_has_requests(store: &Store) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    for (time, opens) in [(0, 0), (600, 30)] {
        let entry = |name: &str, samples: u64| {
            format!(
                "job_stats:\n- job_id: 1000:21:n05\n  snapshot_time: {}\n  {name}: {{ samples: {samples}, unit: reqs }}\n",
                store.zero + time
            )
        };
        let mdt = entry("open", opens)
            + &format!("  setattr: {{ samples: {}, unit: reqs }}\n", opens / 3);
        let text = format!(
            "mdt.old-MDT0000.job_stats=\n{mdt}obdfilter.old-OST0000.job_stats=\n{}",
            entry("setattr", 9 * opens)
        );
        feed(&mut client, store.zero + time, &text);
    }
    let from = jiff::Timestamp::from_second(store.zero as i64)
        .unwrap()
        .to_string();
    let page = plain(&store.text(&["report", "old", "--from", &from, "-o", "-"]));
    assert!(page.contains(": 75 % open, "), "{page}");
}

fn what_is_wrong_is_told(store: &mut Store) {
    let code = |output: Output| output.status.code().unwrap();
    assert_eq!(code(store.run(&["user", "a", "--from", "someday"])), 64);
    assert_eq!(
        code(store.run(&["user", "a", "--from", "now", "--to", "2h"])),
        64
    );
    assert_eq!(
        code(store.run(&["user", "a", "--zone", "Mars/Olympus"])),
        64
    );
    assert_eq!(code(store.run(&["job", "11", "--to", "2999-01-01"])), 64);
    assert_eq!(code(store.run(&["compare", "11", "-o", "-"])), 64);
    assert_eq!(code(store.run(&["report", "nix", "-o", "-"])), 66);
    assert_eq!(code(store.run(&["compare", "11", "nix", "-o", "-"])), 66);
    assert_eq!(
        code(store.run(&["job", "11", "--html", "/nonexistent/page"])),
        71
    );
    let nowhere = "postgresql://reader@127.0.0.1:1/jobstats?sslmode=disable";
    assert_eq!(code(store.run_as(nowhere, &["job", "11"])), 69);
    let role = format!("{}_stranger", store.name);
    store
        .server
        .batch_execute(&format!("CREATE ROLE {role} LOGIN"))
        .unwrap();
    let stranger = store.url_of(&role);
    let denied = store.run_as(&stranger, &["job", "11"]);
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    client
        .batch_execute(&format!("SELECT jobstats_grant_reader('{role}')"))
        .unwrap();
    let granted = store.run_as(&stranger, &["report", "--from", "3h", "-o", "-"]);
    client
        .batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"))
        .unwrap();
    // A part that cannot be had does not take the others with it.
    client
        .batch_execute("ALTER TABLE jobstats.finding_rules RENAME TO gone")
        .unwrap();
    let page = store.text(&["report", "--from", "3h", "-o", "-"]);
    client
        .batch_execute("ALTER TABLE jobstats.gone RENAME TO finding_rules")
        .unwrap();
    let said = "jobstats.finding_rules";
    assert!(
        page.contains(said) && page.contains("Health of the targets"),
        "{page}"
    );
    assert_eq!(code(denied), 77);
    assert_eq!(granted.status.code(), Some(0), "{granted:?}");
}
