//! What the text of one busy OST costs: reading it, and comparing it with the reading before.

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jobstats_core::increment::{Observation, compare};
use jobstats_core::operation::OPERATIONS;
use jobstats_core::snapshot::{Snapshot, read};

const ENTRIES: u64 = 10_000;

/// The text after so many rounds; in each round one entry in ten is busy.
fn text(round: u64) -> String {
    let mut text = String::from("obdfilter.scratch-OST0000.job_stats=\njob_stats:\n");
    for entry in 0..ENTRIES {
        let work = entry + if entry % 10 == 0 { round * 1_000 } else { 0 };
        write_record(&mut text, entry, work);
    }
    text
}

/// As Lustre 2.16 prints it: every operation, most of them without a call.
fn write_record(text: &mut String, entry: u64, work: u64) {
    let (job, uid, node) = (27_000_000 + entry / 8, 10_000 + entry % 500, entry % 700);
    let start = 1_767_225_600 + entry;
    let _ = writeln!(
        text,
        "- job_id:          \"{job}:{uid}:r{node:02}c01\"\n\
         \x20 snapshot_time:   {}.685497069 secs.nsecs\n\
         \x20 start_time:      {start}.685497069 secs.nsecs\n\
         \x20 elapsed_time:    {work}.000000000 secs.nsecs",
        start + work,
    );
    for operation in OPERATIONS.iter().filter(|operation| operation.ost) {
        let name = operation.name;
        let samples = if name.starts_with("write") { work } else { 0 };
        let (unit, each) = if name.ends_with("_bytes") {
            ("bytes", 1 << 20)
        } else {
            ("usecs", 250)
        };
        let (most, sum) = (each * samples.min(1), each * samples);
        let colon = format!("{name}:");
        let _ = write!(
            text,
            "  {colon:<16} {{ samples: {samples:>11}, unit: {unit:>5}, min: {most:>8}, max: {most:>8}, \
             sum: {sum:>16}, sumsq: {:>18}",
            sum * each,
        );
        if unit == "bytes" && samples > 0 {
            let _ = write!(text, ", hist: {{ 1M: {samples} }}");
        }
        text.push_str(" }\n");
    }
}

fn snapshot(text: &str) -> Snapshot<'_> {
    let mut reading = read(text.as_bytes()).unwrap_or_default();
    assert_eq!(reading.snapshots.len(), 1);
    assert_eq!(reading.problems.len(), 0);
    reading.snapshots.remove(0)
}

fn one_target(criterion: &mut Criterion) {
    let texts = [text(1), text(2)];
    let snapshots = texts.each_ref().map(|text| snapshot(text));
    let [previous, next] = [0, 1].map(|i| Observation {
        time: 1_767_312_000_000_000 + 120_000_000 * i as i64,
        server: "oss1",
        snapshot: snapshots.get(i),
        carried: None,
    });

    let mut group = criterion.benchmark_group("10,000 entries of an OST");
    group.throughput(Throughput::Bytes(texts[1].len() as u64));
    group.bench_function("read", |bencher| {
        bencher.iter(|| read(black_box(texts[1].as_bytes())));
    });
    group.throughput(Throughput::Elements(ENTRIES));
    group.bench_function("compare", |bencher| {
        bencher.iter(|| compare(black_box(Some(&previous)), black_box(&next), 600));
    });
    group.finish();
}

criterion_group!(benches, one_target);
criterion_main!(benches);
