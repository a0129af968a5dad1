use proptest::prelude::*;

use super::*;
use crate::base::instant::SECOND;
use crate::base::pause::Pause;

const DONE: &str = r#"{"t_depend": 1700000000.25, "t_run": 1700000060.5, "t_cleanup": 1700003660.123456, "t_inactive": 1700003661.0, "duration": 7200.0, "expiration": 1700007260.5, "name": "relax", "cwd": "/home/ada/secret", "queue": "batch", "project": "proj1", "bank": "chem", "ntasks": 128, "ncores": 256, "nnodes": 4, "priority": 16, "ranks": "[3-6]", "nodelist": "node[3-6]", "success": false, "result": "FAILED", "waitstatus": 35072, "id": 65399603331072, "t_submit": 1700000000.125, "t_remaining": 0.0, "state": "INACTIVE", "username": "ada", "userid": 1000, "urgency": 16, "runtime": 3599.6, "status": "FAILED", "returncode": 137, "dependencies": [], "annotations": {"sched": {"resource_summary": "secret"}, "user": {"x": [{"id": 1}, {"id": 2}]}}, "exception": {"occurred": true, "severity": 0, "type": "exec", "note": "secret {"}}"#;

const PENDING: &str = r#"{"name": "wait", "ntasks": 1, "priority": 16, "id": 65399603331073, "t_submit": 1700000001.5, "state": "SCHED", "username": "ada", "userid": 1000, "urgency": 16, "status": "SCHED", "dependencies": [], "annotations": {}, "exception": {"occurred": false}}"#;

fn document(jobs: &[&str]) -> String {
    format!("{{\"jobs\": [{}]}}\n", jobs.join(", "))
}

fn jobs(text: &str) -> Vec<Result<Job<'_>, Reason>> {
    records(text.as_bytes(), Pause::NEVER)
        .map(|record| record.job)
        .collect()
}

fn one(text: &str) -> Result<Job<'_>, Reason> {
    let mut jobs = jobs(text);
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    jobs.remove(0)
}

fn reason(text: &str) -> Reason {
    one(text).unwrap_err()
}

#[test]
fn every_field_is_read() {
    let text = document(&[DONE]);
    let job = one(&text).unwrap();
    assert_eq!(
        job,
        Job {
            scheduler: None,
            job: "65399603331072".into(),
            label: f58(65_399_603_331_072).into(),
            submitted: Some(1_700_000_000_125_000),
            started: Some(1_700_000_060_500_000),
            ended: Some(1_700_003_660_123_456),
            time_doubt: None,
            uid: Some(1000),
            user_name: Some("ada".into()),
            gid: None,
            group_name: None,
            account: Some("chem".into()),
            partition: Some("batch".into()),
            qos: None,
            job_name: Some("relax".into()),
            state: Some("FAILED".into()),
            nodes: Some(4),
            node_list: Some("node[3-6]".into()),
            cpus: Some(256),
            exit_code: Some("137".into()),
            parent: None,
            extra: job.extra.clone(),
        }
    );
    let extra: Vec<_> = job
        .extra
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    assert_eq!(
        extra,
        [
            ("project", "proj1"),
            ("ntasks", "128"),
            ("ranks", "[3-6]"),
            ("priority", "16"),
            ("urgency", "16"),
            ("duration", "7200"),
            ("waitstatus", "35072"),
        ]
    );
    assert!(!format!("{job:?}").contains("secret"));
}

#[test]
fn absent_names_are_not_known() {
    let text = document(&[PENDING]);
    let job = one(&text).unwrap();
    assert_eq!(
        (job.submitted, job.started, job.ended),
        (Some(1_700_000_001_500_000), None, None)
    );
    assert_eq!(
        (job.nodes, job.node_list, job.exit_code, job.account),
        (None, None, None, None)
    );
    assert_eq!(job.state.as_deref(), Some("SCHED"));
    // The raw job list prints unknown values as 0.
    let text = r#"{"id": 5, "t_submit": 1700000001, "t_run": 0.0, "t_cleanup": 0, "t_inactive": null, "nodelist": ""}"#;
    let job = one(text).unwrap();
    assert_eq!(
        (job.submitted, job.started, job.ended, job.node_list),
        (Some(1_700_000_001 * SECOND), None, None, None)
    );
}

