//! The commands that ask a store, as a person calls them.
//!
//! Needs a server with the extension: `JOBSTATS_TEST_DATABASE_URL` names one where databases may be made.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod world;

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;
use std::time::{SystemTime, UNIX_EPOCH};

use jobstats_core::base::operation::OPERATIONS;
use postgres::{Client, NoTls};
use serde_json::Value;

use world::{HOSTILE, Store, feed, words};

#[test]
fn a_store_is_asked() {
    let Some(mut store) = Store::new("inquiry") else {
        return;
    };
    a_job_is_one_screen(&store);
    an_array_is_one_job(&store);
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
}

fn a_job_is_one_screen(store: &Store) {
    let text = store.text(&["job", "10_1"]);
    let lines: Vec<_> = text.lines().collect();
    assert!(lines.len() <= 45, "{} lines\n{text}", lines.len());
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let all = words(&text);
    let has = |what: &str| assert!(all.contains(what), "{what}\n{text}");
    has("Lustre use of job 10_1");
    has("User: user1000");
    has("Nodes: 2");
    has("Account: physics");
    has("State: COMPLETED");
    has("Run time: 00:40:00");
    // 440 seconds of servers in 40 minutes on two nodes.
    has("Busy per node: 0.09");
    // 40 minutes of 100,000 opens on the MDT, and of 1000 writes of 4 kB on two OSTs.
    has("Written 328 MB");
    has("Metadata requests 4 M");
    has("Server time 7.33 min");
    has("scratch-MDT0000 ███████▎ 91 %");
    has("fair 91 % of the servers' time was that of MDTs. Make, open");
    has("12800 files opened per MiB read or written, in 91 % of its server time.");
    has("fair about 100 % of its writes were of 32 KiB or less, in 9 %");
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
        "Lustre use of job 10",
        "Elements: 2",
        "Slowest: 10_1, 00:40:00",
        "Median time: 00:20:00",
        "Written 328 MB",
        "By element",
        "10_1 00:40:00, COMPLETED ████████ 100 %",
        "10 is an array",
    ] {
        assert!(all.contains(part), "{part}\n{text}");
    }
    let element = words(&store.text(&["job", "10_2"]));
    assert!(
        element.contains("State: FAILED") && element.contains("No server observed any work."),
        "{element}"
    );
}

fn a_job_can_be_waited_for(store: &Store) {
    let done = store.run(&["job", "11", "--wait"]);
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
    let running = store.run(&["job", "12", "--wait=1ms"]);
    let said = String::from_utf8(running.stderr).unwrap();
    assert!(said.contains("job 12 is not done yet"), "{said}");
    assert!(running.status.success() && !running.stdout.is_empty());
}

fn what_is_special_of_a_job_is_said(store: &Store) {
    let running = store.text(&["job", "12"]);
    assert!(running.contains("State: RUNNING"), "{running}");
    assert!(running.contains("The job still runs"), "{running}");
    // Accounting does not know it, and its identifiers do.
    let unaccounted = store.text(&["job", "14"]);
    assert!(unaccounted.contains("User: 1002"), "{unaccounted}");
    let idle = store.text(&["job", "13"]);
    assert!(idle.contains("No server observed any work."), "{idle}");
    let unknown = store.run(&["job", "4\u{1b}[31m"]);
    assert_eq!(unknown.status.code(), Some(66));
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(
        said.contains("nothing is known of job 4\\x1B[31m"),
        "{said}"
    );
    assert!(said.contains("no job is known that matches"), "{said}");
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
    assert!(!few.contains("Times usual"), "four are too few: {few}");
    client.batch_execute(&half(6, 6)).unwrap();
    let compared = words(&store.text(&["job", "11"]));
    for fact in [
        "Times usual: 2 ",
        "Jobs with less: 100 %",
        "Of own jobs: 5 ",
    ] {
        assert!(compared.contains(fact), "{fact}\n{compared}");
    }
    let old = store.text(&["job", "99_9"]);
    assert!(old.contains("older than the increments that"), "{old}");
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
        "FAILED, began ",
    ] {
        assert!(several.contains(part), "{part}: {several}");
    }
    let unknown = said(&["job", "21", "--scheduler", "gamma"], 66);
    assert!(
        unknown.contains("nothing is known of job 21 of scheduler gamma --scheduler alpha"),
        "{unknown}"
    );
    // Where there is no choice, none has to be made.
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
    assert!(user.contains("Lustre use of user user1001"), "{user}");
    assert!(user.contains("Jobs at work: 1"), "{user}");
    assert!(words(&user).contains("Read 1.15 GB"), "{user}");
    let number = store.text(&["user", "1001", "--from", "3h"]);
    assert!(words(&number).contains("Read 1.15 GB"), "{number}");
    let target = store.text(&["target", "scratch-OST0001", "--from", "3h"]);
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

