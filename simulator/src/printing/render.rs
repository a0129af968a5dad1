//! The text of one record.

use crate::lustre::counter::BUCKETS;
use crate::lustre::{Counter, Layout, Op, TargetKind, Times, Unit, identifier};
use crate::time::{Nanos, SECOND, shown};
use crate::world::{Epoch, TargetState};

/// Returns the record of an epoch, as its target prints it.
pub fn record_of(state: &TargetState, epoch: &Epoch) -> Vec<u8> {
    let cluster = state.cluster;
    let booted = cluster.servers[state.plan.owner(state.target, epoch.born)].booted;
    let id = &state.ids[epoch.entry as usize];
    record(id, epoch, cluster.layout, state.kind(), booted)
}

/// Returns a record as a server of this layout prints it.
fn record(id: &[u8], epoch: &Epoch, layout: Layout, kind: TargetKind, booted: Nanos) -> Vec<u8> {
    let id = [
        b"- job_id:          ",
        &identifier::printed(id, layout)[..],
        b"\n",
    ]
    .concat();
    let mut text = times(epoch.stamps, layout.times(), booted);
    for &op in layout.counters(kind) {
        let unit = layout.unit(kind, op);
        text += &operation(op, epoch.counters.get(op), unit, layout);
        if unit == Unit::Bytes
            && layout.has_histograms()
            && let Some(histogram) = epoch.counters.histogram(op)
        {
            text += &format!(", hist: {{ {} }}", buckets(histogram));
        }
        text += " }\n";
    }
    [id, text.into_bytes()].concat()
}

fn times((born, last): (Nanos, Nanos), times: Times, booted: Nanos) -> String {
    let by_clock = |time| match times {
        Times::Boot => time - booted,
        Times::Wall | Times::Seconds => shown(time),
    };
    if times == Times::Seconds {
        let seconds = by_clock(last).div_euclid(SECOND);
        return format!("  snapshot_time:   {seconds}\n");
    }
    let line = |name: &str, time: Nanos| {
        // A clock that stepped back gives negative seconds, which Lustre prints as unsigned numbers.
        let seconds = time.div_euclid(SECOND) as u64;
        let nanos = time.rem_euclid(SECOND);
        let name = match times {
            Times::Boot => format!("{name:<16}:"),
            _ => format!("  {:<16}", format!("{name}:")),
        };
        format!("{name} {seconds}.{nanos:09} secs.nsecs\n")
    };
    line("snapshot_time", by_clock(last))
        + &line("start_time", by_clock(born))
        + &line("elapsed_time", last - born)
}

fn operation(op: Op, counter: &Counter, unit: Unit, layout: Layout) -> String {
    let (word, counter) = match unit {
        Unit::Requests => ("reqs", *counter),
        Unit::IdleRequests => ("reqs", Counter::default()),
        Unit::Bytes => ("bytes", *counter),
        Unit::Usecs => ("usecs", *counter),
    };
    let Counter {
        samples,
        min,
        max,
        sum,
        squares,
    } = counter;
    let name = format!("{}:", layout.name(op));
    let mut line = format!("  {name:<16} {{ samples: {samples:>11}, unit: {word:>5}");
    if unit != Unit::Requests {
        let blank = if layout.keeps_blanks() { " " } else { "" };
        line += &format!(", min:{blank}{min:>8}, max:{blank}{max:>8}, sum:{blank}{sum:>16}");
        if let Some(squares) = layout.squares(squares) {
            line += &format!(", sumsq: {squares:>18}");
        }
    }
    line
}

/// Formats the elements that are not zero, each with its upper bound: 1, 2, 4 … 512, 1K … 512M, 1G, 2G.
fn buckets(histogram: &[u64; BUCKETS]) -> String {
    let shown: Vec<String> = histogram
        .iter()
        .enumerate()
        .filter(|(_, calls)| **calls > 0)
        .map(|(element, calls)| {
            let unit = ["", "K", "M", "G"][element / 10];
            format!("{}{unit}: {calls}", 1 << (element % 10))
        })
        .collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests;
