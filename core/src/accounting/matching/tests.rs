use proptest::prelude::*;

use super::*;
use crate::base::instant::HOUR;
use crate::identity::entry_id::{Formats, user_may_be_forged};

const LATE: Micros = 20 * MINUTE;

fn user(uid: i64) -> Owner {
    Owner {
        uid: Some(uid),
        user_name: None,
    }
}

fn named(name: &str) -> Owner {
    Owner {
        uid: None,
        user_name: Some(name.to_owned()),
    }
}

/// A run of a scheduler and a user that began and ended after so many hours.
fn run(scheduler: &str, owner: Owner, started: i64, ended: Option<i64>) -> Run {
    Run {
        scheduler: scheduler.to_owned(),
        label: "5".to_owned(),
        started: started * HOUR,
        ended: ended.map(|it| it * HOUR),
        updated: 30 * DAY,
        values: Values {
            owner,
            ..Values::default()
        },
        ..Run::default()
    }
}

fn activity(first: i64, last: i64) -> Activity {
    Activity {
        day: day_of(last * HOUR),
        first: first * HOUR,
        last: last * HOUR,
    }
}

fn jobs(runs: impl IntoIterator<Item = Run>, newest: Micros) -> Vec<Job> {
    let mut jobs = Vec::new();
    runs.into_iter().for_each(|run| add(run, &mut jobs, newest));
    jobs
}

fn verdict(entry: Entry<'_>, hours: (i64, i64), jobs: &[Job]) -> Verdict {
    decide(entry, activity(hours.0, hours.1), jobs, LATE)
}

#[test]
fn runs_of_a_requeued_job_are_one_job_that_knows_what_they_agree_on() {
    let mut first = run("alpha", user(1000), 10, Some(11));
    first.values.account = Some("physics".to_owned());
    first.values.partition = Some("short".to_owned());
    first.state = Some("REQUEUED".to_owned());
    let mut second = run("alpha", user(1000), 12, Some(14));
    second.values.account = Some("physics".to_owned());
    second.values.partition = Some("long".to_owned());
    second.state = Some("COMPLETED".to_owned());
    let found = jobs([first, second], 30 * DAY);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].runs, 2);
    assert_eq!(found[0].label.as_deref(), Some("5"));
    assert_eq!(found[0].values.account.as_deref(), Some("physics"));
    assert_eq!(found[0].values.partition, None);
    assert_eq!(found[0].state.as_deref(), Some("COMPLETED"));
    assert_eq!(found[0].last_started, 12 * HOUR);
    assert_eq!(
        (found[0].started, found[0].ended),
        (10 * HOUR, Some(14 * HOUR))
    );
    assert_eq!(
        found[0].ran,
        [(10 * HOUR, Some(11 * HOUR)), (12 * HOUR, Some(14 * HOUR))]
    );
}

#[test]
fn elements_that_share_a_number_are_one_job_without_a_label() {
    let mut second = run("lsf", user(1000), 1, Some(3));
    second.label = "5[2]".to_owned();
    second.values.job_group = Some("5".to_owned());
    let mut first = run("lsf", user(1000), 0, Some(2));
    first.values.job_group.clone_from(&second.values.job_group);
    let found = jobs([first, second.clone()], 30 * DAY);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].label, None);
    assert_eq!(found[0].values.job_group.as_deref(), Some("5"));
    assert_eq!(found[0].ran, [(0, Some(3 * HOUR))]);
    // The group of a number that was both an element of an array and a single job is unknown.
    let found = jobs([run("lsf", user(1000), 0, Some(2)), second], 30 * DAY);
    assert_eq!(found[0].values.job_group, None);
}

#[test]
fn a_number_that_comes_back_after_seven_days_is_another_job() {
    let first = run("alpha", user(1000), 0, Some(1));
    let later = |hour| run("alpha", user(1000), hour, Some(hour + 1));
    assert_eq!(jobs([first.clone(), later(168)], 30 * DAY).len(), 1);
    assert_eq!(jobs([first, later(169)], 30 * DAY).len(), 2);
}

#[test]
fn jobs_of_different_users_are_different_jobs() {
    let runs = [
        run("alpha", user(1000), 0, Some(1)),
        run("alpha", user(1001), 2, Some(3)),
    ];
    assert_eq!(jobs(runs, 30 * DAY).len(), 2);
}

#[test]
fn a_running_job_that_no_text_named_for_two_days_was_lost_when_last_named() {
    let mut lost = run("alpha", user(1000), 0, None);
    lost.updated = 10 * HOUR;
    assert_eq!(jobs([lost.clone()], 10 * HOUR + LOST)[0].ended, None);
    assert_eq!(jobs([lost], 10 * HOUR + LOST + 1)[0].ended, Some(10 * HOUR));
}