/// Compares the parts of each screen with their sums, and its numbers with those of the function: exactly in JSON, as far as
/// three digits say in text and on pages.
fn parts_add_up(store: &Store) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    for (asked, filter) in [
        (vec!["job", "11"], "job=11"),
        (vec!["user", "user1000", "--from", "3h"], "user=user1000"),
        (
            vec!["target", "scratch-MDT0000", "--from", "3h"],
            "target=scratch-MDT0000",
        ),
        (
            vec!["target", "scratch-OST0000", "--from", "3h"],
            "target=scratch-OST0000",
        ),
    ] {
        let answer = store.json(&[&asked[..], &["--json"]].concat());
        let usage = answer["usage"].as_array().unwrap().iter();
        let (mut totals, mut rates) = (BTreeMap::new(), BTreeMap::new());
        for used in usage {
            let operation = used["operation"].as_str().unwrap();
            let statement = format!(
                "SELECT coalesce(sum(total), 0)::float8 FROM jobstats_totals({}, {}, '{operation}', '', '{filter} kind={}')",
                answer["since"].to_string().replace('"', "'"),
                answer["until"].to_string().replace('"', "'"),
                if is_part(operation) { "MDT" } else { "*" },
            );
            let total = used["total"].as_f64().unwrap_or(0.0);
            let expected: f64 = client.query_one(&statement, &[]).unwrap().get(0);
            assert!(is_near(total, expected, 1e-9), "{total}: {statement}");
            totals.insert(operation.to_owned(), total);
            rates.insert(operation.to_owned(), used["rate"].as_f64().unwrap_or(0.0));
        }
        add_up(&rates, &[], 1e-9, &asked);
        let rankings = answer["rankings"].as_array().unwrap().iter();
        let rankings = rankings.map(|ranking| {
            let rows = ranking["rows"].as_array().unwrap().iter();
            let row = |row: &Value| COLUMNS.map(|(operation, ..)| row[operation].as_f64());
            Ranked {
                rows: rows.map(row).collect(),
                is_whole: true,
            }
        });
        add_up(&totals, &rankings.collect::<Vec<_>>(), 1e-9, &asked);
        let text = store.text(&asked);
        let (shown, rankings) = of_sheet(&text);
        add_up(&shown, &rankings, ROUNDING, &asked);
        are_the_same(&shown, &totals);
        let page = plain(&store.text(&[&asked[..], &["--html", "-"]].concat()));
        let (shown, rankings) = of_page(&page);
        add_up(&shown, &rankings, ROUNDING, &asked);
        are_the_same(&shown, &totals);
    }
}

/// The sample of the documentation is what the program prints.
#[test]
fn the_documentation_adds_up() {
    let documentation = include_str!("../../docs/console.md");
    let sheet = documentation
        .split("```")
        .find(|it| it.contains("Lustre use of job"))
        .unwrap();
    let (totals, rankings) = of_sheet(sheet);
    assert!(totals.len() > 5 && !rankings.is_empty(), "{totals:?}");
    add_up(&totals, &rankings, ROUNDING, &["docs"]);
}

/// The part that numbers of three digits may miss of a sum.
const ROUNDING: f64 = 0.01;

/// The operations of a ranking, with the labels of their totals, and the titles of their columns on a page.
const COLUMNS: [(&str, &str, &str); 4] = [
    ("service_time", "Server time", "Server time"),
    ("read_bytes", "Read", "Read"),
    ("write_bytes", "Written", "Written"),
    ("metadata", "Metadata requests", "Metadata"),
];

/// The groups of a dimension, each with its numbers.
struct Ranked {
    rows: Vec<[Option<f64>; 4]>,
    /// False if groups are left out.
    is_whole: bool,
}

