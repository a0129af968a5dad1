use jobstats_core::base::instant::SECOND;
use jobstats_core::base::operation::find;
use proptest::prelude::*;

use super::*;
use crate::live::interval::TargetSnapshot;

/// The first second of tests. Times near zero would look like a clock that starts with the machine.
const T: i64 = 1_700_000_000;

/// A record as Lustre 2.15 prints it, of an epoch that began at this second.
fn record(id: &str, start: i64, counters: &str) -> String {
    let start = T + start;
    format!(
        "- job_id:          {id}\n  snapshot_time:   {start}.5 secs.nsecs\n  start_time:      {start}.0 secs.nsecs\n  \
         elapsed_time:    0.5 secs.nsecs\n{counters}"
    )
}

fn open(samples: u64) -> String {
    format!(
        "  open:            {{ samples: {samples}, unit: usecs, min: 1, max: 1, sum: {samples}, sumsq: {samples} }}\n"
    )
}

fn mdt(index: u8, records: &[String]) -> String {
    format!(
        "mdt.scratch-MDT000{index}.job_stats=\njob_stats:\n{}",
        records.concat()
    )
}

/// A text that arrived at one time.
fn scrape(text: &str, at: Micros) -> Scrape {
    Scrape {
        text: text.into(),
        arrivals: vec![Arrival { from: 0, at }],
    }
}

/// Takes texts of a server, each read at a second, and returns the targets of the last one.
fn last(texts: &[(i64, String)]) -> Vec<TargetSnapshot> {
    let mut tracker = Tracker::new(&["%e.%u".to_owned()], UserNames::default()).unwrap();
    let mut seen = Vec::new();
    for (time, text) in texts {
        let scrape = scrape(text, (T + time) * SECOND);
        tracker.begin();
        seen = tracker.take("mds1", &scrape).unwrap().snapshots;
    }
    seen
}

/// The calls of an operation in the last interval of the first target, by identifier.
fn calls(snapshot: &TargetSnapshot, operation: &str) -> Vec<(String, i64)> {
    let column = Column::Total(find(operation.as_bytes()).unwrap());
    let interval = snapshot.interval.as_ref().unwrap();
    let work = interval.work.iter().filter_map(|work| {
        let total = work.totals.iter().find(|(of, _)| *of == column)?.1;
        Some((work.owner.entry.to_string(), total))
    });
    work.collect()
}

#[test]
fn a_reset_on_one_target_hides_nothing_of_another() {
    let before = [
        mdt(0, &[record("a.1", 500, &open(1000))]),
        mdt(1, &[record("a.1", 500, &open(1000))]),
    ]
    .concat();
    let after = [
        mdt(0, &[record("a.1", 1005, &open(30))]),
        mdt(1, &[record("a.1", 500, &open(1400))]),
    ]
    .concat();
    let seen = last(&[(1000, before), (1010, after)]);
    assert_eq!(calls(&seen[0], "open"), [("a.1".to_owned(), 30)]);
    assert_eq!(calls(&seen[1], "open"), [("a.1".to_owned(), 400)]);
    assert_eq!(seen[0].interval.as_ref().unwrap().resets, 1);
}

#[test]
fn a_removed_entry_takes_nothing_away() {
    let seen = last(&[
        (
            1000,
            mdt(
                0,
                &[
                    record("b.1", 500, &open(5000)),
                    record("a.1", 500, &open(100)),
                ],
            ),
        ),
        (1010, mdt(0, &[record("a.1", 500, &open(110))])),
    ]);
    assert_eq!(calls(&seen[0], "open"), [("a.1".to_owned(), 10)]);
    assert_eq!(seen[0].interval.as_ref().unwrap().removed, 1);
}

#[test]
fn an_entry_that_comes_back_in_the_same_life_counts_once() {
    let seen = last(&[
        (
            1000,
            mdt(
                0,
                &[
                    record("a.1", 500, &open(100)),
                    record("b.1", 500, &open(5000)),
                ],
            ),
        ),
        (1010, mdt(0, &[record("a.1", 500, &open(110))])),
        (
            1020,
            mdt(
                0,
                &[
                    record("a.1", 500, &open(110)),
                    record("b.1", 500, &open(5010)),
                ],
            ),
        ),
    ]);
    assert_eq!(
        calls(&seen[0], "open"),
        [("b.1".to_owned(), 5)],
        "half of the 10 calls happened in the last interval"
    );
}

