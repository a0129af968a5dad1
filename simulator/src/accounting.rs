//! The accounting of schedulers: its jobs at a time, and its output.

use std::io::{self, Write};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::jobs::{LONGEST_LIFE, Query, Run, Scheduler, Site};
use crate::time::{DAY, Nanos, SECOND, shown};

mod flux;
mod gridengine;
mod knowledge;
mod lsf;
mod pbs;
mod slurm;
#[cfg(test)]
mod tests;

/// The available schedulers. A scheduler is a file in this folder and a line here.
pub static SCHEDULERS: [&Scheduler; 5] = [
    &slurm::SLURM,
    &pbs::PBS,
    &lsf::LSF,
    &gridengine::GRID_ENGINE,
    &flux::FLUX,
];

/// Parses the name of a scheduler on the command line.
pub fn scheduler_parser() -> impl TypedValueParser<Value = &'static Scheduler> {
    let value = |scheduler: &&Scheduler| PossibleValue::new(scheduler.name).help(scheduler.about);
    PossibleValuesParser::new(SCHEDULERS.iter().map(value)).try_map(|name| {
        let mut schedulers = SCHEDULERS.into_iter();
        schedulers
            .find(|scheduler| scheduler.name == name)
            .ok_or("unknown scheduler")
    })
}

impl Site {
    /// Writes the answer to a query for a cluster. The runs are from [`Site::runs`].
    pub fn write(
        &self,
        cluster: usize,
        query: Query,
        runs: &[Run],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let oldest = (cluster, query.since - LONGEST_LIFE - DAY);
        let start = runs.partition_point(|run| (run.cluster, run.submitted) < oldest);
        let end = runs.partition_point(|run| (run.cluster, run.submitted) <= (cluster, query.time));
        (self.scheduler.write)(self, query, &runs[start..end], out)
    }
}

/// Returns a time by the clock, in whole seconds.
fn seconds(time: Nanos) -> i64 {
    shown(time).div_euclid(SECOND)
}

/// Returns a length of time as `hh:mm:ss`.
fn clock(length: Nanos) -> String {
    let seconds = length.div_euclid(SECOND);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
}
