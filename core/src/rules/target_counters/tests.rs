mod exports;
mod laws;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::base::instant::{MINUTE, SECOND};
use crate::base::operation::OPERATIONS;
use crate::rules::increment::split;
use crate::rules::snapshot::{print, read as read_text, read_carried};

const EPOCH: i64 = 1_700_000_000;

/// The value of a target that was read so many seconds after the epoch, and whose counters were zero at another one.
fn value(read: i64, start: Option<i64>, lines: &str) -> String {
    let start = start.map(|it| format!("start_time {}.000000000 secs.nsecs\n", EPOCH + it));
    format!(
        "snapshot_time {}.000000000 secs.nsecs\n{}{lines}",
        EPOCH + read,
        start.unwrap_or_default()
    )
}

fn mdt(start: Option<i64>, lines: &str) -> String {
    format!("mdt.fs-MDT0000.md_stats=\n{}", value(0, start, lines))
}

fn ost(start: Option<i64>, lines: &str) -> String {
    format!("obdfilter.fs-OST0000.stats=\n{}", value(0, start, lines))
}

/// The connections of a client, some to a metadata server.
fn export(nid: &str, start: Option<i64>, lines: &str, uuid: &str) -> String {
    let name = format!("obdfilter.fs-OST0000.exports.{nid}");
    let value = value(0, start, lines);
    format!("{name}.stats=\n{value}{name}.uuid=\nfs-MDT0000-lwp-OST0000_UUID\n{uuid}\n")
}

const SERVER: &str = "fs-MDT0000-mdtlov_UUID";

/// The body of the one target of a text, and the problems as `line code`.
fn body_and_problems(text: &str) -> (String, Vec<String>) {
    let others = read_text(text.as_bytes(), Pause::NEVER).unwrap().others;
    let mut problems = Problems::default();
    let targets = read(&others, &mut problems, Pause::NEVER).unwrap();
    assert_eq!(targets.len(), 1);
    let problems = problems.kept.iter();
    let problems = problems.map(|it| format!("{} {}", it.line, it.reason.code()));
    (targets[0].body.clone(), problems.collect())
}

fn body(text: &str) -> String {
    let (body, problems) = body_and_problems(text);
    assert_eq!(problems, [""; 0], "{text}");
    body
}

fn at(minutes: i64) -> Micros {
    EPOCH * SECOND + minutes * MINUTE
}

fn name(column: Column) -> String {
    match column {
        Column::Total(index) => OPERATIONS[index].name.to_owned(),
        Column::Usecs(index) => format!("{}_usecs", OPERATIONS[index].name),
    }
}

/// Increments as `since-until name growth …`, in minutes after the epoch.
fn shown(increments: &[Increment<'_>]) -> Vec<String> {
    let mut shown = Vec::new();
    for increment in increments {
        assert!(increment.id.is_empty() && increment.detail.is_none());
        let minutes = |time: Micros| (time - EPOCH * SECOND) / MINUTE;
        let reset = if increment.reset { " reset" } else { "" };
        let mut totals: Vec<_> = increment
            .totals
            .iter()
            .map(|(column, growth)| format!(" {} {growth}", name(*column)))
            .collect();
        totals.sort();
        shown.push(format!(
            "{}-{}{reset}{}",
            minutes(increment.since),
            minutes(increment.time),
            totals.concat()
        ));
    }
    shown
}

/// Compares two bodies, each with its minute.
fn compared(before: (i64, &str), after: (i64, &str)) -> Comparison {
    let [before, after] = [before, after].map(|(minute, body)| (at(minute), body));
    compare(Some(before), after, 1 << 40, Pause::NEVER).unwrap()
}

/// The increments of a history of texts, one read each minute.
fn history(texts: &[String]) -> Vec<Vec<String>> {
    let bodies: Vec<_> = texts.iter().map(|text| body_and_problems(text).0).collect();
    let mut before = bodies[0].clone();
    let later = (1..).zip(&bodies[1..]);
    later
        .map(|(minute, body)| {
            let compared = compared((minute - 1, &before), (minute, body));
            before = compared.body;
            shown(&compared.increments)
        })
        .collect()
}

/// The increments of two texts.
fn between(before: String, after: String) -> Vec<String> {
    history(&[before, after]).remove(0)
}

#[test]
fn a_body_is_a_record_as_jobstats_prints_it() {
    let text = mdt(
        Some(-100),
        "open 7 samples [usecs] 1 2 9 27\nclose 6 samples [reqs]\nread_bytes 1 samples [bytes] 4096 4096 4096 16777216\n",
    );
    let body = body(&text);
    let lines: Vec<_> = body
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        lines,
        [
            "job_stats:",
            "- job_id:",
            "start_time: 1699999900",
            "read_bytes: { samples: 1, unit: bytes, min: 4096, max: 4096, sum: 4096, sumsq: 16777216 }",
            "open: { samples: 7, unit: usecs, min: 1, max: 2, sum: 9, sumsq: 27 }",
            "close: { samples: 6, unit: reqs }",
        ]
    );
    let snapshot = read_carried(body.as_bytes(), Pause::NEVER).unwrap();
    assert_eq!(print(&snapshot), body.as_bytes());
}

