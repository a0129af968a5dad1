use super::*;

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
