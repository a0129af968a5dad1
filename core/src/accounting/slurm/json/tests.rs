use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::accounting::Job;
use crate::instant::SECOND;

fn read(text: &str) -> Vec<Record<'_>> {
    jobs(text.as_bytes(), Pause::NEVER).collect()
}

fn good(text: &str) -> Vec<Job<'_>> {
    read(text)
        .into_iter()
        .filter_map(|record| record.job.ok())
        .collect()
}

fn problems(text: &str) -> Vec<(u32, Reason)> {
    let problem = |record: Record<'_>| Some((record.line, record.job.err()?));
    read(text).into_iter().filter_map(problem).collect()
}

/// A job of Slurm 22.05.
const OLD: &str = r#"{
      "account": "p42",
      "comment": {"administrator": null, "job": null},
      "allocation_nodes": 2,
      "array": {"job_id": 0, "task": null, "task_id": null},
      "association": {"account": "p42", "cluster": "alps", "user": "ada"},
      "cluster": "alps",
      "time": {"elapsed": 60, "end": 1719835320, "start": 1719835260, "submission": 1719835200, "limit": 15},
      "exit_code": {"status": "SIGNALED", "return_code": 0, "signal": {"signal_id": 9, "name": "KILL"}},
      "flags": ["STARTED_ON_SCHEDULE"],
      "group": "users",
      "het": {"job_id": 0, "job_offset": null},
      "job_id": 4711,
      "name": "my \"job\"",
      "nodes": "n[01-02]",
      "partition": "batch",
      "priority": 7,
      "qos": "normal",
      "state": {"current": "CANCELLED", "reason": "None"},
      "steps": [{"time": {"start": 1}, "step": {"job_id": 4711, "id": "batch"}, "name": "{\"account\": 1"}],
      "tres": {"allocated": [{"type": "mem", "count": 5}, {"type": "cpu", "name": null, "count": 256}], "requested": []},
      "user": "ada",
      "working_directory": "/home/ada"
    }"#;

/// The job above in the layout of Slurm 25.05.
const NEW: &str = r#"{
      "account": "p42",
      "comment": {"administrator": "", "job": "", "system": ""},
      "allocation_nodes": 2,
      "array": {"job_id": 0, "task_id": {"set": false, "infinite": false, "number": 0}, "task": ""},
      "cluster": "alps",
      "time": {"end": {"set": true, "infinite": false, "number": 1719835320}, "start": 1719835260, "submission": 1719835200},
      "exit_code": {"status": ["SIGNALED"], "return_code": {"set": true, "infinite": false, "number": 0},
                    "signal": {"id": {"set": true, "infinite": false, "number": 9}, "name": "KILL"}},
      "group": "users",
      "het": {"job_id": 0, "job_offset": {"set": false, "infinite": false, "number": 0}},
      "job_id": 4711,
      "name": "my \"job\"",
      "nodes": "n[01-02]",
      "partition": "batch",
      "priority": {"set": true, "infinite": false, "number": 7},
      "qos": "normal",
      "state": {"current": ["CANCELLED"], "reason": "None"},
      "stdout": "/home/ada/out",
      "submit_line": "sbatch --export=SECRET=1 job.sh",
      "steps": [{"step": {"id": "4711.batch"}}],
      "tres": {"allocated": [{"type": "cpu", "count": 256}]},
      "user_id": 1000, "group_id": 100,
      "user": "ada"
    }"#;

fn text(objects: &[&str]) -> String {
    format!(
        "{{\n  \"meta\": {{\"Slurm\": {{\"release\": \"22.05.2\"}}}},\n  \"jobs\": [\n    {}\n  ]\n}}\n",
        objects.join(",\n    ")
    )
}

/// A short job.
fn short(id: u32) -> String {
    format!(
        "{{\"account\": \"p{id}\", \"time\": {{\"submission\": {id}}}, \"job_id\": {id}, \"flags\": [\"a\", {{\"b\": [1]}}]}}"
    )
}

fn numbers(text: &str) -> Vec<String> {
    good(text)
        .into_iter()
        .map(|job| job.job.into_owned())
        .collect()
}

