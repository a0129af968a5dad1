use proptest::prelude::*;

use super::*;
use crate::base::pause::Pause;

/// A line of SGE 6 with 43 fields, in seconds.
const SGE: &str = "long.q:node7.site:chem:ada:relax:4711:sge:0:1700000000:1700000060:1700003660:0:0:3600:3500.5:12.25:8236:0:0:0:0:\
1523:3:0:400:0:0:0:0:48:42:NONE:chemistry:NONE:1:0:3512.75:2.96:0.000025:-u ada -q long.q:0.000000:NONE:143335424";

/// The fields 44 to 55, which UGE 8.6 appends.
const UGE: &str = ":0:0:NONE:NONE:0:0:login1.site:NONE:qsub -N relax job.sh:3600.28:80:NONE";

/// A line of OCS 9, in microseconds.
const OCS: &str = r#"{"job_number":4711,"task_number":3,"start_time":1700000060123456,"end_time":1700003660000001,"owner":"ada","group":"chem","account":"sge","qname":"long.q","hostname":"node7","department":"chemistry","slots":4,"job_name":"relax","priority":0,"submission_time":1700000000000007,"submit_cmd_line":"qsub -t 1-4 job.sh","category":"","failed":0,"exit_status":137,"usage":{"rusage":{"ru_wallclock":0,"ru_utime":0.35},"usage":{"cpu":0.51,"io":8.3e-6}}}"#;

fn one(text: &[u8]) -> Result<Job<'_>, Reason> {
    let found: Vec<_> = records(text, Pause::NEVER).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].job.clone()
}

fn reason(text: &str) -> Reason {
    one(text.as_bytes()).unwrap_err()
}

/// Returns the line of SGE with some of its fields replaced, counted from 0.
fn line(fields: &[(usize, &str)]) -> String {
    let mut all: Vec<&str> = SGE.split(':').collect();
    for (place, text) in fields {
        all[*place] = text;
    }
    all.join(":")
}

fn extra<'a>(job: &'a Job<'_>) -> Vec<(&'a str, &'a str)> {
    job.extra
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect()
}

#[test]
fn every_field_of_a_line_is_read() {
    let text = line(&[
        (7, "-5"),
        (11, "100"),
        (12, "137"),
        (31, "proj1"),
        (6, "grant:7"),
        (35, "24"),
        (34, "16"),
    ]) + UGE;
    let job = one(text.as_bytes()).unwrap();
    assert_eq!(
        job,
        Job {
            scheduler: None,
            job: "4711".into(),
            label: "4711.24".into(),
            submitted: Some(1_700_000_000_000_000),
            started: Some(1_700_000_060_000_000),
            ended: Some(1_700_003_660_000_000),
            time_doubt: None,
            uid: None,
            user_name: Some("ada".into()),
            gid: None,
            group_name: Some("chem".into()),
            account: Some("proj1".into()),
            partition: Some("long.q".into()),
            qos: None,
            job_name: Some("relax".into()),
            state: None,
            nodes: Some(1),
            node_list: Some("node7.site".into()),
            cpus: Some(16),
            exit_code: Some("137".into()),
            parent: Some("4711".into()),
            extra: job.extra.clone(),
        }
    );
    assert_eq!(
        extra(&job),
        [
            ("failed", "100"),
            ("account", "grant:7"),
            ("department", "chemistry"),
            ("priority", "-5"),
            ("cpu", "3512.75"),
            ("mem", "2.96"),
            ("io", "0.000025"),
        ]
    );
}

#[test]
fn all_counts_of_fields_give_the_same_job() {
    let appended = [
        "",
        ":0:0",
        ":0:0:NONE",
        UGE,
        &format!("{UGE}{}", ":0.000000:NONE".repeat(9) + ":end"),
    ];
    let counts = appended.map(|more| format!("{SGE}{more}").split(':').count());
    assert_eq!(counts, [43, 45, 46, 55, 74]);
    let expected = one(SGE.as_bytes());
    assert!(expected.is_ok());
    for more in appended {
        assert_eq!(one(format!("{SGE}{more}\n").as_bytes()), expected, "{more}");
    }
}

