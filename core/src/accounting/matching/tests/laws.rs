use super::*;

fn owners() -> impl Strategy<Value = Owner> {
    let uid = proptest::option::of(1000..1003_i64);
    let name = proptest::option::of("[ab]");
    (uid, name).prop_map(|(uid, user_name)| Owner { uid, user_name })
}

prop_compose! {
    fn some_run()(
        owner in owners(), scheduler in "[ab]", started in 0..600_i64, took in proptest::option::of(0..100_i64),
        updated in 0..600_i64, label in "[12]",
    ) -> Run {
        Run { label, updated: updated * HOUR, ..run(&scheduler, owner, started, took.map(|it| started + it)) }
    }
}

fn some_jobs() -> impl Strategy<Value = Vec<Job>> {
    proptest::collection::vec(some_run(), 0..8).prop_map(|mut runs| {
        runs.sort_by_key(|run| run.started);
        jobs(runs, 600 * HOUR)
    })
}

fn some_days() -> impl Strategy<Value = Vec<Activity>> {
    let hours = (1..=24_i64, 0..24_i64);
    proptest::collection::btree_map(0..25_i64, hours, 0..6).prop_map(|days| {
        let of_day = |(day, (last, length)): (i64, (i64, i64))| {
            activity(day * 24 + (last - length).max(0), day * 24 + last)
        };
        days.into_iter().map(of_day).collect()
    })
}

proptest! {
    #[test]
    fn every_run_is_in_one_job(mut runs in proptest::collection::vec(some_run(), 0..12)) {
        runs.sort_by_key(|run| run.started);
        let found = jobs(runs.clone(), 600 * HOUR);
        prop_assert_eq!(found.iter().map(|job| job.runs).sum::<i64>(), runs.len() as i64);
        for job in &found {
            prop_assert!(job.ran.windows(2).all(|pair| pair[0].1.is_some_and(|until| until < pair[1].0)));
            prop_assert_eq!(job.started, job.ran[0].0);
            prop_assert_eq!(job.ended, job.ran[job.ran.len() - 1].1);
            let of_user = |run: &&Run| run.scheduler == job.scheduler && run.values.owner.can_be(&job.values.owner);
            prop_assert!(runs.iter().filter(of_user).count() as i64 >= job.runs);
        }
    }

    #[test]
    fn every_day_has_the_verdict_of_its_range(found in some_jobs(), days in some_days(), owner in owners(), with_user: bool) {
        let entry = Entry { user: with_user.then_some(&owner), ..Entry::default() };
        let ranges = ranges(entry, &days, &found, LATE);
        prop_assert!(ranges.iter().all(|range| range.from < range.until));
        prop_assert!(ranges.windows(2).all(|pair| pair[0].until <= pair[1].from));
        for &activity in &days {
            let mut of_day = ranges.iter().filter(|range| (range.from..range.until).contains(&activity.day));
            let verdict = of_day.next().map_or(Verdict::Unknown, |range| range.verdict);
            prop_assert_eq!(verdict, decide(entry, activity, &found, LATE));
        }
    }

    #[test]
    fn nobody_gets_the_job_of_another_user(found in some_jobs(), days in some_days(), uid in 1000..1003_i64) {
        let owner = user(uid);
        let entry = Entry { user: Some(&owner), ..Entry::default() };
        for range in ranges(entry, &days, &found, LATE) {
            if let Verdict::Job(position) = range.verdict {
                prop_assert!(found[position].values.owner.uid.is_none_or(|it| it == uid));
            }
        }
    }
}
