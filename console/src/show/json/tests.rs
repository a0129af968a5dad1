use serde_json::Value;

use super::*;
use crate::live::rows::table;
use crate::live::view::By;
use crate::testing::{counted, interval, round};

#[test]
fn a_table_is_a_line_that_has_all_numbers() {
    let mut history = TargetStates::default();
    history.take(round(
        20,
        &[
            (
                "scratch-MDT0000",
                Some(interval(
                    10,
                    20,
                    &[
                        ("1:1000:a", "open", 5),
                        ("1:1000:a", "open_usecs", 20_000_000),
                    ],
                )),
            ),
            ("scratch-OST0000", None),
        ],
    ));
    let view = View::default();
    let table = table(&history, &view, &[], 10);
    let line = line(&history, &table, &view).unwrap();
    let json: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["time"], "1970-01-01T00:00:20.000000Z");
    assert_eq!(
        (&json["by"], &json["sort"]),
        (&"user".into(), &"service_time".into())
    );
    let row = &json["rows"][0];
    assert_eq!(
        (&row["name"], &row["user"], &row["uid"], &row["rank"]),
        (&"1000".into(), &"1000".into(), &1000.into(), &1.into())
    );
    assert_eq!(row["service_time"]["rate"], 2.0);
    assert_eq!(row["requests"]["total"], 5.0);
    assert_eq!(row["requests"]["rate"], 0.5);
    assert_eq!(json["targets"][0]["interval"], 10.0);
    assert_eq!(json["targets"][1]["state"], "first");
    assert!(json["targets"][1]["interval"].is_null() && json["untracked"].is_null());
}

#[test]
fn work_in_no_entry_is_a_field_of_its_own() {
    let mut history = TargetStates::default();
    let work = interval(10, 20, &[("1:1000:a", "read", 5)]);
    let whole = [("read", 20.0, 15.0), ("read_bytes", 8e6, 6e6)];
    history.take(round(
        20,
        &[("scratch-OST0000", Some(counted(work, &whole)))],
    ));
    let view = View::default();
    let table = table(&history, &view, &[], 0);
    let json: Value = serde_json::from_str(&line(&history, &table, &view).unwrap()).unwrap();
    let untracked = &json["untracked"];
    assert_eq!(untracked["share"], 0.75);
    assert_eq!(untracked["requests"]["rate"], 1.5);
    assert_eq!(untracked["read_bytes"]["total"], 6e6);
    assert!(untracked["service_time"].is_null() && untracked["late"] == false);
    assert_eq!(json["total"]["requests"]["total"], 5.0);
    assert_eq!(json["more"], 1);
}

#[test]
fn what_is_not_known_is_null() {
    let mut history = TargetStates::default();
    history.take(round(
        20,
        &[(
            "scratch-OST0000",
            Some(interval(10, 20, &[("1:1000:a", "read", 5)])),
        )],
    ));
    let mut view = View::default();
    let json = |view: &View, history: &TargetStates| -> Value {
        let table = table(history, view, &[], 10);
        serde_json::from_str(&line(history, &table, view).unwrap()).unwrap()
    };
    let untimed = json(&view, &history);
    assert_eq!(untimed["sort"], "requests");
    assert!(untimed["rows"][0]["service_time"].is_null());
    let mut late = round(1000, &[]);
    late.failures.push(Failure {
        server: "oss1".into(),
        reason: "x".to_owned(),
        since: None,
    });
    history.take(late);
    view.by = By::Target;
    let unknown = json(&view, &history);
    assert!(unknown["rows"][0]["requests"].is_null() && unknown["rows"][0]["late"] == true);
    assert_eq!(unknown["failures"][0]["reason"], "x");
}

#[test]
fn names_come_back_as_they_are_and_move_no_cursor() {
    let name = "a\u{1b}[31m\u{9b}\u{202e}\"\0\u{1f600}\u{e0041}é";
    let mut history = TargetStates::default();
    history.take(round(
        20,
        &[(
            "scratch-OST0000",
            Some(interval(10, 20, &[(name, "read", 5)])),
        )],
    ));
    let view = View {
        by: By::Entry,
        ..View::default()
    };
    let table = table(&history, &view, &[], 10);
    let line = line(&history, &table, &view).unwrap();
    assert!(line.chars().all(text::is_harmless));
    let json: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(json["rows"][0]["name"], name);
}
