//! The texts, and the knowledge of accounting at a time.

use super::*;
use crate::jobs::{Phase, Scenario};

/// Compares with the output of `jobstats-simulator accounting --scheduler KIND --jobs 200 --odd 0.4 --to 2025-06-01T03:00:00Z
/// --undisturbed`. These texts were checked by hand.
#[track_caller]
fn prints(scheduler: &'static Scheduler, golden: &[u8]) {
    let site = Site {
        odd: 0.4,
        disturbed: false,
        ..Site::new(scheduler, 1, 200)
    };
    let printed = text(&site, window(0, 3 * HOUR));
    let lines = |text: &[u8]| -> Vec<String> {
        text.split(|byte| *byte == b'\n')
            .map(identifier::text)
            .collect()
    };
    for (printed, golden) in lines(&printed).iter().zip(&lines(golden)) {
        assert_eq!(printed, golden);
    }
    assert_eq!(printed.len(), golden.len());
}

macro_rules! texts {
    ($($test:ident: $scheduler:ident, $golden:literal;)*) => {$(
        #[test]
        fn $test() {
            prints(&$scheduler, include_bytes!(concat!("../golden/", $golden, ".txt")));
        }
    )*};
}

texts! {
    sacct_prints_epochs_and_the_name_last: SLURM, "slurm";
    openpbs_writes_a_line_for_each_thing_that_happens: PBS, "pbs";
    lsf_10_counts_the_slots_on_each_host: LSF, "lsf";
    univa_grid_engine_writes_55_fields_and_milliseconds: GRID_ENGINE, "gridengine";
    flux_prints_no_key_for_what_is_not_known_yet: FLUX, "flux";
}

#[test]
fn the_short_job_of_a_gap_is_known_at_night_only() {
    for scheduler in [&SLURM, &FLUX] {
        let site = Site::new(scheduler, 1, 200);
        let span = days(3);
        let runs = site.runs(span);
        let inside =
            |run: &&Run| run.scenario == Scenario::Gap && run.submitted < start() + 2 * DAY;
        let jobs: Vec<_> = runs
            .iter()
            .filter(inside)
            .filter(|run| run.submitted > start())
            .collect();
        assert_eq!(jobs.len(), 2);
        for run in jobs {
            let Span { from, until } = site.gap(run.submitted.div_euclid(DAY));
            assert_eq!(until - from, 3 * HOUR);
            assert!(run.submitted > from && run.ended < until - 20 * MINUTE);
            let seen = |nightly| {
                let queries = site.queries(span, nightly);
                queries
                    .into_iter()
                    .filter(|query| site.shows(run, *query).is_some())
                    .count()
            };
            assert_eq!(seen(false), 0);
            assert!(seen(true) > 0);
        }
    }
}

#[test]
fn queries_overlap_and_files_are_read_on() {
    let site = |scheduler| Site::new(scheduler, 1, 200);
    let sacct = site(&SLURM).queries(days(1), true);
    // One in five minutes, except in the gap, and one at night.
    assert_eq!(sacct.len(), 288 - 36 + 1);
    assert!(sacct.is_sorted());
    let rare = Site {
        every: 2 * HOUR,
        ..site(&SLURM)
    };
    let rare = rare.queries(days(1), false);
    // Of twelve, the gap of three hours has one or two.
    assert!((10..=11).contains(&rare.len()));
    let window = 2 * HOUR + 15 * MINUTE;
    assert!(rare.iter().all(|query| query.time - query.since == window));
    let files = site(&LSF).queries(days(1), false);
    assert!(files.is_sorted_by(|before, after| before.time == after.since));
    assert_eq!((files[0].since, files[251].time), (start(), start() + DAY));
}

