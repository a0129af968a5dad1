//! Laws of reading any bytes. The fuzz target checks them too.

use std::borrow::Cow;

use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::base::pause::Pause;
use jobstats_core::rules::snapshot::{Snapshot, print, read, read_carried};
use jobstats_core::text::job_stats::Problem;

use crate::events::events;
use crate::readings::{record, records};

/// All of them; `cut` is a place in the text.
pub fn check(text: &[u8], cut: usize) {
    for snapshot in &read(text, Pause::NEVER).unwrap().snapshots {
        is_consistent(snapshot);
        print_gives_it_again(snapshot);
        lines_give_it_again(snapshot, text);
    }
    other_values_are_of_the_text(text);
    it_outlives_the_text(text);
    ends_of_lines_do_not_matter(text);
    a_cut_changes_nothing_before_it(text, cut);
    read_carried(text, Pause::NEVER).unwrap();
}

/// Each parameter has one value, on its line.
fn other_values_are_of_the_text(text: &[u8]) {
    let others = read(text, Pause::NEVER).unwrap().others;
    let mut seen = std::collections::HashSet::new();
    for other in &others {
        assert!(seen.insert(other.parameter) && !other.value.trim_ascii().is_empty());
        if let Cow::Borrowed(value) = other.value {
            let begin = value.as_ptr() as usize - text.as_ptr() as usize;
            assert_eq!(other.line as usize, line_of(text, begin));
        }
        let lines = text.split(|byte| *byte == b'\n').count();
        assert!(
            other
                .lines(Pause::NEVER)
                .all(|(line, _)| line as usize <= lines)
        );
    }
}

/// A kept snapshot is unchanged when its text is gone, except for the target and problems.
fn it_outlives_the_text(text: &[u8]) {
    for (position, snapshot) in read(text, Pause::NEVER)
        .unwrap()
        .snapshots
        .iter()
        .enumerate()
    {
        let kept = {
            let gone = text.to_vec();
            let snapshot = read(&gone, Pause::NEVER)
                .unwrap()
                .snapshots
                .remove(position);
            snapshot.keep().unwrap()
        };
        let expected = Snapshot {
            target: None,
            problems: Vec::new(),
            ..snapshot.clone()
        };
        assert_eq!(format!("{kept:?}"), format!("{expected:?}"));
    }
}

/// Checks the documented properties of the fields of a snapshot.
fn is_consistent(snapshot: &Snapshot<'_>) {
    for record in &snapshot.records {
        let counters = || snapshot.counters_of(record);
        assert!(
            counters()
                .map(|counter| counter.slot)
                .is_sorted_by(|slot, next| slot < next)
        );
        for counter in counters() {
            let listed = usize::from(counter.slot) < OPERATIONS.len();
            assert!(!listed || record.has(counter.slot) && !counter.is_zero());
            assert!(!snapshot.slot_name(counter.slot).is_empty());
            assert_eq!(snapshot.value(record, counter.slot), Some(counter));
            let sizes = counter.histogram.map(|histogram| histogram.sizes());
            assert!(sizes.is_none_or(|sizes| sizes.iter().any(|count| *count > 0)));
        }
    }
    assert!(snapshot.records.len() < 2 || snapshot.observed);
    assert!(snapshot.problems.is_sorted_by_key(|problem| problem.line));
    assert!(
        snapshot
            .text
            .is_sorted_by(|range, next| range.end < next.start)
    );
}

/// Rule 5: an identifier repeats only with a later start time, or in a later epoch without any.
fn lives_are_apart(snapshot: &Snapshot<'_>) {
    let mut seen = std::collections::HashMap::new();
    for record in &snapshot.records {
        if let Some(before) = seen.insert(snapshot.id(record), record) {
            let is_later = before.start_time < record.start_time && before.start_time.is_some();
            assert!(is_later || before.ended && record.start_time.is_none());
        }
    }
}

fn print_gives_it_again(snapshot: &Snapshot<'_>) {
    lives_are_apart(snapshot);
    let printed = print(snapshot);
    let reading = read(&printed, Pause::NEVER).unwrap();
    let again = reading.snapshots.first().cloned().unwrap_or_default();
    // A record without a usable counter is not printed.
    let with_counters = snapshot
        .records
        .iter()
        .filter(|record| record.has_counters());
    let expected: String = with_counters.map(|one| record(snapshot, one)).collect();
    assert_eq!(records(&again), expected);
    assert_eq!(
        records(&read_carried(&printed, Pause::NEVER).unwrap()),
        expected
    );
    assert_eq!(again.target, snapshot.target);
    assert_eq!(
        again.cleanup_interval,
        snapshot
            .cleanup_interval
            .filter(|_| snapshot.target.is_some())
    );
    assert_eq!(again.observed, snapshot.observed);
    assert_eq!(again.problems, []);
}

