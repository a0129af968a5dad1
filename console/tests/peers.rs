//! Pairs of texts that simpler tools read wrongly, read by the program. `docs/top.md` has a table of them.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Returns a text of a pair, without its first line, which is the time at which it was read.
fn text(pair: &str, which: &str) -> String {
    let text = fs::read_to_string(path(pair).join(which)).unwrap();
    text.split_once('\n').unwrap().1.to_owned()
}

fn path(pair: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/peers")
        .join(pair)
}

/// Runs the program on a pair of scrapes, and returns its rows by entry ID.
fn rows(pair: &str) -> BTreeMap<String, Value> {
    let directory = tempfile::tempdir().unwrap();
    let (flag, path) = (directory.path().join("flag"), path(pair));
    let (flag, path) = (flag.display(), path.display());
    let input = format!(
        "if [ -e {flag} ]; then cat {path}/after.txt; else touch {flag}; cat {path}/before.txt; fi"
    );
    let mut program = Command::new(env!("CARGO_BIN_EXE_jobstats-console"));
    program.args([
        "top",
        "--once",
        "--json",
        "--by",
        "entry",
        "--interval",
        "1ms",
        "--timeout",
        "10m",
        "--input",
        &input,
    ]);
    let output = program.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["targets"][0]["interval"], 10.0);
    let rows = json["rows"].as_array().unwrap();
    rows.iter()
        .map(|row| (row["name"].as_str().unwrap().to_owned(), row.clone()))
        .collect()
}

/// The requests per second of each identifier, as the program has them.
fn ours(pair: &str) -> Vec<(String, f64)> {
    let rows = rows(pair).into_iter();
    let rows = rows.map(|(name, row)| (name, row["requests"]["rate"].as_f64().unwrap()));
    rows.filter(|(_, rate)| *rate > 0.0).collect()
}

/// The counters of each identifier, added up over targets, and the time of its last activity.
type Added = BTreeMap<String, (BTreeMap<String, i64>, i64)>;

/// Adds up counters over targets before anything is subtracted, in signed numbers.
fn added(text: &str) -> Added {
    let mut added = Added::new();
    let mut id = String::new();
    for line in text.lines() {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.trim();
        match key.trim().trim_start_matches("- ") {
            "job_id" => value.clone_into(&mut id),
            "snapshot_time" => {
                let seconds = value.split('.').next().unwrap().parse::<i64>().unwrap();
                let last = &mut added.entry(id.clone()).or_default().1;
                *last = seconds.max(*last);
            }
            operation if value.starts_with('{') && !operation.ends_with("_bytes") => {
                let samples = value
                    .split("samples:")
                    .nth(1)
                    .unwrap()
                    .split(',')
                    .next()
                    .unwrap();
                let counters = &mut added.entry(id.clone()).or_default().0;
                *counters.entry(operation.to_owned()).or_default() +=
                    samples.trim().parse::<i64>().unwrap_or(0);
            }
            _ => {}
        }
    }
    added
}

/// The operations per second of each identifier, as tools compute them that subtract sums over targets, divide whole numbers
/// by the time between two activities, and take identifiers from the first reading.
fn simpler(pair: &str) -> Vec<(String, f64)> {
    let (before, after) = (
        added(&text(pair, "before.txt")),
        added(&text(pair, "after.txt")),
    );
    let rate = |(id, (counters, last)): (&String, &(BTreeMap<String, i64>, i64))| {
        let (new, now) = after.get(id)?;
        let sum = |counters: &BTreeMap<String, i64>| counters.values().sum::<i64>();
        let span = now - last;
        let rate = if span > 0 {
            (sum(new) - sum(counters)).max(0) / span
        } else {
            0
        };
        (rate > 0).then(|| (id.clone(), rate as f64))
    };
    before.iter().filter_map(rate).collect()
}

const ADA: &str = "4711:1000:r01c01";
const BO: &str = "4712:1001:r01c02";

fn is(id: &str, rate: f64) -> Vec<(String, f64)> {
    vec![(id.to_owned(), rate)]
}

#[test]
fn a_job_that_begins_between_two_readings() {
    assert_eq!(ours("birth"), [is(ADA, 1.0), is(BO, 7.0)].concat());
    assert_eq!(simpler("birth"), is(ADA, 1.0));
}

#[test]
fn counters_that_restart_on_one_of_two_targets() {
    assert_eq!(ours("reset"), is(ADA, 43.0));
    assert_eq!(simpler("reset"), []);
}

#[test]
fn an_entry_that_is_removed_on_one_of_two_targets() {
    assert_eq!(ours("removed"), is(ADA, 40.0));
    assert_eq!(simpler("removed"), []);
}

#[test]
fn less_than_one_request_per_second() {
    assert_eq!(ours("slow"), is(ADA, 0.5));
    assert_eq!(simpler("slow"), []);
}

#[test]
fn work_at_the_beginning_of_an_interval() {
    assert_eq!(ours("burst"), is(ADA, 20.0));
    assert_eq!(simpler("burst"), is(ADA, 100.0));
}

#[test]
fn counters_of_two_to_the_63() {
    assert_eq!(ours("huge"), is(ADA, 3.0));
    assert_eq!(rows("huge")[ADA]["write_bytes"]["rate"], 4_096_000.0);
    assert_eq!(simpler("huge"), []);
}

#[test]
fn requests_that_have_two_counters() {
    assert_eq!(ours("twice"), is(ADA, 11.0));
    assert_eq!(simpler("twice"), is(ADA, 22.0));
}