#[test]
fn the_size_of_a_time_tells_its_unit() {
    let times = |submitted, started, ended| {
        let text = line(&[(8, submitted), (9, started), (10, ended)]);
        one(text.as_bytes()).map(|job| (job.submitted, job.started, job.ended))
    };
    assert_eq!(
        times("1543336554350", "1543336554444", "1543336674680"),
        Ok((
            Some(1_543_336_554_350_000),
            Some(1_543_336_554_444_000),
            Some(1_543_336_674_680_000)
        ))
    );
    assert_eq!(
        times("1730532912874519", "1730532913429415", "0"),
        Ok((
            Some(1_730_532_912_874_519),
            Some(1_730_532_913_429_415),
            None
        ))
    );
    for damaged in [
        "99999999",
        "99999999999",
        "99999999999999999999",
        "-1",
        "1700000000.5",
    ] {
        assert_eq!(times(damaged, "0", "0"), Err(Reason::BadTime), "{damaged}");
    }
    assert_eq!(
        times("1700000000", "1700000060", "1700000059"),
        Err(Reason::BadTime)
    );
}

#[test]
fn comments_and_ends_of_windows_are_no_part_of_a_record() {
    let text = format!("# Version: 8.6.2\r\n# \r\n\r\n{SGE}{UGE}\r\n:\n");
    let found: Vec<_> = records(text.as_bytes(), Pause::NEVER).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].line, 4);
    assert_eq!(found[0].job, one(SGE.as_bytes()));
}

#[test]
fn a_colon_in_the_name_of_a_job_moves_nothing() {
    let text = line(&[(4, "aero:turb:x")]);
    let job = one(text.as_bytes()).unwrap();
    assert_eq!(
        (&*job.job, job.job_name.as_deref()),
        ("4711", Some("aero:turb:x"))
    );
    assert_eq!(job.user_name.as_deref(), Some("ada"));
}

#[test]
fn a_colon_in_the_account_moves_nothing() {
    let text = line(&[(6, "a:b")]);
    let job = one(text.as_bytes()).unwrap();
    assert_eq!((&*job.job, job.account.as_deref()), ("4711", Some("a:b")));
}

#[test]
fn a_colon_in_options_or_command_moves_nothing() {
    let expected = one(SGE.as_bytes());
    let text = line(&[(39, "-l h_rt=2:00:00,path=/a:/b")]);
    assert_eq!(one(text.as_bytes()), expected);
    let text = format!(
        "{SGE}{}",
        UGE.replace("job.sh", "-v PATH=/bin:/usr/bin:1:2 job.sh a:b")
    );
    assert_eq!(one(text.as_bytes()), expected);
}

#[test]
fn a_line_with_two_readings_is_a_problem() {
    // Is 12 the number and "4711:sge" the account, or 4711 the number and "relax:12" the name?
    assert_eq!(reason(&line(&[(4, "relax:12")])), Reason::WrongFields);
    assert_eq!(reason(&line(&[(6, "7:sge")])), Reason::WrongFields);
    // A name that looks like the rest of a line cannot make another job.
    let crafted = format!("x:99:sge{}:y", &SGE[SGE.find(":0:17000").unwrap()..]);
    assert_eq!(reason(&line(&[(4, &crafted)])), Reason::WrongFields);
    // Options cannot make a slave of a job.
    assert_eq!(
        reason(&line(&[(39, "-l a=b:0:1.node:0")])),
        Reason::WrongFields
    );
}

#[test]
fn uge_prints_another_byte_for_a_colon() {
    let mut text = line(&[(4, "a?b")]).into_bytes();
    let place = text.iter().position(|byte| *byte == b'?').unwrap();
    text[place] = 0xFF;
    assert_eq!(one(&text).unwrap().job_name.as_deref(), Some("a:b"));
}

#[test]
fn task_0_is_no_array() {
    let job = one(SGE.as_bytes()).unwrap();
    assert_eq!((&*job.label, job.parent), ("4711", None));
    let text = line(&[(35, "1")]);
    let job = one(text.as_bytes()).unwrap();
    assert_eq!(
        (&*job.label, job.parent.as_deref()),
        ("4711.1", Some("4711"))
    );
}

#[test]
fn slave_tasks_are_not_counted_twice() {
    let slave = line(&[(33, "mpi"), (34, "8"), (41, "1.node8")]);
    let master = line(&[(33, "mpi"), (34, "8")]);
    let text = format!("{slave}\n{master}\n{slave}{UGE}\n");
    let found: Vec<_> = records(text.as_bytes(), Pause::NEVER).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].line, 2);
    // The other nodes of a parallel job are not in the line.
    let job = found[0].job.clone().unwrap();
    assert_eq!(
        (job.nodes, &job.node_list, job.cpus),
        (None, &None, Some(8))
    );
    assert!(extra(&job).contains(&("hostname", "node7.site")));
    assert!(extra(&job).contains(&("granted_pe", "mpi")));
}

