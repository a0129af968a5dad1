//! The laws of target counters, tested over a day of the small cluster and the days before.

use std::collections::BTreeMap;

use clap::ValueEnum;

use super::{cluster, day, planned, printed};
use crate::lustre::{Counters, Layout, TargetKind};
use crate::printing::lctl;
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span};
use crate::truth::target_counters::{TargetCountersTruth, of_targets};
use crate::truth::{Quantity, Totals};
use crate::world::{Change, Cluster, Due, Plan, Walk, Workload};

fn walk(cluster: &Cluster, target: usize, span: Span) -> Walk<'_> {
    Walk::new(&Workload::new(cluster), target, span)
}

fn totals(cluster: &Cluster, target: usize, counters: &Counters) -> Totals {
    Totals::of_target_counters(counters, cluster.layout, cluster.targets[target].kind)
}

#[test]
fn a_text_follows_from_target_and_time_alone() {
    let cluster = cluster(Layout::V2_16, 1);
    for target in 0..cluster.targets.len() {
        let mut walking = walk(&cluster, target, day());
        for time in (0..5).map(|turn| day().from + turn * 5 * HOUR + SECOND / 2) {
            walking.advance(time, |_| ());
            let mut single = walk(&cluster, target, Span::new(time, 1));
            single.advance(time, |_| ());
            assert_eq!(walking.counters.since, single.counters.since);
            assert_eq!(walking.counters.all, single.counters.all);
            assert_eq!(
                walking.counters.exports(time),
                single.counters.exports(time)
            );
        }
    }
}

#[test]
fn counters_fall_only_where_they_begin_anew() {
    let cluster = cluster(Layout::V2_14_0, 1);
    let plan = Plan::new(&cluster);
    for target in 0..cluster.targets.len() {
        let mut walk = walk(&cluster, target, day());
        let mut before = (0, Counters::default());
        let mut starts = 0;
        for time in (day().from..day().until).step_by(60 * SECOND as usize) {
            walk.advance(time, |_| ());
            let now = (walk.counters.since, walk.counters.all.clone());
            let kind = walk.state.kind();
            if now.0 == before.0 {
                assert!(!before.1.fell(&now.1, cluster.layout, kind));
            } else if before.0 != 0 {
                starts += 1;
                assert!(before.1.fell(&now.1, cluster.layout, kind));
            }
            before = now;
        }
        assert_eq!(starts, plan.starts(target, day()).len());
        assert!((1..=3).contains(&starts));
    }
}

#[test]
fn an_undisturbed_target_counts_for_a_week() {
    let mut cluster = cluster(Layout::V2_16, 1);
    cluster.disturbed = false;
    let plan = Plan::new(&cluster);
    let week = Span::new(day().from, 7 * DAY);
    for target in 0..cluster.targets.len() {
        let starts = plan.starts(target, week);
        assert_eq!(starts.len(), 1);
        assert_eq!(plan.cleared(starts[0] - 1), starts[0] - 7 * DAY);
    }
}

#[test]
fn a_target_does_what_its_entries_others_and_metadata_servers_do() {
    for &layout in Layout::value_variants() {
        let cluster = cluster(layout, 3);
        for target in 0..cluster.targets.len() {
            let mut walk = walk(&cluster, target, day());
            let since = Plan::new(&cluster).starts(target, day())[0];
            walk.advance(since, |_| ());
            let until = since + 25 * MINUTE;
            let mut sum = Totals::default();
            let kind = walk.state.kind();
            walk.advance(until, |change| {
                if let Change::Calls(_, calls) = change {
                    sum.add_calls(calls, layout, kind);
                }
            });
            assert_eq!(walk.counters.since, since);
            let unidentified = totals(&cluster, target, &walk.counters.unidentified);
            assert!(!sum.is_zero() && !unidentified.is_zero());
            sum.plus(&unidentified);
            for export in walk.counters.exports(until).values() {
                sum.plus(&totals(&cluster, target, &export.counters));
            }
            let all = totals(&cluster, target, &walk.counters.all);
            let histograms = sum.beyond(&all);
            assert!(
                histograms
                    .amounts()
                    .all(|(column, _)| column.quantity == Quantity::Histogram)
            );
            assert!(all.beyond(&sum).is_zero(), "{layout:?}");
        }
    }
}