#[test]
fn a_document_may_be_one_job_or_one_a_line() {
    assert_eq!(one(DONE), one(&document(&[DONE])));
    let text = format!("{DONE}\n{PENDING}\n");
    let found: Vec<_> = records(text.as_bytes(), Pause::NEVER)
        .map(|record| (record.line, record.job.is_ok()))
        .collect();
    assert_eq!(found, [(1, true), (2, true)]);
    let text = format!(
        "{{\n  \"jobs\" : [\n    {DONE},\n    {}\n  ]\n}}\n",
        PENDING.replace(", ", ",\n      ")
    );
    let found: Vec<_> = records(text.as_bytes(), Pause::NEVER)
        .map(|record| (record.line, record.job.is_ok()))
        .collect();
    assert_eq!(found, [(3, true), (4, true)]);
    assert_eq!(jobs("{\"jobs\": []}\n"), []);
    assert_eq!(jobs(""), []);
}

#[test]
fn an_id_may_have_any_form() {
    let id = 65_401_750_000_000;
    let forms = [
        id.to_string(),
        format!("\"{id}\""),
        format!("\"{}\"", f58(id)),
        format!("\"{}\"", f58(id).replace('ƒ', "f")),
        format!("\"{}\"", f58(id).replace('ƒ', "\\u0192")),
        format!("\"0x{id:x}\""),
        format!(
            "\"0000.3b7b.{:04x}.{:04x}\"",
            id >> 16 & 0xFFFF,
            id & 0xFFFF
        ),
    ];
    assert_eq!(id >> 32, 0x3b7b);
    for form in forms {
        let text = PENDING.replace("65399603331073", &form);
        let job = one(&text).unwrap();
        assert_eq!(
            (job.job, job.label),
            (id.to_string().into(), f58(id).into()),
            "{form}"
        );
    }
    for form in [
        "0",
        "-1",
        "1.5",
        "null",
        "\"\"",
        "\"ƒ0\"",
        "18446744073709551616",
        "[1]",
    ] {
        assert_eq!(
            reason(&PENDING.replace("65399603331073", form)),
            Reason::BadJob,
            "{form}"
        );
    }
    assert_eq!(reason("{\"t_submit\": 1700000000.5}"), Reason::BadJob);
}

#[test]
fn f58_is_that_of_flux() {
    let known = [
        (0, "ƒ1"),
        (57, "ƒz"),
        (1_234, "ƒNH"),
        (65_535, "ƒLUv"),
        (6_731_191_091_817_518, "ƒuZZybuNNy"),
        (u64::MAX - 1, "ƒjpXCZedGfVP"),
        (u64::MAX, "ƒjpXCZedGfVQ"),
    ];
    for (id, text) in known {
        assert_eq!(f58(id), text);
        assert_eq!(decimal(text), Some(id));
    }
}

#[test]
fn an_identifier_of_job_stats_becomes_decimal() {
    // The bytes C6 and 92 of the letter. Lustre prints the first one unchanged.
    let shown = b"\xC6\\x92uZZybuNNy";
    assert_eq!(
        decimal(&crate::base::escape::escape(shown)),
        Some(6_731_191_091_817_518)
    );
    let escaped = b"\\xC6\\x92uZZybuNNy";
    assert_eq!(
        decimal(&crate::base::escape::escape(escaped)),
        Some(6_731_191_091_817_518)
    );
    assert_eq!(decimal("fuZZybuNNy"), Some(6_731_191_091_817_518));
    assert_eq!(decimal(" 12 "), Some(12));
    assert_eq!(decimal("0x1F"), Some(31));
    assert_eq!(decimal("0000.0000.0001.000a"), Some(65_546));
    let others = [
        "",
        "ƒ",
        "f",
        "ƒ0",
        "ƒjpXCZedGfVR",
        "ƒ1111111111111",
        "ƒzzzzzzzzzzzz",
        "x",
        "0x",
        "0x1g",
        "-1",
        "+1",
        "1.2.3",
        "1.2.3.4.5",
        "12345.0.0.0",
        "1..2.3",
        "18446744073709551616",
        "4711:1000:n1",
        "ƒƒ1",
        "0x10000000000000000",
    ];
    for text in others {
        assert_eq!(decimal(text), None, "{text}");
    }
}

#[test]
fn states_are_words_or_numbers() {
    let state = |state: &str, result: &str| {
        let text = format!("{{\"id\": 5, \"state\": {state}, \"result\": {result}}}");
        one(&text).unwrap().state.map(Cow::into_owned)
    };
    assert_eq!(state("64", "1").as_deref(), Some("COMPLETED"));
    assert_eq!(state("64", "4").as_deref(), Some("CANCELED"));
    assert_eq!(state("64", "\"TIMEOUT\"").as_deref(), Some("TIMEOUT"));
    assert_eq!(state("16", "null").as_deref(), Some("RUN"));
    assert_eq!(state("\"CLEANUP\"", "\"\"").as_deref(), Some("CLEANUP"));
    assert_eq!(state("\"INACTIVE\"", "null").as_deref(), Some("INACTIVE"));
    assert_eq!(state("128", "null").as_deref(), Some("128"));
    assert_eq!(state("null", "null"), None);
}