fn whole() -> Job<'static> {
    let noon = 1_719_835_200 * SECOND;
    Job {
        scheduler: Some("alps".into()),
        job: "4711".into(),
        label: "4711".into(),
        submitted: Some(noon),
        started: Some(noon + 60 * SECOND),
        ended: Some(noon + 120 * SECOND),
        user_name: Some("ada".into()),
        group_name: Some("users".into()),
        account: Some("p42".into()),
        partition: Some("batch".into()),
        qos: Some("normal".into()),
        job_name: Some("my \"job\"".into()),
        state: Some("CANCELLED".into()),
        nodes: Some(2),
        node_list: Some("n[01-02]".into()),
        cpus: Some(256),
        exit_code: Some("0:9".into()),
        extra: vec![
            ("priority".into(), "7".into()),
            ("reason".into(), "None".into()),
        ],
        ..Job::default()
    }
}

#[test]
fn all_layouts_are_read() {
    assert_eq!(good(&text(&[OLD])), [whole()]);
    let new = Job {
        uid: Some(1000),
        gid: Some(100),
        ..whole()
    };
    assert_eq!(good(&text(&[NEW])), [new]);
}

#[test]
fn records_have_the_lines_of_their_objects() {
    let both = text(&[OLD, NEW]);
    let lines: Vec<_> = read(&both).into_iter().map(|record| record.line).collect();
    assert_eq!(lines, [4, 28]);
}

#[test]
fn runs_of_one_number_are_several_jobs() {
    assert_eq!(good(&text(&[OLD, OLD])).len(), 2);
}

#[test]
fn text_may_be_written_in_any_way() {
    let objects = [short(1), short(2), short(3)];
    let compact = |text: String| {
        text.replace(": ", ":")
            .replace(", ", ",")
            .replace('\n', "")
            .replace("  ", "")
    };
    let pretty = text(&objects.each_ref().map(String::as_str));
    for text in [
        compact(pretty.clone()),
        pretty.replace(",\n", ", "),
        format!("{pretty}{pretty}"),
        pretty.replace('\n', "\r\n"),
        pretty,
    ] {
        assert!(
            numbers(&text).starts_with(&["1", "2", "3"].map(str::to_owned)),
            "{text}"
        );
        assert!(problems(&text).is_empty());
    }
    // Keys in another order in each object.
    let mixed = text(&[
        &short(1),
        r#"{"job_id": 2, "time": {}, "account": "x"}"#,
        r#"{"time": {}, "job_id": "3"}"#,
    ]);
    assert_eq!(numbers(&mixed), ["1", "2", "3"]);
}

#[test]
fn a_list_may_be_empty_but_must_be_there() {
    assert!(read("{\"jobs\": [], \"meta\": {}}").is_empty());
    assert!(read("{\"jobs\" : [ ] }").is_empty());
    for text in [
        "{}",
        "{\"jobs\": 7}",
        "{\"meta\": \"jobs\"}",
        "{",
        "{\"jobs\"",
    ] {
        assert_eq!(problems(text), [(1, Reason::NoHeader)], "{text}");
    }
    assert_eq!(problems("{\"jobs\":["), [(1, Reason::UnreadableRecord)]);
}

