mod damage;

use std::borrow::Cow;

use super::*;
use crate::accounting::zone::TimeDoubt;
use crate::accounting::{Job, Reason};
use crate::base::instant::{HOUR, Micros, SECOND};
use crate::base::pause::Pause;

const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

/// 2024-07-01 12:00 UTC
const NOON: Micros = 1_719_835_200 * SECOND;

fn read(text: &str) -> Vec<Record<'_>> {
    records(text.as_bytes(), &Zone::UTC, Pause::NEVER).collect()
}

/// The lines and reasons of problems.
fn problems(text: &str) -> Vec<(u32, Reason)> {
    let problem = |record: Record<'_>| Some((record.line, record.job.err()?));
    read(text).into_iter().filter_map(problem).collect()
}

fn jobs(text: &str) -> Vec<Job<'_>> {
    read(text)
        .into_iter()
        .filter_map(|record| record.job.ok())
        .collect()
}

/// The only job of a table with one row, which is written as `column=field` with `;` between them.
fn job(row: &str) -> Result<Job<'static>, Reason> {
    job_in(row, &Zone::UTC)
}

fn job_in(row: &str, zone: &Zone) -> Result<Job<'static>, Reason> {
    let (names, fields): (Vec<_>, Vec<_>) = row
        .split(';')
        .map(|part| part.split_once('=').unwrap())
        .unzip();
    let text = format!("{}\n{}\n", names.join("|"), fields.join("|"));
    let mut records = records(text.as_bytes(), zone, Pause::NEVER);
    let record = records.next().unwrap();
    assert_eq!(records.next(), None);
    record.job.map(owned)
}

fn owned(job: Job<'_>) -> Job<'static> {
    let own = |text: Cow<'_, str>| Cow::Owned::<str>(text.into_owned());
    let some = |text: Option<Cow<'_, str>>| text.map(own);
    Job {
        scheduler: some(job.scheduler),
        job: own(job.job),
        label: own(job.label),
        user_name: some(job.user_name),
        group_name: some(job.group_name),
        account: some(job.account),
        partition: some(job.partition),
        qos: some(job.qos),
        job_name: some(job.job_name),
        state: some(job.state),
        node_list: some(job.node_list),
        exit_code: some(job.exit_code),
        parent: some(job.parent),
        extra: job
            .extra
            .into_iter()
            .map(|(name, value)| (own(name), own(value)))
            .collect(),
        submitted: job.submitted,
        started: job.started,
        ended: job.ended,
        time_doubt: job.time_doubt,
        uid: job.uid,
        gid: job.gid,
        nodes: job.nodes,
        cpus: job.cpus,
    }
}

const COLUMNS: &str = "JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|GID|Group|Account|Partition|QOS|State|ExitCode|NNodes|NCPUS|NodeList|Reservation|JobName";
const ROW: &str = "4711|4700_11|alps|1719835200|1719835260|1719835320|1000|ada|100|users|p42|batch|normal|CANCELLED by 1000|0:15|2|256|n[01-02]|maint|my job";

fn whole() -> Job<'static> {
    Job {
        scheduler: Some("alps".into()),
        job: "4711".into(),
        label: "4700_11".into(),
        submitted: Some(NOON),
        started: Some(NOON + 60 * SECOND),
        ended: Some(NOON + 120 * SECOND),
        time_doubt: None,
        uid: Some(1000),
        user_name: Some("ada".into()),
        gid: Some(100),
        group_name: Some("users".into()),
        account: Some("p42".into()),
        partition: Some("batch".into()),
        qos: Some("normal".into()),
        job_name: Some("my job".into()),
        state: Some("CANCELLED by 1000".into()),
        nodes: Some(2),
        node_list: Some("n[01-02]".into()),
        cpus: Some(256),
        exit_code: Some("0:15".into()),
        parent: Some("4700".into()),
        extra: vec![("Reservation".into(), "maint".into())],
    }
}

#[test]
fn all_fields_are_read() {
    assert_eq!(jobs(&format!("{COLUMNS}\n{ROW}\n")), [whole()]);
}