/// Returns whether two parts of a target's lines that do not follow each other in the text stay apart in their concatenation.
/// They are not where `lctl -H` puts the name on each line, nor for certain where a line is cut.
fn is_seen(part: &[u8], next: &[u8]) -> bool {
    let line = next.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_".contains(byte);
    let name = line
        .iter()
        .position(|byte| !is_name(byte))
        .map(|end| &line[..end]);
    let begins = name.is_some_and(|name| {
        line[name.len()..] == *b"=" || name.ends_with(b".job_cleanup_interval")
    });
    part.ends_with(b"\n") && (begins || next.starts_with(b"error: "))
}

/// Returns whether a line is, for example, `mdt.scratch-MDT0000.job_stats=job_stats:`.
fn names_a_value(line: &[u8]) -> bool {
    let name = b".job_stats";
    let value = line.windows(name.len()).position(|part| part == name);
    value.is_some_and(|at| line[at + name.len()..].len() > 1) && !line.starts_with(b"error: ")
}

fn has_message_inside(line: &[u8]) -> bool {
    line.windows(7).skip(1).any(|bytes| bytes == b"error: ")
}

fn lines_give_it_again(snapshot: &Snapshot<'_>, text: &[u8]) {
    let parts: Vec<_> = snapshot.lines(text).collect();
    if parts.windows(2).any(|seam| !is_seen(seam[0], seam[1])) {
        return;
    }
    let own = parts.concat();
    // With the name on each line, a part that follows a message can go on with a record of the part before; and which
    // part of a line is a message can depend on the line that follows, which may not be of this target.
    let lines = || own.split(|byte| *byte == b'\n');
    if parts.len() > 1 && lines().any(names_a_value) || lines().any(has_message_inside) {
        return;
    }
    let reading = read(&own, Pause::NEVER).unwrap();
    let [again] = &reading.snapshots[..] else {
        panic!("{:?}", reading.snapshots)
    };
    let problems = |of: &Snapshot<'_>| -> Vec<_> {
        let what = |problem: &Problem<'_>| (problem.reason, problem.entry.clone());
        of.problems.iter().map(what).collect()
    };
    assert_eq!(again.target, snapshot.target);
    assert_eq!(records(again), records(snapshot));
    assert_eq!(again.complete, snapshot.complete);
    assert_eq!(again.cleanup_interval, snapshot.cleanup_interval);
    assert_eq!(again.observed, snapshot.observed);
    // What ends a line can depend on where it is cut.
    if own.ends_with(b"\n") {
        assert_eq!(problems(again), problems(snapshot));
    }
}

/// Lines that end as on DOS are never read the short way: it means what the careful way means.
fn ends_of_lines_do_not_matter(text: &[u8]) {
    if !text.contains(&b'\r') {
        let dos = text
            .split_inclusive(|byte| *byte == b'\n')
            .flat_map(|line| match line.split_last() {
                Some((b'\n', line)) => [line, b"\r\n"].concat(),
                _ => line.to_vec(),
            });
        let dos: Vec<_> = dos.collect();
        assert_eq!(events(&dos), events(text));
        let [careful, short] = [&dos, text].map(|text| read(text, Pause::NEVER).unwrap().snapshots);
        for (careful, short) in careful.iter().zip(&short) {
            assert_eq!(records(careful), records(short));
            assert_eq!(careful.complete, short.complete);
            assert_eq!(careful.problems_found, short.problems_found);
        }
    }
}

fn a_cut_changes_nothing_before_it(text: &[u8], cut: usize) {
    let cut = cut.min(text.len());
    let line = line_of(text, cut);
    // Four things depend on the following lines: a line that may be another parameter, a line that a message
    // interrupts, a line that goes on, and an identifier that looks like a name. The last lines before the cut are left
    // out for them.
    let settled = text[..cut]
        .split(|byte| *byte == b'\n')
        .rev()
        .position(|line| line.starts_with(b"- job_id:"));
    let line = line.saturating_sub(settled.unwrap_or(line));
    assert_eq!(before(&text[..cut], line), before(text, line));
}

/// The number of the line with a byte.
pub fn line_of(text: &[u8], offset: usize) -> usize {
    1 + text[..offset].iter().filter(|byte| **byte == b'\n').count()
}

/// The events of lines before one.
pub fn before(text: &[u8], line: usize) -> Vec<String> {
    let number = |event: &str| event.split(' ').next()?.parse::<usize>().ok();
    events(text)
        .lines()
        .filter(|event| number(event).is_some_and(|number| number < line))
        .map(str::to_owned)
        .collect()
}
