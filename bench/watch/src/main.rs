//! Judges the event detectors on simulated weeks with known incidents.

mod history;
mod judge;
mod report;
mod rivals;
mod weeks;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Parser;

use crate::judge::{Judge, Outcome, Week};
use crate::rivals::{Counts, RIVALS, STEPS};
use crate::weeks::FileSystem;

/// Judge the event detectors on simulated weeks with known incidents
#[derive(Debug, Parser)]
struct Options {
    /// Seed of the first file system: from 3000 on for judging, below for tuning
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of file systems
    #[arg(long, default_value_t = 20)]
    count: u64,
    /// Number of weeks of each, the first one without incidents
    #[arg(long, default_value_t = 11)]
    weeks: i64,
    /// Print each incident that was not found, not named or alerted twice, and each false event
    #[arg(long)]
    details: bool,
    /// Write the curves to this file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

/// The outcome of all weeks.
pub struct Results {
    of_seed: BTreeMap<u64, Vec<Week>>,
    rivals: Counts,
}

impl Results {
    fn first(&self) -> Vec<&Week> {
        self.of_seed.values().flat_map(|it| it.first()).collect()
    }

    fn later(&self) -> Vec<&Week> {
        self.of_seed
            .values()
            .flat_map(|it| it.iter().skip(1))
            .collect()
    }

    fn outcomes(&self) -> Vec<&Outcome> {
        self.of_seed
            .values()
            .flatten()
            .flat_map(|it| &it.outcomes)
            .collect()
    }
}

fn play(seed: u64, weeks: i64) -> (Vec<Week>, Counts) {
    let cluster = weeks::cluster(seed, weeks);
    let (mut system, mut judge) = (FileSystem::new(&cluster), Judge::new(&cluster));
    let mut counts = [[(0, 0); STEPS]; RIVALS.len()];
    let play = |week| {
        let (judged, series) = system.week(week);
        if week > 0 {
            rivals::count(&cluster, &judge, &series, &judged, &mut counts);
        }
        judge.week(&judged)
    };
    ((0..weeks).map(play).collect(), counts)
}

fn all(options: &Options) -> Results {
    let next = AtomicU64::new(options.seed);
    let empty = Results {
        of_seed: BTreeMap::new(),
        rivals: [[(0, 0); STEPS]; RIVALS.len()],
    };
    let all = Mutex::new(empty);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= options.seed + options.count {
                return;
            }
            let (weeks, counts) = play(seed, options.weeks);
            let Ok(mut all) = all.lock() else { return };
            all.of_seed.insert(seed, weeks);
            for (sum, part) in all
                .rivals
                .as_flattened_mut()
                .iter_mut()
                .zip(counts.as_flattened())
            {
                *sum = (sum.0 + part.0, sum.1 + part.1);
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| _ = scope.spawn(work)));
    all.into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn main() -> ExitCode {
    let options = Options::parse();
    let results = all(&options);
    print!("{}", report::markdown(&results));
    if options.details {
        for it in results.later().iter().flat_map(|it| &it.falses) {
            println!("false: {it}");
        }
        for it in results.outcomes().into_iter().filter(|it| it.is_odd()) {
            println!("{it:?}");
        }
    }
    let written = options
        .picture
        .map(|file| std::fs::write(file, report::picture(&results)));
    match written {
        Some(Err(error)) => {
            eprintln!("jobstats-bench-watch: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}
