//! The text of one record.

use std::io::Write;

use crate::lustre::Kind;
use crate::lustre::counter::{BUCKETS, Counter};
use crate::lustre::identifier;
use crate::lustre::layout::{Layout, Squares, Times, Unit};
use crate::lustre::operation::Op;
use crate::time::{Nanos, SECOND, shown};
use crate::world::target::{Life, TargetState};

/// Returns the record of a life, as its target prints it.
pub fn record_of<'l>(state: &TargetState, life: &'l Life) -> &'l [u8] {
    life.record.get_or_init(|| {
        let cluster = state.cluster;
        let booted = cluster.servers[state.plan.owner(state.target, life.born)].booted;
        let id = &state.ids[life.entry as usize];
        record(id, life, cluster.layout, state.kind(), booted)
    })
}

/// Returns a record as a server of this layout prints it.
fn record(id: &[u8], life: &Life, layout: Layout, kind: Kind, booted: Nanos) -> Vec<u8> {
    let mut text = b"- job_id:          ".to_vec();
    text.extend(identifier::printed(id, layout));
    text.push(b'\n');
    times(&mut text, life.stamps, layout.times(), booted);
    for &op in layout.counters(kind) {
        let unit = layout.unit(kind, op);
        let histogram = match unit {
            Unit::Bytes if layout.has_histograms() => life.counters.histogram(op),
            _ => None,
        };
        operation(&mut text, op, life.counters.get(op), unit, layout);
        if let Some(histogram) = histogram {
            text.extend(b", hist: { ");
            text.extend(buckets(histogram).bytes());
            text.extend(b" }");
        }
        text.extend(b" }\n");
    }
    text
}

/// Formats into a vector, to which writing cannot fail.
macro_rules! put {
    ($text:expr, $($arguments:tt)*) => {{
        let _: std::io::Result<()> = write!($text, $($arguments)*);
    }};
}

fn times(text: &mut Vec<u8>, (born, last): (Nanos, Nanos), times: Times, booted: Nanos) {
    let by_clock = |time| match times {
        Times::Boot => time - booted,
        Times::Wall | Times::Seconds => shown(time),
    };
    if times == Times::Seconds {
        put!(
            text,
            "  snapshot_time:   {}\n",
            by_clock(last).div_euclid(SECOND)
        );
        return;
    }
    let lines = [
        ("snapshot_time", by_clock(last)),
        ("start_time", by_clock(born)),
        ("elapsed_time", last - born),
    ];
    for (name, time) in lines {
        // A clock that stepped back gives negative seconds, which Lustre prints as unsigned numbers.
        let seconds = time.div_euclid(SECOND) as u64;
        let nanos = time.rem_euclid(SECOND);
        match times {
            Times::Boot => put!(text, "{name:<16}: {seconds}.{nanos:09} secs.nsecs\n"),
            _ => put!(
                text,
                "  {:<16} {seconds}.{nanos:09} secs.nsecs\n",
                format!("{name}:")
            ),
        }
    }
}

fn operation(text: &mut Vec<u8>, op: Op, counter: &Counter, unit: Unit, layout: Layout) {
    let name = layout.name(op);
    let word = match unit {
        Unit::Requests | Unit::IdleRequests => "reqs",
        Unit::Bytes => "bytes",
        Unit::Usecs => "usecs",
    };
    let counter = match unit {
        Unit::IdleRequests => &Counter::default(),
        _ => counter,
    };
    let padding = 15_usize.saturating_sub(name.len());
    put!(
        text,
        "  {name}:{:padding$} {{ samples: {:>11}, unit: {word:>5}",
        "",
        counter.samples
    );
    if unit == Unit::Requests {
        return;
    }
    let blank = if layout.keeps_blanks() { " " } else { "" };
    put!(
        text,
        ", min:{blank}{:>8}, max:{blank}{:>8}, sum:{blank}{:>16}",
        counter.min,
        counter.max,
        counter.sum
    );
    match layout.squares() {
        Squares::None => (),
        Squares::Wrap => put!(text, ", sumsq: {:>18}", counter.squares as u64),
        Squares::Saturate => put!(
            text,
            ", sumsq: {:>18}",
            counter.squares.min(i64::MAX as u128)
        ),
    }
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
