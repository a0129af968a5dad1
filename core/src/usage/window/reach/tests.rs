use proptest::prelude::*;

use super::{LastObservation, Reach, reach};
use crate::base::instant::{MINUTE, Micros};

const NOW: Micros = 1000 * MINUTE;

/// A target of a server that is read every so many minutes, the last time so many minutes ago.
fn last(server: &str, interval: Option<Micros>, ago: Micros) -> LastObservation {
    let interval = interval.map(|it| it * MINUTE);
    LastObservation {
        target: String::new(),
        time: NOW - ago * MINUTE,
        server: server.to_owned(),
        usual_interval: interval,
        late: interval.is_some_and(|it| ago * MINUTE > 2 * it),
        silent: ago * MINUTE > (3 * interval.unwrap_or(0)).max(10 * MINUTE),
    }
}

/// Returns how many minutes ago a window of so many minutes ends, and which target cut it.
fn ago(lasts: &[LastObservation], window: Micros) -> (Option<Micros>, Option<usize>) {
    let Reach { end, cut_by } = reach(lasts, NOW - window * MINUTE, NOW);
    (end.map(|end| (NOW - end) / MINUTE), cut_by)
}

#[test]
fn ends_where_all_that_are_read_as_often_have_been_observed() {
    let lasts = [1, 2, 0].map(|ago| last("oss1", Some(2), ago));
    assert_eq!(ago(&lasts, 10), (Some(2), None));
    let lasts = [last("oss1", Some(2), 1), last("oss2", Some(4), 3)];
    assert_eq!(ago(&lasts, 10), (Some(3), Some(1)));
    assert_eq!(ago(&[], 10), (None, None));
}

#[test]
fn does_not_wait_for_targets_that_are_read_seldom() {
    for server in ["oss1", "oss2"] {
        let lasts = [last("oss1", Some(1), 0), last(server, Some(15), 9)];
        assert_eq!(ago(&lasts, 10), (Some(0), None));
    }
    // A new target has no usual interval.
    let lasts = [last("oss1", Some(1), 0), last("oss1", None, 9)];
    assert_eq!(ago(&lasts, 10), (Some(0), None));
    // Where all are read seldom, they are waited for.
    let lasts = [last("oss1", Some(15), 2), last("oss1", Some(15), 9)];
    assert_eq!(ago(&lasts, 60), (Some(9), None));
}

#[test]
fn does_not_wait_for_targets_that_are_late_or_silent_or_not_observed_in_the_window() {
    let lasts = [3, 5, 12].map(|ago| last("oss1", Some(2), ago));
    assert_eq!(ago(&lasts, 60), (Some(3), Some(0)));
    assert_eq!(
        ago(&[last("a", Some(8), 7), last("a", Some(8), 4)], 5),
        (Some(4), None)
    );
}

#[test]
fn ends_at_the_last_observation_of_any_where_none_is_waited_for() {
    let late = [5, 6].map(|ago| last("oss1", Some(2), ago));
    assert_eq!(ago(&late, 60), (Some(5), None));
    // Not observed in the window: empty, or as it was if all had been silent before.
    assert_eq!(ago(&late, 4), (Some(5), None));
    assert_eq!(ago(&[last("oss1", Some(2), 30)], 20), (None, None));
    // No cut is longer than four medians.
    assert_eq!(ago(&[last("oss1", Some(2), 30)], 60), (Some(8), None));
}

fn any_last(server: &'static str) -> impl Strategy<Value = LastObservation> {
    (prop::option::of(0..40_i64), 0..60_i64).prop_map(move |it| last(server, it.0, it.1))
}

proptest! {
    /// Whatever one server of four sends, the targets of the others, read every minute, count for all but four minutes.
    #[test]
    fn one_server_cannot_cut_the_window(
        foreign in prop::collection::vec(any_last("foreign"), 0..20),
        age in 0..2_i64,
        window in 8..60_i64,
    ) {
        let mut lasts = foreign;
        lasts.extend(["a", "b", "c"].map(|server| last(server, Some(1), age)));
        let end = ago(&lasts, window).0;
        prop_assert!(end.is_some_and(|end| (age..=4).contains(&end)), "{end:?}");
    }

    #[test]
    fn no_cut_is_longer_than_four_medians(lasts in prop::collection::vec(any_last("a"), 1..9)) {
        let mut intervals: Vec<_> = lasts.iter().filter_map(|it| it.usual_interval).collect();
        intervals.sort_unstable();
        prop_assume!(!intervals.is_empty());
        let median = intervals[(intervals.len() - 1) / 2];
        if let Some(end) = reach(&lasts, Micros::MIN, NOW).end {
            prop_assert!(NOW - end <= 4 * median);
        }
    }
}
