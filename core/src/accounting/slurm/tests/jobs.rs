use super::*;

#[test]
fn a_task_of_an_array_has_its_own_number() {
    // The last task has the number of the array.
    for raw in ["41", "36"] {
        let job = job(&format!("JobIDRaw={raw};JobID=36_3")).unwrap();
        assert_eq!(
            (&*job.job, &*job.label, job.parent.as_deref()),
            (raw, "36_3", Some("36"))
        );
    }
    let unknown = job("JobID=36_3").unwrap();
    assert_eq!(
        (&*unknown.job, unknown.parent.as_deref()),
        ("36_3", Some("36"))
    );
}

#[test]
fn the_tasks_of_an_array_that_wait_are_one_job() {
    for label in [
        "36_[1-3]",
        "36_[1,5]",
        "36_[9201-10000%500]",
        "36_[1,3,5,7...",
        "36_[1,3…]",
    ] {
        for row in [
            format!("JobIDRaw=36;JobID={label}"),
            format!("JobID={label}"),
        ] {
            let job = job(&row).unwrap();
            assert_eq!(
                (&*job.job, &*job.label, job.parent.as_deref()),
                ("36", label, Some("36"))
            );
        }
    }
}

#[test]
fn components_have_the_number_of_their_leader() {
    let leader = job("JobIDRaw=123;JobID=123+0").unwrap();
    let component = job("JobIDRaw=124;JobID=123+1").unwrap();
    assert_eq!(
        (&*leader.job, &*leader.label, leader.parent.as_deref()),
        ("123", "123+0", Some("123"))
    );
    assert_eq!((&*component.job, &*component.label), ("123", "123+1"));
    assert_eq!(component.parent.as_deref(), Some("123"));
    assert_eq!(component.extra, [("JobIDRaw".into(), "124".into())]);
}

#[test]
fn what_is_no_number_of_a_job_is_a_problem() {
    for row in [
        "JobIDRaw=0;User=a",
        "JobIDRaw=;User=a",
        "JobIDRaw=x;User=a",
        "JobIDRaw=-1;User=a",
        "JobIDRaw=4294967296;User=a",
        "JobIDRaw=012;User=a",
        "JobID=1_;User=a",
        "JobID=1_x;User=a",
        "JobID=1_[;User=a",
        "JobID=1+;User=a",
        "JobID=1x;User=a",
        "JobIDRaw=2;JobID=1",
        "JobIDRaw=x;JobID=1_1",
    ] {
        assert_eq!(job(row), Err(Reason::BadJob), "{row}");
    }
}

#[test]
fn times_are_read_in_all_forms_that_say_when() {
    let berlin = Zone::posix(BERLIN);
    let utc = Zone::UTC;
    for (field, zone) in [
        ("1719835200", &berlin),
        ("2024-07-01T12:00:00", &utc),
        ("2024-07-01 12:00:00", &utc),
        ("2024-07-01T14:00:00", &berlin),
        ("2024-07-01T12:00:00Z", &berlin),
        ("2024-07-01T07:30:00-0430", &berlin),
        ("2024-07-01T14:00:00+02:00", &utc),
    ] {
        let job = job_in(&format!("JobID=1;Submit={field}"), zone).unwrap();
        assert_eq!(
            (job.submitted, job.time_doubt),
            (Some(NOON), None),
            "{field}"
        );
    }
}

#[test]
fn an_unknown_time_is_none() {
    for field in [
        "",
        "Unknown",
        "None",
        "N/A",
        "0",
        "4294967294",
        "4294967295",
        "####################",
        "18446744073709551615",
    ] {
        let job = job(&format!("JobID=1;Submit={field};Start={field};End={field}")).unwrap();
        assert_eq!(
            (job.submitted, job.started, job.ended),
            (None, None, None),
            "{field}"
        );
    }
}

#[test]
fn a_time_that_is_none_is_a_problem() {
    for field in [
        "4 Sep 11:18",
        "Ystday 12:03",
        "12:00:00",
        "2024-07-01",
        "2024-13-01T00:00:00",
        "2024-02-30T00:00:00",
        "2024-07-01T24:00:00",
        "2024-07-01T12:00:00+2",
        "2024-07-01T12:00:00 CEST",
        "2024/07/01T12:00:00",
        "1960-01-01T00:00:00",
        "9999-01-01T00:00:00",
        "1719835200000",
        "-1",
        "1e9",
    ] {
        assert_eq!(
            job(&format!("JobID=1;Start={field}")),
            Err(Reason::BadTime),
            "{field}"
        );
    }
}

#[test]
fn the_repeated_hour_of_the_autumn_is_reported() {
    let zone = Zone::posix(BERLIN);
    // 2024-10-27 00:30 UTC, the first time that clocks show 02:30
    let first = 1_729_989_000 * SECOND;
    let row = "JobID=1;Submit=2024-10-27T01:00:00;Start=2024-10-27T02:30:00;End=2024-10-27T02:10:00;State=COMPLETED";
    let job = job_in(row, &zone).unwrap();
    assert_eq!(job.time_doubt, Some(TimeDoubt::Repeated));
    // An end before the start is the later one.
    assert_eq!(
        (job.started, job.ended),
        (Some(first), Some(first + HOUR - 1200 * SECOND))
    );
    let sure = job_in("JobID=1;Start=2024-10-27T03:00:00", &zone).unwrap();
    assert_eq!(sure.time_doubt, None);
}

