#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use super::*;
use crate::state::Event;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

/// A shipper that has run every two minutes up to second 0.
fn running() -> State {
    let mut state = State {
        since: at(-86_400),
        ..State::default()
    };
    let interval = Some(Duration::from_secs(120));
    state.apply(Event::Started("lctl", interval), at(-86_400));
    state.apply(Event::Read("lctl", 4), at(0));
    state.apply(Event::Delivered(4), at(1));
    state
}

fn waiting(oldest: i64) -> SpoolStatus {
    SpoolStatus {
        path: "/spool".into(),
        waiting: 3,
        waiting_bytes: 1_500_000,
        oldest: Some(at(oldest)),
        ..SpoolStatus::default()
    }
}

/// The verdicts at a second.
fn verdicts(state: &State, spool: Option<&SpoolStatus>, second: i64) -> Vec<Verdict> {
    let problems = problems(state, spool, None, at(second));
    problems.into_iter().map(|(verdict, _)| verdict).collect()
}

#[test]
fn a_reading_is_overdue_after_three_intervals() {
    let state = running();
    assert_eq!(verdicts(&state, None, 360), []);
    assert_eq!(verdicts(&state, None, 361), [Verdict::Critical]);
    let limited = problems(&state, None, Some(Duration::from_secs(60)), at(61));
    assert_eq!(
        limited,
        [(
            Verdict::Critical,
            "no scrape of lctl for 61 seconds".to_owned()
        )]
    );
}

#[test]
fn a_failure_is_a_warning_until_it_is_old() {
    let mut state = running();
    let message = "away".to_owned();
    let (stored, rejected) = (0, 0);
    state.apply(
        Event::Undelivered {
            stored,
            rejected,
            message,
        },
        at(121),
    );
    assert_eq!(verdicts(&state, None, 130), [Verdict::Warning]);
    state.apply(Event::Read("lctl", 4), at(720));
    assert_eq!(verdicts(&state, None, 721), [Verdict::Warning]);
    assert_eq!(verdicts(&state, None, 722), [Verdict::Critical]);
}

#[test]
fn what_waits_too_long_is_critical() {
    let mut state = running();
    assert_eq!(verdicts(&state, Some(&waiting(0)), 100), []);
    state.apply(Event::Read("lctl", 4), at(601));
    assert_eq!(
        verdicts(&state, Some(&waiting(0)), 601),
        [Verdict::Critical]
    );
}

#[test]
fn a_spool_that_cannot_be_written_is_critical() {
    let spool = SpoolStatus {
        read_only: true,
        ..waiting(0)
    };
    assert_eq!(verdicts(&running(), Some(&spool), 1), [Verdict::Critical]);
}

#[test]
fn a_loss_is_a_warning_for_a_day() {
    let mut state = running();
    state.apply(Event::Lost, at(1 - 86_400));
    assert_eq!(verdicts(&state, None, 0), [Verdict::Warning]);
    assert_eq!(verdicts(&state, None, 1), []);
}

#[test]
fn the_table_says_all_in_a_few_lines() {
    let (status, problems) = (Verdict::Ok, Vec::new());
    let mut state = running();
    // The file may have any content.
    let message = "cannot connect to db:5432/lustre as shipper:\nConnection refused".to_owned();
    let (stored, rejected) = (1, 1);
    state.apply(
        Event::Undelivered {
            stored,
            rejected,
            message,
        },
        at(100),
    );
    let spool = Some(waiting(0));
    let answer = Answer {
        status,
        problems,
        state,
        spool,
    };
    let expected = "\
ok: last scrape 3 minutes ago, 3 scrapes queued (1.5 MB), the oldest for 3 minutes
lctl        every 120 s, last 2023-11-14 22:13:20Z, 3 minutes ago, 4 targets; 1 scrapes, 0 failed
delivery    last 2023-11-14 22:13:21Z, 2 minutes ago, 4 targets; 5 targets stored, 1 rejected
            failed 1 times since 2023-11-14 22:15:00Z, last 80 seconds ago: cannot connect to db:5432/lustre as shipper: Connection refused
spool       /spool, 3 scrapes queued (1.5 MB), the oldest for 3 minutes
dropped     0 by limits, 0 for lack of space
set aside   0 refused, 0 damaged; 0 files in rejected/
counted     since 2023-11-13 22:13:20Z
";
    assert_eq!(answer.text(at(180)), expected);
}