#[test]
fn an_unknown_user_has_no_name() {
    let text = PENDING.replace("\"ada\"", "\"1000\"");
    let job = one(&text).unwrap();
    assert_eq!((job.uid, job.user_name), (Some(1000), None));
    let text = PENDING.replace("1000", "4294967295");
    assert_eq!(one(&text).unwrap().uid, None);
}

#[test]
fn the_project_pays_where_there_is_no_bank() {
    let text = DONE.replace("\"bank\"", "\"other\"");
    let job = one(&text).unwrap();
    assert_eq!(job.account.as_deref(), Some("proj1"));
    assert!(job.extra.iter().all(|(name, _)| name != "project"));
}

#[test]
fn a_job_that_never_ran_has_an_end_only() {
    let text = DONE.replace(
        "\"t_run\": 1700000060.5, \"t_cleanup\": 1700003660.123456, ",
        "",
    );
    let job = one(&text).unwrap();
    assert_eq!(
        (job.started, job.ended),
        (None, Some(1_700_003_661 * SECOND))
    );
}

#[test]
fn times_are_times() {
    for time in ["-1.5", "1e300", "\"yesterday\"", "99999999999", "-1"] {
        assert_eq!(
            reason(&PENDING.replace("1700000001.5", time)),
            Reason::BadTime,
            "{time}"
        );
    }
    assert_eq!(
        reason(&DONE.replace("1700000060.5", "1700003661")),
        Reason::BadTime
    );
    let text = PENDING.replace("1700000001.5", "\"1700000001.5\"");
    assert_eq!(one(&text).unwrap().submitted, Some(1_700_000_001_500_000));
}

