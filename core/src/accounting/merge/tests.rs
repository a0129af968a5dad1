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

/// A record that is like other ones, so that many of them collide.
fn record() -> impl Strategy<Value = (Job<'static>, Micros)> {
    let second = prop::sample::select(
        &[
            100_000_000_i64,
            100_400_000,
            101_000_000,
            130_000_000,
            159_000_000,
            160_000_000,
            5_000_000_000,
        ][..],
    );
    let length = prop::sample::select(&[-SECOND, 0, SECOND, 30 * SECOND, 59 * SECOND, HOUR][..]);
    let name = || prop::option::of(prop::sample::select(&["a", "b"][..]));
    let number = prop::option::of(0..2_u32);
    let start = prop::option::weighted(0.8, second);
    (
        start,
        prop::option::of(length),
        name(),
        name(),
        number,
        name(),
        1..6_i64,
    )
        .prop_map(|(started, length, job_name, state, nodes, extra, minute)| {
            let job = Job {
                started,
                ended: length.map(|length| started.unwrap_or(100_000_000) + length),
                job_name: job_name.map(Into::into),
                state: state.map(Into::into),
                nodes,
                extra: extra
                    .map(|text| ("x".into(), text.into()))
                    .into_iter()
                    .collect(),
                ..job(None, None)
            };
            (job, minute * MINUTE)
        })
}