#[test]
fn the_share_of_small_requests_without_identifier_is_as_asked() {
    for (share, bounds) in [(0.0, 0.0..0.001), (0.1, 0.08..0.12), (0.6, 0.56..0.64)] {
        let mut cluster = cluster(Layout::V2_16, 1);
        cluster.unidentified = share;
        let mut walk = walk(&cluster, 0, day());
        walk.advance(day().until, |_| ());
        let calls = |counters: &Counters| {
            let totals = totals(&cluster, 0, counters);
            let calls = totals.amounts();
            let calls = calls.filter(|(column, _)| column.quantity == Quantity::Calls);
            calls.map(|(_, calls)| calls).sum::<u64>() as f64
        };
        // Nearly all requests to a metadata target are small.
        let found = calls(&walk.counters.unidentified) / calls(&walk.counters.all);
        assert!(bounds.contains(&found), "{share} {found}");
    }
}

#[test]
fn the_truth_is_that_of_the_readings() {
    let cluster = cluster(Layout::V2_16, 2);
    let plan = Plan::new(&cluster);
    let all = planned(&cluster, day());
    let truths: Vec<TargetCountersTruth> = of_targets(&cluster, &all);
    let ends = all.iter().map(|all| vec![all[0], all[all.len() - 1]]);
    let ends: Vec<TargetCountersTruth> = of_targets(&cluster, &ends.collect::<Vec<_>>());
    for (target, (truth, ends)) in truths.iter().zip(&ends).enumerate() {
        // The readings in between show the requests before the last reset of the counters.
        assert!(!plan.starts(target, day()).is_empty());
        assert!(ends.all.beyond(&truth.all).is_zero());
        assert!(!truth.all.beyond(&ends.all).is_zero());
        let is_ost = cluster.targets[target].kind == TargetKind::Ost;
        assert_eq!(!truth.servers.is_zero(), is_ost);
    }
    let none = of_targets(&cluster, &[]);
    assert!(
        none.iter()
            .all(|truth| *truth == TargetCountersTruth::default())
    );
}

#[test]
fn the_counters_of_a_metadata_server_begin_anew_when_it_returns() {
    let cluster = cluster(Layout::V2_16, 1);
    let plan = Plan::new(&cluster);
    // On this day, the metadata server fails.
    let failed = (0..9).find_map(|days| {
        let starts = plan.starts(0, Span::new(day().from + days * DAY, DAY));
        (starts.len() == 3).then(|| starts.iter().copied().max().unwrap())
    });
    let returned = failed.unwrap();
    let mut walk = walk(&cluster, 1, Span::new(returned - 4 * HOUR, DAY));
    let mut servers = BTreeMap::new();
    for time in [returned - HOUR, returned + HOUR] {
        walk.advance(time, |_| ());
        servers.insert(time, walk.counters.exports(time));
    }
    let [away, back] = [returned - HOUR, returned + HOUR].map(|time| &servers[&time]);
    // The partner is small-oss1, whose own counters are gone when the target has moved back.
    assert_eq!(away.keys().copied().collect::<Vec<_>>(), [1]);
    assert_eq!(back.keys().copied().collect::<Vec<_>>(), [0]);
    assert_eq!(back[&0].since, returned);
    let uuids = printed(
        &cluster,
        1,
        returned + HOUR,
        "obdfilter.*.exports.*@o2ib.uuid",
    );
    assert_eq!(
        uuids,
        "obdfilter.small-OST0000.exports.10.0.0.1@o2ib.uuid=small-MDT0000-mdtlov_UUID\n\
         obdfilter.small-OST0000.exports.10.0.0.2@o2ib.uuid=\n\
         obdfilter.small-OST0001.exports.10.0.0.1@o2ib.uuid=small-MDT0000-mdtlov_UUID\n\
         obdfilter.small-OST0001.exports.10.0.0.2@o2ib.uuid=\n"
    );
    let away = printed(
        &cluster,
        1,
        returned - HOUR,
        "obdfilter.small-OST0000.exports.*.uuid",
    );
    assert!(away.contains("exports.10.0.0.1@o2ib.uuid=\n"), "{away}");
    assert!(
        away.contains("exports.10.0.0.2@o2ib.uuid=small-MDT"),
        "{away}"
    );
}