#[test]
fn the_time_of_a_target_is_that_of_its_reading() {
    let text = mdt(None, "open 1 samples [reqs]\n");
    let others = read_text(text.as_bytes(), Pause::NEVER).unwrap().others;
    let targets = read(&others, &mut Problems::default(), Pause::NEVER).unwrap();
    assert_eq!((targets[0].line, targets[0].time), (1, Some(at(0))));
    assert_eq!(stats::time_in(targets[0].time, at(1)), at(0));
    assert_eq!(stats::time_in(targets[0].time, at(2)), at(2));
}

#[test]
fn a_first_reading_is_a_baseline() {
    let body = body(&mdt(None, "open 1 samples [reqs]\n"));
    let compared = compare(None, (at(0), &body), 1 << 40, Pause::NEVER).unwrap();
    assert_eq!((compared.increments.len(), compared.body), (0, body));
}

#[test]
fn counters_grow_by_their_difference_and_missing_lines_are_zero() {
    for start in [None, Some(-100)] {
        let before = mdt(start, "open 7 samples [usecs] 1 2 9 27\n");
        let after = mdt(
            start,
            "open 9 samples [usecs] 1 2 12 27\nclose 6 samples [usecs] 1 1 6 6\n",
        );
        assert_eq!(
            between(before, after),
            ["0-1 close 6 close_usecs 6 open 2 open_usecs 3"]
        );
    }
}

#[test]
fn a_restart_counts_from_zero() {
    let before = "open 7 samples [reqs]\nclose 7 samples [reqs]\n";
    let after = mdt(Some(30), "open 9 samples [reqs]\n");
    assert_eq!(
        between(mdt(Some(-100), before), after),
        ["0-1 reset open 9"]
    );
    for after in [
        "open 9 samples [reqs]\n",
        "open 9 samples [reqs]\nclose 6 samples [reqs]\n",
    ] {
        let found = between(mdt(None, before), mdt(None, after));
        assert!(
            found[0].starts_with("0-1 reset") && found[0].ends_with("open 9"),
            "{found:?}"
        );
    }
    // A clear leaves the times alone.
    let cleared = history(&[
        mdt(None, before),
        mdt(None, ""),
        mdt(None, "open 2 samples [reqs]\n"),
    ]);
    assert_eq!(cleared, [vec![], vec!["1-2 open 2".to_owned()]]);
}

#[test]
fn a_start_on_the_boot_clock_is_not_known() {
    let text = |lines: &str| {
        format!(
            "mdt.fs-MDT0000.md_stats=\nsnapshot_time 1700.5 secs.nsecs\nstart_time 0.000000000 secs.nsecs\n{lines}"
        )
    };
    let before = text("open 7 samples [reqs]\n");
    assert_eq!(
        between(before.clone(), text("open 9 samples [reqs]\n")),
        ["0-1 open 2"]
    );
    assert_eq!(
        between(before, text("open 6 samples [reqs]\n")),
        ["0-1 reset open 6"]
    );
}