#[test]
fn work_belongs_to_the_job_that_runs() {
    let found = jobs([run("alpha", user(1000), 10, Some(12))], 30 * DAY);
    let entry = Entry::default();
    assert_eq!(verdict(entry, (10, 12), &found), Verdict::Job(0));
    assert_eq!(verdict(entry, (0, 10), &found), Verdict::Job(0));
    assert_eq!(verdict(entry, (12, 20), &found), Verdict::Job(0));
    assert_eq!(verdict(entry, (0, 9), &found), Verdict::Unknown);
    assert_eq!(verdict(entry, (13, 20), &found), Verdict::Stale);
}

#[test]
fn work_may_begin_before_the_job_and_be_seen_after_it() {
    let found = jobs([run("alpha", user(1000), 10, Some(12))], 30 * DAY);
    let at = |instant| Activity {
        day: 0,
        first: instant,
        last: instant,
    };
    let decide = |instant| decide(Entry::default(), at(instant), &found, LATE);
    assert_eq!(decide(10 * HOUR - EARLY), Verdict::Job(0));
    assert_eq!(decide(10 * HOUR - EARLY - 1), Verdict::Unknown);
    assert_eq!(decide(12 * HOUR + LATE), Verdict::Job(0));
    assert_eq!(decide(12 * HOUR + LATE + 1), Verdict::Stale);
}

#[test]
fn a_job_that_ran_goes_before_one_that_only_may_be_seen_late() {
    let runs = [
        run("alpha", user(1000), 8, Some(10)),
        run("beta", user(1001), 9, Some(13)),
    ];
    let found = jobs(runs, 30 * DAY);
    let at = Activity {
        day: 0,
        first: 10 * HOUR + MINUTE,
        last: 11 * HOUR,
    };
    let verdict = decide(Entry::default(), at, &found, LATE);
    assert_eq!(verdict, Verdict::Job(1));
}

#[test]
fn jobs_of_different_users_that_both_fit_are_ambiguous() {
    let runs = [
        run("alpha", user(1000), 8, Some(12)),
        run("beta", user(1001), 9, Some(13)),
    ];
    let found = jobs(runs, 30 * DAY);
    assert_eq!(
        verdict(Entry::default(), (10, 11), &found),
        Verdict::Ambiguous
    );
    let scheduler = Entry {
        scheduler: Some("beta"),
        ..Entry::default()
    };
    assert_eq!(verdict(scheduler, (10, 11), &found), Verdict::Job(1));
    let (ada, root) = (user(1000), user(0));
    let of = |user, is_system| Entry {
        user: Some(user),
        is_system,
        ..Entry::default()
    };
    assert_eq!(verdict(of(&ada, false), (10, 11), &found), Verdict::Job(0));
    assert_eq!(
        verdict(of(&root, true), (10, 11), &found),
        Verdict::Ambiguous
    );
    assert_eq!(
        verdict(of(&root, false), (10, 11), &found),
        Verdict::Claimed
    );
}

#[test]
fn of_jobs_of_different_users_those_count_that_ran_on_the_node() {
    let on = |list: Option<&str>, run: Run| Run {
        node_list: list.map(str::to_owned),
        ..run
    };
    let found = |one, other| {
        let runs = [
            on(one, run("alpha", user(1000), 8, Some(12))),
            on(other, run("beta", user(1001), 9, Some(13))),
        ];
        jobs(runs, 30 * DAY)
    };
    let entry = Entry {
        node: Some("b02.cluster"),
        ..Entry::default()
    };
    let both = found(Some("a[01-02]"), Some("b[01-02]"));
    assert_eq!(verdict(entry, (10, 11), &both), Verdict::Job(1));
    assert_eq!(
        verdict(Entry::default(), (10, 11), &both),
        Verdict::Ambiguous
    );
    // Accounting with the node goes before accounting without one.
    let one = found(None, Some("b[01-02]"));
    assert_eq!(verdict(entry, (10, 11), &one), Verdict::Job(1));
    let elsewhere = found(Some("a[01-02]"), Some("c[01-02]"));
    assert_eq!(verdict(entry, (10, 11), &elsewhere), Verdict::Ambiguous);
}

