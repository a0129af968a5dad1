//! Text that was read elsewhere, from a pipe or a file.

use std::fs;

use crate::common::{Database, Fake, Shipper};

const TEXT: &str =
    "obdfilter.fs-OST0000.job_stats=job_stats:\nobdfilter.fs-OST0001.job_stats=job_stats:\n";

fn once(database: &Database, input: &str) -> Shipper {
    Shipper::new(&[
        "once",
        "--input",
        input,
        "--server",
        "oss1",
        "--database-url",
        &database.url(),
    ])
}

#[test]
fn a_pipe_is_split_at_its_targets_and_timed() {
    let mut database = needs!(Database::new());
    once(&database, "-")
        .run_with_input(TEXT)
        .succeeds_silently();
    assert_eq!(
        database.bodies(),
        TEXT.split_inclusive('\n').collect::<Vec<_>>()
    );
    let timed = r#"SELECT DISTINCT concat_ws(' ', server, "time" > now() - interval '10 min',
        duration < interval '10 min') FROM jobstats.feed"#;
    assert_eq!(database.column(timed), ["oss1 t t"]);
}

#[test]
fn a_file_has_the_time_that_is_given_and_no_duration() {
    let mut database = needs!(Database::new());
    let directory = Fake::new("");
    let file = directory.file("text");
    fs::write(&file, TEXT).unwrap();
    once(&database, file.to_str().unwrap())
        .args(&["--time", "2026-01-31T12:00:00.25+02:00"])
        .run()
        .succeeds_silently();
    let times = r#"SELECT concat_ws(' ', "time" AT TIME ZONE 'UTC', coalesce(duration::text, 'NULL'))
        FROM jobstats.feed"#;
    assert_eq!(database.column(times), ["2026-01-31 10:00:00.25 NULL"; 2]);
}

#[test]
fn text_that_names_no_target_is_an_error_with_its_remedy() {
    let mut database = needs!(Database::new());
    let without_names = "job_stats:\n- job_id:          a.1000\n";
    for text in ["hello world\n", without_names] {
        let words = ["the input has no target", "without -n"];
        once(&database, "-").run_with_input(text).is(74, &words);
    }
    assert_eq!(database.count(), 0);
}

#[test]
fn nothing_is_an_error() {
    let mut database = needs!(Database::new());
    for text in ["", "\n"] {
        once(&database, "-").run_with_input(text).is(66, &["empty"]);
    }
    once(&database, "/nowhere/text")
        .run()
        .is(66, &["/nowhere/text"]);
    assert_eq!(database.count(), 0);
}

#[test]
fn wrong_use_has_its_exit_code() {
    Shipper::new(&["once", "--input", "-"])
        .run()
        .is(64, &["--server"]);
    Shipper::new(&["run", "--interval", "often"])
        .run()
        .is(64, &["--interval"]);
}
