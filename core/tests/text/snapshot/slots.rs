//! The counter of a line (rule 6), and the values of the line that are kept.

use jobstats_core::base::operation::{OPERATIONS, READ, READ_BYTES, WRITE_BYTES};
use jobstats_core::base::pause::Pause;
use jobstats_core::rules::snapshot::{Counter, Slot, read};
use jobstats_core::text::job_stats::Unit;

use crate::reading;

fn counter(line: &str) -> String {
    let read = reading(format!("- job_id: e\n  {line}\n"));
    read.strip_prefix("no name\n  'e'\n    ")
        .unwrap_or(&read)
        .trim_end()
        .to_owned()
}

#[test]
fn a_read_in_bytes_is_read_bytes() {
    #[rustfmt::skip]
    let cases = [
        ("read: { samples: 2, unit: bytes, min: 1, max: 4, sum: 5 }", "read_bytes 2 Bytes 1..4 sum 5 sumsq 0"),
        ("read_bytes: { samples: 2, unit: bytes, min: 1, max: 4, sum: 5, sumsq: 17 }", "read_bytes 2 Bytes 1..4 sum 5 sumsq 17"),
        ("read: { samples: 2, unit: usecs, min: 1, max: 4, sum: 5, sumsq: 17 }", "read 2 Microseconds 1..4 sum 5 sumsq 17"),
        ("read: { samples: 2, unit: reqs }", "read 2 Requests"),
        ("write: { samples: 2, unit: bytes, min: 1, max: 4, sum: 5 }", "write_bytes 2 Bytes 1..4 sum 5 sumsq 0"),
        ("write: { samples: 2, unit: usecs, min: 1, max: 4, sum: 5, sumsq: 17 }", "write 2 Microseconds 1..4 sum 5 sumsq 17"),
        ("read: { samples: 0, unit: bytes, min: 0, max: 0, sum: 0 }", "read_bytes 0"),
        ("read: { samples: 0, unit: usecs, min: 0, max: 0, sum: 0 }", "read 0"),
    ];
    for (line, read) in cases {
        assert_eq!(counter(line), read);
    }
}

#[test]
fn read_bytes_in_requests_counts_nothing_but_requests() {
    assert_eq!(
        counter(
            "read_bytes: { samples: 2, unit: reqs, min: 1, max: 4, sum: 5, sumsq: 17, hist: { 1: 2 } }"
        ),
        "read_bytes 2 Requests"
    );
}

#[test]
fn read_in_bytes_beside_read_bytes_is_a_second_one() {
    assert_eq!(
        counter("read_bytes: { samples: 2, unit: reqs }\n  read: { samples: 3, unit: bytes }"),
        "no name, incomplete\n  'e'\n    read_bytes 2 Requests\n! 3 duplicate operation of 'e': read: { samples: 3, unit: bytes }"
    );
}

#[test]
fn other_units_are_kept() {
    assert_eq!(
        counter("open: { samples: 2, unit: knots, sum: 5 }"),
        "open 2 Other 0..0 sum 5 sumsq 0"
    );
}

#[test]
fn fields_that_are_not_zero_are_kept_without_samples() {
    assert_eq!(
        counter("open: { samples: 0, unit: usecs, min: 9 }"),
        "open 0 Microseconds 9..0 sum 0 sumsq 0"
    );
}

#[test]
fn only_counters_that_counted_take_room() {
    let text = b"\
- job_id: e
  read_bytes: { samples: 0, unit: bytes, min: 0, max: 0, sum: 0, sumsq: 0, hist: {  } }
  write_bytes: { samples: 1, unit: bytes, min: 4, max: 4, sum: 4, sumsq: 16, hist: { 4: 1 } }
  teleport: { samples: 0, unit: reqs }
  read: { samples: 0, unit: usecs }
- job_id: f
  punch: { samples: 1, unit: reqs }
  fly: { samples: 2, unit: reqs }
";
    let reading = read(text, Pause::NEVER).unwrap();
    let snapshot = &reading.snapshots[0];
    let [first, second] = &snapshot.records[..] else {
        panic!("{:?}", snapshot.records)
    };
    let [teleport, fly] = [0, 1].map(|unlisted| (OPERATIONS.len() + unlisted) as Slot);
    let slots = |record| -> Vec<_> {
        snapshot
            .counters_of(record)
            .map(|counter| counter.slot)
            .collect()
    };
    assert_eq!(slots(first), [WRITE_BYTES as Slot, teleport]);
    let has_histogram = |counter: &Counter<'_>| counter.histogram.is_some();
    assert_eq!(snapshot.counters_of(first).filter(has_histogram).count(), 1);
    assert_eq!(snapshot.slot_name(teleport), "teleport");
    assert_eq!(snapshot.slot_name(fly), "fly");
    assert_eq!(snapshot.slot_name(fly + 1), "");
    assert_eq!(snapshot.unlisted_slot("fly"), Some(fly));

    let zero = |slot, unit| Some(Counter::zero(slot, unit));
    assert_eq!(
        snapshot.value(first, READ_BYTES as Slot),
        zero(READ_BYTES as Slot, Unit::Bytes)
    );
    assert_eq!(
        snapshot.value(first, READ as Slot),
        zero(READ as Slot, Unit::Requests)
    );
    assert_eq!(
        snapshot.value(first, teleport),
        zero(teleport, Unit::Requests)
    );
    assert_eq!(snapshot.value(first, fly), None);
    assert_eq!(snapshot.value(second, READ as Slot), None);
    let punch = snapshot.value(second, 20).unwrap();
    assert_eq!((snapshot.slot_name(20), punch.samples), ("punch", 1));
}

#[test]
fn what_a_counter_says_without_calls_is_kept_of_every_record() {
    let line = "  punch:           { samples:           0, unit: usecs, min:        5, max:        0, sum:                0 }\n";
    let record = |id: &str| format!("- job_id:          {id}\n{line}");
    let read = reading(format!(
        "job_stats:\n{}{}{}",
        record("a"),
        record("b"),
        record("c")
    ));
    assert_eq!(
        read.matches("punch 0 Microseconds 5..0").count(),
        3,
        "{read}"
    );
}