#[test]
fn names_may_be_anything_that_can_be_stored() {
    let cases: [(&[u8], &str); 5] = [
        (b"a\\u0000b\\u00e9\\n", "a\\x00b\u{e9}\n"),
        (b"m\xFCller", "m\\xFCller"),
        (b"\xFC\\n", "\\xFC\\n"),
        (br#"\"}],{\"id\":"#, "\"}],{\"id\":"),
        (b"\\\\", "\\"),
    ];
    for (name, shown) in cases {
        let text = [&b"{\"id\": 5, \"name\": \""[..], name, b"\"}"].concat();
        let job = records(&text, Pause::NEVER).next().unwrap().job.unwrap();
        assert_eq!(job.job_name.as_deref(), Some(shown));
    }
}

#[test]
fn a_damaged_object_costs_only_itself() {
    let damaged = [
        &PENDING[..PENDING.len() - 1],
        &PENDING[1..],
        &PENDING.replacen('"', "", 1),
        &PENDING.replacen("wait\"", "wait", 1),
        &PENDING.replacen("[]", "[", 1),
        &PENDING.replacen("{}", "}", 1),
        &PENDING.replacen("{}", "{", 1),
        &PENDING.replacen("wait", "wa\nit", 1),
        "\0",
        "",
        "x",
    ];
    for damaged in damaged {
        let text = document(&[DONE, damaged, DONE, PENDING]);
        let good: Vec<_> = jobs(&text).into_iter().filter_map(Result::ok).collect();
        let text = document(&[DONE, DONE, PENDING]);
        let expected: Vec<_> = jobs(&text).into_iter().filter_map(Result::ok).collect();
        assert_eq!(good, expected, "{damaged}");
    }
}

#[test]
fn what_is_inside_a_damaged_object_is_no_record() {
    let inner = r#"{"id": 9, "userid": 0, "t_submit": 1700000000.5}"#;
    for annotation in [
        format!("{{\"x\": {inner}, \"y\": {inner}}}"),
        format!("[{inner}]"),
        format!("{{\"x\": [{inner}]}}"),
    ] {
        let crafted = PENDING.replace(
            "\"annotations\": {}",
            &format!("\"annotations\": {annotation}"),
        );
        assert_eq!(jobs(&document(&[&crafted])).len(), 1);
        let text = document(&[&crafted.replacen("wait\"", "wait", 1), PENDING]);
        let found: Vec<_> = jobs(&text)
            .into_iter()
            .map(|job| job.map(|job| job.job))
            .collect();
        assert_eq!(
            found,
            [Err(Reason::UnreadableRecord), Ok("65399603331073".into())],
            "{annotation}"
        );
    }
}

#[test]
fn it_is_recognized_and_no_other_text_is() {
    for text in [
        document(&[DONE]),
        document(&[PENDING, DONE]),
        DONE.to_owned(),
        "{\"jobs\": []}\n".to_owned(),
    ] {
        assert!(recognizes(text.as_bytes()), "{text}");
    }
    let others = [
        "",
        "{}",
        "{\"jobs\": [], \"meta\": {}}",
        "obdfilter.scratch-OST0000.job_stats=\njob_stats:\n- job_id:          4711:1000:n1\n  read: { samples: 1, unit: reqs }\n",
        "root:x:0:0:root:/root:/bin/bash\n",
        "JobIDRaw|JobID|Cluster\n1|1|c\n",
        "{\"meta\": {}, \"jobs\": [{\"job_id\": 1, \"user\": \"ada\"}]}\n",
        "{\"jobs\": [{\"account\": \"a\", \"job_id\": 1, \"user\": \"ada\"}]}\n",
        "{\"COMMAND\":\"bjobs\",\"JOBS\":1,\"RECORDS\":[{\"JOBID\":\"22005\"}]}\n",
        "{\"job_number\":10,\"task_number\":1,\"start_time\":1730532913429415,\"owner\":\"ada\"}\n",
        "01/26/2016 00:00:37;E;2994.pbs;user=ada\n",
        "       JOBID USER     NAME       ST NTASKS NNODES  RUNTIME\n   \u{192}uZZybuN ada      relax       R      1      1   2.858s\n",
    ];
    for text in others {
        assert!(!recognizes(text.as_bytes()), "{text}");
    }
}

/// Each of these texts has a million reasons to search to its end. A reader that did so would take hours.
#[test]
fn hostile_texts_take_no_longer_than_others() {
    const SIZE: usize = 1 << 20;
    let bombs = [
        "{".repeat(SIZE),
        ",{".repeat(SIZE / 2),
        ",{\"".repeat(SIZE / 3),
        "{\"id\":[".repeat(SIZE / 7),
        format!("{{{}", "{},".repeat(SIZE / 3)),
        format!("{{{}", "{{},".repeat(SIZE / 4)),
        format!("{}{{", ",{\"a\"".repeat(SIZE / 5)),
        " ".repeat(SIZE) + "{",
        "{ ".repeat(SIZE / 2),
        format!("{{\"jobs\": [{}", "x".repeat(SIZE)),
        format!("{{\"a\": \"{}", "\\".repeat(SIZE)),
        format!("{{\"a\": \"{}", "\\\"},{".repeat(SIZE / 5)),
        format!(",{{{}", ",{}\"\"".repeat(SIZE / 6)),
        "[".repeat(SIZE),
        "}".repeat(SIZE),
    ];
    for bomb in bombs {
        let jobs = records(bomb.as_bytes(), Pause::NEVER)
            .filter(|record| record.job.is_ok())
            .count();
        assert_eq!(jobs, 0, "{}", &bomb[..20]);
        recognizes(bomb.as_bytes());
    }
}

/// Jobs with names that look like parts of the text. No text has an array of objects: behind damage in such an array,
/// the jobs that follow look like its items.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let name = prop::collection::vec(
        prop::sample::select(&["a", "{", "}", ", {", "\"", "\\", "\u{192}", "[", "]"][..]),
        0..6,
    );
    let job = (name, 1..u64::MAX, any::<bool>()).prop_map(|(name, id, done)| {
        let name = serde_json::to_string(&name.concat()).unwrap();
        let done_job = DONE.replace(r#"[{"id": 1}, {"id": 2}]"#, r#"{"id": 1}"#);
        let text = if done {
            done_job.replace("\"relax\"", &name)
        } else {
            PENDING.replace("\"wait\"", &name)
        };
        text.replace("65399603331072", &id.to_string())
            .replace("65399603331073", &id.to_string())
    });
    prop::collection::vec(job, 1..6)
}

