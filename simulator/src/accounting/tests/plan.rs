//! The jobs.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::jobs::job::Outcome;
use crate::jobs::story::Story;

#[test]
fn every_day_has_every_story() {
    for site in forms() {
        let mut stories: BTreeMap<(usize, i64), BTreeSet<&str>> = BTreeMap::new();
        for run in site.runs(start(), start() + 3 * DAY) {
            let day = (run.cluster, run.submitted.div_euclid(DAY));
            stories.entry(day).or_default().insert(run.story.name());
        }
        let all = [
            Story::Plain,
            Story::Array,
            Story::Het,
            Story::Requeued,
            Story::Shell,
            Story::Runaway,
            Story::Cancelled,
            Story::Gap,
            Story::Long,
        ];
        let all: BTreeSet<&str> = all
            .into_iter()
            .filter(|story| story.exists_in(site.kind))
            .map(Story::name)
            .collect();
        // A requeue at midnight may be a submission of the next day.
        let (_, first) = stories.first_key_value().unwrap();
        assert_eq!(*first, all, "{:?}", site.kind);
        assert!(stories.values().all(|stories| stories.is_superset(&all)));
    }
}

#[test]
fn times_are_in_order_and_no_life_is_too_long() {
    for seed in 1..20 {
        for kind in KINDS {
            let site = Site::new(kind, seed, 300);
            for run in site.runs(start(), start() + 3 * DAY) {
                let started = run.started.unwrap_or(run.submitted);
                assert!(run.submitted <= started && started <= run.ended);
                assert!(run.ended - run.submitted <= LONGEST_LIFE);
                assert!(run.nodes >= 1 && run.first_node + run.nodes <= site.nodes);
                assert_eq!(run.cpus % run.nodes, 0);
            }
        }
    }
}

#[test]
fn a_requeued_job_runs_again_within_five_minutes() {
    for kind in [Kind::Slurm, Kind::Pbs, Kind::Lsf, Kind::Gridengine] {
        let site = Site::new(kind, 1, 1_000);
        let runs = site.runs(start(), start() + DAY);
        let first = runs.iter().filter(|run| run.outcome == Outcome::Requeued);
        for first in first {
            let again = |run: &&Run| run.number == first.number && run.attempt == 2;
            let second = runs
                .iter()
                .filter(again)
                .find(|run| run.started > Some(first.ended));
            let Some(second) = second else {
                assert!(first.ended > start() + DAY - 5 * MINUTE);
                continue;
            };
            assert!(second.started.unwrap() - first.ended <= 5 * MINUTE);
            assert_eq!(second.person, first.person);
            assert_eq!(second.submitted > first.submitted, kind == Kind::Slurm);
        }
    }
}

#[test]
fn a_number_comes_back_more_than_seven_days_after_its_job() {
    for kind in KINDS {
        let site = Site::new(kind, 1, 60);
        let mut last: BTreeMap<String, (u32, Nanos, Nanos)> = BTreeMap::new();
        let mut reused = 0;
        for run in site.runs(start(), start() + 30 * DAY) {
            let before = last.insert(run.label(&site), (run.attempt, run.submitted, run.ended));
            if let Some((_, _, ended)) = before
                && run.attempt == 1
            {
                assert!(run.submitted - ended > 7 * DAY, "{kind:?} {}", run.number);
                reused += 1;
            }
        }
        assert!(reused > 60 * 15, "{kind:?} {reused}");
    }
}

#[test]
fn clusters_count_alike() {
    let site = Site {
        clusters: 2,
        ..Site::new(Kind::Slurm, 1, 400)
    };
    let runs = site.runs(start(), start() + DAY);
    let of = |cluster| runs.iter().filter(move |run| run.cluster == cluster);
    let alike = of(0).filter(|run| {
        let twin = |other: &&Run| other.number == run.number && other.person != run.person;
        let meets =
            |other: &Run| other.started < Some(run.ended) && run.started < Some(other.ended);
        of(1).find(twin).is_some_and(meets)
    });
    assert!(alike.count() > 100);
}

/// Returns the identifiers of the first job with a story, without user and node.
fn identifiers(kind: Kind, story: Story, cluster: usize) -> (Run, BTreeSet<String>) {
    let site = Site {
        clusters: 2,
        format: "%j".to_owned(),
        ..Site::new(kind, 1, 200)
    };
    let runs = site.runs(start(), start() + DAY);
    let find = |run: &&Run| {
        run.story == story && run.cluster == cluster && run.component.is_none_or(|part| part == 1)
    };
    let run = runs.iter().find(find).unwrap().clone();
    let works = site
        .work(&run)
        .into_iter()
        .map(|work| names::shown(&work.id))
        .collect();
    (run, works)
}

#[test]
fn identifiers_are_those_of_the_variable_of_each_scheduler() {
    let only = |kind, story, cluster| {
        let (run, ids) = identifiers(kind, story, cluster);
        assert_eq!(ids.len(), 1, "{ids:?}");
        (run, ids.first().unwrap().clone())
    };
    let (task, id) = only(Kind::Slurm, Story::Array, 0);
    assert_eq!(id, task.number.to_string());
    let (component, id) = only(Kind::Slurm, Story::Het, 0);
    assert_eq!(id, (component.number - 1).to_string());
    let (task, id) = only(Kind::Pbs, Story::Array, 0);
    let element = task.element.unwrap();
    assert_eq!(id, format!("{}[{}].pbs1", element.array, element.index));
    let (job, id) = only(Kind::Pbs, Story::Plain, 1);
    assert_eq!(id, format!("{}.headnode.beta.example.o", job.number));
    for kind in [Kind::Lsf, Kind::Gridengine] {
        let (task, id) = only(kind, Story::Array, 0);
        assert_eq!(id, task.element.unwrap().array.to_string());
    }
    let (_, id) = only(Kind::Flux, Story::Plain, 0);
    assert!(id.starts_with('ƒ'));
}

#[test]
fn a_shell_outlives_its_job_by_days() {
    let site = Site::new(Kind::Slurm, 1, 200);
    let runs = site.runs(start(), start() + DAY);
    let shell = runs.iter().find(|run| run.story == Story::Shell).unwrap();
    let works = site.work(shell);
    let late: Vec<_> = works
        .iter()
        .filter(|work| work.from > shell.ended + HOUR)
        .collect();
    assert!(late.len() >= 2);
    for work in late {
        assert_eq!(
            (work.node.as_str(), work.uid),
            ("a-login1", shell.owner(&site).uid)
        );
        assert_ne!(work.from.div_euclid(DAY), shell.ended.div_euclid(DAY));
        assert!(work.until < shell.ended + LONGEST_SHELL);
    }
}