#[test]
fn a_job_that_could_not_start_has_neither_start_nor_end() {
    let text = line(&[
        (0, "UNKNOWN"),
        (1, "UNKNOWN"),
        (9, "0"),
        (10, "1700000100"),
        (11, "26"),
    ]);
    let job = one(text.as_bytes()).unwrap();
    assert_eq!(
        (job.submitted, job.started, job.ended),
        (Some(1_700_000_000_000_000), None, None)
    );
    assert_eq!(
        (
            job.partition.as_deref(),
            job.node_list.as_deref(),
            job.nodes
        ),
        (None, None, None)
    );
    assert!(extra(&job).contains(&("failed", "26")));
}

#[test]
fn a_job_that_was_rescheduled_has_a_record_for_each_run() {
    let text = format!(
        "{}\n{}\n{SGE}\n",
        line(&[(9, "0"), (10, "0"), (11, "21")]),
        line(&[(10, "1700000070"), (11, "25")])
    );
    let runs: Vec<_> = records(text.as_bytes(), Pause::NEVER)
        .map(|record| record.job.unwrap())
        .collect();
    assert!(
        runs.iter()
            .all(|job| job.job == "4711" && job.submitted == Some(1_700_000_000_000_000))
    );
    let ends: Vec<_> = runs
        .iter()
        .map(|job| job.ended.map(|end| end / SECOND))
        .collect();
    assert_eq!(ends, [None, Some(1_700_000_070), Some(1_700_003_660)]);
}

#[test]
fn numbers_are_those_of_jobs() {
    for number in ["0", "4294967296", ""] {
        assert_eq!(reason(&line(&[(5, number)])), Reason::BadJob, "{number}");
    }
    assert_eq!(reason(&line(&[(5, "aeroturb")])), Reason::BadJob);
    assert_eq!(reason(&line(&[(35, "1.5")])), Reason::BadJob);
    assert_eq!(reason("a:b:c"), Reason::WrongFields);
    assert_eq!(reason(&"1:".repeat(60)), Reason::WrongFields);
}