#[test]
fn what_is_written_to_a_file_is_read_once_between_the_nights() {
    for site in sites().filter(|site| site.scheduler.is_file) {
        let runs = site.runs(days(1));
        let lines = |query| {
            let mut text = Vec::new();
            site.write(0, query, &runs, &mut text).unwrap();
            let lines = text.split_inclusive(|byte| *byte == b'\n');
            let is_job = |line: &&[u8]| {
                let event = line.starts_with(b"\"EVENT") || line.starts_with(b"\"JOB_RESIZE");
                !line.starts_with(b"#") && !event
            };
            lines
                .filter(is_job)
                .flatten()
                .filter(|byte| **byte != b'\n')
                .copied()
                .collect::<Vec<u8>>()
        };
        let piecewise: Vec<u8> = site
            .queries(days(1), false)
            .into_iter()
            .flat_map(lines)
            .collect();
        assert!(
            piecewise == lines(window(0, DAY)),
            "{}",
            site.scheduler.name
        );
    }
}

#[test]
fn a_text_follows_from_the_window_alone() {
    for site in sites() {
        let query = window(12 * HOUR, 13 * HOUR);
        let longer = Span {
            from: query.since - 9 * DAY,
            until: query.time + 2 * DAY,
        };
        let others = text_about(&site, query, longer);
        assert!(others == text(&site, query));
        let seeded = Site::new(site.scheduler, 2, 200);
        assert!(others != text(&seeded, query));
    }
}

#[test]
fn accounting_never_knows_of_the_future() {
    for site in sites() {
        let span = days(1);
        let runs = site.runs(span);
        for query in site.queries(span, true).into_iter().step_by(7) {
            for run in &runs {
                let known = match site.shows(run, query) {
                    None => continue,
                    Some(Phase::Pending) => run.submitted,
                    Some(Phase::Running) => run.started.unwrap(),
                    Some(Phase::Ended) => run.ended,
                };
                assert!(known <= query.time);
            }
        }
    }
}

#[test]
fn no_end_of_a_runaway_job_is_ever_written() {
    for site in sites() {
        let runs = site.runs(days(1));
        let lost = runs.iter().filter(|run| run.scenario == Scenario::Runaway);
        let queries = site.queries(days(1), true);
        for run in lost {
            assert!(
                queries
                    .iter()
                    .all(|query| site.shows(run, *query) != Some(Phase::Ended))
            );
        }
    }
}

#[test]
fn accounting_is_late_after_an_outage() {
    let site = Site::new(&SLURM, 1, 2_000);
    let Span { from, until } = site.outage(0, start().div_euclid(DAY));
    let runs = site.runs(days(1));
    let ended: Vec<_> = runs
        .iter()
        .filter(|run| run.scenario != Scenario::Runaway && (from..until).contains(&run.ended))
        .collect();
    assert!(ended.len() > 10);
    for run in ended {
        assert_ne!(site.phase(run, until - SECOND), Some(Phase::Ended));
        assert_eq!(site.phase(run, until), Some(Phase::Ended));
    }
}

#[test]
fn rows_have_as_many_fields_as_their_form() {
    for site in sites() {
        let plain = Site { odd: 0.0, ..site };
        let text = String::from_utf8(text(&plain, window(0, DAY))).unwrap();
        let count = |separator: char, line: &str| line.matches(separator).count() + 1;
        match plain.scheduler.name {
            "slurm" => assert!(text.lines().all(|line| count('\x1f', line) == 19)),
            "gridengine" => {
                let jobs = text.lines().filter(|line| !line.starts_with('#'));
                assert!(jobs.clone().count() > 100);
                assert!(
                    jobs.filter(|line| !line.contains("host:/"))
                        .all(|line| count(':', line) == 55)
                );
            }
            "pbs" => assert!(text.lines().all(|line| line.splitn(4, ';').count() == 4)),
            "flux" => {
                let all: serde_json::Value = serde_json::from_str(&text).unwrap();
                let jobs = all["jobs"].as_array().unwrap();
                let waiting = |job: &&serde_json::Value| job["state"] == "SCHED";
                assert!(
                    jobs.iter()
                        .filter(waiting)
                        .all(|job| job.get("t_run").is_none())
                );
                assert!(jobs.iter().any(|job| job["result"] == "COMPLETED"));
            }
            "lsf" => assert!(text.lines().all(|line| line.matches('"').count() % 2 == 0)),
            other => panic!("no form of {other} is known"),
        }
    }
}
