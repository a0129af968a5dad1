//! Laws of every text.

use std::collections::{BTreeMap, BTreeSet};

use jobstats_core::base::pause::Pause;
use jobstats_core::rules::snapshot::{Contents, read};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::comparisons;
use crate::events;
use crate::generate::{self, Target, damage, damaged, meaning, targets};
use crate::invariants::{self, before, line_of};
use crate::readings::{record, records, snapshot};

/// The events without the numbers of lines.
fn unnumbered(text: &str) -> Vec<String> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let what = |event: &str| match event.split_once(' ') {
        Some((line, what)) if number(line) => what.to_owned(),
        _ => event.to_owned(),
    };
    events(text).lines().map(what).collect()
}

/// The identifier and all values of each record, of all targets.
fn each_record(reading: &Contents<'_>) -> Vec<(String, String)> {
    let snapshots = reading.snapshots.iter();
    snapshots
        .flat_map(|snapshot| {
            snapshot
                .records
                .iter()
                .map(move |one| (snapshot.id(one).to_owned(), record(snapshot, one)))
        })
        .collect()
}

/// The lines of the target's value, and those before its name.
fn split(target: &Target) -> (String, String) {
    let name = format!("{}=", target.parameter("job_stats"));
    let printed = target.print();
    let (before, value) = printed.split_once(&name).unwrap();
    (before.to_owned(), value.trim_start().to_owned())
}

/// Prints a text in the form of `lctl get_param -H`.
fn name_on_each_line(target: &Target) -> String {
    let name = format!("{}=", target.parameter("job_stats"));
    let (mut text, value) = split(target);
    if value.is_empty() {
        return text + &name + "\n";
    }
    text.extend(value.lines().map(|line| format!("{name}{line}\n")));
    text
}

/// Prints a text in the form of `lctl get_param -y`.
fn yaml(target: &Target) -> String {
    let (before, value) = split(target);
    let end = if value.is_empty() { "\n" } else { "" };
    format!(
        "{}{}: {value}{end}",
        before.replace('=', ": "),
        target.parameter("job_stats")
    )
}

/// Names and values of other parameters.
const BESIDE: [(&str, &str); 8] = [
    (
        "health_check",
        "device fs-OST0012 reported unhealthy\nNOT HEALTHY\n",
    ),
    (
        "mdt.x-MDT0000.md_stats",
        "\nsnapshot_time 1510781853.009826353 secs.nsecs\nopen 7 samples [usecs] 1 2 9 27\n",
    ),
    (
        "obdfilter.x-OST0000.exports.10.0.0.1@tcp.uuid",
        "\nx-MDT0000-mdtlov_UUID\n",
    ),
    ("osd-ldiskfs.x-OST0000.kbytesfree", "12\n"),
    (
        "osd-zfs.x-OST0000.quota_slave.acct_user",
        "\nusr_accounting:\n- id:      0\n  usage:   { inodes:  331, kbytes:  2000 }\n",
    ),
    (
        "ost.OSS.ost_io.nrs_policies",
        "\n\nregular_requests:\n  - name: fifo\n    state: started\n    queued: 0\n    active: 0\n\n",
    ),
    (
        "mdd.x-MDT0000.changelog_users",
        "\ncurrent_index: 5\nID    index (idle) mask\ncl1   4 (7)\n",
    ),
    ("mdt.x-MDT0000.recovery_status", "status: INACTIVE\n"),
];

