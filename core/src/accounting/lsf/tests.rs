use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::base::instant::{Micros, SECOND};
use crate::base::pause::Pause;

/// A record of LSF 5.1, which ends after the spool files and the reservation. All records here are made up.
const OLD: &str = r#""JOB_FINISH" "5.1" 1720188037 7 1000 33554434 2 1720187960 0 0 1720188010 "ada" "normal" "" "" "" "l1" "fluid" "" "out" "err" "1720187960.7" 0 2 "c1" "c2" 64 60.0 "heat" "./heat 1; echo ""done""" 277.210000 17.280000 0 0 -1 0 0 927804 87722 0 0 0 -1 0 0 0 0 0 -1 "" "project1" 0 2 "" "" 0 310424 339112 "" "" """#;

/// A record of LSF 7 with an element of an array.
const SEVEN: &str = r##""JOB_FINISH" "7.06" 1720188100 8 1001 33816691 16 1720188000 0 0 1720188004 "bob" "long" " span[ptile=8]" "" "" "l1" "imb" "" "IMB.%J.%I.out" "IMB.%J.%I.err" "1720188000.8" 0 2 "8*c1" "8*c2" 32 60.0 "imb[1-90]" "#!/bin/bash;tr ""
"" "" "";run" 0.472928 1.112830 0 0 -1 0 0 149746 0 0 0 0 -1 0 0 0 1907 1746 -1 "" "default" 65280 16 "" "" 23 2 25 "" "" "" "gold" 0 "" 14 "" -1 "/p/bob" "" "mpi" "" -1 "" "" 6160  "" 1720188004 "" "" 0"##;

/// A record of LSF 10.1 with a job that never started, and its pairs of keys and values.
const TEN: &str = r#""JOB_FINISH" "10.108" 1720188200 9 1002 33554435 1 1720188100 0 0 0 "eve" "normal" "" "" "" "l1" "/home/eve" "" "" "" "1720188100.9" 2 "c1" "c2" 0 32 1.0 "" "sleep 1" -1.000000 -1.000000 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 "" "default" 0 1 "" "" 0 0 0 "" "" "" "" 0 "" 15 "" -1 "" "" "" "" -1 "" "" 5136 "" 0 "" "" 2 1058 "1" 1110 "default" 0 -1 0 0 "" "" -1 "" -1 0 "" 0 0 "" 0 "/root" 0 "" 0.000000 0.00 0.00 0.00 0.00 0 -1 0 0 0 0 0 1 "schedulingOverhead" "0.00""#;

fn text() -> String {
    format!("#4096\n{OLD}\n\"EVENT_ADRSV_FINISH\" \"7.0\" 1720188001 1 2 \"ada\"\n{SEVEN}\n{TEN}\n")
}

fn results(text: &str) -> Vec<(u32, Result<Job<'_>, Reason>)> {
    let records = records(text.as_bytes(), Pause::NEVER);
    records.map(|record| (record.line, record.job)).collect()
}

/// Returns the only job of a text.
fn job(text: &str) -> Job<'_> {
    let mut results = results(text);
    assert_eq!(results.len(), 1, "{results:?}");
    results.remove(0).1.unwrap()
}

/// Returns the reason why the only record of a text cannot be used.
fn reason(text: &str) -> Reason {
    let mut results = results(text);
    assert_eq!(results.len(), 1, "{results:?}");
    results.remove(0).1.unwrap_err()
}

const fn at(seconds: i64) -> Option<Micros> {
    Some(seconds * SECOND)
}

