//! The truth, and the work that a cluster plays.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::lustre::layout::Layout;
use crate::truth::judge::{Accounting, Status};
use crate::world::cluster::{Cluster, Preset};
use crate::world::workload::Workload;

/// Returns what can be known in two days, by kind of work and status, and checks that no answer is a wrong owner.
fn judged(site: &Site) -> BTreeMap<(&'static str, String), usize> {
    let span = days(2);
    let runs = site.runs(span.from, span.until);
    let calls = site.calls(span, true);
    let accounting = Accounting::new(site, &runs, &calls, span);
    let mut counts = BTreeMap::new();
    for entry in accounting.entries().values() {
        let (status, answer) = accounting.judge(entry);
        assert_eq!(
            answer.is_some(),
            matches!(status, Status::Known | Status::Partial)
        );
        if let Some(answer) = answer {
            assert!(
                entry
                    .works
                    .iter()
                    .all(|(run, _)| run.owner(site).uid == answer.uid)
            );
        }
        let doing = entry.works[0].1.doing.name();
        *counts.entry((doing, format!("{status:?}"))).or_insert(0) += 1;
    }
    counts
}

#[test]
fn with_node_and_user_nobody_is_mistaken() {
    for kind in KINDS {
        for seed in 1..4 {
            // The second server of PBS has so long a name that user and node are cut off.
            let clusters = if kind == Kind::Pbs { 1 } else { 2 };
            let site = Site {
                clusters,
                ..Site::new(kind, seed, 150)
            };
            let counts = judged(&site);
            let count = |doing, status: &str| {
                counts
                    .get(&(doing, status.to_owned()))
                    .copied()
                    .unwrap_or(0)
            };
            assert!(count("job", "Known") > 150, "{kind:?} {counts:?}");
            assert_eq!(count("job", "Ambiguous") + count("job", "Misleading"), 0);
            assert!(count("shell", "Stale") > 0 && count("root", "Known") > 0);
            assert!(count("damaged", "Partial") > 0 && count("without job", "None") > 0);
        }
    }
}

#[test]
fn two_clusters_that_count_alike_are_ambiguous_without_node_and_user() {
    let site = |clusters| Site {
        clusters,
        format: "%j".to_owned(),
        ..Site::new(Kind::Slurm, 1, 200)
    };
    let count = |clusters, status: &str| {
        let counts = judged(&site(clusters));
        counts
            .get(&("job", status.to_owned()))
            .copied()
            .unwrap_or(0)
    };
    assert_eq!(count(1, "Ambiguous") + count(1, "Misleading"), 0);
    assert!(count(2, "Ambiguous") > 50);
}

#[test]
fn a_cluster_plays_the_jobs_of_its_schedulers() {
    for kind in KINDS {
        let mut cluster = Cluster::new(Preset::Small, "small", 1, Layout::V2_16, 1.0);
        let site = Site {
            clusters: 2,
            ..Site::new(kind, 1, 200)
        };
        let time = start() + 14 * HOUR + SECOND / 2;
        let works: Vec<_> = site
            .runs(time - 2 * DAY, time)
            .iter()
            .flat_map(|run| site.work(run))
            .filter(|work| work.from < time && work.until > time - HOUR)
            .collect();
        let planned: BTreeSet<&[u8]> = works.iter().map(|work| work.id.as_slice()).collect();
        cluster.schedulers = Some(site.clone());
        let workload = Workload::new(&cluster);
        let mut played = BTreeSet::new();
        for target in 0..cluster.targets.len() {
            let traffic = workload.traffic(target, time - HOUR / 2, time);
            played.extend(traffic.ids);
        }
        let is_of_job = |id: &&Vec<u8>| !id.starts_with(b":") && id.contains(&b':');
        let jobs: Vec<_> = played.iter().filter(is_of_job).collect();
        assert!(jobs.len() > 10, "{kind:?} {}", jobs.len());
        let named = |id: &&&Vec<u8>| !id.starts_with(b"kworker") && !id.starts_with(b"a{b}");
        assert!(
            jobs.iter()
                .filter(named)
                .all(|id| planned.contains(id.as_slice()))
        );
    }
}

#[test]
fn the_truth_is_json_line_by_line() {
    for site in forms() {
        let span = days(1);
        let runs = site.runs(span.from, span.until);
        let mut truth = Vec::new();
        Accounting::new(&site, &runs, &site.calls(span, true), span)
            .write(&mut truth)
            .unwrap();
        let lines: Vec<serde_json::Value> = truth
            .split_inclusive(|byte| *byte == b'\n')
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        let count = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
        assert!(count("run") > 200 && count("entry") > 200);
        assert_eq!(count("run") + count("entry"), lines.len());
    }
}