fn render(jobs: &[String], is_lines: bool) -> String {
    if is_lines {
        jobs.iter().map(|job| format!("{job}\n")).collect()
    } else {
        document(&jobs.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

proptest! {
    #[test]
    fn f58_goes_there_and_back(id in any::<u64>(), shift in 0..64_u32) {
        let id = id >> shift;
        let text = f58(id);
        prop_assert_eq!(decimal(&text), Some(id));
        prop_assert_eq!(decimal(&text.replace('ƒ', "f")), Some(id));
        prop_assert_eq!(decimal(&format!("0x{id:X}")), Some(id));
        prop_assert_eq!(decimal(&id.to_string()), Some(id));
        let groups: Vec<_> = (0..4).rev().map(|group| format!("{:04x}", id >> (16 * group) & 0xFFFF)).collect();
        prop_assert_eq!(decimal(&groups.join(".")), Some(id));
    }

    /// A number of any size is exact or unknown.
    #[test]
    fn f58_does_not_overflow(digits in "[1-9A-HJ-NP-Za-km-z]{1,13}") {
        let exact = digits.bytes().fold(0_u128, |id, letter| {
            let place = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".bytes().position(|digit| digit == letter);
            id * 58 + place.unwrap() as u128
        });
        let expected = u64::try_from(exact).ok().filter(|_| digits.len() <= 12);
        prop_assert_eq!(decimal(&format!("ƒ{digits}")), expected);
    }

    /// Wherever a text is cut, the records before the cut are unchanged, with at most one more problem.
    #[test]
    fn a_cut_costs_at_most_one_record(jobs in texts(), is_lines in any::<bool>(), cut in any::<prop::sample::Index>()) {
        let text = render(&jobs, is_lines);
        let whole: Vec<_> = records(text.as_bytes(), Pause::NEVER).collect();
        prop_assert_eq!(whole.len(), jobs.len());
        let cut = cut.index(text.len());
        let found: Vec<_> = records(&text.as_bytes()[..cut], Pause::NEVER).collect();
        let good = found.iter().filter(|record| record.job.is_ok()).count();
        prop_assert!(found.len() <= good + 1);
        prop_assert_eq!(&found[..good], &whole[..good]);
        let ends = jobs.iter().scan(if is_lines { 0 } else { 10 }, |end, job| {
            *end += job.len();
            let here = *end;
            *end += if is_lines { 1 } else { 2 };
            Some(here)
        });
        prop_assert_eq!(good, ends.filter(|end| *end <= cut).count());
    }

    /// Damage of one object neither changes the others nor invents any. The damage opens no array: behind `[{` the jobs that
    /// follow are items of one.
    #[test]
    fn a_damaged_object_costs_itself_only(
        jobs in texts(),
        is_lines in any::<bool>(),
        place in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        damage in prop::collection::vec(prop_oneof![any::<u8>().prop_filter("opens nothing", |byte| !b"[{".contains(byte)), prop::sample::select(&b"}]\",:\\\n"[..])], 0..4),
        cut in 0..30_usize,
    ) {
        let place = place.index(jobs.len());
        let at = at.index(jobs[place].len());
        let end = (at + cut).min(jobs[place].len());
        let begin = render(&jobs[..place], is_lines).len() - if is_lines { 0 } else { 3 }
            + if !is_lines && place > 0 { 2 } else { 0 };
        let text = render(&jobs, is_lines);
        prop_assert!(text[begin..].starts_with(&jobs[place]));
        let mut damaged = text.clone().into_bytes();
        damaged.splice(begin + at..begin + end, damage);
        let whole: Vec<_> = records(text.as_bytes(), Pause::NEVER).map(|record| record.job).collect();
        let mut found: Vec<_> = records(&damaged, Pause::NEVER).map(|record| record.job).collect();
        found.retain(Result::is_ok);
        let expected = [&whole[..place], &whole[place + 1..]].concat();
        let numbers = |jobs: &[Result<Job<'_>, Reason>]| jobs.iter().flatten().map(|job| job.job.to_string()).collect::<Vec<_>>();
        let lost = || format!("{:?} of {:?} in {}", numbers(&found), numbers(&expected), String::from_utf8_lossy(&damaged));
        prop_assert!((expected.len()..=expected.len() + 1).contains(&found.len()), "{}", lost());
        prop_assert!(found[..place] == expected[..place], "{}", lost());
        prop_assert!(found[found.len() - (expected.len() - place)..] == expected[place..], "{}", lost());
    }

    #[test]
    fn any_bytes_are_read(text in prop::collection::vec(
        prop::sample::select(&["{", "}", "[", "]", ",", ":", "\"", "\\", "\n", "\"jobs\"", "\"id\"", "1", " ", "\u{192}"][..]), 0..60)) {
        let text = text.concat();
        let lines = u32::try_from(text.split('\n').count()).unwrap();
        let mut last = 0;
        for record in records(text.as_bytes(), Pause::NEVER) {
            prop_assert!((last.max(1)..=lines).contains(&record.line));
            last = record.line;
        }
    }
}