fn some(text: &'static str) -> Option<Cow<'static, str>> {
    Some(Cow::Borrowed(text))
}

#[test]
fn all_fields_are_filled() {
    let extra = [
        ("ru_utime", "0.472928"),
        ("ru_stime", "1.112830"),
        ("maxRMem", "2"),
        ("maxRSwap", "25"),
        ("exitInfo", "14"),
        ("app", "mpi"),
    ];
    let expected = Job {
        scheduler: None,
        job: "8".into(),
        label: "8[23]".into(),
        submitted: at(1_720_188_000),
        started: at(1_720_188_004),
        ended: at(1_720_188_100),
        time_doubt: None,
        uid: Some(1001),
        user_name: some("bob"),
        gid: None,
        group_name: None,
        account: some("default"),
        partition: some("long"),
        qos: some("gold"),
        job_name: some("imb[1-90]"),
        state: some("EXIT"),
        nodes: Some(2),
        node_list: some("c1,c2"),
        cpus: Some(16),
        exit_code: some("65280"),
        parent: some("8"),
        extra: extra
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
    };
    assert_eq!(job(SEVEN), expected);
}

#[test]
fn records_of_all_versions_are_read_and_other_types_are_skipped() {
    let text = text();
    let found: Vec<_> = results(&text)
        .into_iter()
        .map(|(line, job)| {
            let job = job.unwrap();
            (
                line,
                job.label.into_owned(),
                job.state,
                job.started,
                job.ended,
            )
        })
        .collect();
    let expected = [
        (2, "7", "DONE", at(1_720_188_010), at(1_720_188_037)),
        (4, "8[23]", "EXIT", at(1_720_188_004), at(1_720_188_100)),
        (6, "9", "EXIT", None, at(1_720_188_200)),
    ];
    let expected = expected
        .map(|(line, label, state, start, end)| (line, label.into(), some(state), start, end));
    assert_eq!(found, expected);
}

#[test]
fn a_start_of_zero_is_never() {
    let text = text();
    let never = results(&text).pop().unwrap().1.unwrap();
    assert_eq!((never.submitted, never.started), (at(1_720_188_100), None));
    assert_eq!(
        (never.nodes, never.node_list, never.cpus),
        (None, None, Some(1))
    );
}

#[test]
fn the_asked_hosts_are_not_the_hosts_of_the_job() {
    let text = OLD.replace(r#" 0 2 "c1" "c2" "#, r#" 3 "x1" "x2" "x3" 2 "c1" "c2" "#);
    assert_eq!(job(&text).node_list, some("c1,c2"));
}

#[test]
fn hosts_are_counted_once_and_slots_as_often_as_they_are_printed() {
    let text = OLD.replace(r#" 0 2 "c1" "c2" "#, r#" 0 3 "c2" "c2" "c1" "#);
    let found = job(&text);
    assert_eq!(
        (found.nodes, found.node_list, found.cpus),
        (Some(2), some("c1,c2"), Some(3))
    );
    let text = OLD.replace(r#" 0 2 "c1" "c2" "#, r#" 0 1 "16*host1201-ib" "#);
    let found = job(&text);
    assert_eq!(
        (found.nodes, found.node_list, found.cpus),
        (Some(1), some("host1201-ib"), Some(16))
    );
}

#[test]
fn the_nodes_of_a_job_that_slurm_placed_are_those_of_slurm() {
    let text = SEVEN
        .replace(
            r#" 0 2 "8*c1" "8*c2" "#,
            r#" 0 2 "lsfhost.localdomain" "lsfhost.localdomain" "#,
        )
        .replace(
            r#""gold" 0 "" "#,
            r#""gold" 0 "slurm_id=107567;ncpus=60;slurm_alloc=hapu[1-15]" "#,
        );
    let found = job(&text);
    assert_eq!((found.nodes, found.node_list), (None, some("hapu[1-15]")));
}

#[test]
fn elements_of_an_array_share_the_number_and_differ_in_the_label() {
    let text = format!("{SEVEN}\n{}\n", SEVEN.replace(" 23 2 25 ", " 24 2 25 "));
    let labels: Vec<_> = results(&text)
        .into_iter()
        .map(|(_, job)| job.unwrap())
        .collect();
    assert_eq!([&labels[0].job, &labels[1].job], ["8", "8"]);
    assert_eq!([&labels[0].label, &labels[1].label], ["8[23]", "8[24]"]);
}

#[test]
fn elements_that_were_killed_together_before_they_started_are_no_job() {
    assert_eq!(results(&SEVEN.replace(" 23 2 25 ", " -1 0 0 ")), []);
}

#[test]
fn a_quote_in_a_text_is_doubled() {
    let text = OLD.replace(r#""heat" "./heat"#, r#""say ""hi"" """ "./heat"#);
    assert_eq!(job(&text).job_name, some(r#"say "hi" ""#));
}

#[test]
fn a_blank_before_a_text_may_be_missing() {
    let text = SEVEN.replace(r#""gold" 0 "" 14"#, r#""gold" 0"" 14"#);
    assert_eq!(job(&text), job(SEVEN));
}

/// Mail wraps lines of 990 characters by an exclamation mark, a newline and a blank, wherever that falls.
#[test]
fn records_that_mail_wrapped_are_whole() {
    for record in [OLD, SEVEN, TEN] {
        for place in 14..record.len() {
            // Real newlines end a line, so that mail does not wrap there.
            let text = format!("{}!\n {}\n{OLD}\n", &record[..place], &record[place..]);
            let results = results(&text);
            assert_eq!(results.len(), 2, "{text}");
            assert_eq!(results[0].1, Ok(job(record)), "{text}");
        }
    }
}

#[test]
fn records_wrapped_by_a_newline_and_a_blank_are_whole() {
    for record in [OLD, SEVEN] {
        let blanks = (14..record.len()).filter(|place| record.as_bytes()[*place] == b' ');
        for place in blanks {
            let text = format!("{}\n{}\n{OLD}\n", &record[..place], &record[place..]);
            let results = results(&text);
            assert_eq!(results.len(), 2, "{text}");
            assert_eq!(
                results[0].1.as_ref().unwrap().label,
                job(record).label,
                "{text}"
            );
        }
    }
    let text = OLD
        .replace("17201880", "17201\n 880")
        .replace("norm", "no\n rm");
    assert_eq!(job(&text), job(OLD));
}

#[test]
fn windows_line_ends_are_nothing() {
    let text = text();
    let windows = text.replace('\n', "\r\n");
    assert_eq!(results(&windows), results(&text));
}

#[test]
fn a_record_with_a_field_too_many_or_too_few_is_a_problem() {
    for record in [OLD, SEVEN, TEN] {
        let fields: Vec<&str> = record.split(' ').collect();
        let needed = fields.len() - 5;
        for place in 1..needed.min(60) {
            // Inside of a text with blanks a word more or less is no field.
            let mut more = fields.clone();
            more.insert(
                place,
                if fields[place].starts_with('"') {
                    "1"
                } else {
                    "\"x\""
                },
            );
            let text = more.join(" ");
            for (_, found) in results(&text) {
                if let Ok(found) = found {
                    let expected = job(record);
                    assert_eq!(
                        (found.label, found.started),
                        (expected.label, expected.started),
                        "{text}"
                    );
                }
            }
        }
    }
    assert_eq!(
        reason(&OLD.replace(r#""normal" "" "" "" "l1""#, r#""normal" "" "" "l1""#)),
        Reason::WrongFields
    );
    assert_eq!(
        reason(&OLD.replace(r#" 0 2 "c1" "c2" "#, r#" 0 3 "c1" "c2" "#)),
        Reason::WrongFields
    );
    assert_eq!(
        reason(&OLD.replace(r#" 0 2 "c1" "c2" "#, r#" 0 1 "c1" "c2" "#)),
        Reason::WrongFields
    );
    assert_eq!(reason(&OLD.replace(" 927804 ", " ")), Reason::WrongFields);
    assert_eq!(
        reason(&OLD.replace(" 927804 ", " 92 7804 ")),
        Reason::WrongFields
    );
    assert_eq!(
        reason(&SEVEN.replace(r#""gold" 0 "" 14"#, r#"0 "" 14"#)),
        Reason::WrongFields
    );
}

#[test]
fn fields_of_later_versions_are_ignored() {
    let text = format!("{TEN} 0.466667 0.466667 \"new\" nan\n");
    assert_eq!(job(&text), job(TEN));
}

#[test]
fn numbers_and_times_that_are_none_are_problems() {
    assert_eq!(reason(&OLD.replace(" 7 1000 ", " 0 1000 ")), Reason::BadJob);
    assert_eq!(
        reason(&OLD.replace(" 7 1000 ", " 7.5 1000 ")),
        Reason::BadJob
    );
    assert_eq!(reason(&OLD.replace(" 1720188037 ", " 0 ")), Reason::BadTime);
    assert_eq!(
        reason(&OLD.replace(" 1720188037 ", " 1720188009 ")),
        Reason::BadTime
    );
    assert_eq!(
        reason(&OLD.replace(" 1720187960 0", " 17201879600000 0")),
        Reason::BadTime
    );
    assert_eq!(
        reason(&OLD.replace("\"5.1\"", "\"five\"")),
        Reason::UnreadableRecord
    );
    assert_eq!(reason("hello\n"), Reason::UnreadableRecord);
}

#[test]
fn commands_and_directories_are_not_kept() {
    let shown = format!("{:?}", [job(OLD), job(SEVEN), job(TEN)]);
    for secret in ["./heat", "#!/bin", "/home", "IMB.", "l1", "span", "/p/bob"] {
        assert!(!shown.contains(secret), "{secret}");
    }
}

#[test]
fn unknown_states_stay_as_printed() {
    assert_eq!(
        job(&OLD.replace(" 64 60.0 ", " 192 60.0 ")).state,
        some("DONE")
    );
    assert_eq!(job(&OLD.replace(" 64 60.0 ", " 1 60.0 ")).state, some("1"));
}

#[test]
fn a_text_is_recognized() {
    assert!(recognizes(text().as_bytes()));
}

/// Each of these texts has a million reasons to search to its end. A reader that did so would take hours.
#[test]
fn hostile_texts_take_no_longer_than_others() {
    let hosts = OLD.find(" 0 2 \"c1\"").unwrap();
    let front = format!("{} 0 4000000000", &OLD[..hosts]);
    let parts = [
        " \"c1\"",
        "\n \"c1\"",
        "\n",
        "\n ",
        "\n\"",
        "\n\"J",
        "\n\"JOB_FINISH\"",
        "\n\"JOB_FINISH\" \"",
        "\n\"JOB_FINISH\" \"1\"\n ",
        "!",
        "!\n ",
        "1\n ",
        "\"\n ",
        "\"\"",
        "#\n",
        " x\n",
    ];
    for part in parts {
        for front in [&front, "", "\"JOB_RESIZE\" "] {
            let text = front.to_owned() + &part.repeat((1 << 20) / part.len());
            let _ = records(text.as_bytes(), Pause::NEVER).count();
        }
    }
}

#[test]
fn a_cut_text_has_the_records_before_the_cut_and_invents_nothing() {
    let text = text();
    let whole = results(&text);
    for cut in 0..text.len() {
        let found = results(&text[..cut]);
        let before = found.len().saturating_sub(1).min(whole.len());
        assert_eq!(found[..before], whole[..before], "{cut}");
        assert!(found.len() <= before + 1);
        let Some((line, Ok(last))) = found.last() else {
            continue;
        };
        let (expected_line, expected) = &whole[before];
        let expected = expected.as_ref().unwrap();
        assert_eq!(line, expected_line, "{cut}");
        assert_eq!(last.label, expected.label, "{cut}");
        assert_eq!(
            (last.submitted, last.started, last.ended),
            (expected.submitted, expected.started, expected.ended)
        );
        assert!(last.qos.is_none() || last.qos == expected.qos, "{cut}");
        assert!(
            last.extra.iter().all(|it| expected.extra.contains(it)),
            "{cut}"
        );
    }
}

proptest! {
    #[test]
    fn a_damaged_record_leaves_the_others_as_they_are(
        damaged in 0_usize..4,
        place in 0.0..1.0,
        bytes in prop::collection::vec(any::<u8>().prop_filter("within a line", |byte| *byte != b'\n'), 0..40),
        removed in 0_usize..40,
    ) {
        let wrapped = OLD.replacen(" 64 60.0 ", " 64!\n  60.0 ", 1).replacen(" 7 1000 ", " 5 1000 ", 1);
        let jobs = [OLD.as_bytes(), SEVEN.as_bytes(), wrapped.as_bytes(), TEN.as_bytes()];
        let numbers = ["7", "8", "5", "9"];
        let mut text = Vec::new();
        for (number, record) in jobs.iter().enumerate() {
            let mut record = record.to_vec();
            if number == damaged {
                let begin = (place * record.len() as f64) as usize;
                let end = (begin + removed).min(record.len());
                record.splice(begin..end, bytes.iter().copied());
            }
            text.extend(record);
            text.push(b'\n');
        }
        let found: Vec<_> = records(&text, Pause::NEVER).collect();
        let problems = found.iter().filter(|record| record.job.is_err()).count();
        // A line inside of a record can be damaged so that it looks like the beginning of another one.
        let lines = jobs[damaged].split(|byte| *byte == b'\n').count();
        prop_assert!(problems <= lines);
        let others = numbers.iter().zip(jobs).enumerate().filter(|(number, _)| *number != damaged);
        for (_, (number, alone)) in others {
            let alone = records(alone, Pause::NEVER).next().unwrap().job;
            let same = found.iter().filter(|record| record.job == alone).count();
            prop_assert_eq!(same, 1, "{}", number);
        }
        prop_assert!(found.len() < 4 + lines);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'\n'), Just(b' '), Just(b'!')], 0..200)) {
        let mut text = OLD.as_bytes().to_vec();
        text.extend(&bytes);
        text.push(b'\n');
        text.extend(SEVEN.as_bytes());
        let last = records(&text, Pause::NEVER).last().unwrap();
        prop_assert_eq!(last.job.map(|job| job.label.into_owned()), Ok("8[23]".to_owned()));
        records(&bytes, Pause::NEVER).for_each(drop);
        recognizes(&bytes);
    }
}