#[test]
fn columns_may_stand_in_any_order_with_any_delimiter() {
    for delimiter in [
        "|", "\u{1f}", "☃", "^|^", "||", "\t", ",", " ; ", "<sep>", "|x|",
    ] {
        for end in ["", delimiter] {
            for reverse in [false, true] {
                let line = |line: &str| {
                    let mut fields: Vec<_> = line.split('|').collect();
                    if reverse {
                        fields.reverse();
                    }
                    format!("{}{end}\n", fields.join(delimiter))
                };
                let row = ROW.replace("n[01-02]", "n1");
                let text = line(COLUMNS) + &line(&row) + &line(&row);
                let expected = Job {
                    node_list: Some("n1".into()),
                    ..whole()
                };
                assert_eq!(jobs(&text), [expected.clone(), expected], "{text}");
                assert!(recognizes(text.as_bytes()));
            }
        }
    }
}

#[test]
fn a_table_may_have_one_column() {
    assert_eq!(jobs("JobIDRaw\n12\n13\n").len(), 2);
    assert_eq!(jobs("JobIDRaw|\n12|\n13|\n").len(), 2);
}

#[test]
fn ends_of_lines_and_a_mark_of_windows_are_no_part_of_fields() {
    let text = "\u{FEFF}JobID|User\r\n1|ada\r\n\r\n2|bob\r\n";
    let names: Vec<_> = jobs(text)
        .into_iter()
        .map(|job| job.user_name.unwrap())
        .collect();
    assert_eq!(names, ["ada", "bob"]);
}

#[test]
fn rows_of_steps_are_skipped() {
    let text = "JobID|JobIDRaw|User\n1|1|ada\n1.batch|1.batch|\n1.extern|1.extern|\n1.0|1.0|\n1.TBD|1.TBD|\n5_4.batch|9.batch|\n\
                7+1.0|8.0|\n1.interactive|1.interactive|\n";
    assert_eq!(read(text).len(), 1);
}

#[test]
fn rows_of_steps_are_skipped_where_the_user_is_the_first_column() {
    assert_eq!(
        read("User|JobID|State\nada|1|COMPLETED\n|1.batch|COMPLETED\n").len(),
        1
    );
}

#[test]
fn without_a_header_there_is_one_problem() {
    let none = [(1, Reason::NoHeader)];
    for text in [
        "1|ada\n2|bob\n",
        "User|State\nada|RUNNING\n",
        "x",
        "\0\u{1}|\n",
        "JOBID|USER\n1|ada\n",
        "{\n  \"jobs\": [\n    {\"job_id\": 7, \"time\": {\"submission\": 1719835200}}\n  ]\n}\n",
    ] {
        assert_eq!(problems(text), none, "{text}");
        assert_eq!(read(text).len(), 1);
        assert!(!recognizes(text.as_bytes()));
        assert!(lacks_header(text.as_bytes()));
    }
    assert!(!lacks_header(b"JobID|User\n"));
    assert!(read("").is_empty() && read("\n\n").is_empty());
    let fixed = "       JobID    JobName  Partition \n------------ ---------- ---------- \n           1       test        all \n";
    assert_eq!(problems(fixed), none);
}

#[test]
fn messages_of_programs_before_the_text_cost_only_themselves() {
    let messages = "Warning: Permanently added 'slurm1' to the list of known hosts.\r\n\nsacct: error: no answer\n";
    let text = format!("{messages}{COLUMNS}\n{ROW}\n");
    assert_eq!(jobs(&text), [whole()]);
    let unreadable = [1, 3].map(|line| (line, Reason::UnreadableRecord));
    assert_eq!(problems(&text), unreadable);
    assert_eq!(read(&text).last().unwrap().line, 5);
    assert!(recognizes(text.as_bytes()) && !lacks_header(text.as_bytes()));
    assert!(is_forgeable(text.as_bytes()));
    // Without the text there is no header to check.
    assert!(!lacks_header(messages.as_bytes()) && read(messages).len() == 2);
    // The name of a job can be a header: a row is no message, and what comes behind it is no table.
    let forged = "ada|1|x\nJobID|User\n2|bob\n";
    assert_eq!(problems(forged), [(1, Reason::NoHeader)]);
    assert_eq!(read("JobID: User\n1: ada\n").len(), 1);
}

#[test]
fn a_delimiter_of_one_character_that_can_be_typed_is_forgeable() {
    for (delimiter, expected) in [
        ("|", true),
        ("\t", true),
        ("§", true),
        ("\u{1f}", false),
        ("|5e1c|", false),
    ] {
        let text = ["JobID", "User\n1", "ada\n"].join(delimiter);
        assert_eq!(is_forgeable(text.as_bytes()), expected, "{delimiter:?}");
    }
    assert!(!is_forgeable(b"JobID\n1\n"));
}