#[test]
fn a_line_that_vanishes_with_the_same_start_time_keeps_its_value() {
    let start = Some(-100);
    let all = |opened: u32, closed: u32| {
        mdt(
            start,
            &format!("open {opened} samples [reqs]\nclose {closed} samples [reqs]\n"),
        )
    };
    let found = history(&[
        all(7, 7),
        mdt(start, "open 8 samples [reqs]\n"),
        mdt(start, "open 9 samples [reqs]\n"),
        all(10, 9),
    ]);
    let expected = [
        vec!["0-1 open 1"],
        vec!["1-2 open 1"],
        vec!["2-3 open 1", "0-3 close 2"],
    ];
    let sorted = |mut increments: Vec<String>| {
        increments.sort();
        increments
    };
    let expected = expected.map(|it| sorted(it.into_iter().map(str::to_owned).collect()));
    assert_eq!(found.into_iter().map(sorted).collect::<Vec<_>>(), expected);
    let [before, after] =
        [all(7, 7), mdt(start, "open 8 samples [reqs]\n")].map(|text| body(&text));
    let compared = compared((0, &before), (1, &after));
    assert_eq!(
        compared.problems,
        [(
            "counter fell",
            "close: samples fell from 7 to 0, but the entry is the same".to_owned()
        )]
    );
}

#[test]
fn a_line_that_cannot_be_read_does_not_reset() {
    for start in [None, Some(-100)] {
        let before = mdt(start, "open 7 samples [reqs]\nclose 7 samples [reqs]\n");
        let damaged = mdt(
            start,
            "open 8 samples [reqs]\nclose 99999999999999999999 samples [reqs]\n",
        );
        let (body, problems) = body_and_problems(&damaged);
        assert!(body.starts_with("incomplete\n"));
        assert_eq!(problems.len(), 1);
        let after = mdt(
            start,
            "open 9 samples [reqs]\nclose 10 samples [reqs]\nmkdir 5 samples [reqs]\n",
        );
        let mut found = history(&[before, damaged, after]);
        found[1].sort();
        // The damaged line may have been mkdir.
        assert_eq!(
            found,
            [
                vec!["0-1 open 1"],
                vec!["0-2 close 3 mkdir 5", "1-2 open 1"]
            ]
        );
    }
}

#[test]
fn bytes_and_calls_of_all_versions() {
    let before = "read_bytes 2 samples [bytes] 1 9 10\n";
    let after = "read_bytes 5 samples [bytes] 1 9 40\nwrite_bytes 3 samples [bytes] 1 1 3\n";
    assert_eq!(
        between(ost(None, before), ost(None, after)),
        ["0-1 read 3 read_bytes 30 write 3 write_bytes 3"]
    );
    let timed = "read_bytes 5 samples [bytes] 1 9 40 99\nread 4 samples [usecs] 2 2 8 16\n";
    assert_eq!(
        between(ost(Some(0), ""), ost(Some(0), timed)),
        ["0-1 read 4 read_bytes 40 read_usecs 8"]
    );
    let of_2_12 = "read_bytes 5 samples [reqs] 1 9 40\n";
    assert_eq!(between(mdt(None, ""), mdt(None, of_2_12)), ["0-1 read 5"]);
}

