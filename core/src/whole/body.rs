//! The text in which the counters of a target and of connections to it are kept.

use std::fmt::Write;

use crate::escape::escape;
use crate::increment::Observation;
use crate::instant::{Micros, SECOND};
use crate::job_stats::print_identifier;
use crate::operation::{self, OPERATIONS, READ, WRITE};
use crate::pause::Pause;
use crate::snapshot::{ReadError, Snapshot, print as print_records, read_carried};
use crate::stats::{Counter, Stats};
use crate::target::TargetKind;

/// The first line of a body that may lack counters, because lines could not be read.
const INCOMPLETE: &str = "incomplete\n";

/// The first line of records.
const HEADING: &str = "job_stats:\n";

/// The bits of all listed operations.
const ALL: u64 = u64::MAX >> (64 - OPERATIONS.len());

/// The bits of the calls of `read` and `write`, which Lustre up to 2.13 counts with the bytes alone.
const CALLS: u64 = 1 << READ | 1 << WRITE;

/// A body that has been read.
pub(super) struct Body<'a> {
    /// The records of the reading.
    pub(super) text: Snapshot<'a>,
    /// The records that were carried with them.
    pub(super) carried: Snapshot<'a>,
}

impl<'a> Body<'a> {
    pub(super) fn read(body: &'a str, pause: Pause<'_>) -> Result<Self, ReadError> {
        let records = body.strip_prefix(INCOMPLETE);
        let mut text = read_carried(records.unwrap_or(body).as_bytes(), pause)?;
        text.complete = records.is_none();
        let mut carried = text.clone();
        text.records.retain(|record| record.last_seen.is_none());
        carried.records.retain(|record| record.last_seen.is_some());
        Ok(Self { text, carried })
    }

    /// Returns the observation of a target that was read at a time. A target stays what it is on any server.
    pub(super) fn observed(&self, time: Micros) -> Observation<'_> {
        Observation {
            time,
            server: "",
            snapshot: Some(&self.text),
            carried: Some(&self.carried),
        }
    }

    /// Returns true if there is a record of this identifier.
    pub(super) fn has(&self, id: &str) -> bool {
        let has = |of: &Snapshot<'_>| of.records.iter().any(|record| of.id(record) == id);
        has(&self.text) || has(&self.carried)
    }

    /// Prints the records of the reading.
    pub(super) fn print(&self) -> String {
        let incomplete = if self.text.complete { "" } else { INCOMPLETE };
        incomplete.to_owned() + &records(&self.text)
    }
}

fn records(snapshot: &Snapshot<'_>) -> String {
    String::from_utf8_lossy(&print_records(snapshot)).into_owned()
}

/// Prints the counters of a target and of connections to it.
pub(super) fn print(
    kind: TargetKind,
    own: &Stats<'_>,
    exports: &[(&[u8], Stats<'_>)],
    pause: Pause<'_>,
) -> Result<String, ReadError> {
    let mut text = String::new();
    let is_whole = own.is_whole && exports.iter().all(|(_, stats)| stats.is_whole);
    text.push_str(if is_whole { "" } else { INCOMPLETE });
    text.push_str(HEADING);
    write_record(&mut text, kind, "", own);
    for (nid, stats) in exports {
        write_record(&mut text, kind, &escape(nid), stats);
    }
    Ok(Body::read(&text, pause)?.print())
}

/// Appends the records that are to be carried to a body.
pub(super) fn carry(mut body: String, carried: &Snapshot<'_>) -> String {
    let records = records(carried);
    body.push_str(records.strip_prefix(HEADING).unwrap_or(&records));
    body
}

/// Adds the counters that are zero, which Lustre does not print, to records that lack none by damage. Calls of `read` and
/// `write` are zero only where a server counts them apart, in any of the records.
///
/// A connection that is missing before proves nothing about its counters, as its text may not have been asked for.
pub(super) fn fill_in<'a>(before: &mut Body<'a>, after: &mut Body<'a>) {
    let bodies = [&mut before.text, &mut after.text];
    let records = bodies.iter().flat_map(|text| &text.records);
    let calls = records.fold(0, |calls, record| calls | record.present & CALLS);
    for text in bodies.into_iter().filter(|text| text.complete) {
        for record in &mut text.records {
            record.present |= ALL & !CALLS | calls;
        }
    }
    before.text.complete = false;
}

/// Writes a record as short as it can be read. Operations that are not listed are older methods, or unknown.
fn write_record(out: &mut String, kind: TargetKind, id: &str, stats: &Stats<'_>) {
    // Writing into memory does not fail.
    let _ = writeln!(out, "- job_id: {}", print_identifier(id));
    if let Some(start) = stats.start_time {
        let (seconds, nanos) = (start / SECOND, start % SECOND * 1_000);
        let _ = writeln!(out, "  start_time: {seconds}.{nanos:09} secs.nsecs");
    }
    let begin = out.len();
    for counter in &stats.counters {
        let index = operation::find(counter.name.as_bytes());
        if index.is_some_and(|index| OPERATIONS[index].on(kind)) {
            write_counter(out, counter);
        }
    }
    if out.len() == begin {
        // A record without a counter is none.
        out.push_str("  statfs: { samples: 0, unit: reqs }\n");
    }
}

fn write_counter(out: &mut String, counter: &Counter<'_>) {
    let Counter { name, count, .. } = counter;
    let unit = match counter.unit {
        "bytes" => "bytes",
        "usec" | "usecs" => "usecs",
        _ => "reqs",
    };
    let _ = write!(out, "  {name}: {{ samples: {count}, unit: {unit}");
    if let (Some([min, max, sum]), true) = (counter.values, unit != "reqs") {
        let squares = counter.sumsq.unwrap_or_default();
        let _ = write!(
            out,
            ", min: {min}, max: {max}, sum: {sum}, sumsq: {squares}"
        );
    }
    out.push_str(" }\n");
}
