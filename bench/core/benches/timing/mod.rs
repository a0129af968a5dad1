//! Statistics that criterion does not print: the ratios of the medians of one run, and the machine.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Bencher;

/// The time of every iteration of each benchmark.
#[derive(Default)]
pub struct Timings(RefCell<Vec<(String, Vec<Duration>)>>);

impl Timings {
    /// Measures something as [`Bencher::iter_with_large_drop`] does, under a name.
    pub fn measure<T>(&self, bencher: &mut Bencher, name: &str, mut work: impl FnMut() -> T) {
        bencher.iter_custom(|times| {
            let all = (0..times).map(|_| {
                let begin = Instant::now();
                let result = black_box(work());
                let took = begin.elapsed();
                drop(result);
                self.add(name, took);
                took
            });
            all.sum()
        });
    }

    fn add(&self, name: &str, took: Duration) {
        let mut all = self.0.borrow_mut();
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, times)) => times.push(took),
            None => all.push((name.to_owned(), vec![took])),
        }
    }

    /// Returns the median in seconds; `None` for a skipped measurement.
    pub fn median(&self, name: &str) -> Option<f64> {
        let all = self.0.borrow();
        let (_, times) = all.iter().find(|(known, _)| known == name)?;
        let mut times = times.clone();
        times.sort_unstable();
        Some(times[times.len() / 2].as_secs_f64())
    }
}

/// The machine that all this was measured on.
pub fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown processor", |model| {
        model.trim_start_matches([' ', '\t', ':'])
    });
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or_default();
    let threads = std::thread::available_parallelism().map_or(0, usize::from);
    format!("machine: {model}, {threads} CPUs, load average {load}; medians, one thread")
}