type Totals = BTreeMap<String, f64>;

fn is_part(operation: &str) -> bool {
    OPERATIONS
        .iter()
        .any(|it| it.metadata && it.name == operation)
}

fn is_near(one: f64, other: f64, part: f64) -> bool {
    (one - other).abs() <= part * one.abs().max(other.abs())
}

/// Asserts that metadata requests are the sum of their parts, and that groups add up to totals.
#[track_caller]
fn add_up(totals: &Totals, rankings: &[Ranked], rounding: f64, asked: &[&str]) {
    let is_sum = |sum: f64, total: f64, is_whole: bool| {
        is_near(sum, total, rounding) || !is_whole && sum < total
    };
    let total = |name: &str| totals.get(name).copied().unwrap_or(0.0);
    let parts = totals
        .iter()
        .filter(|(name, _)| is_part(name))
        .map(|(_, part)| part);
    let is_whole = !totals.contains_key("also");
    assert!(
        is_sum(parts.sum(), total("metadata"), is_whole),
        "{asked:?}: {totals:?}"
    );
    for ranking in rankings {
        for (at, (operation, ..)) in COLUMNS.iter().enumerate() {
            let sum = ranking.rows.iter().filter_map(|row| row[at]).sum();
            let is_sum = is_sum(sum, total(operation), ranking.is_whole);
            assert!(is_sum, "{asked:?}: {operation}: {sum} of {totals:?}");
        }
    }
}

/// Asserts that a screen has the sums, and no number that is another one.
#[track_caller]
fn are_the_same(shown: &Totals, totals: &Totals) {
    let sums = COLUMNS.iter().map(|(operation, ..)| *operation);
    let names = shown.keys().map(String::as_str).chain(sums);
    for name in names.filter(|name| *name != "also") {
        let [shown, total] = [shown, totals].map(|it| it.get(name).copied().unwrap_or(0.0));
        assert!(
            is_near(shown, total, ROUNDING),
            "{name}: {shown} is not {total}"
        );
    }
}

/// Returns a number as a person reads it, in base units.
fn amount(text: &str) -> Option<f64> {
    let (digits, unit) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let factor = match unit.trim_end_matches("/s").trim_end_matches('B') {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "%" => 0.01,
        "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        other => unreachable!("{other}"),
    };
    // Less than something may be half of it.
    let factor = if digits.starts_with('<') {
        factor / 2.0
    } else {
        factor
    };
    let digits = digits.trim_start_matches(['<', '>']).trim_end_matches("/s");
    digits.parse::<f64>().ok().map(|number| number * factor)
}

/// Returns the operation of a label.
fn operation(label: &str) -> String {
    let known = COLUMNS.iter().find(|(_, known, _)| *known == label);
    known.map_or(label, |(operation, ..)| operation).to_owned()
}

/// Reads the totals and rankings of a sheet of 80 columns.
fn of_sheet(text: &str) -> (Totals, Vec<Ranked>) {
    let cell = |line: &str, from: usize, to: usize| -> String {
        line.chars().skip(from).take(to - from).collect()
    };
    let (mut totals, mut rankings) = (Totals::new(), Vec::<Ranked>::new());
    let mut part = "";
    for line in text.lines().filter(|line| !line.starts_with("───")) {
        match line.split_whitespace().next() {
            None | Some("──") => part = "",
            Some("What") => part = "What",
            Some("By") if line.contains("srv time") => {
                part = "By";
                rankings.push(Ranked {
                    rows: Vec::new(),
                    is_whole: true,
                });
            }
            Some("also") => drop(totals.insert("also".to_owned(), 0.0)),
            Some(_) if part == "What" => {
                let total = amount(&cell(line, 21, 33)).unwrap_or(0.0);
                totals.insert(operation(cell(line, 0, 21).trim()), total);
            }
            Some(_) if part == "By" => {
                let last = rankings.last_mut().unwrap();
                match line.contains(" more, ") {
                    true => last.is_whole = false,
                    false => {
                        let at = |place: usize| amount(&cell(line, 44 + 9 * place, 53 + 9 * place));
                        last.rows.push([0, 1, 2, 3].map(at));
                    }
                }
            }
            Some(_) => {}
        }
    }
    (totals, rankings)
}

