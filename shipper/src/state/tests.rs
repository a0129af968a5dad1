#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use std::process::Command;
use std::thread;

use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;

use super::{Event, NAME, State, StateFile, Work};

const READ: Event<'_> = Event::Read("lctl", 2);

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn undelivered(message: &str) -> Event<'static> {
    Event::Undelivered {
        stored: 1,
        rejected: 2,
        message: message.to_owned(),
    }
}

#[test]
fn failures_are_counted_until_a_success() {
    let mut state = State::default();
    state.apply(Event::Delivered(3), at(0));
    state.apply(undelivered("first"), at(120));
    state.apply(undelivered("second"), at(240));
    let failure = state.deliveries.failure.clone().unwrap();
    assert_eq!((failure.since, failure.time), (at(120), at(240)));
    assert_eq!((failure.times, failure.message.as_str()), (2, "second"));
    let last = |second, targets| {
        let time = at(second);
        Some(Work { time, targets })
    };
    assert_eq!(state.deliveries.last, last(0, 3));
    state.apply(Event::Delivered(4), at(360));
    let deliveries = state.deliveries;
    assert_eq!((deliveries.last, deliveries.failure), (last(360, 4), None));
    let counts = (deliveries.stored_targets, deliveries.rejected_targets);
    assert_eq!(counts, (9, 4));
}

#[test]
fn each_source_has_its_readings() {
    let mut state = State::default();
    state.apply(READ, at(0));
    state.apply(Event::Unread("passwd", "no getent".to_owned()), at(5));
    let readings = |source: &str| {
        let readings = &state.sources[source];
        (
            readings.succeeded,
            readings.failed,
            readings.failure.is_some(),
        )
    };
    assert_eq!(readings("lctl"), (1, 0, false));
    assert_eq!(readings("passwd"), (0, 1, true));
}

#[test]
fn the_line_says_what_was_done_last_or_what_fails() {
    let mut state = State::default();
    assert_eq!(state.line(), "");
    state.apply(READ, at(0));
    state.apply(Event::Delivered(2), at(1));
    let read = "lctl: 2 targets read at 2023-11-14 22:13:20Z";
    let stored = "database: 2 targets stored at 2023-11-14 22:13:21Z";
    assert_eq!(state.line(), format!("{read}; {stored}"));
    state.apply(undelivered("away"), at(120));
    assert_eq!(state.line(), format!("{read}; away"));
}

#[test]
fn a_notice_is_news_once_a_day_for_each_target_whatever_it_counts() {
    let mut state = State::default();
    assert!(state.is_news("a1", "5 of 6 match no format", at(0)));
    assert!(!state.is_news("a1", "10 of 11 match no format", at(120)));
    assert!(state.is_news("a2", "5 of 6 match no format", at(120)));
    assert!(state.is_news("a1", "5 of 6 match another format", at(120)));
    assert!(!state.is_news("a1", "5 of 6 match no format", at(86_399)));
    let later = at(0) + SignedDuration::from_hours(24);
    assert!(state.is_news("a1", "5 of 6 match no format", later));
}

#[test]
fn threads_lose_no_event_of_each_other() {
    let directory = TempDir::new().unwrap();
    let file = StateFile {
        path: directory.path().join(NAME),
    };
    assert!(file.load().is_err());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..25).for_each(|_| file.note(READ)));
        }
    });
    assert_eq!(file.load().unwrap().sources["lctl"].succeeded, 100);
    // A file that a crash left empty begins anew.
    std::fs::write(&file.path, "").unwrap();
    file.note(READ);
    assert_eq!(file.load().unwrap().sources["lctl"].succeeded, 1);
}

#[test]
fn a_pipe_or_link_in_the_place_of_the_file_is_not_used() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(NAME);
    let file = StateFile { path: path.clone() };
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    // This would wait for ever.
    assert!(file.load().is_err());
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert!(file.load().is_err());
    file.note(READ);
    assert_eq!(file.load().unwrap().sources["lctl"].succeeded, 1);
    assert!(path.symlink_metadata().unwrap().is_file());
}
