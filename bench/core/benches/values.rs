//! Benchmarks of one identifier, one value of a density and one reading of a counter, in passes over a million of them.
//!
//! The yardsticks are the least that can be done with the same input: the lengths of the identifiers, and the least and
//! greatest of the values.
#![allow(clippy::unwrap_used)]

mod timing;

use std::hint::black_box;

use allocator_api2::alloc::Global;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jobstats_core::base::pause::Pause;
use jobstats_core::identity::entry_id::{DEFAULT_FORMATS, Formats};
use jobstats_core::series::counter::{Reading, Series};
use jobstats_core::series::density::Density;
use timing::Timings;

const VALUES: u64 = 1_000_000;

/// Generates identifiers in the forms of jobs, logins and services; one in a hundred matches no form.
fn identifiers() -> Vec<String> {
    let identifier = |n: u64| match n % 100 {
        0 => format!("kworker/{}:1", n % 64),
        1..=20 => format!("rsync.{}", 10_000 + n % 500),
        _ => format!(
            "{}:{}:r{:02}c{:02}",
            27_000_000 + n / 8,
            10_000 + n % 500,
            n % 30,
            n % 48
        ),
    };
    (0..VALUES).map(identifier).collect()
}

fn identify(criterion: &mut Criterion) {
    println!("{}", timing::machine());
    let identifiers = identifiers();
    let formats = Formats::compile(DEFAULT_FORMATS.iter().copied()).unwrap();
    let known = identifiers
        .iter()
        .filter(|id| formats.identify(id).format.is_some());
    assert_eq!(known.count() as u64, VALUES / 100 * 99);
    compare(
        criterion,
        "identify",
        || identifiers.iter().map(String::len).sum::<usize>(),
        || {
            let uids = identifiers.iter().filter_map(|id| formats.identify(id).uid);
            uids.map(u64::from).sum::<u64>()
        },
    );
}

/// Rates from a thousandth to a million, which looks like chance.
fn rates() -> Vec<f64> {
    let chance = |n: u64| (n * 2_654_435_761 % 1_000_003) as f64 / 1_000_003.0;
    (0..VALUES)
        .map(|n| 10_f64.powf(chance(n) * 9.0 - 3.0))
        .collect()
}

fn density(criterion: &mut Criterion) {
    let rates = rates();
    for base in [2, 10] {
        let density = || {
            let mut density = Density::new_in(base, Global)?;
            rates.iter().try_for_each(|rate| density.push(*rate))?;
            Ok::<_, jobstats_core::series::density::DensityError>(density)
        };
        assert_eq!(density().unwrap().count(), VALUES);
        compare(
            criterion,
            &format!("density, base {base}"),
            || bounds(&rates),
            density,
        );
    }
}

fn counter(criterion: &mut Criterion) {
    let readings = |start: Option<i64>| -> Vec<_> {
        (0..VALUES as i64)
            .filter_map(|n| Reading::new(n * 1_000_000, n * 4096, start).ok())
            .collect()
    };
    let (plain, lives) = (readings(None), readings(Some(-1)));
    for (name, readings) in [
        ("counter_agg", plain),
        ("counter_agg with start_time", lives),
    ] {
        assert_eq!(readings.len() as u64, VALUES);
        compare(
            criterion,
            name,
            || {
                let values = readings.iter().map(|reading| reading.value);
                values.clone().max().zip(values.min())
            },
            || {
                let mut series = Series::<Global>::wrapping_in(Global, None);
                readings
                    .iter()
                    .try_for_each(|reading| series.push(*reading))?;
                series.summary(Pause::NEVER)
            },
        );
    }
}

fn bounds(values: &[f64]) -> (f64, f64) {
    let both = |(least, most): (f64, f64), value: &f64| (least.min(*value), most.max(*value));
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), both)
}

/// Measures a function and its yardstick.
fn compare<Y, T>(
    criterion: &mut Criterion,
    name: &str,
    mut yardstick: impl FnMut() -> Y,
    mut work: impl FnMut() -> T,
) {
    let timings = Timings::default();
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(20)
        .throughput(Throughput::Elements(VALUES));
    group.bench_function("yardstick", |bencher| {
        timings.measure(bencher, "yardstick", || black_box(yardstick()));
    });
    group.bench_function("work", |bencher| {
        timings.measure(bencher, "work", || black_box(work()))
    });
    group.finish();
    let medians = ["yardstick", "work"].map(|name| timings.median(name));
    let [Some(yardstick), Some(work)] = medians else {
        return;
    };
    println!(
        "{name}: {:.1} ns each, {:.1} times its yardstick\n",
        work * 1e9 / VALUES as f64,
        work / yardstick
    );
}

criterion_group!(benches, identify, density, counter);
criterion_main!(benches);
