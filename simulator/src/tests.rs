//! The laws of the simulated world, tested over a whole day of the small cluster.

use std::collections::HashMap;
use std::rc::Rc;

use clap::ValueEnum;
use strum::VariantArray;

use crate::accounting::SCHEDULERS;
use crate::jobs::Site;
use crate::lustre::{Layout, Times};
use crate::printing::lctl;
use crate::printing::snapshot::{Records, Snapshot};
use crate::time::{DAY, HOUR, Nanos, SECOND, Span, parse};
use crate::truth::{Cause, Happening, TargetTruth, Totals, of_targets, tally};
use crate::world::scrape_times::{of_targets as planned, readings};
use crate::world::{Change, Cluster, Due, Epoch, Plan, Preset, TargetState, Upheaval, Workload};

mod incidents;
mod queues;
mod space;
mod target_counters;

fn cluster(layout: Layout, seed: u64) -> Cluster {
    Cluster::new(Preset::Small, "small", seed, layout, 1.0)
}

fn day() -> Span {
    Span::new(parse("2026-03-01T00:00:00Z").unwrap(), DAY)
}

/// Returns the output of lctl for a pattern that matches.
fn printed(cluster: &Cluster, server: usize, time: Nanos, pattern: &str) -> String {
    let output = lctl::get_param(cluster, server, time, &[pattern.to_owned()]).unwrap();
    assert_eq!((output.status, &output.stderr[..]), (0, ""), "{pattern}");
    String::from_utf8(output.stdout).unwrap()
}

fn truths(cluster: &Cluster) -> Vec<TargetTruth> {
    of_targets(cluster, day(), &planned(cluster, day()))
}

/// Returns a target whose simulation begins long enough before `from`.
fn state(cluster: &Cluster, target: usize, span: Span) -> TargetState<'_> {
    TargetState::new(&Workload::new(cluster), target, span)
}

/// Returns the text of a single reading.
fn text(cluster: &Cluster, target: usize, time: Nanos) -> Option<Vec<u8>> {
    let mut state = state(cluster, target, Span::new(time, HOUR));
    let snapshot = Snapshot::take(&mut state, time, false, |_| ())?;
    Some(snapshot.text(&state, &mut Records::new()))
}

#[test]
fn a_text_follows_from_target_and_time_alone() {
    let mut scheduled = cluster(Layout::V2_16, 1);
    scheduled.schedulers = Some(Site::new(SCHEDULERS[0], 1, 100));
    let drawn = [Layout::V2_12, Layout::V2_17].map(|layout| cluster(layout, 1));
    for cluster in drawn.into_iter().chain([scheduled]) {
        for target in 0..cluster.targets.len() {
            let mut walking = state(&cluster, target, day());
            let mut records = Records::new();
            for (number, due) in readings(&cluster, target, day()).iter().enumerate() {
                let snapshot = Snapshot::take(&mut walking, due.time, false, |_| ());
                let walked = snapshot.map(|snapshot| snapshot.text(&walking, &mut records));
                if number % 60 == 7 {
                    assert_eq!(walked, text(&cluster, target, due.time), "{due:?}");
                }
            }
        }
    }
}

