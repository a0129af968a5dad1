//! The laws of services, tested over a day of the small cluster.

use std::collections::BTreeMap;

use super::{cluster, day, text};
use crate::lustre::service::Service;
use crate::lustre::{Layout, TargetKind};
use crate::printing::lctl;
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span};
use crate::truth::queues::{QueueGrowth, Waits, of_servers, readings};
use crate::world::queue::{INTERVAL, Services};
use crate::world::{Cluster, Due, Plan, Workload, scrape_times};

fn services(cluster: &Cluster, kind: TargetKind, span: Span) -> Services {
    Services::of(&Workload::new(cluster), (kind as usize, kind), span)
}

fn overloaded(seed: u64) -> Cluster {
    let mut cluster = cluster(Layout::V2_16, seed);
    cluster.overload = true;
    cluster
}

/// Returns the overload that begins on the day.
fn overload(cluster: &Cluster) -> Span {
    let plan = Plan::new(cluster);
    let mut overloads = plan.overloads(0, day());
    overloads
        .find(|overload| day().contains(overload.from))
        .unwrap()
}

/// Returns what the first metadata server's readings show of its main service.
fn waits(cluster: &Cluster, times: impl IntoIterator<Item = Nanos>) -> Waits {
    let due = |time| Due {
        time,
        server: 0,
        label: time,
    };
    let readings = readings(cluster, times.into_iter().map(due));
    let of_servers = of_servers(cluster, &readings);
    sum(&of_servers[&(0, Service::Mdt)])
}

fn sum(grown: &[QueueGrowth]) -> Waits {
    let mut sums = [0; 4];
    for grown in grown {
        sums = std::array::from_fn(|field| sums[field] + grown.waits.amounts()[field]);
    }
    Waits::from(sums)
}

#[test]
fn counters_follow_from_server_and_time_alone() {
    let cluster = overloaded(1);
    for kind in [TargetKind::Mdt, TargetKind::Ost] {
        let mut walking = services(&cluster, kind, day());
        for time in (1..6).map(|turn| day().from + turn * 4 * HOUR + 3 * SECOND) {
            walking.advance(time);
            let mut single = services(&cluster, kind, Span::new(time, 1));
            single.advance(time);
            assert_eq!(walking.since, single.since);
            assert_eq!(walking.queues, single.queues);
            assert_eq!(walking.opcodes, single.opcodes);
            assert!(walking.queues.values().any(|queue| queue.waits.samples > 0));
        }
    }
}

#[test]
fn presets_are_quiet_without_overload() {
    let cluster = cluster(Layout::V2_16, 1);
    let readings = readings(&cluster, scrape_times::of_servers(&cluster, day()));
    for grown in of_servers(&cluster, &readings).values() {
        let waits = sum(grown);
        if waits.requests == 0 {
            continue;
        }
        let mean = waits.usecs as f64 / waits.requests as f64;
        assert!((20.0..30.0).contains(&mean), "{waits:?}");
    }
}

#[test]
fn an_overload_makes_tens_wait_for_tens_of_milliseconds_and_ends() {
    let cluster = overloaded(1);
    let overload = overload(&cluster);
    let mean = |sum: u64, waits: Waits| sum as f64 / waits.requests as f64;
    let during = waits(&cluster, [overload.from, overload.until]);
    let [wait, depth] = [during.usecs, during.depth].map(|sum| mean(sum, during));
    assert!((10_000.0..100_000.0).contains(&wait), "{wait}");
    assert!((10.0..100.0).contains(&depth), "{depth}");
    for from in [overload.from - 30 * MINUTE, overload.until + MINUTE] {
        let calm = waits(&cluster, [from, from + 29 * MINUTE]);
        assert!(mean(calm.usecs, calm) < 30.0, "{calm:?}");
    }
    // Each part of the overload makes requests wait, and the truth about the parts is that about the whole.
    let parts = (0..6).map(|part| overload.from + part * 5 * MINUTE);
    let parts = parts.map(|from| waits(&cluster, [from, from + 5 * MINUTE]));
    let parts: Vec<_> = parts.collect();
    assert!(parts.iter().all(|part| mean(part.usecs, *part) > 5_000.0));
    assert_eq!(
        parts.iter().map(|part| part.usecs).sum::<u64>(),
        during.usecs
    );
}

#[test]
fn an_overload_adds_one_entry_to_job_stats() {
    let (with, without) = (overloaded(1), cluster(Layout::V2_16, 1));
    let time = overload(&with).from + 10 * MINUTE + SECOND / 2;
    let [with, without] = [with, without].map(|cluster| {
        let text = String::from_utf8_lossy(&text(&cluster, 0, time).unwrap()).into_owned();
        let records = text.split("- job_id:").map(str::to_owned);
        records.collect::<Vec<_>>()
    });
    let added: Vec<_> = with
        .iter()
        .filter(|record| !without.contains(record))
        .collect();
    assert_eq!((with.len(), added.len()), (without.len() + 1, 1));
    assert!(added[0].trim_start().starts_with("rm."), "{added:?}");
}

#[test]
fn readings_within_an_interval_show_what_was_over_before_it() {
    let cluster = overloaded(1);
    let from = overload(&cluster).from;
    let until = from + 5 * MINUTE;
    let exact = waits(&cluster, [from, until]);
    assert_eq!(
        waits(&cluster, [from, from + MINUTE, until + INTERVAL - 1]),
        exact
    );
    assert_ne!(waits(&cluster, [from, until + INTERVAL]), exact);
}

