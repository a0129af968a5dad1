mod laws;

use proptest::prelude::*;

use super::*;
use crate::base::instant::{HOUR, MINUTE, SECOND};

/// A record with a start and an end, in seconds.
fn job(started: Option<i64>, ended: Option<i64>) -> Job<'static> {
    Job {
        job: "4711".into(),
        label: "4711".into(),
        started: started.map(|second| second * SECOND),
        ended: ended.map(|second| second * SECOND),
        ..Job::default()
    }
}

fn named(started: Option<i64>, ended: Option<i64>, name: &'static str) -> Job<'static> {
    Job {
        job_name: Some(name.into()),
        ..job(started, ended)
    }
}

fn forms(merged: Merged) -> Vec<Form> {
    merged.forms.into_iter().map(|(form, _)| form).collect()
}

/// Merges texts one after another, each with its time in minutes.
fn texts(texts: &[(i64, &[Job<'static>])]) -> Vec<Form> {
    texts.iter().fold(Vec::new(), |stored, (minute, jobs)| {
        let said: Vec<_> = jobs
            .iter()
            .map(|job| (job.clone(), minute * MINUTE))
            .collect();
        forms(merge(&stored, &said))
    })
}

fn runs_of(forms: &[Form]) -> Vec<(Option<i64>, Option<i64>)> {
    let seconds = |time: Option<Micros>| time.map(|time| time / SECOND);
    forms
        .iter()
        .map(|form| (seconds(form.started), seconds(form.ended)))
        .collect()
}

#[test]
fn a_job_waits_runs_and_ends_in_one_row() {
    let (waits, runs, ends) = (
        job(None, None),
        job(Some(100), None),
        job(Some(100), Some(500)),
    );
    let forms = texts(&[
        (1, std::slice::from_ref(&waits)),
        (2, &[runs]),
        (9, &[ends]),
    ]);
    assert_eq!(runs_of(&forms), [(Some(100), Some(500))]);
    assert_eq!(forms[0].updated, 9 * MINUTE);
    assert!(forms[0].provenance.is_empty());
    let first = texts(&[(1, &[waits])]);
    let merged = merge(&first, &[(job(Some(100), None), 2 * MINUTE)]);
    assert_eq!(merged.forms[0].1, Change::New);
    assert_eq!(merged.gone, [None]);
}

#[test]
fn a_form_without_a_start_is_dropped_beside_runs() {
    let forms = texts(&[
        (5, &[job(Some(100), Some(200))]),
        (6, &[named(None, None, "waits again")]),
    ]);
    assert_eq!(runs_of(&forms), [(Some(100), Some(200))]);
    assert_eq!(forms[0].job_name, None);
}

#[test]
fn runs_of_a_requeued_job_are_rows_of_their_own() {
    let forms = texts(&[
        (5, &[job(Some(100), Some(200)), job(Some(300), None)]),
        (6, &[job(Some(300), Some(400))]),
    ]);
    assert_eq!(
        runs_of(&forms),
        [(Some(100), Some(200)), (Some(300), Some(400))]
    );
}

#[test]
fn what_is_filled_ranks_and_not_the_state() {
    let said = |state: &'static str, job: Job<'static>| Job {
        state: Some(state.into()),
        ..job
    };
    let forms = texts(&[
        (5, &[said("RUNNING", job(Some(100), Some(200)))]),
        (9, &[said("COMPLETED", job(Some(100), None))]),
    ]);
    assert_eq!(forms[0].state.as_deref(), Some("RUNNING"));
    assert_eq!(forms[0].updated, 5 * MINUTE);
}

#[test]
fn the_later_of_equal_records_counts_even_if_it_arrives_first() {
    let said = |name: &'static str| named(Some(100), None, name);
    for order in [[(1, "old"), (2, "new")], [(2, "new"), (1, "old")]] {
        let [first, second] = order.map(|(minute, name)| (minute, [said(name)]));
        let forms = texts(&[(first.0, &first.1), (second.0, &second.1)]);
        assert_eq!(forms[0].job_name.as_deref(), Some("new"));
    }
}

#[test]
fn equal_records_of_one_time_have_one_order() {
    for names in [["a", "b"], ["b", "a"]] {
        let forms = texts(&[(1, &names.map(|name| named(Some(100), None, name)))]);
        assert_eq!(forms[0].job_name.as_deref(), Some("b"));
    }
}

#[test]
fn a_value_is_never_replaced_by_an_unknown_one() {
    let forms = texts(&[
        (1, &[named(Some(100), None, "relax")]),
        (9, &[job(Some(100), Some(500))]),
    ]);
    assert_eq!(forms[0].job_name.as_deref(), Some("relax"));
    let json = forms[0].provenance.to_json().unwrap();
    assert_eq!(json, r#"{"values":{"job_name":["s",60000000]}}"#);
    assert_eq!(
        Provenance::from_json(&json).as_ref(),
        Some(&forms[0].provenance)
    );
    assert_eq!(Provenance::from_json("{\"values\": 1}"), None);
    // Only so a late text in between differs from an earlier one.
    let said = [(named(Some(100), None, "renamed"), 5 * MINUTE)];
    assert_eq!(
        merge(&forms, &said).forms[0].0.job_name.as_deref(),
        Some("renamed")
    );
    let said = [(named(Some(100), None, "early"), 30 * SECOND)];
    assert_eq!(merge(&forms, &said).forms[0].1, Change::Same);
}

#[test]
fn names_of_extra_are_values_of_their_own() {
    let extra = |pairs: &[(&'static str, &'static str)]| Job {
        extra: pairs
            .iter()
            .map(|(name, text)| ((*name).into(), (*text).into()))
            .collect(),
        ..job(Some(100), None)
    };
    let forms = texts(&[
        (1, &[extra(&[("a", "1"), ("b", "2")])]),
        (2, &[extra(&[("b", "3"), ("c", "4")])]),
    ]);
    let found: Vec<_> = forms[0]
        .extra
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    assert_eq!(found, [("a", "1"), ("b", "3"), ("c", "4")]);
    assert_eq!(
        forms[0].provenance.to_json().unwrap(),
        r#"{"values":{"extra.a":["s",60000000]}}"#
    );
}

#[test]
fn starts_that_jitter_are_one_run() {
    let forms = texts(&[
        (1, &[job(Some(100), None)]),
        (2, &[job(Some(101), None)]),
        (9, &[job(Some(101), Some(500))]),
    ]);
    assert_eq!(runs_of(&forms), [(Some(101), Some(500))]);
    assert_eq!(forms[0].provenance.starts.len(), 2);
    // 59 s belong together, 60 s do not.
    assert_eq!(
        texts(&[(1, &[job(Some(100), None), job(Some(159), None)])]).len(),
        1
    );
    assert_eq!(
        texts(&[(1, &[job(Some(100), None), job(Some(160), None)])]).len(),
        2
    );
}

#[test]
fn starts_that_do_not_overlap_are_two_runs() {
    let (first, second) = (job(Some(100), Some(130)), job(Some(130), Some(500)));
    let expected = [(Some(100), Some(130)), (Some(130), Some(500))];
    assert_eq!(
        runs_of(&texts(&[(5, &[first.clone(), second.clone()])])),
        expected
    );
    // The start of the first run is known before its end: for a while it looks like a jitter of the second.
    let forms = texts(&[
        (2, &[job(Some(100), None)]),
        (5, std::slice::from_ref(&second)),
    ]);
    assert_eq!(runs_of(&forms), [(Some(130), Some(500))]);
    let forms = texts(&[(2, &[job(Some(100), None)]), (5, &[second]), (6, &[first])]);
    assert_eq!(runs_of(&forms), expected);
    assert!(forms.iter().all(|form| form.provenance.is_empty()));
}

#[test]
fn a_text_that_repeats_a_row_confirms_it() {
    let said = |minute: i64| [(named(Some(100), Some(200), "relax"), minute * MINUTE)];
    let stored = forms(merge(&[], &said(5)));
    let merged = merge(&stored, &said(6));
    assert_eq!(
        (merged.forms[0].1, merged.forms[0].0.updated),
        (Change::Confirmed, 6 * MINUTE)
    );
    assert_eq!(merge(&forms(merged), &said(5)).forms[0].1, Change::Same);
    let other = [(named(Some(100), Some(201), "relax"), 6 * MINUTE)];
    assert_eq!(merge(&stored, &other).forms[0].1, Change::Changed);
}

#[test]
fn a_record_that_leaves_out_a_value_is_more_than_a_repetition() {
    let extra = |pairs: &[(&'static str, &'static str)]| Job {
        extra: pairs
            .iter()
            .map(|(name, text)| ((*name).into(), (*text).into()))
            .collect(),
        ..named(Some(100), None, "relax")
    };
    let whole = extra(&[("b", "2"), ("a", "1")]);
    let row = &texts(&[(1, std::slice::from_ref(&whole))])[0];
    let told = |job: &Job<'_>, minute: i64| repeated(row, job, minute * MINUTE);
    assert_eq!(told(&whole, 2), Some(Change::Confirmed));
    assert_eq!(told(&whole, 1), Some(Change::Same));
    assert_eq!(told(&whole, 0), Some(Change::Same));
    for other in [
        extra(&[("a", "1")]),
        extra(&[("a", "1"), ("a", "1")]),
        extra(&[("a", "1"), ("b", "3")]),
        extra(&[("a", "1"), ("b", "2"), ("b", "3")]),
        Job {
            job_name: None,
            ..whole.clone()
        },
        Job {
            qos: Some("long".into()),
            ..whole.clone()
        },
    ] {
        assert_eq!(told(&other, 2), None, "{other:?}");
    }
}

#[test]
fn a_higher_rank_of_an_equal_value_is_more_than_a_confirmation() {
    // The late record of minute 1 knows the end, so that its name counts more than any of a run.
    let first = texts(&[(3, &[job(Some(100), Some(130)), named(Some(100), None, "a")])]);
    let merged = merge(&first, &[(named(Some(100), Some(99), "a"), MINUTE)]);
    assert_eq!(merged.forms[0].1, Change::Changed);
    let said = [(named(Some(100), None, "b"), 5 * MINUTE)];
    assert_eq!(
        merge(&forms(merged), &said).forms[0].0.job_name.as_deref(),
        Some("a")
    );
}

#[test]
fn starts_that_could_become_one_run_are_never_only_confirmed() {
    let change = |second: i64| {
        let stored = texts(&[(1, &[job(Some(100), Some(101)), job(Some(second), None)])]);
        merge(&stored, &[(job(Some(second), None), 2 * MINUTE)]).forms[1].1
    };
    assert_eq!(
        (change(159), change(160)),
        (Change::Changed, Change::Confirmed)
    );
}

#[test]
fn hostile_texts_make_no_large_rows() {
    let name = |number: i64| Job {
        extra: vec![(format!("name {number}").into(), "x".into())],
        ..job(Some(100), None)
    };
    let said: Vec<_> = (0..1_000).map(|number| (name(number), number)).collect();
    assert_eq!(merge(&[], &said).forms[0].0.extra.len(), 64);
    let start = |number: i64| Job {
        started: Some(100 * SECOND + number * 1_000),
        ..Job::default()
    };
    let said: Vec<_> = (0..60_000).map(|number| (start(number), number)).collect();
    let merged = merge(&[], &said);
    assert_eq!(
        (
            merged.forms.len(),
            merged.forms[0].0.provenance.starts.len()
        ),
        (1, 60)
    );
    let runs: Vec<_> = (0..60_000)
        .map(|number| (job(Some(number * 60), Some(number * 60 + 9)), number))
        .collect();
    let stored = forms(merge(&[], &runs));
    assert_eq!(stored.len(), 60_000);
    assert!(
        merge(&stored, &runs)
            .forms
            .iter()
            .all(|(_, change)| *change == Change::Same)
    );
}
