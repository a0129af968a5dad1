//! Shows the contents that are read from a text.

use std::fmt::Write;

use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::base::pause::Pause;
use jobstats_core::rules::snapshot::{Contents, Counter, Histogram, Record, Slot, Snapshot, read};
use jobstats_core::text::job_stats::{Clock, Problem, Time, histogram_label};

use crate::events::name;

/// The reading of a text: targets with their records with their counters, zero ones too, and the problems.
pub fn reading(text: impl AsRef<[u8]>) -> String {
    render(&read(text.as_ref(), Pause::NEVER).unwrap())
}

pub fn render(reading: &Contents<'_>) -> String {
    let mut out: String = reading.snapshots.iter().map(snapshot).collect();
    out.extend(reading.problems.iter().map(problem));
    out
}

/// A snapshot with all its values, but without line numbers.
pub fn snapshot(snapshot: &Snapshot<'_>) -> String {
    let target = snapshot.target.map_or_else(|| "no name".to_owned(), name);
    let observed = if snapshot.observed {
        ""
    } else {
        ", not observed"
    };
    let complete = if snapshot.complete {
        ""
    } else {
        ", incomplete"
    };
    let interval = snapshot.cleanup_interval;
    let interval = interval.map_or_else(String::new, |seconds| format!(", interval {seconds}"));
    let mut out = format!("{target}{observed}{complete}{interval}\n");
    out += &records(snapshot);
    out.extend(snapshot.problems.iter().map(problem));
    out
}

pub fn records(snapshot: &Snapshot<'_>) -> String {
    let records = snapshot.records.iter();
    records.map(|one| record(snapshot, one)).collect()
}

pub fn record(snapshot: &Snapshot<'_>, record: &Record) -> String {
    let mut out = record_line(snapshot, record);
    for slot in slots(snapshot, record) {
        let counter = snapshot.value(record, slot).unwrap();
        out += &counter_line(snapshot, &counter);
    }
    out
}

fn slots(snapshot: &Snapshot<'_>, record: &Record) -> Vec<Slot> {
    let unlisted = snapshot.counters_of(record).map(|counter| counter.slot);
    (0..OPERATIONS.len() as Slot)
        .filter(|slot| record.has(*slot))
        .chain(unlisted.filter(|slot| usize::from(*slot) >= OPERATIONS.len()))
        .collect()
}

fn record_line(snapshot: &Snapshot<'_>, record: &Record) -> String {
    let mut out = format!("  '{}'", snapshot.id(record));
    for (key, at) in [
        ("snapshot", record.snapshot_time),
        ("start", record.start_time),
    ] {
        if let Some(at) = at {
            let _ = write!(out, " {key} {}", time(at));
        }
    }
    if let Some(micros) = record.last_seen {
        let _ = write!(out, " last seen {micros}");
    }
    out + "\n"
}

fn time(time: Time) -> String {
    let clock = if time.clock == Clock::Boot {
        "boot "
    } else {
        ""
    };
    format!("{clock}{}.{:09}", time.seconds, time.nanos)
}

fn counter_line(snapshot: &Snapshot<'_>, counter: &Counter<'_>) -> String {
    let Counter {
        samples,
        min,
        max,
        sum,
        sumsq,
        unit,
        ..
    } = counter;
    let name = snapshot.slot_name(counter.slot);
    let mut out = format!("    {name} {samples}");
    if !counter.is_zero() {
        let _ = write!(out, " {unit:?}");
    }
    if [*min, *max, *sum, *sumsq] != [0; 4] {
        let _ = write!(out, " {min}..{max} sum {sum} sumsq {sumsq}");
    }
    for (element, count) in counter.histogram.iter().flat_map(Histogram::counts) {
        let _ = write!(out, " {}:{count}", histogram_label(element).unwrap());
    }
    out + "\n"
}

pub fn problem(problem: &Problem<'_>) -> String {
    let text = String::from_utf8_lossy(problem.text);
    let entry = problem.entry.as_ref();
    let entry = entry.map_or_else(String::new, |entry| format!(" of '{entry}'"));
    format!(
        "! {} {}{entry}: {}\n",
        problem.line,
        problem.reason.code(),
        text.trim()
    )
}