#[test]
fn a_growth_that_cannot_be_true_is_a_problem_and_no_rate() {
    let seen = last(&[
        (1000, mdt(0, &[record("a.1", 500, &open(1))])),
        (1010, mdt(0, &[record("a.1", 500, &open(u64::MAX))])),
    ]);
    assert!(calls(&seen[0], "open").is_empty() && seen[0].problems > 0);
}

#[test]
fn the_first_text_has_no_interval_and_an_idle_one_has_no_work() {
    let text = mdt(0, &[record("a.1", 500, &open(100))]);
    let seen = last(&[(1000, text.clone())]);
    assert_eq!((seen[0].interval.clone(), seen[0].entries), (None, 1));
    let seen = last(&[(1000, text.clone()), (1010, text)]);
    let interval = seen[0].interval.as_ref().unwrap();
    assert_eq!(
        (interval.work.len(), interval.timed, interval.length()),
        (0, Some(true), 10 * SECOND)
    );
}

#[test]
fn operations_that_nobody_knows_change_nothing() {
    let other = |samples: u64| {
        format!(
            "  levitate:        {{ samples: {samples}, unit: reqs }}\n{}",
            open(samples)
        )
    };
    let seen = last(&[
        (
            1000,
            mdt(
                0,
                &[record("a.1", 500, &other(1)), record("b.1", 500, &other(8))],
            ),
        ),
        (1010, mdt(0, &[record("a.1", 500, &other(5))])),
        (
            1020,
            mdt(
                0,
                &[record("a.1", 500, &other(9)), record("b.1", 500, &other(8))],
            ),
        ),
    ]);
    assert_eq!(calls(&seen[0], "open"), [("a.1".to_owned(), 4)]);
}

#[test]
fn a_clock_that_steps_back_begins_anew() {
    let text = |samples| mdt(0, &[record("a.1", 500, &open(samples))]);
    let seen = last(&[(1000, text(1)), (1010, text(2)), (400, text(3))]);
    assert_eq!(seen[0].interval, None);
    let seen = last(&[(1000, text(1)), (400, text(3)), (410, text(7))]);
    assert_eq!(calls(&seen[0], "open"), [("a.1".to_owned(), 4)]);
}

#[test]
fn texts_without_names_or_statistics_are_refused() {
    let mut tracker = Tracker::new(&[], UserNames::default()).unwrap();
    let mut take = |text: &str| {
        tracker.begin();
        tracker
            .take("a", &scrape(text, 0))
            .map(|taken| taken.snapshots.len())
            .map_err(|error| error.to_string())
    };
    assert!(
        take("job_stats:\n- job_id: a.1\n")
            .unwrap_err()
            .contains("without -n")
    );
    assert!(take("").unwrap_err().contains("has no job_stats"));
    assert!(
        take("oss1: command not found\n")
            .unwrap_err()
            .contains("has no job_stats")
    );
    assert_eq!(take("mdt.scratch-MDT0000.job_stats=\n"), Ok(1));
    assert_eq!(
        take("mdt.scratch-MDT0000.job_cleanup_interval=600\n"),
        Ok(0)
    );
}

#[test]
fn a_server_that_is_read_twice_is_told() {
    let mut tracker = Tracker::new(&[], UserNames::default()).unwrap();
    let text = mdt(0, &[record("a.1", 500, &open(1))]);
    let mut take = |server| {
        let scrape = scrape(&text, 7);
        tracker.take(server, &scrape)
    };
    assert!(take("mds1").is_ok());
    assert!(matches!(take("mds2"), Err(Error::Twice(server)) if &*server == "mds1"));
}

