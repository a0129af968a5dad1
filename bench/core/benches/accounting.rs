//! Benchmark of the accounting of Slurm: the jobs of a day in the columns that the documentation recommends.
//!
//! The yardstick is to count the lines of the text.
#![allow(clippy::unwrap_used)]

mod timing;

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jobstats_core::accounting::slurm;
use jobstats_core::accounting::zone::Zone;
use jobstats_core::base::pause::Pause;
use timing::Timings;

const JOBS: u64 = 100_000;

const COLUMNS: &str = "JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|GID|Group|Account|Partition|QOS|State|ExitCode|NNodes|NCPUS|NodeList|JobName";

/// A table of many jobs with times as seconds, or in the zone of the host.
fn table(is_epoch: bool) -> String {
    let mut text = format!("{COLUMNS}\n");
    for job in 0..JOBS {
        let (id, user) = (27_000_000 + job, job % 500);
        let times = match is_epoch {
            true => format!(
                "{}|{}|{}",
                1_719_835_200 + job,
                1_719_835_300 + job,
                1_719_836_300 + job
            ),
            false => "2024-07-01T12:00:00|2024-07-01T12:10:00|2024-07-01T13:00:00".to_owned(),
        };
        writeln!(
            text,
            "{id}|{id}|alps|{times}|{}|user{user}|100|users|project{}|batch|normal|COMPLETED|0:0|4|512|nid00[{:04}-{:04}]|simulation_{}",
            10_000 + user, user % 40, job % 900, job % 900 + 3, job % 77,
        )
        .unwrap();
    }
    text.replace('|', "\u{1f}")
}

fn slurm(criterion: &mut Criterion) {
    println!("{}", timing::machine());
    let utc = Zone::UTC;
    for (name, text) in [
        ("sacct, seconds", table(true)),
        ("sacct, local time", table(false)),
    ] {
        let jobs = || {
            slurm::records(text.as_bytes(), &utc, Pause::NEVER)
                .filter(|record| record.job.is_ok())
                .count()
        };
        assert_eq!(jobs() as u64, JOBS);
        let timings = Timings::default();
        let mut group = criterion.benchmark_group(name);
        group
            .sample_size(20)
            .throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("yardstick", |bencher| {
            timings.measure(bencher, "yardstick", || black_box(text.lines().count()));
        });
        group.bench_function("work", |bencher| {
            timings.measure(bencher, "work", || black_box(jobs()))
        });
        group.finish();
        if let Some(work) = timings.median("work") {
            println!(
                "{name}: {:.0} MB/s, {:.0} ns each job\n",
                text.len() as f64 / work / 1e6,
                work * 1e9 / JOBS as f64
            );
        }
    }
}

criterion_group!(benches, slurm);
criterion_main!(benches);