proptest! {
    #[test]
    fn a_text_means_what_the_server_printed(targets in targets()) {
        prop_assert_eq!(unnumbered(&generate::print(&targets)), meaning(&targets));
    }

    #[test]
    fn a_text_of_a_server_has_no_problems(targets in targets()) {
        let text = generate::print(&targets);
        let reading = read(text.as_bytes(), Pause::NEVER).unwrap();
        prop_assert_eq!(reading.snapshots.len(), targets.len());
        for snapshot in &reading.snapshots {
            prop_assert!(snapshot.complete && snapshot.observed);
            prop_assert_eq!(&snapshot.problems, &[]);
        }
    }

    #[test]
    fn a_cut_changes_nothing_before_it(targets in targets(), at in any::<Index>()) {
        let text = generate::print(&targets).into_bytes();
        let cut = at.index(text.len());
        let line = line_of(&text, cut);
        prop_assert_eq!(before(&text[..cut], line), before(&text, line));
    }

    #[test]
    fn damage_changes_nothing_before_it(targets in targets(), damages in vec(damage(), 1..4)) {
        let text = generate::print(&targets).into_bytes();
        let (first, damaged) = damaged(&text, &damages);
        let line = line_of(&text, first);
        prop_assert_eq!(before(&damaged, line), before(&text, line));
    }

    #[test]
    fn damage_leaves_what_holds_for_any_bytes(targets in targets(), damages in vec(damage(), 0..6), cut in any::<Index>()) {
        let (_, text) = damaged(generate::print(&targets).as_bytes(), &damages);
        invariants::check(&text, cut.index(text.len() + 1));
    }

    /// One bad line costs no other entry.
    #[test]
    fn a_damaged_line_of_a_record_costs_no_other(
        targets in targets(),
        line in any::<Index>(),
        at in any::<Index>(),
        byte in any::<u8>().prop_filter("one line stays one", |byte| *byte != b'\n'),
    ) {
        let text = generate::print(&targets);
        let mut lines: Vec<_> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
        let numbers: Vec<_> = (0..lines.len()).filter(|number| lines[*number].starts_with(b"  ")).collect();
        prop_assume!(!numbers.is_empty());
        let number = numbers[line.index(numbers.len())];
        let at = at.index(lines[number].len());
        lines[number][at] = byte;
        let damaged = lines.join(&b'\n');
        let damaged = read(&damaged, Pause::NEVER).unwrap();
        let whole = read(text.as_bytes(), Pause::NEVER).unwrap();
        let of_record = lines[..number].iter().filter(|line| line.starts_with(b"- job_id:")).count() - 1;
        let mut others = each_record(&damaged);
        let mut expected = each_record(&whole);
        let (own, _) = expected.remove(of_record);
        // What could be the beginning of another record ends this one, be it before its first counter.
        let may_be_gone = lines[number].trim_ascii_start().starts_with(b"-");
        if !may_be_gone || others.len() > expected.len() {
            prop_assert_eq!(others.remove(of_record).0, own);
        }
        prop_assert_eq!(others, expected);
    }

    #[test]
    fn lctl_prints_the_same_in_other_ways(targets in targets()) {
        let text = generate::print(&targets);
        let usual: Vec<_> = read(text.as_bytes(), Pause::NEVER).unwrap().snapshots.iter().map(snapshot).collect();
        for other in [
            targets.iter().map(name_on_each_line).collect(),
            targets.iter().map(yaml).collect(),
            text.replace('\n', "\r\n"),
            text.replace("job_stats:\n", ""),
        ] {
            let other: Vec<_> = read(other.as_bytes(), Pause::NEVER).unwrap().snapshots.iter().map(snapshot).collect();
            prop_assert_eq!(&other, &usual);
        }
    }

    /// Values of other parameters are passed on unchanged, and do not change job_stats.
    #[test]
    fn other_values_stand_beside_job_stats(targets in targets(), places in vec(0..BESIDE.len(), 0..8)) {
        let mut text = String::new();
        let (mut expected, mut places) = (BTreeMap::new(), places.into_iter());
        for target in &targets {
            for place in places.by_ref().take(2) {
                let (name, value) = BESIDE[place];
                let printed = format!("{name}={value}");
                // Printed again at once, a name goes on with its value, as in the output of -H.
                text += if text.ends_with(&printed) { "" } else { &printed };
                expected.entry(name).or_insert(value);
            }
            text += &target.print();
        }
        let usual = generate::print(&targets);
        let [usual, beside] = [&usual, &text].map(|text| read(text.as_bytes(), Pause::NEVER).unwrap());
        let shown = |contents: &Contents<'_>| contents.snapshots.iter().map(snapshot).collect::<String>();
        prop_assert_eq!(shown(&beside), shown(&usual));
        prop_assert_eq!(&beside.problems, &usual.problems);
        let values: BTreeSet<_> = beside.others.iter().map(|other| other.value.to_vec()).collect();
        prop_assert_eq!(values, expected.values().map(|value| value.as_bytes().to_vec()).collect());
    }

    #[test]
    fn without_names_the_records_are_the_same(targets in targets()) {
        let (_, value) = split(&targets[0]);
        let text = targets[0].print();
        let named = read(text.as_bytes(), Pause::NEVER).unwrap();
        let nameless = read(value.as_bytes(), Pause::NEVER).unwrap();
        prop_assert!(nameless.snapshots.iter().all(|snapshot| snapshot.target.is_none()));
        let nameless: String = nameless.snapshots.iter().map(records).collect();
        prop_assert_eq!(nameless, records(&named.snapshots[0]));
    }

    #[test]
    fn texts_that_follow_each_other_are_compared(targets in targets(), others in targets()) {
        let texts = [&targets, &others].map(|targets| generate::print(targets));
        comparisons::check(texts[0].as_bytes(), texts[1].as_bytes());
    }

    #[test]
    fn a_text_is_compared_with_what_damage_leaves_of_it(targets in targets(), damages in vec(damage(), 1..6)) {
        let text = generate::print(&targets).into_bytes();
        let (_, damaged) = damaged(&text, &damages);
        comparisons::check(&text, &damaged);
        comparisons::check(&damaged, &text);
    }
}