#[test]
fn the_time_is_that_of_the_statistics_and_parts_have_all_lines() {
    let head = "mdt.scratch-MDT0000.job_cleanup_interval=600\n";
    let body = mdt(0, &[record("a.1", 500, &open(1))]);
    let other = mdt(1, &[]);
    let text = format!("{head}{body}{other}");
    let arrivals = [
        Arrival { from: 0, at: 1 },
        Arrival {
            from: head.len(),
            at: 2,
        },
        Arrival {
            from: head.len() + 9,
            at: 3,
        },
    ];
    let mut tracker = Tracker::new(&[], UserNames::default()).unwrap();
    let taken = tracker
        .take(
            "a",
            &Scrape {
                text: text.clone().into(),
                arrivals: arrivals.into(),
            },
        )
        .unwrap();
    assert_eq!(
        (
            taken.parts[0].time,
            taken.parts[0].until,
            taken.parts[1].time
        ),
        (2, 3, 3)
    );
    assert_eq!(taken.parts[0].name.as_deref(), Some("mdt.scratch-MDT0000"));
    let parts = taken
        .parts
        .iter()
        .flat_map(|part| &part.ranges)
        .map(|range| &text[range.clone()]);
    assert_eq!(parts.collect::<String>(), text);
}

proptest! {
    /// Whatever entries come, go, restart and are left out, never more than the true work is shown, and exactly that if every
    /// entry is in every text.
    #[test]
    fn no_more_than_was_done_is_shown(
        steps in prop::collection::vec(prop::collection::vec((0_u64..50, any::<bool>(), 0_u8..8), 3), 2..8),
    ) {
        let mut tracker = Tracker::new(&["%e.%u".to_owned()], UserNames::default()).unwrap();
        let mut lives: Vec<(i64, u64)> = vec![(500, 100); 3];
        let (mut shown, mut done, mut done_since_first) = (0, 0, 0);
        let mut is_whole = true;
        for (at, step) in steps.iter().enumerate() {
            let time = 1000 + 10 * at as i64;
            let mut records = Vec::new();
            for (entry, (growth, restarts, hidden)) in step.iter().enumerate() {
                let life = &mut lives[entry];
                if *restarts && at > 0 {
                    *life = (time - 5, 0);
                }
                life.1 += growth;
                done += growth;
                if *hidden > 0 {
                    records.push(record(&format!("e{entry}.1"), life.0, &open(life.1)));
                } else {
                    is_whole = false;
                }
            }
            let text = mdt(0, &records);
            tracker.begin();
            let taken = tracker.take("a", &scrape(&text, (T + time) * SECOND)).unwrap();
            match &taken.snapshots[0].interval {
                Some(_) => shown += calls(&taken.snapshots[0], "open").iter().map(|it| it.1 as u64).sum::<u64>(),
                None => done_since_first = done,
            }
        }
        if is_whole {
            prop_assert_eq!(shown, done - done_since_first);
        }
        prop_assert!(shown <= done);
    }
}

/// The own counters of the target of [`mdt`], read at a second.
fn md_stats(time: i64, opens: u64) -> String {
    format!(
        "mdt.scratch-MDT0000.md_stats=\nsnapshot_time             {read}.000000000 secs.nsecs\n\
         start_time                {T}.000000000 secs.nsecs\nelapsed_time              {time}.000000000 secs.nsecs\n\
         open                      {opens} samples [usecs] 1 1 {opens} {opens}\n",
        read = T + time
    )
}

#[test]
fn own_counters_show_the_work_that_is_in_no_entry() {
    let text = |time: i64, opens, own: Option<u64>| {
        let own = own.map(|own| md_stats(time, own)).unwrap_or_default();
        (time, own + &mdt(0, &[record("a.1", 500, &open(opens))]))
    };
    let whole = |texts: &[(i64, String)]| {
        let seen = last(texts).remove(0);
        seen.interval.unwrap().counters
    };
    let first = text(1000, 100, Some(1000));
    let found = whole(&[first.clone(), text(1010, 110, Some(1030))]).unwrap();
    let opens = |count| [count, count, count, 0, 0, 0, 0];
    assert_eq!((found.all, found.rest), (opens(30), opens(20)));
    // Entries may be read later than the counters, and have done more then.
    let found = whole(&[first.clone(), text(1010, 150, Some(1030))]).unwrap();
    assert_eq!(found.rest, opens(0));
    assert_eq!(whole(&[first.clone(), text(1010, 110, None)]), None);
    assert_eq!(
        whole(&[first, text(1010, 110, None), text(1020, 120, Some(1040))]),
        None
    );
}