#[test]
fn the_skipped_hour_of_the_spring_is_reported_and_not_guessed() {
    let zone = Zone::posix(BERLIN);
    let job = job_in(
        "JobID=1;Submit=2024-03-31T02:30:00;Start=2024-03-31T03:00:00",
        &zone,
    )
    .unwrap();
    assert_eq!(job.time_doubt, Some(TimeDoubt::Skipped));
    assert_eq!((job.submitted, job.started.is_some()), (None, true));
}

#[test]
fn a_job_that_never_ran_has_no_start() {
    for row in [
        "JobID=1;Start=1719835200;End=1719835200;State=CANCELLED by 7;NNodes=1;NodeList=None assigned",
        "JobID=1;Start=1719835200;End=1719835200;State=CANCELLED;NodeList=",
        "JobID=1;Start=1719835200;End=1719835200;State=CANCELLED;NNodes=0",
        "JobID=1;Start=Unknown;End=1719835200;State=CANCELLED;NNodes=0",
    ] {
        let job = job(row).unwrap();
        assert_eq!(
            (job.started, job.ended, job.node_list),
            (None, Some(NOON), None),
            "{row}"
        );
    }
    let short = job("JobID=1;Start=1719835200;End=1719835200;State=CANCELLED;NodeList=n1").unwrap();
    assert_eq!(short.started, Some(NOON));
}

#[test]
fn a_job_that_is_not_over_has_no_end() {
    for state in ["RUNNING", "SUSPENDED", "PENDING"] {
        let job = job(&format!(
            "JobID=1;Start=1719835200;End=1719835260;State={state};NodeList=n1"
        ))
        .unwrap();
        let started = (state != "PENDING").then_some(NOON);
        assert_eq!((job.started, job.ended), (started, None), "{state}");
    }
    let requeued =
        job("JobID=1;Start=1719835200;End=1719835260;State=REQUEUED;NodeList=n1").unwrap();
    assert!(requeued.ended.is_some());
}

#[test]
fn a_start_may_lie_before_the_submission_but_no_end_before_the_start() {
    let job_of = |start: u64, end: u64| {
        job(&format!(
            "JobID=1;Submit=1719835200;Start={start};End={end};NodeList=n1"
        ))
    };
    assert_eq!(
        job_of(1_719_835_100, 1_719_835_300).unwrap().started,
        Some(NOON - 100 * SECOND)
    );
    assert_eq!(job_of(1_719_835_300, 1_719_835_299), Err(Reason::BadTime));
}

#[test]
fn states_are_kept_as_they_were_printed() {
    for state in [
        "CANCELLED by 1000",
        "FOO/BAR",
        "CANCELLED+",
        "OUT_OF_MEMORY",
    ] {
        assert_eq!(
            job(&format!("JobID=1;State={state}"))
                .unwrap()
                .state
                .as_deref(),
            Some(state)
        );
    }
}

#[test]
fn runs_of_one_number_are_several_jobs() {
    let text = "JobID|Submit|Start|End|State\n9|100|200|300|REQUEUED\n9|300|400|500|COMPLETED\n9|300|400|500|COMPLETED\n";
    assert_eq!(jobs(text).len(), 3);
}

#[test]
fn numbers_that_are_none_are_left_out() {
    let job = job("JobID=1;UID=4294967294;GID=;NNodes=x;NCPUS=-1").unwrap();
    assert_eq!(
        (job.uid, job.gid, job.nodes, job.cpus),
        (None, None, None, None)
    );
    let zero = self::job("JobID=1;UID=0;NNodes=0;AllocCPUS=4;AllocNodes=3").unwrap();
    assert_eq!(
        (zero.uid, zero.nodes, zero.cpus),
        (Some(0), Some(0), Some(4))
    );
}

#[test]
fn nothing_is_kept_of_what_is_private_empty_or_long() {
    let row = format!(
        "JobID=1;SubmitLine=sbatch --export=KEY=1 x;WorkDir=/home/ada;Comment=hi;AdminComment=x;StdOut=/a;AllocTRES=;Reason=(null);\
         WCKey=*;Elapsed={}",
        "9".repeat(2_000)
    );
    assert_eq!(job(&row).unwrap().extra, [("WCKey".into(), "*".into())]);
}

#[test]
fn names_that_are_no_text_are_shown_as_their_bytes() {
    let found: Vec<_> =
        records(b"JobID|JobName\n1|m\xFCller\n", &Zone::UTC, Pause::NEVER).collect();
    assert_eq!(
        found[0].job.as_ref().unwrap().job_name.as_deref(),
        Some("m\\xFCller")
    );
}