fn all(said: &[(Job<'_>, Micros)]) -> Vec<Form> {
    forms(merge(&[], said))
}

/// Stores rows and reads them again.
fn store(forms: Vec<Form>) -> Vec<Form> {
    let restore = |form: Form| Form {
        provenance: form
            .provenance
            .to_json()
            .map_or_else(Provenance::default, |json| {
                Provenance::from_json(&json).unwrap()
            }),
        ..form
    };
    forms.into_iter().map(restore).collect()
}

/// Applies the changes to a table.
fn apply(mut table: Vec<Form>, merged: &Merged) -> Vec<Form> {
    table.retain(|form| !merged.gone.contains(&form.started));
    for (form, change) in &merged.forms {
        let place = table
            .iter()
            .position(|stored| stored.started == form.started);
        match (change, place) {
            (Change::New, None) => table.push(form.clone()),
            (Change::Changed, Some(place)) => table[place] = form.clone(),
            (Change::Confirmed, Some(place)) => {
                table[place].updated = form.updated;
                table[place].provenance = form.provenance.clone();
            }
            (Change::Same, Some(place)) => assert_eq!(&table[place], form),
            _ => panic!("{change:?} of {form:?} in {table:?}"),
        }
    }
    table.sort_by_key(|form| form.started);
    table
}

/// Computes the runs and names in another way, straight from the rules.
fn by_the_rules(
    said: &[(Job<'static>, Micros)],
) -> Vec<(Vec<i64>, Option<Micros>, Option<String>)> {
    let rank = |job: &Job<'_>| (job.ended.is_some(), job.started.is_some());
    let greatest = |seconds: &[i64]| {
        let mut records: Vec<_> = said
            .iter()
            .filter(|(job, _)| {
                job.started.map_or(seconds.is_empty(), |started| {
                    seconds.contains(&(started / SECOND))
                })
            })
            .collect();
        records.sort_by_key(|(job, text)| (rank(job), *text, job.ended));
        let ended = records.iter().rev().find_map(|(job, _)| job.ended);
        records.sort_by_key(|(job, text)| (rank(job), *text, job.job_name.clone()));
        let name = records
            .iter()
            .rev()
            .find_map(|(job, _)| job.job_name.clone());
        (ended, name.map(|name| name.into_owned()))
    };
    let start = |second: i64| {
        let records = said.iter().filter(|(job, _)| {
            job.started
                .is_some_and(|started| started / SECOND == second)
        });
        records
            .max_by_key(|(job, text)| (rank(job), *text, job.started))
            .and_then(|(job, _)| job.started)
    };
    let mut seconds: Vec<i64> = said
        .iter()
        .filter_map(|(job, _)| Some(job.started? / SECOND))
        .collect();
    seconds.sort_unstable();
    seconds.dedup();
    let mut runs: Vec<Vec<i64>> = Vec::new();
    for second in seconds {
        let joins = runs.last().is_some_and(|run| {
            second - run[0] < 60
                && run.iter().any(|one| {
                    greatest(&[*one])
                        .0
                        .is_none_or(|ended| ended > start(second).unwrap())
                })
        });
        if joins {
            runs.last_mut().unwrap().push(second);
        } else {
            runs.push(vec![second]);
        }
    }
    if runs.is_empty() && !said.is_empty() {
        runs.push(Vec::new());
    }
    runs.into_iter()
        .map(|run| {
            let (ended, name) = greatest(&run);
            (run, ended, name)
        })
        .collect()
}

proptest! {
    /// Any order of texts ends in the same rows, with the same provenance.
    #[test]
    fn the_order_does_not_matter(
        (said, other) in prop::collection::vec(record(), 0..12)
            .prop_flat_map(|said| (Just(said.clone()), Just(said).prop_shuffle())),
    ) {
        prop_assert_eq!(all(&other), all(&said));
    }

    /// Records may be merged one by one with the rows stored in between, in any groups, and again.
    #[test]
    fn rows_may_be_stored_in_between(
        (said, other) in prop::collection::vec(record(), 0..12)
            .prop_flat_map(|said| (Just(said.clone()), Just(said).prop_shuffle())),
        group in 1..4_usize,
        again in 0..12_usize,
    ) {
        let expected = all(&said);
        let mut table = Vec::new();
        for group in other.chunks(group).chain(said.chunks(1).take(again)) {
            let merged = merge(&table, group);
            table = store(apply(table, &merged));
        }
        prop_assert_eq!(&table, &expected);
        let again = merge(&table, &said);
        prop_assert!(again.gone.is_empty());
        prop_assert!(again.forms.iter().all(|(_, change)| *change == Change::Same));
    }

    /// [`repeated`] agrees with merging.
    #[test]
    fn repeated_rows_are_what_merging_says(
        said in prop::collection::vec(record(), 1..4),
        (job, text) in record(),
        repeats in any::<bool>(),
    ) {
        let mut table = all(&said);
        table.truncate(1);
        let (job, text) = if repeats { (said[0].0.clone(), text) } else { (job, text) };
        let merged = merge(&table, &[(job.clone(), text)]);
        match repeated(&table[0], &job, text) {
            Some(Change::Confirmed) => {
                let confirmed = Form { updated: text, ..table[0].clone() };
                prop_assert_eq!(merged.forms, [(confirmed, Change::Confirmed)]);
            }
            Some(change) => {
                prop_assert_eq!(change, Change::Same);
                prop_assert_eq!(merged.forms, [(table[0].clone(), Change::Same)]);
            }
            // A record that repeats a row is always detected.
            None => {
                let alone = Form { updated: table[0].updated, ..all(&[(job, text)]).remove(0) };
                prop_assert_ne!(&alone, &table[0]);
            }
        }
    }

    /// Rows that are only confirmed need not be stored, if a late text is merged together with the later ones.
    #[test]
    fn confirmed_rows_need_not_be_stored(
        said in prop::collection::vec(record(), 0..12),
        mut minutes in Just(vec![1, 2, 3, 4, 5]).prop_shuffle(),
        mut stores in prop::collection::vec(prop::bool::weighted(0.3), 60),
    ) {
        let mut table = Vec::new();
        let mut merged_minutes = Vec::new();
        while let Some(minute) = minutes.pop() {
            merged_minutes.push(minute);
            let of = |wanted: &dyn Fn(i64) -> bool| {
                let said = said.iter().filter(|(_, text)| wanted(*text / MINUTE) && merged_minutes.contains(&(*text / MINUTE)));
                said.cloned().collect::<Vec<_>>()
            };
            let merged = merge(&table, &of(&|text| text >= minute));
            let before = table.clone();
            table = apply(table, &merged);
            for (form, change) in &merged.forms {
                if *change == Change::Confirmed && stores.pop() == Some(false) {
                    let is_it = |stored: &&Form| stored.started == form.started;
                    let place = table.iter().position(|stored| is_it(&stored)).unwrap();
                    table[place] = before.iter().find(is_it).unwrap().clone();
                }
            }
            let expected: Vec<_> = all(&of(&|_| true)).iter().map(values).collect();
            prop_assert_eq!(table.iter().map(values).collect::<Vec<_>>(), expected);
        }
    }

    /// The rows follow the rules.
    #[test]
    fn rows_are_those_of_the_rules(said in prop::collection::vec(record(), 0..12)) {
        let found = all(&said);
        let expected = by_the_rules(&said);
        prop_assert_eq!(found.len(), expected.len());
        for (form, (seconds, ended, name)) in found.iter().zip(&expected) {
            prop_assert_eq!(form.started.is_some(), !seconds.is_empty());
            prop_assert!(form.started.is_none_or(|started| seconds.contains(&(started / SECOND))));
            prop_assert_eq!(form.ended, *ended);
            prop_assert_eq!(&form.job_name, name);
            prop_assert!(form.provenance.starts.len() == seconds.len() || seconds.len() < 2);
        }
    }

    /// A row whose latest record is complete has no provenance.
    #[test]
    fn provenance_is_rare(minutes in prop::collection::vec(1..9_i64, 1..9)) {
        let full = |minute: i64| (Job { ended: (minute > 4).then_some(900 * SECOND), ..named(Some(100), None, "relax") }, minute * MINUTE);
        let said: Vec<_> = minutes.into_iter().map(full).collect();
        prop_assert!(all(&said).iter().all(|form| form.provenance.is_empty()));
    }
}
