#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use std::thread;

use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;

use super::{Event, NAME, State, StateFile, Work};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn undelivered(message: &str) -> Event {
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
    let failure = state.delivery_failure.clone().unwrap();
    assert_eq!((failure.since, failure.time), (at(120), at(240)));
    assert_eq!((failure.times, failure.message.as_str()), (2, "second"));
    let last = |second, targets| {
        let time = at(second);
        Some(Work { time, targets })
    };
    assert_eq!(state.delivery, last(0, 3));
    state.apply(Event::Delivered(4), at(360));
    assert_eq!(
        (state.delivery, state.delivery_failure),
        (last(360, 4), None)
    );
    let counts = state.counts;
    assert_eq!((counts.stored_targets, counts.rejected_targets), (9, 4));
}

#[test]
fn what_was_lost_is_counted_with_its_time() {
    let mut state = State::default();
    let (waiting, rejected) = (3, 1);
    state.apply(Event::Dropped { waiting, rejected }, at(0));
    state.apply(Event::DroppedUnsent, at(5));
    state.apply(Event::SetAside, at(9));
    let counts = state.counts;
    assert_eq!((counts.dropped_waiting, counts.dropped_set_aside), (3, 1));
    assert_eq!((counts.dropped_unsent, counts.set_aside), (1, 1));
    assert_eq!(state.lost, Some(at(5)));
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
    let file = StateFile::new(directory.path().join(NAME));
    assert!(file.load().is_err());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..25).for_each(|_| file.note(Event::Read(2))));
        }
    });
    assert_eq!(file.load().unwrap().counts.readings, 100);
    // A file that a crash left empty begins anew.
    std::fs::write(file.path(), "").unwrap();
    file.note(Event::Read(2));
    assert_eq!(file.load().unwrap().counts.readings, 1);
}