#[test]
fn patterns_are_answered_one_after_the_other() {
    let cluster = cluster(Layout::V2_16, 1);
    let patterns = [
        "obdfilter.*.stats",
        "md*.*.md_stats",
        "obdfilter.*.exports.10.0.0.1@o2ib.stats",
    ];
    let patterns = patterns.map(str::to_owned);
    let all = lctl::get_param(&cluster, 1, day().from + HOUR, &patterns).unwrap();
    let text = String::from_utf8(all.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.strip_suffix('='));
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "obdfilter.small-OST0000.stats",
            "obdfilter.small-OST0001.stats",
            "obdfilter.small-OST0000.exports.10.0.0.1@o2ib.stats",
            "obdfilter.small-OST0001.exports.10.0.0.1@o2ib.stats",
        ]
    );
    assert_eq!(
        all.stderr,
        "error: get_param: param_path 'md*/*/md_stats': No such file or directory\n"
    );
}

#[test]
fn without_start_times_the_first_counters_of_a_metadata_server_are_not_its_work() {
    let of_server = |layout, minutes: &[Nanos]| {
        let cluster = cluster(layout, 1);
        let plan = Plan::new(&cluster);
        let days = (0..9).map(|days| Span::new(day().from + days * DAY, DAY));
        let starts = days.map(|day| plan.starts(0, day));
        // The metadata server fails for an hour and a half, and small-oss1 takes over.
        let mut failed = starts.filter(|starts| starts.len() == 3);
        let failure = failed.next().unwrap()[2] - 90 * MINUTE;
        let due = |minutes: &Nanos| {
            let time = failure + minutes * MINUTE;
            let (server, label) = (1, time);
            Due {
                time,
                server,
                label,
            }
        };
        let readings = vec![vec![], minutes.iter().map(due).collect()];
        of_targets(&cluster, &readings)[1].servers.clone()
    };
    let later = of_server(Layout::V2_14_0, &[-1, 10, 30]);
    assert!(of_server(Layout::V2_14_0, &[-1, 10]).is_zero());
    assert_eq!(later, of_server(Layout::V2_14_0, &[10, 30]));
    assert!(!later.is_zero());
    let all = of_server(Layout::V2_16, &[-1, 10, 30]);
    assert!(!all.beyond(&later).is_zero() && later.beyond(&all).is_zero());
}

#[test]
fn without_start_times_counters_that_do_not_fall_seem_to_go_on() {
    let truths = |layout, minutes: [Nanos; 2]| {
        let cluster = cluster(layout, 1);
        let start = Plan::new(&cluster).starts(0, day())[0];
        let time = |minutes: Nanos| start + minutes * MINUTE;
        let due = |minutes| Due {
            time: time(minutes),
            server: 0,
            label: time(minutes),
        };
        let all = of_targets(&cluster, &[vec![due(minutes[0]), due(minutes[1])]]);
        all[0].all.clone()
    };
    // Readings 20 hours before and after the start of the counters, then 5 minutes before and after.
    let (shown, hidden) = (
        truths(Layout::V2_16, [-20 * 60, 20 * 60]),
        truths(Layout::V2_14_0, [-20 * 60, 20 * 60]),
    );
    assert!(!shown.beyond(&hidden).is_zero() && hidden.beyond(&shown).is_zero());
    let [shown, fallen] = [Layout::V2_15_8, Layout::V2_14_0].map(|it| truths(it, [-5, 5]));
    assert!(!fallen.is_zero() && fallen.beyond(&shown).is_zero());
}
