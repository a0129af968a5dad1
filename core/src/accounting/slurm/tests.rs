mod damage;
mod jobs;

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
