use jiff::Timestamp;
use jobstats_client::Decimal;
use jobstats_client::answers::{Filters, FindingRow, Group, RateRow, SpaceRow};
use proptest::prelude::*;

use super::*;
use crate::subject::{Course, Fact, Kind, Value};
use crate::values::text::{is_harmless, width};

/// A job with this text in every place that has one.
fn job(name: &str) -> Subject {
    let time = |minute: i64| Timestamp::from_second(1_763_640_000 + 60 * minute).unwrap();
    let text = |key, label| Fact {
        key,
        label,
        value: Value::Text(name.to_owned()),
    };
    let usage = |operation: &str, total: i64, calls: i64| Usage {
        operation: operation.to_owned(),
        total: Some(Decimal::from(total)),
        calls: Some(Decimal::from(calls)),
        per_call: match operation {
            "open" | "metadata" => Some(0.3),
            _ => Some(total as f64 / calls as f64),
        },
        rate: Some(total as f64 / 3600.0),
        ..Usage::default()
    };
    let step = |minute, rates: [Option<f64>; 4]| {
        COURSE
            .iter()
            .zip(rates)
            .map(move |(operation, rate)| RateRow {
                time: time(minute),
                operation: (*operation).to_owned(),
                seconds: 600.0,
                rate,
                coverage: 1.0,
                ..RateRow::default()
            })
    };
    let row = |name: Option<&str>, seconds: i64| RankingRow {
        name: name.map(str::to_owned),
        detail: name.map(str::to_owned),
        share: None,
        amounts: [
            Some(Decimal::from(seconds * 1_000_000_000)),
            Some(Decimal::ZERO),
            None,
            Some(Decimal::from(seconds)),
        ],
    };
    Subject {
        kind: Kind::Job,
        name: name.to_owned(),
        facts: vec![
            text("user", "User"),
            text("account", "Account"),
            text("job_name", "Job name"),
            Fact {
                key: "run_time",
                label: "Run time",
                value: Value::Number(3600.0, when::length),
            },
        ],
        work: Selection {
            window: (time(0), time(60)),
            filters: Filters::default(),
        },
        usage: vec![
            usage("read_bytes", 3_600_000_000_000, 3_600_000),
            usage("open", 7200, 7200),
            usage("metadata", 14_400, 14_400),
            usage("service_time", 5400, 100_000),
        ],
        course: Course {
            step: 600,
            steps: [
                step(0, [Some(1e9), Some(0.0), Some(4.0), Some(1.5)]),
                step(10, [None; 4]),
                step(20, [Some(2e9), Some(0.0), Some(8.0), Some(3.0)]),
            ]
            .into_iter()
            .flatten()
            .collect(),
        },
        meanwhile: None,
        rankings: vec![Ranking::by_amount(
            "target",
            vec![row(Some(name), 90), row(None, 10)],
        )],
        space: Some(owned(name, time(0))),
        findings: vec![found_of(name)],
        notes: vec![name.to_owned()],
        statements: Vec::new(),
    }
}

/// Returns a finding with this text.
fn found_of(text: &str) -> FindingRow {
    FindingRow {
        level: "bad".to_owned(),
        text: format!("{text} does it"),
        value: 0.93,
        service_time: Some(81.0),
        share: Some(0.81),
        advice: Some(format!("Do not {text}.")),
        ..FindingRow::default()
    }
}

/// Returns the space of a user, with this name of the file system.
fn owned(name: &str, read: Timestamp) -> Space {
    let row = SpaceRow {
        labels: Group {
            cluster: Some(name.to_owned()),
            filesystem: Some(name.to_owned()),
            ..Group::default()
        },
        bytes: Decimal::from(1_250_000_000_000_i64),
        inodes: Some(Decimal::from(812_000)),
        added_bytes: Some(Decimal::from(-12_000_000_000_i64)),
        added_inodes: None,
        targets: Some(11),
        of_targets: Some(12),
        time: Some(read),
    };
    Space {
        whole: vec![SpaceRow {
            bytes: row.bytes * Decimal::from(8),
            ..row.clone()
        }],
        answered: Answer {
            rows: vec![row],
            notes: Vec::new(),
            statement: String::new(),
        },
        since: Timestamp::from_second(1_763_510_400).ok(),
    }
}