#[test]
fn another_seed_gives_another_text() {
    let time = day().from;
    let text = |seed| text(&cluster(Layout::V2_16, seed), 0, time);
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

#[test]
fn nothing_happens_in_the_second_half_of_a_second() {
    let cluster = cluster(Layout::V2_12, 1);
    let seconds = (0..24).map(|hour| day().from + hour * HOUR + hour * 61 * SECOND);
    // The times of removals are added, because most goes wrong then.
    let plan = Plan::new(&cluster);
    let upheavals = plan.upheavals(1, day());
    let removals = upheavals
        .iter()
        .filter(|(_, upheaval)| *upheaval == Upheaval::Removal);
    for second in seconds.chain(removals.map(|(time, _)| time - SECOND)) {
        let half = text(&cluster, 1, second + SECOND / 2);
        assert_eq!(half, text(&cluster, 1, second + SECOND - 1));
    }
}

#[test]
fn counters_never_fall_within_an_epoch() {
    let cluster = cluster(Layout::V2_14_0, 1);
    for target in 0..cluster.targets.len() {
        let mut state = state(&cluster, target, day());
        let mut before: HashMap<u64, Rc<Epoch>> = HashMap::new();
        for due in readings(&cluster, target, day()) {
            state.advance(due.time, |_| ());
            for epoch in &state.alive {
                if let Some(before) = before.insert(epoch.number, epoch.clone()) {
                    let (layout, kind) = (cluster.layout, state.kind());
                    assert!(!before.counters.fell(&epoch.counters, layout, kind));
                    assert!(before.last <= epoch.last);
                }
            }
        }
    }
}

#[test]
fn idle_entries_go() {
    let cluster = cluster(Layout::V2_16, 1);
    let mut state = state(&cluster, 1, day());
    let mut longest = 0;
    for due in readings(&cluster, 1, day()) {
        state.advance(due.time, |_| ());
        let idle = state.alive.iter().map(|epoch| due.time - epoch.last);
        longest = longest.max(idle.max().unwrap_or(0));
    }
    // The target looks for idle entries twice in a cleanup interval, and now and then only when it is read.
    let interval = cluster.cleanup_interval;
    assert!((interval..2 * interval + cluster.interval).contains(&longest));
}

#[test]
fn a_clear_removes_everything_but_in_2_15_0_spares_the_active() {
    let epochs_left = |layout| {
        let cluster = cluster(layout, 1);
        let plan = Plan::new(&cluster);
        let clears = (0..cluster.targets.len()).flat_map(|target| {
            let upheavals = plan.upheavals(target, day());
            let clears = upheavals
                .into_iter()
                .filter(|(_, upheaval)| *upheaval == Upheaval::Clear);
            clears.map(move |(time, _)| (target, time))
        });
        let clears: Vec<_> = clears.collect();
        assert!(!clears.is_empty());
        clears
            .into_iter()
            .map(|(target, time)| {
                let mut state = state(&cluster, target, Span::new(time, HOUR));
                state.advance(time, |_| ());
                state.alive.len()
            })
            .sum::<usize>()
    };
    assert_eq!(epochs_left(Layout::V2_14_0), 0);
    assert!(epochs_left(Layout::V2_15_0) > 0);
    assert_eq!(epochs_left(Layout::V2_15_8), 0);
}

#[test]
fn the_truth_is_the_sum_of_events_and_of_epochs() {
    for &layout in Layout::value_variants() {
        let cluster = cluster(layout, 3);
        for target in 0..cluster.targets.len() {
            let mut state = state(&cluster, target, day());
            state.advance(day().from - 1, |_| ());
            let kind = state.kind();
            let before: HashMap<u64, Totals> = state
                .alive
                .iter()
                .map(|epoch| (epoch.number, Totals::of(&epoch.counters, layout, kind)))
                .collect();
            let (mut events, mut epochs) = (Totals::default(), Totals::default());
            let mut ended = Vec::new();
            state.advance(day().until - 1, |change| match change {
                Change::Calls(_, calls) => events.add_calls(calls, layout, kind),
                Change::End(epoch) => ended.push(epoch),
            });
            for epoch in ended.iter().chain(&state.alive) {
                let total = Totals::of(&epoch.counters, layout, kind);
                let known = before.get(&epoch.number).cloned().unwrap_or_default();
                epochs.plus(&total.beyond(&known));
            }
            assert!(!events.is_zero());
            assert_eq!(events, epochs, "{layout:?}");
        }
    }
}

#[test]
fn no_more_is_excluded_than_happened() {
    for &layout in Layout::value_variants() {
        for truth in truths(&cluster(layout, 2)) {
            for (key, cell) in &truth.cells {
                assert!(cell.stored() >= 0, "{layout:?} {key:?} {cell:?}");
            }
        }
    }
}

#[test]
fn everything_that_can_go_wrong_does() {
    use Happening::*;
    for &layout in Layout::value_variants() {
        let cluster = cluster(layout, 1);
        let truths = truths(&cluster);
        let counts = tally::of_truths(&truths);
        let happens = |happening| assert!(counts.get(happening) > 0, "{layout:?} {happening:?}");
        let never = |happening| assert_eq!(counts.get(happening), 0, "{layout:?} {happening:?}");
        for happening in [
            Text,
            NewEntry,
            SmallerReset,
            LargerReset,
            DoubledRecord,
            MovedTarget,
            WithoutJob,
            Mangled,
            CutIdentifier,
        ] {
            happens(happening);
        }
        let expect = |allowed: bool, happening| {
            if allowed {
                happens(happening)
            } else {
                never(happening)
            }
        };
        expect(layout <= Layout::V2_15_8, SkippedRecord);
        expect(layout <= Layout::V2_12, CutText);
        expect(layout > Layout::V2_12, FailedRead);
        expect(layout >= Layout::V2_17, MissingHeader);
        expect(layout >= Layout::V2_17, ExtraHeader);
        let disturbances = Plan::new(&cluster).server_disturbances(day());
        assert!(
            disturbances.iter().all(|times| *times > 0),
            "{disturbances:?}"
        );
    }
}

#[test]
fn causes_are_those_that_a_layout_leaves_open() {
    for &layout in Layout::value_variants() {
        let truths = truths(&cluster(layout, 1));
        let cells = |cause: Cause| {
            let cells = truths.iter().flat_map(|truth| truth.cells.values());
            cells
                .filter(|cell| cell.excluded[cause as usize] > 0)
                .count()
        };
        assert_eq!(Cause::VARIANTS[Cause::Rule5 as usize], Cause::Rule5);
        let has_start_times = layout.times() != Times::Seconds;
        assert!(cells(Cause::Baseline) > 0);
        assert!(cells(Cause::AfterLastReading) > 0);
        assert_eq!(
            cells(Cause::HiddenReset) == 0,
            has_start_times,
            "{layout:?}"
        );
        assert!(!has_start_times || cells(Cause::Rule5) == 0, "{layout:?}");
    }
}

#[test]
fn a_failed_server_prints_nothing_and_its_partner_all() {
    let cluster = cluster(Layout::V2_16, 1);
    let plan = Plan::new(&cluster);
    let minutes = (0..24 * 60).map(|minute| day().from + minute * 60 * SECOND);
    let (server, time) = minutes
        .flat_map(|time| [(0, time), (1, time)])
        .find(|&(server, time)| plan.is_down(server, time))
        .unwrap();
    let patterns = [
        "mdt.*.job_stats".to_owned(),
        "obdfilter.*.job_stats".to_owned(),
    ];
    let down = lctl::get_param(&cluster, server, time, &patterns).unwrap();
    assert_eq!(down.stdout, b"");
    assert_eq!(down.status, 2);
    assert_eq!(
        down.stderr,
        "error: get_param: param_path 'mdt/*/job_stats': No such file or directory\n\
         error: get_param: param_path 'obdfilter/*/job_stats': No such file or directory\n"
    );
    let up = lctl::get_param(&cluster, 1 - server, time, &patterns).unwrap();
    let text = String::from_utf8_lossy(&up.stdout).into_owned();
    assert_eq!(text.matches(".job_stats=").count(), cluster.targets.len());
    assert_eq!((up.stderr.as_str(), up.status), ("", 0));
}

#[test]
fn a_read_error_leaves_part_of_the_text_up_to_2_12_and_none_later() {
    let at_error = |layout| {
        let cluster = cluster(layout, 1);
        let plan = Plan::new(&cluster);
        let failed = |due: &&Due| plan.fails(1, due.time);
        let dues = readings(&cluster, 1, day());
        let due = dues.iter().find(failed).unwrap();
        let patterns = [lctl::parameter(&cluster.targets[1], "job_stats")];
        lctl::get_param(&cluster, due.server, due.time, &patterns).unwrap()
    };
    let cut = at_error(Layout::V2_12);
    assert!(
        cut.stdout
            .starts_with(b"obdfilter.small-OST0000.job_stats=\njob_stats:\n- job_id: ")
    );
    let lines = cut.stdout.split(|&byte| byte == b'\n').count();
    // The text would have a name, a header, and 14 lines per record if all records were whole.
    assert!(!cut.stdout.ends_with(b"\n") || (lines - 3) % 14 != 0);
    let nothing = at_error(Layout::V2_14_0);
    assert_eq!(nothing.stdout, b"");
    for printed in [cut, nothing] {
        assert_eq!(
            printed.stderr,
            "error: get_param: read('/proc/fs/lustre/obdfilter/small-OST0000/job_stats') failed: Input/output error\n"
        );
        assert_eq!(printed.status, 5);
    }
}

#[test]
fn a_name_and_its_value_share_a_line_unless_the_value_has_several() {
    let framed =
        |value: &str| String::from_utf8(lctl::framed("a.b.job_stats", value.as_bytes())).unwrap();
    assert_eq!(framed("job_stats:\n"), "a.b.job_stats=job_stats:\n");
    assert_eq!(framed(""), "a.b.job_stats=\n");
    assert_eq!(
        framed("job_stats:\n- job_id:          x\n"),
        "a.b.job_stats=\njob_stats:\n- job_id:          x\n"
    );
}

#[test]
fn servers_are_read_in_the_quiet_half_of_a_second() {
    let cluster = cluster(Layout::V2_16, 1);
    let plan = Plan::new(&cluster);
    for server in 0..cluster.servers.len() {
        for time in [day().from, day().from + 1, day().from - 7 * SECOND] {
            let next = plan.next_reading(server, time);
            assert!((time..time + cluster.interval).contains(&next));
            assert_eq!(next.rem_euclid(SECOND), 600_000_000);
            assert_eq!(plan.next_reading(server, next), next);
        }
    }
}