#[test]
fn the_node_is_not_asked_if_there_is_only_one_job() {
    let mut only = run("alpha", user(1000), 8, Some(12));
    only.node_list = Some("a01".to_owned());
    let found = jobs([only], 30 * DAY);
    let (ada, bob) = (user(1000), user(1001));
    let of = |user| Entry {
        user: Some(user),
        node: Some("a02"),
        ..Entry::default()
    };
    assert_eq!(found[0].ran_on("a02"), Some(false));
    assert_eq!(verdict(of(&ada), (10, 11), &found), Verdict::Job(0));
    assert_eq!(verdict(of(&bob), (10, 11), &found), Verdict::Claimed);
}

/// Identifiers of users who chose a `SLURM_JOB_ID` so long that the fields behind it are cut off: it looks like the job of
/// another user, with the numbers of a user and of the system.
#[test]
fn a_number_of_the_system_that_a_user_may_have_chosen_fits_no_job_of_others() {
    let found = jobs([run("alpha", user(1000), 8, Some(12))], 30 * DAY);
    let formats = Formats::compile(["%j:%u:%H"]).expect("a format");
    for (id, expected) in [
        ("4711:0:n101", Verdict::Job(0)),
        ("4711:0:n101aaaaaaaaaaaaaaaaaaaa", Verdict::Claimed),
        ("4711.aaaaaaaaaaaaaaaaaaa:0:n101", Verdict::Claimed),
        (r"4711:0:n101\x41aaaaaaaaaaaaaaaa", Verdict::Unknown),
        ("4711:1000:n101", Verdict::Job(0)),
        ("4711:1001:n101", Verdict::Claimed),
    ] {
        let identity = formats.identify(id);
        let owner = identity.uid.map(|uid| user(uid.into()));
        let forged = identity.format.is_some_and(|it| user_may_be_forged(it, id));
        let entry = Entry {
            user: owner.as_ref(),
            is_system: identity.uid.is_some_and(|uid| uid < 1000) && !forged,
            ..Entry::default()
        };
        let job = identity.job.map(|_| verdict(entry, (10, 11), &found));
        assert_eq!(job.unwrap_or(Verdict::Unknown), expected, "{id}");
    }
    // What the kernel writes before the job is certain however long the job is.
    let format = Formats::compile(["%u:%j:%h"]).expect("a format");
    let id = "0:4711:r01c01.bullx.data.center";
    let identity = format.identify(id);
    assert_eq!((identity.uid, identity.job), (Some(0), Some("4711")));
    assert!(!user_may_be_forged("%u:%j:%h", id));
}

#[test]
fn a_job_of_long_ago_on_the_node_is_no_rival() {
    let mut earlier = run("alpha", user(1000), 8, Some(12));
    earlier.node_list = Some("a01".to_owned());
    let found = jobs(
        [earlier, run("alpha", user(1001), 300, Some(310))],
        30 * DAY,
    );
    let entry = Entry {
        node: Some("a01"),
        ..Entry::default()
    };
    assert_eq!(verdict(entry, (301, 302), &found), Verdict::Job(1));
    assert_eq!(verdict(entry, (9, 10), &found), Verdict::Job(0));
    assert_eq!(verdict(entry, (20, 21), &found), Verdict::Stale);
}

#[test]
fn of_two_jobs_of_one_user_the_longest_overlap_wins() {
    let runs = [
        run("alpha", user(1000), 8, Some(12)),
        run("beta", user(1000), 9, Some(20)),
    ];
    let found = jobs(runs, 30 * DAY);
    assert_eq!(verdict(Entry::default(), (8, 11), &found), Verdict::Job(0));
    assert_eq!(verdict(Entry::default(), (9, 14), &found), Verdict::Job(1));
}

#[test]
fn users_are_compared_by_number_or_else_by_name() {
    let found = jobs([run("pbs", named("ada"), 8, Some(12))], 30 * DAY);
    let with = |owner: &Owner| {
        let entry = Entry {
            user: Some(owner),
            ..Entry::default()
        };
        verdict(entry, (9, 10), &found)
    };
    let both = |uid, name: &str| Owner {
        uid: Some(uid),
        user_name: Some(name.to_owned()),
    };
    assert_eq!(with(&both(1000, "ada")), Verdict::Job(0));
    assert_eq!(with(&both(1000, "bob")), Verdict::Claimed);
    // The name of this user is unknown.
    assert_eq!(with(&user(1000)), Verdict::Job(0));
}

