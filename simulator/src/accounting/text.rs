//! The text of a call, as the scheduler's command or file has it.

use std::io::{self, Write};

use crate::time::{DAY, Nanos, SECOND, shown};

use crate::accounting::calls::Call;
use crate::accounting::known::Phase;
use crate::accounting::{flux, gridengine, lsf, pbs, slurm};
use crate::jobs::job::Run;
use crate::jobs::{Kind, LONGEST_LIFE, Site};

/// A run in the text of a call.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The run.
    pub run: &'a Run,
    /// The stage at which the text shows the run.
    pub phase: Phase,
}

impl Shown<'_> {
    /// Returns the start as far as the text knows it.
    pub fn start(&self) -> Option<Nanos> {
        self.run.started.filter(|_| self.phase >= Phase::Running)
    }

    /// Returns the end as far as the text knows it.
    pub fn end(&self) -> Option<Nanos> {
        (self.phase == Phase::Ended).then_some(self.run.ended)
    }
}

impl Site {
    /// Writes the text of a call to a cluster. The runs are those of [`Site::runs`].
    pub fn write(
        &self,
        cluster: usize,
        call: Call,
        runs: &[Run],
        out: &mut impl Write,
    ) -> io::Result<()> {
        let runs = recent(of_cluster(runs, cluster), call);
        if self.kind == Kind::Pbs {
            return pbs::write(self, call, runs, out);
        }
        let mut shown: Vec<_> = runs
            .iter()
            .filter_map(|run| {
                Some(Shown {
                    run,
                    phase: self.shows(run, call)?,
                })
            })
            .collect();
        if self.kind.is_file() {
            shown.sort_by_key(|shown| (self.written(shown.run, shown.phase), shown.run.number));
        }
        match self.kind {
            Kind::Slurm => slurm::write(self, call, &shown, out),
            Kind::Lsf => lsf::write(self, &shown, out),
            Kind::Gridengine => gridengine::write(self, &shown, out),
            Kind::Flux => flux::write(self, call, &shown, out),
            Kind::Pbs => Ok(()),
        }
    }
}

/// Returns the runs of a cluster.
pub fn of_cluster(runs: &[Run], cluster: usize) -> &[Run] {
    let start = runs.partition_point(|run| run.cluster < cluster);
    let end = runs.partition_point(|run| run.cluster <= cluster);
    &runs[start..end]
}

/// Returns the runs of a cluster that a call may be about.
fn recent(runs: &[Run], call: Call) -> &[Run] {
    let oldest = call.since - LONGEST_LIFE - DAY;
    let start = runs.partition_point(|run| run.submitted < oldest);
    let end = runs.partition_point(|run| run.submitted <= call.time);
    &runs[start..end]
}

/// Returns a time by the clock, in whole seconds.
pub fn seconds(time: Nanos) -> i64 {
    shown(time).div_euclid(SECOND)
}

/// Returns a length of time as `hh:mm:ss`.
pub fn clock(length: Nanos) -> String {
    let seconds = length.div_euclid(SECOND);
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}
