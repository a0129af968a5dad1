//! Long work looks up: at least once per megabyte and once per thousand records.

use std::cell::Cell;

use jobstats_core::base::pause::Pause;
use jobstats_core::rules::increment::{Observation, can_be_older, compare};
use jobstats_core::rules::snapshot::{Snapshot, read};
use jobstats_core::text::additional_parameters::Problems;
use jobstats_core::text::job_stats::Reason;
use jobstats_core::{rules::target_counters, text::gauges, text::stats, text::used};

const MB: usize = 1 << 20;

/// Counts the calls of the pause callback.
fn looks(work: impl FnOnce(Pause<'_>)) -> usize {
    let count = Cell::new(0);
    work(Pause::new(&|| count.set(count.get() + 1)));
    count.get()
}

fn observed<'a>(time: i64, snapshot: &'a Snapshot<'a>) -> Observation<'a> {
    Observation {
        time,
        server: "s",
        snapshot: Some(snapshot),
        carried: None,
    }
}

fn records(count: usize, calls: usize) -> String {
    let record = |n| format!("- job_id: {n}\n  sync: {{ samples: {calls}, unit: reqs }}\n");
    "job_stats:\n".to_owned() + &(0..count).map(record).collect::<String>()
}

#[test]
fn once_per_megabyte_whatever_the_lines_are() {
    for piece in [
        "\n",
        "x",
        "x\n",
        "=\n",
        "a=\n",
        "  a: 1\n",
        "  a: {\n",
        "error: a_param: \n",
        "xerror: a_param: \n",
        "mdt.a-MDT0000.job_stats=\n",
        "mdt.a-MDT0000.job_stats=",
        "mds.MDS.a.stats=a\n",
        "health_check=\n",
        "  sync: { samples: 0, unit: reqs }\n",
    ] {
        let text = "- job_id: a\n".to_owned() + &piece.repeat(4 * MB / piece.len());
        let looks = looks(|pause| drop(read(text.as_bytes(), pause).unwrap()));
        assert!((3..100).contains(&looks), "{looks} for {piece:?}");
    }
}

#[test]
fn once_per_thousand_records() {
    let (first, next) = (records(20_000, 1), records(20_000, 2));
    assert!(first.len() < MB);
    assert!(looks(|pause| drop(read(first.as_bytes(), pause).unwrap())) >= 20);
    let [first, next] = [&first, &next].map(|text| read(text.as_bytes(), Pause::NEVER).unwrap());
    let [first, next] = [&first, &next].map(|reading| &reading.snapshots[0]);
    let (first, next) = (observed(0, first), observed(60_000_000, next));
    assert!(looks(|pause| drop(compare(Some(&first), &next, 600, pause).unwrap())) >= 20);
    assert!(looks(|pause| can_be_older(&first, None, &next, pause).unwrap()) >= 20);
}

#[test]
fn entries_that_stand_there_twice_are_looked_for_with_pauses() {
    let once = records(20_000, 1);
    let twice = once.clone() + &records(20_000, 2);
    let [once, twice] =
        [once, twice].map(|text| looks(|pause| drop(read(text.as_bytes(), pause).unwrap())));
    assert!(twice > 2 * once + 100, "{once} {twice}");
}

#[test]
fn whoever_waits_can_end_it() {
    let text = "x\n".repeat(4 * MB);
    let ended = std::panic::catch_unwind(|| {
        let end = || std::panic::resume_unwind(Box::new("cancelled"));
        read(text.as_bytes(), Pause::new(&end)).map(drop)
    });
    assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"cancelled"));
}

#[test]
fn of_a_long_line_the_beginning_is_told_and_the_next_line_is_read() {
    let long = "x".repeat(3 * MB);
    let text = records(1, 1) + &long + "\n" + &records(2, 1);
    let reading = read(text.as_bytes(), Pause::NEVER).unwrap();
    let snapshot = &reading.snapshots[0];
    assert_eq!(snapshot.problems.len(), 1);
    assert_eq!(snapshot.problems[0].line, 4);
    assert_eq!(snapshot.problems[0].text.len(), 64 << 10);
    assert_eq!(snapshot.records.len(), 2);
    let lines: usize = snapshot.lines(text.as_bytes()).map(<[u8]>::len).sum();
    assert_eq!(lines, text.len());
}

#[test]
fn a_counter_does_not_go_on_for_ever() {
    let fields = "hist: { 1: 1 },\n".repeat(MB / 16);
    let text =
        format!("- job_id: a\n  read: {{\n{fields}}}\n  sync: {{ samples: 1, unit: reqs }}\n");
    let reading = read(text.as_bytes(), Pause::NEVER).unwrap();
    let snapshot = &reading.snapshots[0];
    assert_eq!(snapshot.records.len(), 1);
    assert_eq!(snapshot.problems[0].reason, Reason::UnclosedCounter);
}

#[test]
fn of_what_comparing_finds_wrong_some_is_kept_and_all_is_counted() {
    let (first, next) = (records(20_000, 2), records(20_000, 1));
    let dated = |text: &str| text.replace("  sync", "  start_time: 1749555000\n  sync");
    let [first, next] = [dated(&first), dated(&next)];
    let [first, next] = [&first, &next].map(|text| read(text.as_bytes(), Pause::NEVER).unwrap());
    let [first, next] = [&first, &next].map(|reading| &reading.snapshots[0]);
    let (first, next) = (observed(0, first), observed(60_000_000, next));
    let comparison = compare(Some(&first), &next, 600, Pause::NEVER).unwrap();
    assert_eq!(comparison.problems_found, 20_000);
    assert_eq!(comparison.problems.len(), 10_000);
}

/// Values of other parameters are as long as anybody makes them.
#[test]
fn once_per_megabyte_of_another_value() {
    for (name, piece) in [
        ("mds.MDS.mdt.stats", "a 1 samples [reqs]\n"),
        ("mdt.a-MDT0000.md_stats", "x\n"),
        ("health_check", "healthy\n"),
        ("mdt.a-MDT0000.recovery_status", "status: COMPLETE\n"),
        ("mdd.a-MDT0000.changelog_users", "ID \n"),
        ("ost.OSS.ost.nrs_policies", "regular_requests:\n"),
        ("osd-zfs.a-OST0000.kbytesfree", "\n"),
    ] {
        let text = format!("{name}=\n") + &piece.repeat(4 * MB / piece.len());
        let others = read(text.as_bytes(), Pause::NEVER).unwrap().others;
        let looks = looks(|pause| {
            let mut problems = Problems::default();
            if name == "mds.MDS.mdt.stats" {
                stats::read(&others[0], &mut problems, pause).unwrap();
            }
            target_counters::read(&others, &mut problems, pause).unwrap();
            gauges::read(&others, &mut problems, pause).unwrap();
        });
        assert!(looks >= 3 || others.is_empty(), "{looks} for {name}");
    }
    let owners = (0..100_000).map(|id| format!("- id: {id}\nusage: {{ inodes: 1, kbytes: 1 }}\n"));
    let text = "osd-zfs.a-OST0000.quota_slave.acct_user=\nusr_accounting:\n".to_owned()
        + &owners.collect::<String>();
    let others = read(text.as_bytes(), Pause::NEVER).unwrap().others;
    let looks = looks(|pause| {
        let used = used::read(&others[0], &mut Problems::default(), pause).unwrap();
        assert_eq!(used.unwrap().len(), 100_000);
    });
    assert!(looks >= text.len() / MB, "{looks}");
}