/// The job of another user is claimed while it runs, and as long afterwards as its own work would be stale.
#[test]
fn work_with_the_number_of_another_users_job_is_no_job() {
    let runs = [
        run("alpha", user(1000), 10, Some(12)),
        run("alpha", user(1001), 300, Some(310)),
    ];
    let found = jobs(runs, 30 * DAY);
    let (ada, bob) = (user(1000), user(1001));
    let of = |user, scheduler| Entry {
        user: Some(user),
        scheduler,
        ..Entry::default()
    };
    let bobs = |hours| verdict(of(&bob, None), hours, &found);
    assert_eq!(bobs((9, 10)), Verdict::Claimed);
    assert_eq!(bobs((20, 21)), Verdict::Claimed);
    assert_eq!(bobs((250, 251)), Verdict::Unknown);
    assert_eq!(bobs((301, 302)), Verdict::Job(1));
    assert_eq!(
        verdict(of(&ada, None), (301, 302), &found),
        Verdict::Claimed
    );
    // A job of another scheduler is not on this node, and for a job without a known user the owner is uncertain.
    assert_eq!(
        verdict(of(&bob, Some("beta")), (9, 10), &found),
        Verdict::Unknown
    );
    let nobodys = jobs([run("alpha", Owner::default(), 8, Some(12))], 30 * DAY);
    assert_eq!(verdict(of(&bob, None), (9, 10), &nobodys), Verdict::Unknown);
}

#[test]
fn a_job_of_nobody_is_no_job_of_a_user() {
    let found = jobs([run("alpha", Owner::default(), 8, Some(12))], 30 * DAY);
    let ada = user(1000);
    let entry = Entry {
        user: Some(&ada),
        ..Entry::default()
    };
    assert_eq!(verdict(entry, (9, 10), &found), Verdict::Unknown);
    assert_eq!(verdict(Entry::default(), (9, 10), &found), Verdict::Job(0));
}

#[test]
fn of_very_many_jobs_of_a_scheduler_the_newest_count_and_all_of_another_one() {
    let mut runs = vec![run("beta", user(1), 0, Some(1))];
    runs.extend((0..100).map(|n| run("alpha", user(1000 + n), n, Some(n + 1))));
    let found = jobs(runs, 30 * DAY);
    assert_eq!(found.len(), 31);
    assert_eq!(
        (&*found[0].scheduler, found[1].started),
        ("beta", 70 * HOUR)
    );
}

#[test]
fn users_that_cannot_be_compared_are_not_taken_for_one() {
    let runs = [
        run("pbs", named("ada"), 8, Some(12)),
        run("slurm", user(1000), 9, Some(13)),
    ];
    let found = jobs(runs, 30 * DAY);
    assert_eq!(
        verdict(Entry::default(), (10, 11), &found),
        Verdict::Ambiguous
    );
}

#[test]
fn an_entry_of_a_running_job_belongs_to_it_until_it_ends() {
    let days = [activity(10, 23), activity(30, 40)];
    let running = jobs([run("alpha", user(1000), 10, None)], 30 * DAY);
    let known = |until| Range {
        from: 0,
        until,
        verdict: Verdict::Job(0),
    };
    let ranges = |jobs: &[Job]| ranges(Entry::default(), &days, jobs, LATE);
    assert_eq!(ranges(&running), [known(FOREVER)]);
    let ended = jobs([run("alpha", user(1000), 10, Some(71))], 30 * DAY);
    assert_eq!(ranges(&ended), [known(3)]);
    // The end is at midnight, and work may be seen on the next day.
    let ended = jobs([run("alpha", user(1000), 10, Some(72))], 30 * DAY);
    assert_eq!(ranges(&ended), [known(4)]);
}

#[test]
fn a_shell_that_is_left_over_is_stale_from_the_next_day_on() {
    let found = jobs([run("alpha", user(1000), 10, Some(12))], 30 * DAY);
    let days = [activity(10, 20), activity(32, 33), activity(80, 81)];
    let expected = [
        Range {
            from: 0,
            until: 1,
            verdict: Verdict::Job(0),
        },
        Range {
            from: 1,
            until: 4,
            verdict: Verdict::Stale,
        },
    ];
    assert_eq!(ranges(Entry::default(), &days, &found, LATE), expected);
}

#[test]
fn a_number_that_comes_back_gives_its_entry_to_the_new_job() {
    let runs = [
        run("alpha", user(1000), 10, Some(12)),
        run("alpha", user(1001), 300, Some(310)),
    ];
    let found = jobs(runs, 30 * DAY);
    let days = [activity(10, 12), activity(250, 251), activity(301, 302)];
    let range = |from, until, position| Range {
        from,
        until,
        verdict: Verdict::Job(position),
    };
    // On the day between, over seven days after the first job, accounting has no job of this number.
    assert_eq!(
        ranges(Entry::default(), &days, &found, LATE),
        [range(0, 1, 0), range(12, 13, 1)]
    );
}

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