#[test]
fn older_methods_are_no_operations() {
    let after = "statfs 5 samples [reqs]\nget_info 1 samples [reqs]\nset_info_async 2 samples [reqs]\nconnect 1117 samples [reqs]\n\
                 reconnect 9 samples [reqs]\npreprw 7 samples [reqs]\ncommitrw 7 samples [reqs]\nping 78020757 samples [reqs]\n\
                 mkdir 7 samples [reqs]\nstatfs 124430 samples [reqs]\n";
    assert_eq!(
        between(ost(None, ""), ost(None, after)),
        ["0-1 get_info 1 statfs 5"]
    );
    // Of zeros there is no line, so that the method's is the only one of its name.
    let texts = [
        "write_bytes 1000 samples [bytes] 4096 4096 4096000\nstatfs 500 samples [reqs]\n",
        "write_bytes 1010 samples [bytes] 4096 4096 4136960\nstatfs 510 samples [reqs]\n",
        "write_bytes 1020 samples [bytes] 4096 4096 4177920\nstatfs 3 samples [reqs]\nstatfs 520 samples [reqs]\n",
    ];
    let [first, second, third] = texts.map(|lines| ost(None, lines));
    assert_eq!(
        between(first, second.clone()),
        ["0-1 statfs 10 write 10 write_bytes 40960"]
    );
    assert_eq!(
        between(second.clone(), third),
        ["0-1 statfs 3 write 10 write_bytes 40960"]
    );
    let none = "write_bytes 1020 samples [bytes] 4096 4096 4177920\n";
    assert_eq!(
        between(second.clone(), ost(None, none)),
        ["0-1 write 10 write_bytes 40960"]
    );
    let anew = "write_bytes 4 samples [bytes] 4096 4096 16384\nstatfs 3 samples [reqs]\n";
    assert_eq!(
        between(second, ost(None, anew)),
        ["0-1 reset statfs 3 write 4 write_bytes 16384"]
    );
    let methods = "punch 1 samples [reqs]\nconnect 5 samples [reqs]\nstatfs 7 samples [reqs]\n";
    assert_eq!(between(ost(None, ""), ost(None, methods)), ["0-1 punch 1"]);
    // Up to 2.5 there is one list, in which the target's operations stand between the methods.
    let single = "write_bytes 6 samples [bytes] 1 1 6\nget_info 2 samples [reqs]\nconnect 5 samples [reqs]\nstatfs 7 samples [reqs]\n\
                  punch 3 samples [reqs]\npreprw 6 samples [reqs]\nquotactl 4 samples [reqs]\nping 8 samples [reqs]\n";
    assert_eq!(
        between(ost(None, ""), ost(None, single)),
        ["0-1 get_info 2 punch 3 quotactl 4 statfs 7 write 6 write_bytes 6"]
    );
    assert_eq!(
        between(
            mdt(None, ""),
            mdt(None, "create 5 samples [reqs]\nopen 1 samples [reqs]\n")
        ),
        ["0-1 open 1"]
    );
    assert_eq!(
        between(ost(None, ""), ost(None, "punch 5 samples [msecs] 1 2 3\n")),
        ["0-1 punch 5"],
        "another unit"
    );
}

#[test]
fn more_than_can_be_done_is_no_increment() {
    let [before, after] = [1, 1 << 41]
        .map(|opened: u64| body(&mdt(Some(-100), &format!("open {opened} samples [reqs]\n"))));
    let compared = compare(Some((at(0), &before)), (at(1), &after), 1, Pause::NEVER).unwrap();
    assert_eq!(
        (compared.increments.len(), compared.problems[0].0),
        (0, "impossible")
    );
}

/// The sums of the pieces of a history of texts, one read each minute, by column, and the minutes of the texts that count.
fn added_up(texts: &[String]) -> (BTreeMap<String, i64>, Vec<i64>) {
    let (mut before, mut sums, mut counting) =
        (None::<(Micros, String)>, BTreeMap::new(), Vec::new());
    for (minute, text) in (0..).zip(texts) {
        let others = read_text(text.as_bytes(), Pause::NEVER).unwrap().others;
        let target = read(&others, &mut Problems::default(), Pause::NEVER)
            .unwrap()
            .remove(0);
        let known = before.as_ref().map(|(time, body)| (*time, body.as_str()));
        let compared = compare(known, (at(minute), &target.body), 1 << 40, Pause::NEVER).unwrap();
        if let Some((from, _)) = known {
            if compared.lacks_exports(&target.not_of_servers, at(minute) - from) {
                continue;
            }
            for (column, growth) in compared
                .pieces(from, at(minute))
                .unwrap()
                .into_iter()
                .flat_map(|it| it.totals)
            {
                *sums.entry(name(column)).or_default() += growth;
            }
        }
        counting.push(minute);
        before = Some((at(minute), compared.body));
    }
    (sums, counting)
}

fn creates(count: u32) -> String {
    format!("create {count} samples [reqs]\n")
}

