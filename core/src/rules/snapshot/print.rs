//! Prints a snapshot as text, in the layout of Lustre 2.16.

use std::io::{self, Write};

use super::{Counter, Record, Slot, Snapshot, set_bits};
use crate::base::operation::OPERATIONS;
use crate::text::job_stats::{Clock, Time, Unit, histogram_label, print_identifier};

/// Prints a snapshot as Lustre would: reading the text gives its records again. A record without any counter is left
/// out.
///
/// A carried record has a line `last_seen`, which Lustre does not print. The text does not show whether the snapshot is
/// complete, nor which problems it had.
pub fn print(snapshot: &Snapshot<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    // Writing into memory does not fail.
    let _ = print_to(snapshot, &mut text);
    text
}

/// Prints a snapshot as [`print()`] does, to a writer that can fail.
pub fn print_to(snapshot: &Snapshot<'_>, out: &mut impl Write) -> io::Result<()> {
    let target = snapshot.target;
    let name = target.map(|it| [it.kind.prefix(), it.name, b"."].concat());
    if let (Some(seconds), Some(name)) = (snapshot.cleanup_interval, &name) {
        out.write_all(name)?;
        writeln!(out, "job_cleanup_interval={seconds}")?;
    }
    if !snapshot.observed {
        return Ok(());
    }
    if let Some(name) = name {
        out.write_all(&name)?;
        out.write_all(b"job_stats=")?;
        if !snapshot.records.iter().any(Record::has_counters) {
            return out.write_all(b"job_stats:\n");
        }
        out.write_all(b"\n")?;
    }
    out.write_all(b"job_stats:\n")?;
    snapshot
        .records
        .iter()
        .filter(|record| record.has_counters())
        .try_for_each(|record| write_record(snapshot, record, out))
}

fn write_record(snapshot: &Snapshot<'_>, record: &Record, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "- job_id:          {}",
        print_identifier(snapshot.id(record))
    )?;
    if let Some(time) = record.snapshot_time {
        write_time("snapshot_time:", time, out)?;
    }
    if let Some(time) = record.start_time {
        write_time("start_time:", time, out)?;
    }
    if let Some(micros) = record.last_seen {
        let micros = micros.max(0);
        let nanos = micros % 1_000_000 * 1_000;
        let seconds = micros / 1_000_000;
        writeln!(
            out,
            "  {:<16} {seconds}.{nanos:09} secs.nsecs",
            "last_seen:"
        )?;
    }
    for slot in set_bits(record.present).map(|bit| bit as Slot) {
        if let Some(counter) = snapshot.value(record, slot) {
            write_counter(snapshot, slot, &counter, out)?;
        }
    }
    let unlisted = |counter: &Counter<'_>| usize::from(counter.slot) >= OPERATIONS.len();
    snapshot
        .counters_of(record)
        .filter(unlisted)
        .try_for_each(|counter| write_counter(snapshot, counter.slot, &counter, out))
}

/// Writes a time. Seconds without a fraction are read as wall-clock time, whatever their value.
fn write_time(key: &str, time: Time, out: &mut impl Write) -> io::Result<()> {
    let Time { seconds, nanos, .. } = time;
    if nanos == 0 && time.clock == Clock::Epoch {
        return writeln!(out, "  {key:<16} {seconds}");
    }
    writeln!(out, "  {key:<16} {seconds}.{nanos:09} secs.nsecs")
}

fn write_counter(
    snapshot: &Snapshot<'_>,
    slot: Slot,
    counter: &Counter<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let [samples, min, max, sum, sumsq] = counter.numbers();
    let name = format!("{}:", snapshot.slot_name(slot));
    let unit = counter.unit.name();
    write!(
        out,
        "  {name:<16} {{ samples: {samples:>11}, unit: {unit:>5}"
    )?;
    if counter.unit != Unit::Requests || [min, max, sum, sumsq] != [0; 4] {
        write!(
            out,
            ", min: {min:>8}, max: {max:>8}, sum: {sum:>16}, sumsq: {sumsq:>18}"
        )?;
    }
    if let Some(histogram) = counter.histogram {
        let mut separator = "";
        out.write_all(b", hist: {")?;
        for (element, count) in histogram.counts() {
            let label = histogram_label(element).unwrap_or_default();
            write!(out, "{separator} {label}: {count}")?;
            separator = ",";
        }
        out.write_all(b" }")?;
    }
    out.write_all(b" }\n")
}
