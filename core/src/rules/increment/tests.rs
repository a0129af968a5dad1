//! Tests of the values that follow from one observation, one problem or several increments.

use super::{Increment, Observation, Problem, Reason, span};
use crate::base::pause::Pause;
use crate::rules::snapshot::{self, Snapshot, cleanup_interval};

const CARRIED: &[u8] = b"job_stats:
- job_id:          a
  snapshot_time:   1749555518
  last_seen:       9.000000000 secs.nsecs
  read:            { samples: 1, unit: reqs }
- job_id:          b
  snapshot_time:   1749555518
  last_seen:       7.500000000 secs.nsecs
  read:            { samples: 1, unit: reqs }
";

#[test]
fn an_observation_reaches_back_to_the_first_of_its_carried_records() {
    let carried = snapshot::read_carried(CARRIED, Pause::NEVER).expect("memory");
    let observation = |time, carried| Observation {
        time,
        server: "oss1",
        snapshot: None,
        carried,
    };
    assert_eq!(carried.first_seen(), Some(7_500_000));
    assert_eq!(
        observation(10_000_000, Some(&carried)).earliest(),
        7_500_000
    );
    assert_eq!(observation(5, Some(&carried)).earliest(), 5);
    assert_eq!(observation(10_000_000, None).earliest(), 10_000_000);
    assert_eq!(Snapshot::default().first_seen(), None);
}

#[test]
fn an_increment_begins_before_a_text_only_for_an_entry_that_came_back() {
    let carried = snapshot::read_carried(CARRIED, Pause::NEVER).expect("memory");
    let previous = |time, carried| Observation {
        time,
        server: "oss1",
        snapshot: None,
        carried,
    };
    let earliest = |previous: Observation<'_>, entries: &[&str]| {
        let lines = entries.iter().map(|id| {
            format!("- job_id: {id}\n  snapshot_time: 1\n  read: {{ samples: 2, unit: reqs }}\n")
        });
        let text = format!("job_stats:\n{}", lines.collect::<String>());
        let next = snapshot::read_carried(text.as_bytes(), Pause::NEVER).expect("memory");
        previous.earliest_in(&next).expect("memory")
    };
    let ten = 10_000_000;
    assert_eq!(earliest(previous(ten, Some(&carried)), &["c"]), ten);
    assert_eq!(
        earliest(previous(ten, Some(&carried)), &["a", "c"]),
        9_000_000
    );
    assert_eq!(
        earliest(previous(ten, Some(&carried)), &["a", "b"]),
        7_500_000
    );
    assert_eq!(earliest(previous(5, Some(&carried)), &["a", "b"]), 5);
    assert_eq!(earliest(previous(ten, None), &["a"]), ten);
}

#[test]
fn the_cleanup_interval_of_a_text_counts_before_one_that_was_known_and_the_default() {
    let text = |cleanup_interval| Snapshot {
        cleanup_interval,
        ..Snapshot::default()
    };
    assert_eq!(cleanup_interval(Some(&text(Some(30))), Some(60)), 30);
    assert_eq!(cleanup_interval(Some(&text(None)), Some(60)), 60);
    assert_eq!(cleanup_interval(None, Some(60)), 60);
    assert_eq!(cleanup_interval(Some(&text(None)), None), 600);
}

#[test]
fn a_problem_names_its_entry_and_its_operation() {
    let problem = |operation| Problem {
        line: 3,
        entry: "4711:1000:r01c01",
        operation,
        reason: Reason::OlderEpoch,
    };
    let why = "a later epoch of the entry was seen before";
    assert_eq!(
        problem(None).to_string(),
        format!("4711:1000:r01c01: {why}")
    );
    assert_eq!(
        problem(Some("read")).to_string(),
        format!("4711:1000:r01c01: read: {why}")
    );
}

#[test]
fn the_span_of_increments_is_from_the_first_start_to_the_last_end() {
    let increment = |since, time| Increment {
        line: 1,
        id: "a",
        folded: None,
        since,
        time,
        reset: false,
        last_active: None,
        totals: Vec::new(),
        histograms: None,
        detail: None,
    };
    let increments = [increment(5, 9), increment(3, 7), increment(6, 8)];
    assert_eq!(span(increments.iter()), Some((3, 9)));
    assert_eq!(span([].iter()), None);
}