fn text(subject: &Subject, cells: usize, is_coloured: bool) -> String {
    let page = page(subject, Vec::new(), &Clock::default());
    page.text(Screen { cells, is_coloured })
}

fn text_of(name: &str, cells: usize) -> String {
    text(&job(name), cells, false)
}

#[test]
fn a_page_has_who_what_when_and_where() {
    let text = text_of("relax", 80);
    let expected = [
        "================================================================================",
        "                                   Job relax",
        "================================================================================",
        " 3.6 TB read, 14.4 k metadata requests, 1.5 requests in service on average, 90 %",
        " of it on relax.",
        " 2025-11-20 12:00 to 13:00 · All times are UTC",
        "",
        "── Overview ────────────────────────────────────────────────────────────────────",
        "           User: relax                          Account: relax",
        "       Job name: relax                         Run time: 01:00:00",
        " * relax",
        "",
        "── Findings ────────────────────────────────────────────────────────────────────",
        " bad  relax does it, in 81 % of its server time.",
        "      Do not relax.",
        "",
        "── Operations ──────────────────────────────────────────────────────────────────",
        " Totals                      Total  Time       Mean  Highest in 10 min  Per call",
        "────────────────────────────────────────────────────────────────────────────────",
        " Read                      3.60 TB        1.00 GB/s          2.00 GB/s   1.00 MB",
        " Metadata requests          14.4 k  80 %     4.00/s             8.00/s    300 ms",
        "   open                     7.20 k  40 %     2.00/s                       300 ms",
        " Server time              90.0 min             1.50               3.00   54.0 ms",
        "",
        "── Over time ───────────────────────────────────────────────────────────────────",
        " Read              ▄ █",
        " Metadata requests ▄ █",
        " Server time       ▄ █",
        "                   12:00  13:00",
        " Each bar is 10 min; each line is scaled to its maximum.",
        "",
        "── Breakdown ───────────────────────────────────────────────────────────────────",
        " By target                 Detail           Share  Server time     Read  Written",
        "────────────────────────────────────────────────────────────────────────────────",
        " relax                     relax   ███████▎  90 %       90.0 s  90.0 GB        0",
        " (no target)               –       ▊         10 %       10.0 s  10.0 GB        0",
        "",
        "── Used space ──────────────────────────────────────────────────────────────────",
        " By file system                       Share    Space     Added  Inodes   Targets",
        "────────────────────────────────────────────────────────────────────────────────",
        " relax                       █         12 %  1.25 TB  −12.0 GB   812 k  11 of 12",
        " Read at 2025-11-20 12:00, added since 2025-11-19 00:00.",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn a_narrow_terminal_has_less_and_a_wide_one_longer_names() {
    let narrow = text_of("relax", 60);
    for line in [
        "           User: relax",
        "        Account: relax",
        " Read                               3.60 TB        1.00 GB/s",
        " relax          relax    90 %       90.0 s  90.0 GB        0",
        " relax             12 %  1.25 TB  −12.0 GB   812 k  11 of 12",
    ] {
        assert!(narrow.lines().any(|it| it == line), "{line}\n{narrow}");
    }
    let mut long = job("relax");
    long.course.steps = std::iter::repeat_n(long.course.steps, 20)
        .flatten()
        .collect();
    let narrow = text(&long, 60, false);
    assert!(
        narrow.contains("Each bar is 20 min") && narrow.contains(" Read              ▄▆"),
        "{narrow}"
    );
    assert!(narrow.lines().all(|line| width(line) <= 60), "{narrow}");
    let name = "n".repeat(40);
    let wide = text_of(&name, 100);
    assert!(
        wide.contains(&format!("       Job name: {name}\n")),
        "{wide}"
    );
    assert!(wide.contains(&format!(" {}…  ", "n".repeat(18))), "{wide}");
}

#[test]
fn what_is_not_known_is_a_dash() {
    let mut subject = job("relax");
    subject.usage[3].total = None;
    subject.usage[3].rate = None;
    let shown = text(&subject, 80, false);
    let line = shown
        .lines()
        .find(|line| line.contains("Server time"))
        .unwrap();
    assert_eq!(line.matches('–').count(), 2, "{line}");
}

#[test]
fn colour_changes_no_word() {
    let mut subject = job("relax");
    subject.findings[0].level = "bad".to_owned();
    let coloured = text(&subject, 80, true);
    let plain = without_colours(&coloured);
    assert_ne!(plain, coloured);
    assert_eq!(plain, text(&subject, 80, false));
}

/// Removes what only changes colours.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |mut out, piece| {
        out += piece.split_once('m').map_or("", |(_, rest)| rest);
        out
    })
}

