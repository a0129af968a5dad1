//! The text in which the counters of a target and of connections to it are kept.

use std::borrow::Cow;
use std::fmt::Write;

use crate::base::escape::escape;
use crate::base::instant::{Micros, SECOND};
use crate::base::operation::{self, OPERATIONS, READ, WRITE};
use crate::base::pause::Pause;
use crate::base::target::TargetKind;
use crate::rules::increment::Observation;
use crate::rules::snapshot::{
    ReadError, Record, Slot, Snapshot, print as print_records, read_carried,
};
use crate::text::job_stats::{Unit, print_identifier};
use crate::text::stats::{Counter, Stats};

/// The first line of a body that may lack counters, because lines could not be read.
const INCOMPLETE: &str = "incomplete\n";

/// The first line of records.
const HEADING: &str = "job_stats:\n";

/// The bits of all listed operations.
const ALL: u64 = u64::MAX >> (64 - OPERATIONS.len());

/// The bits of the calls of `read` and `write`, which Lustre up to 2.13 counts with the bytes alone.
const CALLS: u64 = 1 << READ | 1 << WRITE;

/// Methods of Lustre up to 2.11, which prints them behind the counters of an OST: behind the first of them no line is a counter
/// of the target. Up to 2.5 the list has only methods and [`BEFORE_METHODS`], and methods that are operations count.
const METHODS: [&str; 8] = [
    "iocontrol",
    "set_info_async",
    "connect",
    "reconnect",
    "disconnect",
    "preprw",
    "commitrw",
    "ping",
];

/// The lines that stand before the first of [`METHODS`] where there is no other list.
const BEFORE_METHODS: [&str; 3] = ["read_bytes", "write_bytes", "get_info"];

/// The names of an OST's counters that are also in the second list.
const IN_BOTH: [&str; 7] = [
    "getattr", "setattr", "destroy", "create", "statfs", "get_info", "quotactl",
];

/// A body that has been read.
pub(super) struct Body<'a> {
    /// The records of the reading.
    pub(super) snapshot: Snapshot<'a>,
    /// The records that were carried with them.
    pub(super) carried: Snapshot<'a>,
}

impl<'a> Body<'a> {
    pub(super) fn read(body: &'a str, pause: Pause<'_>) -> Result<Self, ReadError> {
        let records = body.strip_prefix(INCOMPLETE);
        let mut snapshot = read_carried(records.unwrap_or(body).as_bytes(), pause)?;
        snapshot.complete = records.is_none();
        let mut carried = snapshot.clone();
        snapshot.records.retain(|record| record.last_seen.is_none());
        carried.records.retain(|record| record.last_seen.is_some());
        Ok(Self { snapshot, carried })
    }

    /// Returns the observation of a target that was read at a time. The kind of a target does not depend on its server.
    pub(super) fn observed(&self, time: Micros) -> Observation<'_> {
        Observation {
            time,
            server: "",
            snapshot: Some(&self.snapshot),
            carried: Some(&self.carried),
        }
    }

    /// Returns true if there is a record of this identifier.
    pub(super) fn has(&self, id: &str) -> bool {
        let has = |of: &Snapshot<'_>| of.records.iter().any(|record| of.id(record) == id);
        has(&self.snapshot) || has(&self.carried)
    }

    /// Prints the records of the reading.
    pub(super) fn print(&self) -> String {
        let incomplete = if self.snapshot.complete {
            ""
        } else {
            INCOMPLETE
        };
        incomplete.to_owned() + &records(&self.snapshot)
    }
}

/// Returns the body of an OST without the counters that may be methods: they are lower in `after`, which has the counters
/// of the target. A reset of the target also shows in its other counters, or in the `start_time` of newer servers.
///
/// Lustre up to 2.11 prints the methods behind the counters, and no counter that is zero. So where the target's own is zero,
/// a method of the same name seems to be the counter.
pub(super) fn without_methods<'b>(
    before: &'b str,
    after: &Body<'_>,
    pause: Pause<'_>,
) -> Result<Cow<'b, str>, ReadError> {
    let body = Body::read(before, pause)?;
    let own = |of: &Snapshot<'_>| of.records.iter().find(|it| of.id(it).is_empty()).cloned();
    let (Some(known), Some(now)) = (own(&body.snapshot), own(&after.snapshot)) else {
        return Ok(Cow::Borrowed(before));
    };
    let calls = |of: &Snapshot<'_>, own: &Record, name: &str| {
        let counter = of.value(own, operation::find(name.as_bytes())? as Slot)?;
        (counter.unit == Unit::Requests).then_some(counter.samples)
    };
    let fell = |name: &&str| {
        let was = calls(&body.snapshot, &known, name);
        was.is_some_and(|was| was > calls(&after.snapshot, &now, name).unwrap_or(0))
    };
    let fell: Vec<_> = IN_BOTH.into_iter().filter(fell).collect();
    let printed = known.present | now.present;
    let mut operations = OPERATIONS.iter().enumerate();
    let is_of_ost = operations.all(|(slot, it)| printed >> slot & 1 == 0 || it.on(TargetKind::Ost));
    let is_dated = known.start_time.is_some() || now.start_time.is_some();
    if is_dated || !is_of_ost || known.present.count_ones() as usize <= fell.len() {
        return Ok(Cow::Borrowed(before));
    }
    let mut records = 0;
    let is_kept = |line: &&str| {
        records += usize::from(line.starts_with("- job_id:"));
        let name = line.trim_start().split(':').next().unwrap_or_default();
        records > 1 || !fell.contains(&name)
    };
    Ok(before.split_inclusive('\n').filter(is_kept).collect())
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
    let is_complete = own.is_complete && exports.iter().all(|(_, stats)| stats.is_complete);
    text.push_str(if is_complete { "" } else { INCOMPLETE });
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

/// Adds the zero counters, which Lustre does not print, to complete records. Calls of `read` and `write` are zero only
/// where a server counts them apart, in any of the records.
///
/// A connection that is missing before is no evidence about its counters, as its text may not have been requested.
pub(super) fn fill_in<'a>(before: &mut Body<'a>, after: &mut Body<'a>) {
    let bodies = [&mut before.snapshot, &mut after.snapshot];
    let records = bodies.iter().flat_map(|it| &it.records);
    let calls = records.fold(0, |calls, record| calls | record.present & CALLS);
    for snapshot in bodies.into_iter().filter(|it| it.complete) {
        for record in &mut snapshot.records {
            record.present |= ALL & !CALLS | calls;
        }
    }
    before.snapshot.complete = false;
}

/// Returns the counters without the second list.
fn own_counters<'s, 'o>(kind: TargetKind, counters: &'s [Counter<'o>]) -> &'s [Counter<'o>] {
    let is_method = |it: &Counter<'_>| kind == TargetKind::Ost && METHODS.contains(&it.name);
    let methods = counters.iter().position(is_method);
    let own = &counters[..methods.unwrap_or(counters.len())];
    match own.iter().all(|it| BEFORE_METHODS.contains(&it.name)) {
        true => counters,
        false => own,
    }
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
    for counter in own_counters(kind, &stats.counters) {
        let index = operation::find(counter.name.as_bytes());
        if index.is_some_and(|index| OPERATIONS[index].on(kind)) {
            write_counter(out, counter);
        }
    }
    if out.len() == begin {
        // A record needs a counter.
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