/// Reads the totals and rankings of a page.
fn of_page(page: &str) -> (Totals, Vec<Ranked>) {
    let (_, rows) = table(page, "Totals").unwrap();
    let totals = rows
        .iter()
        .map(|row| (operation(&row[0]), amount(&row[1]).unwrap_or(0.0)));
    let rankings = ["By target", "By job", "By user", "By node"];
    let rankings = rankings.iter().filter_map(|caption| table(page, caption));
    let rankings = rankings.map(|(titles, rows)| {
        let row = |row: &Vec<String>| {
            COLUMNS.map(|(.., title)| {
                let at = titles.iter().position(|it| it == title)?;
                amount(&row[at])
            })
        };
        Ranked {
            rows: rows.iter().map(row).collect(),
            is_whole: true,
        }
    });
    (totals.collect(), rankings.collect())
}

/// Returns the titles and the rows of a table of a page.
fn table(page: &str, caption: &str) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let (_, rest) = page.split_once(&format!("<h3>{caption}</h3>"))?;
    let (table, _) = rest.split_once("</table>")?;
    let cells = |row: &str| -> Vec<String> {
        let cells = row.split("</th>").flat_map(|it| it.split("</td>"));
        // What stands behind the last tag is the text.
        let texts = cells
            .filter(|it| it.contains("<t"))
            .map(|it| it.rsplit('>').next().unwrap());
        texts.map(str::to_owned).collect()
    };
    let mut rows = table
        .split("</tr>")
        .map(cells)
        .filter(|row| !row.is_empty());
    Some((rows.next()?, rows.collect()))
}

/// Returns a page as it reads, without what keeps lines from ending.
fn plain(page: &str) -> String {
    let names = page.split("<span class=\"whole\">");
    let names = names.enumerate().map(|(at, part)| match at {
        0 => part.to_owned(),
        _ => part.replacen("</span>", "", 1),
    });
    let signs = [("\u{a0}", " "), ("&lt;", "<"), ("&gt;", ">")];
    signs
        .iter()
        .fold(names.collect::<String>(), |page, (sign, read)| {
            page.replace(sign, read)
        })
}

/// The users, accounts and jobs of a report are all work, of which the function has the mean, and the numbers of a picture are
/// those of its statement.
fn a_report_adds_up(store: &Store, page: &str, from: &str) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    let statement = format!("SELECT rate FROM jobstats_rates('{from}', now(), 'service_time', '')");
    let mean: f64 = client.query_one(&statement, &[]).unwrap().get(0);
    let lead = page.split_once("<p class=\"lead\">").unwrap().1;
    let said = amount(lead.split_once(" requests in service").unwrap().0).unwrap();
    assert!(is_near(said, mean, ROUNDING), "{said} is not {mean}");
    for caption in ["Users", "Accounts", "Jobs"] {
        for (title, whole) in [("In service", mean), ("Part", 1.0)] {
            let sum = sum_of_column(page, caption, title);
            assert!(is_near(sum, whole, 0.02), "{caption}, {title}: {sum}");
        }
    }
    // Tables of what changed have the same headings.
    let (_, page) = page.split_once(">Load, and who made it</h").unwrap();
    let of_writes = "rate) FILTER (WHERE operation = 'write_bytes'";
    for (heading, title, column) in [
        ("Load of the file system", "Load", "rate"),
        ("Each target, by requests in service", "Load", "rate"),
        ("How many users had which rate", "Users", "count"),
        ("Bytes written", "Rate", of_writes),
        ("Bytes written to each OST", "Rate", "rate"),
    ] {
        let (_, figure) = page.split_once(&format!("<h3>{heading}</h3>")).unwrap();
        let statement = statements(figure).remove(0);
        let statement = statement.trim_end_matches(';');
        let statement = format!("SELECT sum({column})::double precision FROM ({statement}) answer");
        let answer: f64 = client.query_one(&statement, &[]).unwrap().get(0);
        let sum = sum_of_column(page, heading, title);
        assert!(
            answer > 0.0 && is_near(sum, answer, 0.01),
            "{heading}: {sum}, {answer}"
        );
    }
}

