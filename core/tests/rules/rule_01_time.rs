use jobstats_core::base::pause::Pause;
use jobstats_core::rules::increment::{Increment, compare, split};
use jobstats_core::rules::snapshot::read;

use crate::support::{Target, born, job, row};

#[test]
fn rule_1_a_row_reaches_from_the_previous_observation_to_this_one() {
    let mut target = Target::first(&[job("a", "open 1, close 1")]);
    let seen = target.observe(120, &[job("a", "open 4, close 1")]);
    assert_eq!(seen.rows, ["a (0, 120] open=3"]);
    let seen = target.observe(245, &[job("a", "open 4, close 3")]);
    assert_eq!(seen.rows, ["a (120, 245] close=2"]);
}

#[test]
fn rule_1_an_entry_that_did_nothing_has_no_row() {
    let mut target = Target::first(&[job("idle", "open 1"), job("busy", "open 1")]);
    let seen = target.observe(120, &[job("idle", "open 1"), job("busy", "open 2")]);
    assert_eq!(seen.rows, ["busy (0, 120] open=1"]);
    assert_eq!((seen.entries, seen.active), (2, 1));
}

#[test]
fn rule_1_a_snapshot_time_that_moves_is_no_row() {
    let text = born("a", -50, "open 1");
    let moved = text.replace(".500000000", ".700000000");
    assert_ne!(text, moved);
    let mut target = Target::first(&[text]);
    assert_eq!(target.observe(120, &[moved]).rows, [""; 0]);
}

#[test]
fn rule_1_a_reset_to_zeros_is_no_row() {
    let mut target = Target::first(&[job("a", "open 5")]);
    let seen = target.observe(120, &[job("a", "open 0")]);
    assert_eq!((seen.rows.len(), seen.resets), (0, 1));
    let seen = target.observe(240, &[job("a", "open 2")]);
    assert_eq!(seen.rows, ["a (120, 240] open=2"]);
}

#[test]
fn rule_1_rows_are_divided_at_multiples_of_ten_minutes_and_add_up() {
    let first =
        "mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id: a\n  open: { samples: 0, unit: reqs }\n";
    let next = first.replace("samples: 0", "samples: 7");
    let (first, next) = (
        read(first.as_bytes(), Pause::NEVER).unwrap(),
        read(next.as_bytes(), Pause::NEVER).unwrap(),
    );
    let minute = |minute: i64| 1_699_999_200_000_000 + minute * 60_000_000;
    let observe = |snapshot, time| jobstats_core::rules::increment::Observation {
        time,
        server: "mds1",
        snapshot: Some(snapshot),
        carried: None,
    };
    let before = observe(&first.snapshots[0], minute(5));
    let next = observe(&next.snapshots[0], minute(15));
    let comparison = compare(Some(&before), &next, 600, Pause::NEVER).unwrap();
    let whole = comparison.increments[0].clone();
    assert_eq!(whole.time - whole.since, 10 * 60_000_000);
    let parts: Vec<Increment> = split(whole).collect();
    let totals: Vec<_> = parts.iter().map(|part| part.totals[0].1).collect();
    assert_eq!(
        totals,
        [3, 4],
        "{:?}",
        parts.iter().map(row).collect::<Vec<_>>()
    );
    assert_eq!(parts[0].time, minute(10));
}

#[test]
fn rule_1_after_a_day_rows_are_divided_at_utc_days_alone() {
    const DAY: i64 = 86_400;
    let mut target = Target::first(&[job("a", "open 0, close 0")]);
    let seen = target.observe(40 * DAY, &[job("a", "open 1200, close 1")]);
    assert_eq!(seen.totals.len(), 2);
    let opens = seen.divided.iter().filter(|it| it.1 == "open");
    let opens: Vec<i64> = opens.map(|it| it.2).collect();
    // The first observation is at 22:13:20 UTC.
    let days = [&[2][..], &[30; 39], &[28]].concat();
    assert_eq!(opens, days);
    let closes = seen.divided.iter().filter(|it| it.1 == "close").count();
    assert_eq!(closes, 1);
}

#[test]
fn rule_1_last_active_is_the_wall_clock_of_the_last_update() {
    let last_active_since = |since, time_lines: &str| {
        let text = |samples: u32| {
            format!(
                "mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id: a\n{time_lines}  open: {{ samples: {samples}, unit: reqs }}\n"
            )
        };
        let (first, next) = (text(1), text(2));
        let (first, next) = (
            read(first.as_bytes(), Pause::NEVER).unwrap(),
            read(next.as_bytes(), Pause::NEVER).unwrap(),
        );
        let observe = |snapshot, time| jobstats_core::rules::increment::Observation {
            time,
            server: "mds1",
            snapshot: Some(snapshot),
            carried: None,
        };
        let (before, next) = (
            observe(&first.snapshots[0], since),
            observe(&next.snapshots[0], since + 1),
        );
        compare(Some(&before), &next, 600, Pause::NEVER)
            .unwrap()
            .increments[0]
            .last_active
    };
    let last_active = |time_lines: &str| last_active_since(0, time_lines);
    assert_eq!(
        last_active("  snapshot_time:   1322494486\n"),
        Some(1_322_494_486_000_000)
    );
    assert_eq!(
        last_active("  snapshot_time:   1749555518.685497069 secs.nsecs\n"),
        Some(1_749_555_518_685_497)
    );
    assert_eq!(
        last_active("snapshot_time   : 3143196.864165417 secs.nsecs\n"),
        None
    );
    // A clock that was set back made it negative, printed as u64.
    assert_eq!(
        last_active("  snapshot_time:   18446744073709551615.5 secs.nsecs\n"),
        None
    );
    // A clock that is behind the row.
    let behind = "  snapshot_time:   1322494486\n";
    assert_eq!(last_active_since(1_322_494_486_000_000, behind), None);
}

#[test]
fn rule_1_an_interval_alone_is_no_observation() {
    let reading = read(b"mdt.fs-MDT0000.job_cleanup_interval=300\n", Pause::NEVER).unwrap();
    assert_eq!(reading.snapshots[0].cleanup_interval, Some(300));
    assert!(!reading.snapshots[0].observed);
    let reading = read(b"mdt.fs-MDT0000.job_stats=job_stats:\n", Pause::NEVER).unwrap();
    assert!(reading.snapshots[0].observed);
}