#[test]
fn a_server_has_the_services_of_its_targets_alone() {
    let mut cluster = cluster(Layout::V2_15_8, 1);
    cluster.disturbed = false;
    let print = |server| {
        let patterns = ["*.*.*.stats", "ost.OSS.ost.nrs_policies"].map(str::to_owned);
        lctl::get_param(&cluster, server, day().from + HOUR + DAY, &patterns).unwrap()
    };
    let printed = String::from_utf8(print(1).stdout).unwrap();
    let names = printed.lines().filter_map(|line| line.split_once('='));
    let names: Vec<_> = names.map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "ost.OSS.ost.stats",
            "ost.OSS.ost_io.stats",
            "ost.OSS.ost_seq.stats",
            "ost.OSS.ost.nrs_policies",
        ]
    );
    let is_timed =
        printed.contains("\nost_read                  ") && printed.contains(" samples [usec] ");
    assert!(is_timed && !printed.contains("[usecs]"), "{printed}");
    assert!(printed.contains("=\n\nregular_requests:\n  - name: fifo\n    state: started\n"));
    let of_mds = String::from_utf8(print(0).stdout).unwrap();
    assert!(of_mds.contains("\nldlm_ibits_enqueue        "), "{of_mds}");
    assert!(of_mds.contains(" samples [reqs] 1 1 "), "{of_mds}");
    assert_eq!(print(0).status, 2);
}

#[test]
fn a_filter_has_rules_for_programs_on_login_nodes() {
    let print = |layout, pattern: &str| {
        let mut cluster = cluster(layout, 1);
        cluster.disturbed = false;
        let time = day().from + HOUR + DAY;
        let printed = lctl::get_param(&cluster, 1, time, &[pattern.to_owned()]).unwrap();
        (printed.status, String::from_utf8(printed.stdout).unwrap())
    };
    let (_, rules) = print(Layout::V2_16, "ost.OSS.ost_io.nrs_tbf_rule");
    let lines: Vec<_> = rules.lines().collect();
    let begins = "ost.OSS.ost_io.nrs_tbf_rule= regular_requests: CPT 0:";
    assert_eq!(lines[..3].join(" "), begins);
    assert!(lines[3].starts_with("login {*.*} 500, ref "), "{rules}");
    assert!(lines[4].starts_with("default {*} 10000, ref "), "{rules}");
    assert_eq!(lines[5..].join(" ").matches("CPT ").count(), 3);
    let (_, policies) = print(Layout::V2_16, "ost.OSS.ost_io.nrs_policies");
    assert!(policies.contains("  - name: tbf\n    state: started\n"));
    let (_, unruled) = print(Layout::V2_16, "ost.OSS.ost.nrs_tbf_rule");
    assert!(unruled.ends_with("=\nregular_requests:\nhigh_priority_requests:\n"));
    assert_eq!(print(Layout::V2_5, "*.*.*.nrs_tbf_rule").0, 2);
    let (_, policies) = print(Layout::V2_5, "ost.OSS.ost_io.nrs_policies");
    assert!(policies.contains("name: fifo") && !policies.contains("tbf"));
}

#[test]
fn the_default_nodemap_has_the_work_of_all_targets() {
    let mut cluster = cluster(Layout::V2_17, 1);
    cluster.disturbed = false;
    let time = day().from + 12 * HOUR;
    // The sums of samples, and of bytes, by operation.
    let counted = |server, pattern: &str| {
        let printed = lctl::get_param(&cluster, server, time, &[pattern.to_owned()]).unwrap();
        let mut counted = BTreeMap::<_, (u64, u64)>::new();
        for line in String::from_utf8(printed.stdout).unwrap().lines() {
            let fields: Vec<_> = line.split_whitespace().collect();
            if let [name, samples, "samples", unit, _, _, sum, _] = fields[..] {
                let counter = counted.entry(name.to_owned()).or_default();
                counter.0 += samples.parse::<u64>().unwrap();
                counter.1 += if unit == "[bytes]" {
                    sum.parse().unwrap()
                } else {
                    0
                };
            }
        }
        counted
    };
    for (server, own, of_nodemap) in [
        (0, "mdt.*.md_stats", "md_stats"),
        (1, "obdfilter.*.stats", "dt_stats"),
    ] {
        let found = counted(server, &format!("nodemap.default.{of_nodemap}"));
        assert!(found.len() > 4);
        assert_eq!(found, counted(server, own));
    }
    cluster.layout = Layout::V2_16;
    let missing = lctl::get_param(&cluster, 0, time, &["nodemap.*.*".to_owned()]);
    assert_eq!(missing.unwrap().status, 2);
}

#[test]
fn a_service_that_nobody_calls_has_its_header_alone() {
    let glued = |layout| {
        let patterns = ["ost.OSS.ost_seq.stats".to_owned()];
        let time = day().from + HOUR + SECOND / 2;
        let printed = lctl::get_param(&cluster(layout, 1), 1, time, &patterns).unwrap();
        String::from_utf8(printed.stdout).unwrap()
    };
    assert_eq!(
        glued(Layout::V2_12),
        "ost.OSS.ost_seq.stats=snapshot_time             1772326800.500000000 secs.nsecs\n"
    );
    assert!(glued(Layout::V2_16).starts_with("ost.OSS.ost_seq.stats=\nsnapshot_time "));
}