#[test]
fn a_text_without_a_connection_of_the_one_before_is_no_reading() {
    let of = |created: u32| export("10.0.0.1@tcp", Some(-90), &creates(created), SERVER);
    let own = |start: i64, created: u32| ost(Some(start), &creates(created));
    let whole = |created: u32, by_server: u32| own(-100, created) + &of(by_server);
    let sums = |texts: &[String]| {
        let (sums, counting) = added_up(texts);
        (sums.get("create").copied().unwrap_or_default(), counting)
    };
    let without = [whole(100, 70), own(-100, 120), whole(140, 100)];
    assert_eq!(sums(&without), (10, vec![0, 2]));
    // The counters of all began anew, and the connection is not there yet.
    let restarted = [whole(100, 70), own(30, 5), own(30, 7)];
    assert_eq!(sums(&restarted), (7, vec![0, 1, 2]));
    // By the text, the connection no longer belongs to a metadata server.
    let ended = [
        whole(100, 70),
        own(-100, 120) + &export("10.0.0.1@tcp", Some(-90), "", ""),
    ];
    assert_eq!(sums(&ended), (20, vec![0, 1]));
    // A connection that does not come back is missed for an hour.
    let gone: Vec<_> = std::iter::once(whole(100, 70))
        .chain((1..62).map(|more| own(-100, 100 + more)))
        .collect();
    assert_eq!(sums(&gone), (61, vec![0, 60, 61]));
}

#[test]
fn a_counter_that_is_back_counts_as_a_whole_in_the_last_interval() {
    let all = |opened: u32, closed: u32| {
        mdt(
            Some(-100),
            &format!("open {opened} samples [reqs]\nclose {closed} samples [reqs]\n"),
        )
    };
    let without = mdt(Some(-100), "open 8 samples [reqs]\n");
    let (sums, _) = added_up(&[all(7, 7), without, all(9, 12)]);
    assert_eq!(
        sums,
        [("close".to_owned(), 5), ("open".to_owned(), 2)].into()
    );
}

/// A late text between two others makes the same increments as one in time.
#[test]
fn late_texts_are_placed_between() {
    let texts =
        [7, 8, 12].map(|opened| body(&mdt(Some(-100), &format!("open {opened} samples [reqs]\n"))));
    let without = compared((0, &texts[0]), (2, &texts[2]));
    let late = compared((0, &texts[0]), (1, &texts[1]));
    let again = compared((1, &late.body), (2, &without.body));
    assert_eq!(shown(&without.increments), ["0-2 open 5"]);
    assert_eq!(shown(&late.increments), ["0-1 open 1"]);
    assert_eq!(shown(&again.increments), ["1-2 open 4"]);
    assert_eq!(again.body, without.body);
}

/// A reading from another server that had the target for a while contradicts no other, however late it comes.
#[test]
fn a_late_text_contradicts_nothing_but_what_goes_on() {
    let reading = |start, opened| body(&mdt(start, &format!("open {opened} samples [reqs]\n")));
    let fits = |readings: [(Option<i64>, i64); 3]| {
        let [before, late, next] = readings.map(|(start, opened)| reading(start, opened));
        let before = Some((at(0), &*before));
        can_be_older((at(1), &late), before, (at(2), &next), Pause::NEVER).unwrap()
    };
    let first = reading(None, 5);
    assert!(can_be_older((at(1), &first), None, (at(2), &first), Pause::NEVER).unwrap());
    let start = |minute: i64| Some(minute * 60);
    assert!(fits([(start(-9), 7), (start(-9), 8), (start(-9), 9)]));
    assert!(!fits([(start(-9), 7), (start(-9), 6), (start(-9), 9)]));
    assert!(!fits([(start(-9), 7), (start(-9), 10), (start(-9), 9)]));
    assert!(!fits([(start(-9), 7), (start(-10), 10), (start(-9), 9)]));
    // Moved, and back again.
    assert!(fits([(start(-9), 7), (Some(5), 4), (Some(70), 3)]));
    assert!(!fits([(start(-9), 7), (Some(70), 4), (Some(5), 3)]));
    assert!(fits([(None, 7), (None, 4), (None, 3)]));
    assert!(fits([(None, 7), (None, 8), (None, 3)]));
    assert!(fits([(None, 7), (None, 8), (None, 9)]));
    assert!(!fits([(None, 7), (None, 6), (None, 9)]));
    assert!(!fits([(None, 7), (None, 10), (None, 9)]));
    // A line that is missing is zero.
    let none = body(&mdt(None, ""));
    let before = Some((at(0), &*first));
    assert!(!can_be_older((at(1), &none), before, (at(2), &first), Pause::NEVER).unwrap());
}