/// Servers that report no times have requests in the place of time. Those of OSTs are no metadata requests.
fn an_old_server_has_requests(store: &Store) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    for (time, opens) in [(0, 0), (600, 30)] {
        let entry = |name: &str, samples: u64| {
            format!(
                "job_stats:\n- job_id: 21:1000:n05\n  snapshot_time: {}\n  {name}: {{ samples: {samples}, unit: reqs }}\n",
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
    assert!(
        page.contains("75 % of that user&#39;s metadata requests were open requests"),
        "{page}"
    );
}

/// Returns the sum of a column of the first table below a heading.
fn sum_of_column(page: &str, heading: &str, title: &str) -> f64 {
    let (titles, rows) = table(page, heading).unwrap();
    let at = titles.iter().position(|it| it == title).unwrap();
    rows.iter().filter_map(|row| amount(&row[at])).sum()
}

fn pages_are_written(store: &Store) {
    let directory = tempfile::tempdir().unwrap();
    let from = jiff::Timestamp::from_second(store.zero as i64)
        .unwrap()
        .to_string();
    let pages = [
        vec!["report", "--from", &from, "-o"],
        vec!["job", "11", "--html"],
        vec!["user", "user1000", "--from", &from, "--html"],
        vec!["target", "scratch-OST0001", "--from", &from, "--html"],
        vec!["compare", "11", "12", "-o"],
    ];
    for arguments in pages {
        let path = directory.path().join("page.html").display().to_string();
        let arguments: Vec<_> = arguments.into_iter().chain([path.as_str()]).collect();
        assert_eq!(store.text(&arguments), "", "{arguments:?}");
        let page = fs::read_to_string(&path).unwrap();
        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
        assert!(
            page.len() < 1_000_000,
            "{arguments:?}: {} bytes",
            page.len()
        );
        assert!(
            !page.contains("<img") && !page.contains('\u{1b}'),
            "{arguments:?}"
        );
        every_statement_runs(store, &page);
    }
    let page = plain(&store.text(&["report", "scratch", "--from", &from, "-o", "-"]));
    a_report_adds_up(store, &page, &from);
    let (_, found) = table(&page, "The worst first, then those that cost servers most").unwrap();
    let told = |it: &Vec<String>| {
        it[..3] == ["11", "user1000", "fair"] && it[3].contains("files opened per MiB")
    };
    assert!(found.iter().any(told), "{found:?}");
    // The sentences that the report begins with name who it was, with what and where, and when.
    let lead = page.split_once("<p class=\"lead\">").unwrap().1;
    let lead = lead.split_once("</p>").unwrap().0;
    for said in [
        " on average",
        "The largest user was user1000 (physics) with ",
        " went to open requests, ",
        " fell on scratch-MDT0000, ",
        " came from job 11 (",
        ". Busiest ",
    ] {
        assert!(lead.contains(said), "{said}: {lead}");
    }
    // Nothing is said of what no server has told.
    assert!(!page.contains("Used space") && !page.contains("Waiting"));
    // The title has the name and the window already.
    assert!(!lead.contains("scratch,"), "{lead}");
    for heading in [
        "Users",
        "Accounts",
        "Jobs",
        "What changed",
        "Health of the monitoring",
    ] {
        assert!(page.contains(&format!(">{heading}</h")), "{heading}");
    }
    // What changed comes first, and adds up.
    assert!(page.find(">What changed</h") < page.find(">Load, and who made it</h"));
    let (headings, rows) = table(&page, "Requests in service").unwrap();
    assert_eq!(headings[..3], ["User", "Before", "After"]);
    let named = |name: &str| rows.iter().find(|row| row[0] == name).unwrap();
    let (user, all) = (named("1003"), named("all"));
    assert_eq!((user[2].as_str(), &user[1]), ("0", &all[1]), "{rows:?}");
    for column in ["Largest workload", "Its share"] {
        assert!(page.contains(&format!(">{column}</th>")), "{column}");
    }
    // Job 11 wrote as much on one OST as on the other, and job 12 read from one only.
    for said in [
        "All OSTs are within 1 % of the median.",
        "A single workload of user1001 has 100 % of scratch-OST0001: probably its files are not striped",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

/// The MDT counts twice as many opens as its entries by itself, and the OSTs what their entries have.
fn work_without_identifier_is_reported(store: &Store) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    for minute in (0..=110).step_by(10) {
        let (time, busy) = (store.zero + 60 * minute, minute.min(40));
        let stats = |parameter: &str, counters: String| {
            format!(
                "{parameter}=\nsnapshot_time {time}.000000000 secs.nsecs\nstart_time {}.000000000 secs.nsecs\n\
                 elapsed_time 1.000000000 secs.nsecs\n{counters}",
                store.zero - 60
            )
        };
        let counter = |name: &str, samples: u64, each: u64| {
            format!(
                "{name} {samples} samples [usecs] {each} {each} {} 0\n",
                samples * each
            )
        };
        let mut text = stats(
            "mdt.scratch-MDT0000.md_stats",
            counter("open", 200_000 * busy, 100),
        );
        for ost in 0..2 {
            let reads = if ost == 1 { 10 * minute } else { 0 };
            let counters = counter("write", 1000 * busy, 500) + &counter("read", reads, 2000);
            text += &stats(&format!("obdfilter.scratch-OST000{ost}.stats"), counters);
        }
        feed(&mut client, time, &text);
    }
    let from = jiff::Timestamp::from_second(store.zero as i64).unwrap();
    let answer = client
        .query_one(
            &format!(
                "SELECT share, untracked::float8 FROM \
                 jobstats_untracked('{from}', now(), 'service_time', '', filter => 'filesystem=scratch')"
            ),
            &[],
        )
        .unwrap();
    let (share, seconds): (f64, f64) = (answer.get(0), answer.get(1));
    // 40 minutes of 100,000 opens of 100 µs.
    assert!(is_near(seconds, 400.0, 0.01), "{seconds}");
    let page = store.text(&["report", "scratch", "--from", &from.to_string(), "-o", "-"]);
    every_statement_runs(store, &page);
    let page = plain(&page);
    let percent = format!("{:.0} %", 100.0 * share);
    assert!(
        page.contains(&format!(
            "<p>{percent} of all that the targets did has no identifier: "
        )),
        "{percent}: {page}"
    );
    for caption in ["Users", "Accounts", "Jobs"] {
        let (titles, rows) = table(&page, caption).unwrap();
        let last = rows.last().unwrap();
        assert_eq!(last[..2], ["(without identifier)", &percent], "{titles:?}");
        let others = rows.iter().filter(|row| row[0] == "(without identifier)");
        assert_eq!(others.count(), 1);
    }
    // A user of a report is compared with other users alone.
    let user = store.text(&["user", "user1000", "--from", &from.to_string()]);
    assert!(!user.contains("identifier"), "{user}");
}

/// A day ago, and now: user1000 has added 1 GiB on an OST, and user 1005, who does nothing, has removed files. Requests to the MDT wait
/// in ten minutes of the window.
fn space_and_waiting_are_shown_beside_work(store: &Store) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    let list = |target: &str, owners: [[u64; 3]; 2]| {
        let owners = owners.map(|[uid, inodes, kbytes]| {
            format!("- id:      {uid}\n  usage:   {{ inodes:  {inodes}, kbytes:  {kbytes} }}\n")
        });
        format!(
            "osd-ldiskfs.{target}.quota_slave.acct_user=\nusr_accounting:\n{}",
            owners.concat()
        )
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let (mdt, ost) = ("scratch-MDT0000", "scratch-OST0000");
    let before = list(mdt, [[1000, 200, 0], [1005, 90, 0]])
        + &list(ost, [[1000, 7, 2 << 20], [1005, 9, 2 << 20]]);
    feed(&mut client, now - 86_400, &before);
    for (minute, waits, usecs) in [
        (20, 1, 1),
        (30, 12_001, 1),
        (40, 24_001, 240_000_001),
        (50, 30_001, 240_006_001),
    ] {
        let time = store.zero + 60 * minute;
        let service = format!(
            "mds.MDS.mdt.stats=\nsnapshot_time {time}.000000000 secs.nsecs\nstart_time 1.000000000 secs.nsecs\nelapsed_time \
             1.000000000 secs.nsecs\nreq_waittime {waits} samples [usecs] 1 90000 {usecs} 0\n"
        );
        feed(&mut client, time, &service);
    }
    let newest = list(mdt, [[1000, 300, 0], [1005, 80, 0]])
        + &list(ost, [[1000, 8, 3 << 20], [1005, 9, 1 << 20]]);
    feed(&mut client, store.zero + 6600, &newest);
    client
        .batch_execute(
            "UPDATE jobstats.settings SET refresh_lag = '0'; SELECT jobstats_internal.sum_used()",
        )
        .unwrap();
    let user = store.text(&["user", "user1000"]);
    let said = words(&user);
    for part in [
        "scratch 3.22 GB 75 % +1.07 GB 300 +100 2 of 3",
        "Last account: physics",
        ", added since ",
        "* 1 targets have not said within a day what each user uses: scratch-OST0001",
    ] {
        assert!(said.contains(part), "{part}: {user}");
    }
    assert!(
        user.lines().all(|line| line.chars().count() <= 80),
        "{user}"
    );
    // Who does nothing has space too.
    let idle = words(&store.text(&["user", "1005"]));
    assert!(idle.contains("No server observed any work."), "{idle}");
    assert!(
        idle.contains("scratch 1.07 GB 25 % −1.07 GB 80 −10 2 of 3"),
        "{idle}"
    );
    let answer = store.json(&["user", "1005", "--json"]);
    let row = &answer["space"]["rows"][0];
    assert_eq!(
        (&row["uid"], &row["bytes"], &row["added_bytes"]),
        (&1005.into(), &(1 << 30).into(), &(-1 << 30).into())
    );
    let named = store.json(&["user", "user1000", "--json"]);
    assert_eq!(named["space"]["rows"][0]["user"], "user1000");
    let own = store.text(&["user", "user1000", "--html", "-"]);
    every_statement_runs(store, &own);
    let (_, rows) = table(&plain(&own), "By file system").unwrap();
    assert_eq!(
        rows[0][..6],
        ["scratch", "75 %", "3.22 GB", "+1.07 GB", "300", "+100"]
    );

    let from = jiff::Timestamp::from_second(store.zero as i64)
        .unwrap()
        .to_string();
    let page = store.text(&["report", "scratch", "--from", &from, "-o", "-"]);
    every_statement_runs(store, &page);
    let page = plain(&page);
    let said = "All files take 4.29 GB in 380 inodes, as much as at ";
    assert!(page.contains(said), "{page}");
    let (_, rows) = table(&page, "Largest users of space").unwrap();
    assert_eq!(rows[0], ["user1000", "physics", "75 %", "3.22 GB", "300"]);
    assert_eq!(rows[1], ["1005", "–", "25 %", "1.07 GB", "80"]);
    let (_, rows) = table(&page, "Who added most").unwrap();
    assert_eq!(
        rows,
        [["user1000", "physics", "+1.07 GB", "+100", "3.22 GB"]]
    );
    // 12,000 of 30,000 requests waited for 20 ms.
    let (_, rows) = table(&page, "Waiting").unwrap();
    let expected = ["mds1", "mdt", "30.0 k", "8.00 ms", "0.133"];
    assert_eq!(
        (&rows[0][..5], rows.len()),
        (&expected.map(str::to_owned)[..], 1)
    );
    assert!(
        page.contains(" for mdt of mds1: 0.4 at a time, each for 20 ms on average."),
        "{page}"
    );
}

/// A number on a page can be had by SQL: psql would run each statement as it stands there.
fn every_statement_runs(store: &Store, page: &str) {
    let mut client = Client::connect(&store.url, NoTls).unwrap();
    let statements = statements(page);
    assert!(!statements.is_empty());
    for statement in statements {
        let ran = client.batch_execute(&statement);
        assert!(ran.is_ok(), "{statement}: {ran:?}");
    }
}

/// Returns the statements of a page, or of a part of it.
fn statements(page: &str) -> Vec<String> {
    let statement = |code: &str| {
        let (statement, _) = code.split_once("</code>").unwrap();
        statement
            .replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&#34;", "\"")
            .replace("&#39;", "'")
            .replace("&#38;", "&")
    };
    page.split("<code>").skip(1).map(statement).collect()
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
        page.contains(said) && page.contains("Quality of the data"),
        "{page}"
    );
    assert_eq!(code(denied), 77);
    assert_eq!(granted.status.code(), Some(0), "{granted:?}");
}