#[test]
fn a_second_table_has_its_own_header() {
    let text = "JobID|User\n1|ada\nJobID|User\n2|ada\nUser|JobID\nbob|3\n";
    let found: Vec<_> = jobs(text)
        .into_iter()
        .map(|job| (job.job, job.user_name.unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            ("1".into(), "ada".into()),
            ("2".into(), "ada".into()),
            ("3".into(), "bob".into())
        ]
    );
    assert!(problems(text).is_empty());
}

#[test]
fn a_delimiter_in_a_name_costs_only_that_row() {
    let text = "JobID|JobName|User\n1|a|ada\n2|a|b|ada\n3|a|ada\n";
    assert_eq!(problems(text), [(3, Reason::WrongFields)]);
    assert_eq!(jobs(text).len(), 2);
}

#[test]
fn a_row_that_goes_on_in_further_lines_is_put_together() {
    let text = "JobID|JobName|SubmitLine|User\n1|a\nb\n\nc|x|ada\n2|a|sbatch\n  x|bob\n3|a|x|eve\n";
    let found: Vec<_> = read(text)
        .into_iter()
        .map(|it| (it.line, it.job.unwrap()))
        .collect();
    let found: Vec<_> = found
        .iter()
        .map(|(line, it)| (*line, it.job_name.as_deref().unwrap()))
        .collect();
    assert_eq!(found, [(2, "a\nb\n\nc"), (6, "a"), (8, "a")]);
}

#[test]
fn a_row_with_several_readings_is_a_problem_and_no_other() {
    // The second row has one delimiter too many, the third ends in a row, the fourth has a line too many.
    let text = "JobID|JobName|User\n1|a|ada\n2|a\nb|c|ada\n3|a\n4|b|ada\n5|b|ada\nc\nd\n6|b|ada\n";
    let wrong = |line| (line, Reason::WrongFields);
    assert_eq!(problems(text), [wrong(3), wrong(5), wrong(8)]);
    let found: Vec<_> = jobs(text).into_iter().map(|job| job.job).collect();
    assert_eq!(found, ["1", "4", "5", "6"]);
}

#[test]
fn the_end_of_a_line_is_only_in_free_text() {
    let text = "JobID|User|State\n1|ada\n|RUNNING\n2|ada|RUNN\nING\n";
    let wrong = |line| (line, Reason::WrongFields);
    assert_eq!(problems(text), [wrong(2), wrong(5)]);
}

#[test]
fn a_row_inside_the_name_of_a_job_is_found_out_by_a_repeated_column() {
    let text = "JobIDRaw|User|JobName|JobIDRaw\n1|eve|x\n2|root|y|1\n3|ada|z|3\n";
    let wrong = |line| (line, Reason::WrongFields);
    assert_eq!(problems(text), [wrong(2), wrong(3)]);
    assert_eq!(jobs(text).len(), 1);
}

#[test]
fn a_last_line_without_its_end_is_not_believed() {
    assert_eq!(
        problems("JobID|NodeList\n1|n1\n2|n"),
        [(3, Reason::UnreadableRecord)]
    );
    assert_eq!(jobs("JobID|NodeList|\n1|n1|\n2|n1|").len(), 2);
    assert_eq!(
        problems("JobID|NodeList|\n1|n1|\n2|n1"),
        [(3, Reason::WrongFields)]
    );
}

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

#[test]
fn other_texts_are_not_taken_for_those_of_slurm() {
    let others = [
        "mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id:          4711:1000:n1\n",
        "root:x:0:0:root:/root:/bin/bash\n",
        "users:x:100:ada,bob\n",
        "01/26/2016 00:00:37;E;2994.pbs;user=ada group=users\n",
        "\"JOB_FINISH\" \"9.11\" 1437000000 42 1000 33816578 1\n",
        "all.q:node1:users:ada:test:42:sge:0:1437000000:1437000001:1437000002:0:0\n",
        "# Version: 8.6.2\n",
        "{\"jobs\":[{\"id\":1234,\"userid\":1000,\"t_submit\":1.5,\"state\":64}]}",
        "{\"COMMAND\":\"bjobs\",\"JOBS\":1,\"RECORDS\":[{\"JOBID\":\"22005\"}]}",
        "{\"job_number\":9,\"task_number\":0,\"owner\":\"ada\"}\n",
        "# TYPE job_id gauge\njob_id 1\n",
        "JOBID|USER|ST\n1|ada|R\n",
        "",
    ];
    for text in others {
        assert!(!recognizes(text.as_bytes()), "{text}");
    }
}
