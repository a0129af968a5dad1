//! The truth, and the work that a cluster plays.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::lustre::Layout;
use crate::truth::Attribution;
use crate::truth::attribution::Status;
use crate::world::{Cluster, Preset, Workload};

/// Counts entries of two days by origin and status, and checks that no answer is a wrong owner.
fn judged(site: &Site) -> BTreeMap<(&'static str, String), usize> {
    let span = days(2);
    let runs = site.runs(span);
    let queries = site.queries(span, true);
    let attribution = Attribution::new(site, &runs, &queries, span);
    let mut counts = BTreeMap::new();
    for entry in attribution.entries().values() {
        let (status, answer) = attribution.attribute(entry);
        assert_eq!(
            answer.is_some(),
            matches!(status, Status::Known | Status::Partial)
        );
        if let Some(answer) = answer {
            assert!(
                entry
                    .activities
                    .iter()
                    .all(|(run, _)| run.owner(site).name == answer.user_name)
            );
        }
        let origin: &str = entry.activities[0].1.origin.into();
        *counts.entry((origin, format!("{status:?}"))).or_insert(0) += 1;
    }
    counts
}

#[test]
fn with_node_and_user_nobody_is_mistaken() {
    for scheduler in SCHEDULERS {
        for seed in 1..4 {
            // The second server of PBS has so long a name that user and node are cut off.
            let clusters = if scheduler.name == "pbs" { 1 } else { 2 };
            let site = Site {
                clusters,
                ..Site::new(scheduler, seed, 150)
            };
            let counts = judged(&site);
            let count = |origin, status: &str| {
                counts
                    .get(&(origin, status.to_owned()))
                    .copied()
                    .unwrap_or(0)
            };
            assert!(count("job", "Known") > 150, "{} {counts:?}", scheduler.name);
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
        ..Site::new(&SLURM, 1, 200)
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
    for scheduler in SCHEDULERS {
        let mut cluster = Cluster::new(Preset::Small, "small", 1, Layout::V2_16, 1.0);
        let site = Site {
            clusters: 2,
            ..Site::new(scheduler, 1, 200)
        };
        let time = start() + 14 * HOUR + SECOND / 2;
        let activities: Vec<_> = site
            .runs(Span::new(time - 2 * DAY, 2 * DAY))
            .iter()
            .flat_map(|run| site.activities(run))
            .filter(|activity| activity.span.from < time && activity.span.until > time - HOUR)
            .collect();
        let planned: BTreeSet<&[u8]> = activities
            .iter()
            .map(|activity| activity.id.as_slice())
            .collect();
        cluster.schedulers = Some(site.clone());
        let workload = Workload::new(&cluster);
        let mut played = BTreeSet::new();
        for target in 0..cluster.targets.len() {
            let traffic = workload.traffic(target, Span::new(time - HOUR / 2, HOUR / 2));
            played.extend(traffic.ids);
        }
        let is_of_job =
            |id: &&Vec<u8>| !id.windows(2).any(|pair| pair == b"::") && id.contains(&b':');
        let jobs: Vec<_> = played.iter().filter(is_of_job).collect();
        assert!(jobs.len() > 10, "{} {}", scheduler.name, jobs.len());
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
    for site in sites() {
        let span = days(1);
        let runs = site.runs(span);
        let mut truth = Vec::new();
        Attribution::new(&site, &runs, &site.queries(span, true), span)
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