#[test]
fn json_has_the_names_as_they_are() {
    let name = "\u{202e}<b>\"\n";
    let document: serde_json::Value = serde_json::from_str(&json::document(&job(name))).unwrap();
    assert_eq!(document["version"], 1);
    assert_eq!(document["name"], name);
    assert_eq!(document["facts"]["account"], name);
    assert_eq!(document["usage"][0]["total"], 3_600_000_000_000_u64);
    assert_eq!(document["course"][1]["read_bytes"], serde_json::Value::Null);
    assert_eq!(document["rankings"][0]["rows"][0]["share"], 0.9);
    let space = &document["space"]["rows"][0];
    assert_eq!(
        (&space["filesystem"], &space["share"]),
        (&name.into(), &0.125.into())
    );
    assert_eq!(space["added_bytes"], -12_000_000_000_i64);
}

proptest! {
    #[test]
    fn any_name_is_only_shown(name in any::<String>(), cells in 0_usize..200) {
        for line in text_of(&name, cells).lines() {
            prop_assert!(line.chars().all(is_harmless), "{line:?}");
            prop_assert!(width(line) <= cells.clamp(56, 100), "{} {line}", width(line));
        }
        let document = json::document(&job(&name));
        prop_assert!(document.chars().all(is_harmless));
    }
}

#[test]
fn operations_are_grouped_and_those_with_most_time_come_first() {
    let usage = |operation: &str, total: i64, per_call: f64| Usage {
        operation: operation.to_owned(),
        total: Some(Decimal::from(total)),
        per_call: Some(per_call),
        ..Usage::default()
    };
    let subject = Subject {
        usage: vec![
            usage("read_bytes", 5_000_000, 1e6),
            usage("write_bytes", 9_000_000, 1e6),
            usage("read", 5, 2.0),
            usage("write", 9, 1.0),
            usage("metadata", 400, 0.2),
            usage("service_time", 100, 0.2),
            usage("open", 300, 0.1),
            usage("unlink", 100, 0.5),
            usage("rmdir", 0, 0.0),
            usage("mknod", 50, 0.1),
            usage("punch", 1, 1.0),
        ],
        ..Subject::default()
    };
    let Some(Block::Tables(tables)) = operations(&subject).pop() else {
        unreachable!("there is no table");
    };
    let rows = tables[0].rows.iter();
    let rows = rows.map(|row| (row[0].text.as_str(), row[0].is_part, row[2].text.as_str()));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            ("Written", false, ""),
            ("write", true, "9 %"),
            ("Read", false, ""),
            ("read", true, "10 %"),
            ("Metadata requests", false, "80 %"),
            ("unlink", true, "50 %"),
            ("open", true, "30 %"),
            ("punch", false, "1 %"),
            ("Server time", false, ""),
        ]
    );
}