#[test]
fn nothing_secret_is_kept() {
    let text = format!(
        "{SGE}{}",
        UGE.replace("job.sh", "-v TOKEN=secret job.sh")
            .replace("site:NONE", "site:/home/secret")
    );
    let json = OCS
        .replace("job.sh", "-v TOKEN=secret")
        .replace(r#""category":"""#, r#""category":"secret""#);
    for text in [text, json] {
        assert!(!format!("{:?}", one(text.as_bytes()).unwrap()).contains("secret"));
    }
}

#[test]
fn every_field_of_json_is_read() {
    let text = OCS.replace(
        r#""priority":0"#,
        r#""priority":-7,"project":"proj1","deleted_by":"root@login1""#,
    );
    let text = text
        .replace(r#""failed":0"#, r#""failed":100"#)
        .replace(r#""account":"sge""#, r#""account":"grant""#);
    let job = one(text.as_bytes()).unwrap();
    assert_eq!(
        job,
        Job {
            job: "4711".into(),
            label: "4711.3".into(),
            parent: Some("4711".into()),
            submitted: Some(1_700_000_000_000_007),
            started: Some(1_700_000_060_123_456),
            ended: Some(1_700_003_660_000_001),
            user_name: Some("ada".into()),
            group_name: Some("chem".into()),
            account: Some("proj1".into()),
            partition: Some("long.q".into()),
            job_name: Some("relax".into()),
            nodes: Some(1),
            node_list: Some("node7".into()),
            cpus: Some(4),
            exit_code: Some("137".into()),
            extra: job.extra.clone(),
            ..Job::default()
        }
    );
    assert_eq!(
        extra(&job),
        [
            ("failed", "100"),
            ("account", "grant"),
            ("department", "chemistry"),
            ("priority", "-7"),
            ("deleted_by", "root@login1"),
        ]
    );
}

#[test]
fn json_has_parallel_jobs_too() {
    let parallel = OCS.replace(r#""slots":4"#, r#""slots":64,"granted_pe":"mpi""#);
    let slave = parallel.replace(r#""slots""#, r#""pe_taskid":"2.node9","slots""#);
    assert_eq!(records(slave.as_bytes(), Pause::NEVER).count(), 0);
    let job = one(parallel.as_bytes()).unwrap();
    assert_eq!(
        (job.nodes, job.node_list.as_deref(), job.cpus),
        (None, None, Some(64))
    );
}

#[test]
fn task_1_of_json_is_an_array_only_if_the_command_says_so() {
    let single = OCS.replace(r#""task_number":3"#, r#""task_number":1"#);
    assert_eq!(one(single.as_bytes()).unwrap().label, "4711.1");
    let text = single.replace("qsub -t 1-4", "qsub");
    let job = one(text.as_bytes()).unwrap();
    assert_eq!((&*job.label, job.parent), ("4711", None));
    let text = OCS.replace(r#""task_number":3"#, r#""task_number":0"#);
    assert_eq!(one(text.as_bytes()).unwrap().label, "4711");
}

#[test]
fn strings_of_json_may_be_escaped_or_no_text() {
    let text = OCS.replace(r#""relax""#, r#""a\"b\u0000\u00e9""#);
    assert_eq!(
        one(text.as_bytes()).unwrap().job_name.as_deref(),
        Some("a\"b\\x00é")
    );
    let mut text = OCS.replace("relax", "m?ller").into_bytes();
    let place = text.iter().position(|byte| *byte == b'?').unwrap();
    text[place] = 0xFC;
    assert_eq!(one(&text).unwrap().job_name.as_deref(), Some("m\\xFCller"));
}

#[test]
fn a_damaged_line_of_json_costs_only_itself() {
    let damaged = [
        &OCS[..OCS.len() - 1],
        &OCS.replace(r#""owner""#, "owner"),
        &OCS.replace("4711", "\"4711\""),
        &OCS.replace(r#""slots":4"#, r#""slots":-1"#),
        "{}",
        "{\"jobs\":[]}",
        "{\0}",
    ];
    for line in damaged {
        let text = format!("{OCS}\n{line}\n{OCS}\n");
        let found: Vec<_> = records(text.as_bytes(), Pause::NEVER)
            .map(|record| record.job.is_ok())
            .collect();
        assert_eq!(found, [true, false, true], "{line}");
    }
    assert_eq!(reason(r#"{"owner":"ada","qname":"q"}"#), Reason::BadJob);
    assert_eq!(
        reason(&OCS.replace("1700000060123456", "17")),
        Reason::BadTime
    );
}

#[test]
fn both_forms_are_recognized_and_no_other_text() {
    for text in [
        SGE.to_owned(),
        format!("# x\n\nbroken\n{SGE}{UGE}\n"),
        OCS.to_owned(),
    ] {
        assert!(recognizes(text.as_bytes()), "{text}");
    }
    let others = [
        "",
        "# Version: 8.6.2\n",
        "obdfilter.scratch-OST0000.job_stats=\njob_stats:\n- job_id:          4711:1000:n1\n",
        "root:x:0:0:root:/root:/bin/bash\n",
        "users:x:100:ada,bob\n",
        "JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User\n1|1|c|1700000000|1700000001|Unknown|1000|ada\n",
        "01/26/2016 00:00:37;E;2994.pbs;user=ada group=chem queue=workq ctime=1453766281\n",
        "\"JOB_FINISH\" \"10.1\" 1700003660 4711 1000 33554438 1 1700000000 0 0 1700000060 \"ada\"\n",
        "{\"jobs\": [{\"id\": 1, \"userid\": 1000, \"t_submit\": 1700000000.5}]}\n",
        "{\"JOBS\":1,\"RECORDS\":[{\"JOBID\":\"22005\"}]}\n",
        "==============================================================\nqname        all.q\njobnumber    8\n",
    ];
    for text in others {
        assert!(!recognizes(text.as_bytes()), "{text}");
    }
}

/// Each of these texts has a million reasons to search to its end. A reader that did so would take hours.
#[test]
fn hostile_texts_take_no_longer_than_others() {
    const SIZE: usize = 1 << 20;
    let row = "1:".repeat(FIELDS + 1) + "\n";
    let bombs = [
        ":".repeat(SIZE),
        "{".repeat(SIZE),
        "[".repeat(SIZE).replacen('[', "{\"usage\":", 1),
        "a\n".repeat(SIZE / 2),
        row.repeat(SIZE / row.len()),
        format!("{}\n", SGE.replace("relax", &"1:".repeat(2_000))).repeat(SIZE / 4_200),
        format!("{}\n", SGE.replace("-u ada", &"1:2.a:".repeat(1_000))).repeat(SIZE / 6_200),
        "9".repeat(SIZE),
        format!("{{\"job_name\":\"{}\"", "\\".repeat(SIZE)),
    ];
    for bomb in bombs {
        let jobs = records(bomb.as_bytes(), Pause::NEVER)
            .filter(|record| record.job.is_ok())
            .count();
        assert_eq!(jobs, 0, "{}", &bomb[..40]);
    }
}

/// Just below the limit of fields.
const FIELDS: usize = 4_000;

/// A text of any jobs in both forms.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let name = "[a-z#=,. -]{1,9}";
    let colons = (name, 1..9_999_999_u32, 0..90_000_u32, 0..3_u32, 1..64_u32).prop_map(
        |(name, number, later, task, slots)| {
            let (submitted, started) = (
                1_700_000_000_000 + u64::from(later),
                1_700_000_100_000 + u64::from(later),
            );
            let texts = [number, task, slots].map(|number| number.to_string());
            let times = [submitted, started, started + 5_000].map(|time| time.to_string());
            let fields = [
                (4, name.as_str()),
                (5, &texts[0]),
                (8, &times[0]),
                (9, &times[1]),
                (10, &times[2]),
                (34, &texts[2]),
                (35, &texts[1]),
            ];
            line(&fields) + UGE
        },
    );
    let json = (name, 1..9_999_999_u32, 0..3_u32).prop_map(|(name, number, task)| {
        let text = OCS
            .replace("relax", &name)
            .replace("4711", &number.to_string());
        text.replace(r#""task_number":3"#, &format!(r#""task_number":{task}"#))
    });
    prop::collection::vec(
        prop_oneof![colons, json, Just("# comment".to_owned())],
        1..8,
    )
}

proptest! {
    /// Wherever a text is cut, the records before the cut are unchanged, and at most the cut line is a problem.
    #[test]
    fn a_cut_costs_at_most_one_record(lines in texts(), end in prop_oneof![Just("\n"), Just("\r\n")], cut in any::<prop::sample::Index>()) {
        let text = lines.iter().map(|line| format!("{line}{end}")).collect::<String>();
        let cut = &text.as_bytes()[..cut.index(text.len())];
        let whole: Vec<_> = records(text.as_bytes(), Pause::NEVER).collect();
        let found: Vec<_> = records(cut, Pause::NEVER).collect();
        let cut_line = u32::try_from(cut.split(|byte| *byte == b'\n').count()).unwrap();
        for (found, whole) in found.iter().zip(&whole) {
            prop_assert!(found == whole || (found.line == cut_line && found.job.is_err()), "{found:?}");
        }
        let before = whole.iter().filter(|record| record.line < cut_line).count();
        prop_assert!((before..=before + 1).contains(&found.len()));
    }

    /// Whatever becomes of a line, the others come out as before, and the line is at most one record.
    #[test]
    fn a_damaged_line_costs_only_itself(
        lines in texts(),
        place in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        damage in prop::collection::vec(any::<u8>().prop_filter("one line", |byte| *byte != b'\n'), 0..4),
        cut in 0..30_usize,
    ) {
        let place = place.index(lines.len());
        let mut damaged = lines[place].clone().into_bytes();
        let at = at.index(damaged.len());
        damaged.splice(at..(at + cut).min(lines[place].len()), damage);
        let text = lines.join("\n");
        let mut parts: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        parts[place] = &damaged;
        let other = parts.join(&b'\n');
        let line = u32::try_from(place + 1).unwrap();
        let rest = |text| records(text, Pause::NEVER).filter(|record| record.line != line).collect::<Vec<_>>();
        prop_assert_eq!(rest(&other), rest(text.as_bytes()));
        prop_assert!(records(&other, Pause::NEVER).filter(|record| record.line == line).count() <= 1);
    }

    #[test]
    fn any_bytes_are_read(text in prop::collection::vec(prop::sample::select(&b"{}:\",\n\r#01N\xFF\0."[..]), 0..200)) {
        let lines = u32::try_from(text.split(|byte| *byte == b'\n').count()).unwrap();
        for record in records(&text, Pause::NEVER) {
            prop_assert!((1..=lines).contains(&record.line));
            prop_assert!(record.job.is_err());
        }
    }
}