#[test]
fn arrays_and_heterogeneous_jobs_have_their_labels() {
    let cases = [
        (
            r#""array": {"job_id": 36, "task_id": 3, "task": null}"#,
            "41",
            "36_3",
            Some("36"),
        ),
        (
            r#""array": {"job_id": 36, "task_id": {"set": true, "infinite": false, "number": 0}, "task": ""}"#,
            "41",
            "36_0",
            Some("36"),
        ),
        (
            r#""array": {"job_id": 41, "task_id": {"set": false}, "task": "1-3%2"}"#,
            "41",
            "41_[1-3%2]",
            Some("41"),
        ),
        (
            r#""het": {"job_id": 40, "job_offset": 1}"#,
            "40",
            "40+1",
            Some("40"),
        ),
        (
            r#""het": {"job_id": 0, "job_offset": null}, "array": {"job_id": 0}"#,
            "41",
            "41",
            None,
        ),
    ];
    for (part, number, label, parent) in cases {
        let text = text(&[&format!(r#"{{"job_id": 41, "time": {{}}, {part}}}"#)]);
        let jobs = good(&text);
        assert_eq!(
            (&*jobs[0].job, &*jobs[0].label, jobs[0].parent.as_deref()),
            (number, label, parent),
            "{part}"
        );
    }
}

#[test]
fn a_job_that_waits_or_never_ran_has_no_start() {
    let job = |state: &str, times: &str| {
        let text = format!(
            r#"{{"jobs":[{{"job_id":1,"nodes":"None assigned","state":{{"current":[{state}]}},"time":{{{times}}}}}]}}"#
        );
        let job = good(&text).remove(0);
        (
            job.started.is_some(),
            job.ended.is_some(),
            job.state.map(Cow::into_owned),
        )
    };
    let pending = job(r#""PENDING""#, r#""start": 1719835200, "end": 0"#);
    assert_eq!(pending, (false, false, Some("PENDING".to_owned())));
    let cancelled = job(
        r#""CANCELLED""#,
        r#""start": 1719835200, "end": 1719835200"#,
    );
    assert_eq!(cancelled, (false, true, Some("CANCELLED".to_owned())));
    let running = job(
        r#""RUNNING","COMPLETING""#,
        r#""start": 1719835200, "end": {"set": true, "infinite": true, "number": 0}"#,
    );
    assert_eq!(
        running,
        (true, false, Some("RUNNING,COMPLETING".to_owned()))
    );
}

#[test]
fn an_object_that_is_no_job_is_a_problem() {
    let cases = [
        (r#"{"account": "x", "time": {}}"#, Reason::BadJob),
        (r#"{"job_id": 0, "time": {}}"#, Reason::BadJob),
        (r#"{"job_id": "x", "time": {}}"#, Reason::BadJob),
        (r#"{"job_id": 1.5, "time": {}}"#, Reason::BadJob),
        (
            r#"{"job_id": 1, "submit_time": 7}"#,
            Reason::UnreadableRecord,
        ),
        (
            r#"{"job_id": 1, "time": {"start": "4 Sep 11:18"}}"#,
            Reason::BadTime,
        ),
        (
            r#"{"job_id": 1, "time": {"start": 1719835200000}}"#,
            Reason::BadTime,
        ),
        (
            r#"{"job_id": 1, "time": {"start": 9, "end": 8}, "nodes": "n1"}"#,
            Reason::BadTime,
        ),
        (r#"{"job_id": 1, "time": {}, }"#, Reason::UnreadableRecord),
    ];
    for (object, reason) in cases {
        let text = text(&[&short(1), object, &short(3)]);
        assert_eq!(problems(&text), [(5, reason)], "{object}");
        assert_eq!(numbers(&text), ["1", "3"]);
    }
}

#[test]
fn a_damaged_object_costs_only_itself() {
    let damaged = [
        short(2).replace("\"job_id\": 2", "\"job_id: 2"),
        short(2).replace("}", ""),
        short(2).replace("]", ""),
        short(2).replacen("{\"account", "{account", 1),
        short(2).replacen('{', "", 1),
        short(2)[..20].to_owned(),
        "garbage".to_owned(),
        "}}}]]]".to_owned(),
        "\"".to_owned(),
    ];
    for damaged in &damaged {
        let first = text(&[damaged, &short(1), &short(3)]);
        let middle = text(&[&short(1), damaged, &short(3)]);
        let last = text(&[&short(1), &short(3), damaged]);
        for text in [first, middle, last] {
            assert_eq!(numbers(&text), ["1", "3"], "{text}");
            assert!(problems(&text).len() <= 1, "{text} {:?}", problems(&text));
        }
    }
}

#[test]
fn names_may_be_anything() {
    let name = |name: &[u8]| {
        let text = [
            &b"{\"jobs\":[{\"job_id\":1,\"time\":{},\"name\":\""[..],
            name,
            b"\"}]}",
        ]
        .concat();
        let record = jobs(&text, Pause::NEVER).next().unwrap();
        record.job.unwrap().job_name.map(Cow::into_owned)
    };
    assert_eq!(name(b"m\xFCller").as_deref(), Some("m\\xFCller"));
    assert_eq!(name(b"\xFC\\n").as_deref(), Some("\\xFC\\n"));
    assert_eq!(
        name(b"a\\u0000b\\u00e9\\n").as_deref(),
        Some("a\\x00b\u{e9}\n")
    );
    assert_eq!(
        name(br#"\",{\"account\":"#).as_deref(),
        Some("\",{\"account\":")
    );
    assert_eq!(name(b"}],[{").as_deref(), Some("}],[{"));
    assert_eq!(name(b" "), None);
    assert_eq!(name(b"\\\\").as_deref(), Some("\\"));
}

#[test]
fn a_key_that_also_begins_objects_inside_of_jobs_does_not_part_them() {
    let job = |id: u32| {
        format!(
            r#"{{"name": "a", "tres": [{{"name": "cpu"}}, {{"name": "mem"}}], "job_id": {id}, "time": {{}}}}"#
        )
    };
    assert_eq!(numbers(&text(&[&job(1), &job(2)])), ["1", "2"]);
}

#[test]
fn hostile_texts_take_no_more_time_than_others() {
    let begins = [
        "{\"jobs\":[",
        "{\"jobs\":[{\"account\":1},",
        "{\"jobs\":[{\"x\":",
        "{\"jobs\":[{\"account\":\"",
    ];
    let pieces = [
        "[",
        "{",
        "{\"account\":",
        "[{\"account\":",
        ",{\"x\":[",
        "\"",
        "\\",
        "{},",
        "{\"job_id\":1,\"time\":{}},",
        "]",
        ",",
        " ",
        "\n",
        "{\"account\":[{\"account\":\"",
        "\"jobs\":",
        "\"jobs\"  ",
        "\"account\"",
        "{\"account\":1},",
        "1",
    ];
    for begin in begins {
        for piece in pieces {
            let text = begin.to_owned() + &piece.repeat((1 << 20) / piece.len());
            assert!(read(&text).len() <= 1 << 20);
        }
    }
}

#[test]
fn what_else_is_said_is_bounded() {
    let many: String = (0..1_000)
        .map(|key| format!(", \"k{key}\": {key}"))
        .collect();
    let text = text(&[&format!(
        r#"{{"job_id": 1, "time": {{}}, "admin": "{}", "{}": 1{many}}}"#,
        "x".repeat(2_000),
        "y".repeat(100)
    )]);
    let jobs = good(&text);
    assert_eq!(jobs[0].extra.len(), 100);
    assert_eq!(jobs[0].extra[0], ("k0".into(), "0".into()));
}

proptest! {
    /// A text that is cut says what its beginning said, and at most one problem more.
    #[test]
    fn a_cut_text_has_the_records_of_its_beginning(ids in prop::collection::vec(1_u32..99, 0..5), cut in 0.0_f64..1.0) {
        let objects: Vec<_> = ids.iter().map(|id| short(*id)).collect();
        let text = text(&objects.iter().map(String::as_str).collect::<Vec<_>>());
        let cut = (cut * text.len() as f64) as usize;
        let (whole, part) = (read(&text), read(&text[..cut]));
        let same = whole.iter().zip(&part).take_while(|(whole, part)| whole == part).count();
        prop_assert!(part.len() <= same + 1 && part[same..].iter().all(|it| it.job.is_err()), "{part:?}");
        let ends = |object: &String| text.find(object.as_str()).is_some_and(|at| at + object.len() <= cut);
        prop_assert!(same >= objects.iter().take_while(|object| ends(object)).count().min(1));
    }

    /// Damage in one object costs no other one.
    #[test]
    fn damage_in_an_object_costs_no_other(
        which in 0_usize..4, at in 0.0_f64..1.0, length in 0_usize..20,
        pieces in prop::collection::vec(prop::sample::select(&["\"", "{", "}", "[", "]", ",", ":", "\\", "x", "1", " "][..]), 0..4),
    ) {
        let mut objects: Vec<_> = (1..5).map(short).collect();
        let object = &mut objects[which];
        let at = (at * object.len() as f64) as usize;
        object.replace_range(at..(at + length).min(object.len()), &pieces.concat());
        let text = text(&objects.iter().map(String::as_str).collect::<Vec<_>>());
        let found = numbers(&text);
        for id in (1..5).filter(|id| *id != which + 1) {
            prop_assert!(found.contains(&id.to_string()), "{text}");
        }
        // The last object may take the end of the list for its own, which is then missing.
        let line = which as u32 + 4;
        prop_assert!(found.len() <= 5 && problems(&text).iter().all(|(at, _)| *at == line || which == 3), "{text} {:?}", problems(&text));
    }
}
