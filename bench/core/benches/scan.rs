//! Benchmarks of the text of a busy server: reading it, and comparing it with the previous one.
//!
//! The yardstick is counting its lines, which runs at the speed of memory. Before anything is measured, the sum of all
//! that was read must be what `bench/sum.awk` makes of the same text.

mod text;
mod timing;

use std::hint::black_box;
use std::io::Write;
use std::process::{Command, Stdio};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jobstats_core::base::pause::Pause;
use jobstats_core::rules::increment::{Comparison, Observation, compare};
use jobstats_core::rules::snapshot::{Counter, Snapshot, read};
use text::{Layout, Plan};
use timing::Timings;

const ENTRIES: u64 = 49_000;

/// Percent of the lines that counted something.
const FILLED: [u64; 2] = [25, 85];

fn snapshots(text: &str) -> Vec<Snapshot<'_>> {
    let reading = read(text.as_bytes(), Pause::NEVER).unwrap_or_default();
    assert!(
        reading
            .snapshots
            .iter()
            .all(|snapshot| snapshot.problems.is_empty())
    );
    reading.snapshots
}

/// Records and the sum of all numbers.
fn sum(snapshots: &[Snapshot<'_>]) -> (usize, u128) {
    let records = snapshots
        .iter()
        .map(|snapshot| snapshot.records.len())
        .sum();
    let counters = snapshots.iter().flat_map(|snapshot| {
        let records = snapshot.records.iter();
        records.flat_map(|record| snapshot.counters_of(record))
    });
    let numbers = counters.flat_map(|counter| {
        let Counter {
            samples,
            min,
            max,
            sum,
            sumsq,
            ..
        } = counter;
        let sizes = counter.histogram.map(|histogram| histogram.sizes());
        [samples, min, max, sum, sumsq]
            .into_iter()
            .chain(sizes.into_iter().flatten())
    });
    (records, numbers.map(u128::from).sum())
}

/// Counts and sums with `awk`, without parsing job_stats; `None` if awk cannot be run.
fn sum_by_awk(text: &str) -> Option<(usize, u128)> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../sum.awk");
    let mut awk = Command::new("awk")
        .args(["-f", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    awk.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = String::from_utf8(awk.wait_with_output().ok()?.stdout).ok()?;
    let (records, sum) = output.trim().split_once(' ')?;
    Some((records.parse().ok()?, sum.parse().ok()?))
}

fn server(criterion: &mut Criterion, layout: Layout, filled: u64) {
    let plan = Plan {
        layout,
        entries: ENTRIES,
        filled,
        later: false,
    };
    let texts = [
        plan,
        Plan {
            later: true,
            ..plan
        },
    ]
    .map(Plan::print);
    let [before, after] = texts.each_ref().map(|text| snapshots(text));
    let read_sum = sum(&after);
    assert_eq!(
        Some(read_sum),
        sum_by_awk(&texts[1]),
        "the sum is not awk's"
    );

    let timings = Timings::default();
    let size = texts[1].len() as f64;
    let mut group =
        criterion.benchmark_group(format!("{}, {filled} % of lines filled", layout.name()));
    group
        .sample_size(20)
        .throughput(Throughput::Bytes(texts[1].len() as u64));
    let bytes = texts[1].as_bytes();
    group.bench_function("count lines", |bencher| {
        timings.measure(bencher, "lines", || {
            memchr::memchr_iter(b'\n', black_box(bytes)).count()
        });
    });
    group.bench_function("read", |bencher| {
        timings.measure(bencher, "read", || read(black_box(bytes), Pause::NEVER));
    });
    group.bench_function("compare", |bencher| {
        timings.measure(bencher, "compare", || compare_all(&before, &after));
    });
    group.finish();
    // A filter on the command line may leave out some of it.
    let medians = ["lines", "read", "compare"].map(|name| timings.median(name));
    let [Some(lines), Some(read), Some(compare)] = medians else {
        return;
    };
    println!(
        "{} MB, {} records; read {:.2} GB/s; read : count lines {:.1}; compare : read {:.2}; sum {} as awk has it\n",
        (size / 1e6).round(),
        read_sum.0,
        size / read / 1e9,
        read / lines,
        compare / read,
        read_sum.1,
    );
}

/// Reads every target of the server together with its previous snapshot.
fn compare_all<'a>(before: &'a [Snapshot<'a>], after: &'a [Snapshot<'a>]) -> Vec<Comparison<'a>> {
    let pairs = before.iter().zip(after);
    let compared = pairs.map(|(before, after)| {
        let [previous, next] =
            [(before, 0), (after, 60_000_000)].map(|(snapshot, later)| Observation {
                time: 1_767_312_000_000_000 + later,
                server: "oss1",
                snapshot: Some(snapshot),
                carried: None,
            });
        compare(Some(&previous), &next, 600, Pause::NEVER)
    });
    compared.map(Result::unwrap_or_default).collect()
}

fn servers(criterion: &mut Criterion) {
    println!("{}", timing::machine());
    for layout in Layout::ALL {
        for filled in FILLED {
            server(criterion, layout, filled);
        }
    }
}

criterion_group!(benches, servers);
criterion_main!(benches);
