//! The jobs.

use std::collections::{BTreeMap, BTreeSet};

use strum::VariantArray;

use super::*;
use crate::jobs::{Outcome, Scenario};

#[test]
fn every_day_has_every_scenario() {
    for site in sites() {
        let mut scenarios: BTreeMap<(usize, i64), BTreeSet<&str>> = BTreeMap::new();
        for run in site.runs(days(3)) {
            let day = (run.cluster, run.submitted.div_euclid(DAY));
            scenarios
                .entry(day)
                .or_default()
                .insert(run.scenario.into());
        }
        let all: BTreeSet<&str> = Scenario::VARIANTS
            .iter()
            .filter(|scenario| !site.scheduler.lacks.contains(scenario))
            .map(|scenario| scenario.into())
            .collect();
        // A requeue at midnight may be a submission of the next day.
        let (_, first) = scenarios.first_key_value().unwrap();
        assert_eq!(*first, all, "{}", site.scheduler.name);
        assert!(
            scenarios
                .values()
                .all(|scenarios| scenarios.is_superset(&all))
        );
    }
}

#[test]
fn times_are_in_order_and_no_life_is_too_long() {
    for seed in 1..20 {
        for scheduler in SCHEDULERS {
            let site = Site::new(scheduler, seed, 300);
            for run in site.runs(days(3)) {
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
    for scheduler in [&SLURM, &PBS, &LSF, &GRID_ENGINE] {
        let site = Site::new(scheduler, 1, 1_000);
        let runs = site.runs(days(1));
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
            assert_eq!(
                second.submitted > first.submitted,
                scheduler.name == "slurm"
            );
        }
    }
}

#[test]
fn a_number_comes_back_more_than_seven_days_after_its_job() {
    for scheduler in SCHEDULERS {
        let site = Site::new(scheduler, 1, 60);
        let mut last: BTreeMap<String, (u32, Nanos, Nanos)> = BTreeMap::new();
        let mut reused = 0;
        for run in site.runs(days(30)) {
            let before = last.insert(run.label(&site), (run.attempt, run.submitted, run.ended));
            if let Some((_, _, ended)) = before
                && run.attempt == 1
            {
                assert!(
                    run.submitted - ended > 7 * DAY,
                    "{} {}",
                    scheduler.name,
                    run.number
                );
                reused += 1;
            }
        }
        assert!(reused > 60 * 15, "{} {reused}", scheduler.name);
    }
}

#[test]
fn clusters_count_alike() {
    let site = Site {
        clusters: 2,
        ..Site::new(&SLURM, 1, 400)
    };
    let runs = site.runs(days(1));
    let of = |cluster| runs.iter().filter(move |run| run.cluster == cluster);
    let alike = of(0).filter(|run| {
        let twin = |other: &&Run| other.number == run.number && other.person != run.person;
        let meets =
            |other: &Run| other.started < Some(run.ended) && run.started < Some(other.ended);
        of(1).find(twin).is_some_and(meets)
    });
    assert!(alike.count() > 100);
}

/// Returns the identifiers of the first job of a scenario, without user and node.
fn identifiers(
    scheduler: &'static Scheduler,
    scenario: Scenario,
    cluster: usize,
) -> (Run, BTreeSet<String>) {
    let site = Site {
        clusters: 2,
        format: "%j".to_owned(),
        ..Site::new(scheduler, 1, 200)
    };
    let runs = site.runs(days(1));
    let find = |run: &&Run| {
        run.scenario == scenario
            && run.cluster == cluster
            && run.component.is_none_or(|part| part == 1)
    };
    let run = runs.iter().find(find).unwrap().clone();
    let ids = site.activities(&run).into_iter();
    let ids = ids.map(|activity| identifier::text(&activity.id)).collect();
    (run, ids)
}

#[test]
fn identifiers_are_those_of_the_variable_of_each_scheduler() {
    let only = |scheduler, scenario, cluster| {
        let (run, ids) = identifiers(scheduler, scenario, cluster);
        assert_eq!(ids.len(), 1, "{ids:?}");
        (run, ids.first().unwrap().clone())
    };
    let (task, id) = only(&SLURM, Scenario::Array, 0);
    assert_eq!(id, task.number.to_string());
    let (component, id) = only(&SLURM, Scenario::Het, 0);
    assert_eq!(id, (component.number - 1).to_string());
    let (task, id) = only(&PBS, Scenario::Array, 0);
    let element = task.element.unwrap();
    assert_eq!(id, format!("{}[{}].pbs1", element.array, element.index));
    let (job, id) = only(&PBS, Scenario::Plain, 1);
    assert_eq!(id, format!("{}.headnode.beta.example.o", job.number));
    for scheduler in [&LSF, &GRID_ENGINE] {
        let (task, id) = only(scheduler, Scenario::Array, 0);
        assert_eq!(id, task.element.unwrap().array.to_string());
    }
    let (_, id) = only(&FLUX, Scenario::Plain, 0);
    assert!(id.starts_with('ƒ'));
}

#[test]
fn a_shell_outlives_its_job_by_days() {
    let site = Site::new(&SLURM, 1, 200);
    let runs = site.runs(days(1));
    let shell = runs
        .iter()
        .find(|run| run.scenario == Scenario::Shell)
        .unwrap();
    let mut late = site.activities(shell);
    late.retain(|activity| activity.span.from > shell.ended + HOUR);
    assert!(late.len() >= 2);
    for activity in late {
        let Span { from, until } = activity.span;
        assert_eq!(
            (activity.node.as_str(), activity.uid),
            ("a-login1", shell.owner(&site).uid)
        );
        assert_ne!(from.div_euclid(DAY), shell.ended.div_euclid(DAY));
        assert!(until < shell.ended + LONGEST_SHELL);
    }
}
