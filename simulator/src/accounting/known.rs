//! The knowledge of accounting about a run at a time.

use crate::time::{DAY, Nanos};

use crate::accounting::calls::Call;
use crate::jobs::job::Run;
use crate::jobs::story::Story;
use crate::jobs::{Kind, OUTAGE, Site};

/// The stage at which accounting has last seen a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The job waits.
    Pending,
    /// The run has begun.
    Running,
    /// The run is over, or the job was cancelled before it began.
    Ended,
}

impl Phase {
    /// Returns the name of the phase.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Ended => "ended",
        }
    }
}

/// The time after its start at which an administrator removes a runaway job from the scheduler's database.
pub const RUNAWAY_REMOVED: Nanos = 3 * DAY;

impl Site {
    /// Returns the time at which accounting learns that a run came to a phase, if it ever does.
    pub fn learned(&self, run: &Run, phase: Phase) -> Option<Nanos> {
        let happened = match phase {
            Phase::Pending => run.submitted,
            Phase::Running => run.started?,
            Phase::Ended if run.story == Story::Runaway => return None,
            Phase::Ended => run.ended,
        };
        Some(self.learns(run.cluster, happened))
    }

    /// Returns what accounting knows about a run at a time; `None` if it knows of none, or no longer.
    pub fn phase(&self, run: &Run, time: Nanos) -> Option<Phase> {
        let removed = run.started.map(|started| started + RUNAWAY_REMOVED);
        if run.story == Story::Runaway && removed.is_some_and(|removed| removed <= time) {
            return None;
        }
        let knows = |phase: &Phase| {
            self.learned(run, *phase)
                .is_some_and(|learned| learned <= time)
        };
        [Phase::Ended, Phase::Running, Phase::Pending]
            .into_iter()
            .find(knows)
    }

    /// Returns what the text of a call says about a run; `None` if the text does not have the run.
    pub fn shows(&self, run: &Run, call: Call) -> Option<Phase> {
        let lives_on = run.story == Story::Runaway && !self.kind.is_file();
        if run.submitted > call.time || (run.ended + OUTAGE < call.since && !lives_on) {
            return None;
        }
        if self.kind.is_file() {
            return [Phase::Ended, Phase::Running, Phase::Pending]
                .into_iter()
                .find(|phase| {
                    self.written(run, *phase)
                        .is_some_and(|time| call.contains(time))
                });
        }
        if self.private && run.person != 0 {
            return None;
        }
        let phase = self.phase(run, call.time)?;
        let shown = match phase {
            // The command asks for what ran; its old form asks for everything.
            Phase::Pending => self.kind == Kind::Flux || self.old,
            Phase::Running => true,
            Phase::Ended => {
                let ran = run.started.is_some() || self.kind == Kind::Flux || self.old;
                ran && run.ended >= call.since
            }
        };
        shown.then_some(phase)
    }

    /// Returns the time at which the file of a scheduler gets its line about a phase of a run; `None` if it gets none.
    pub fn written(&self, run: &Run, phase: Phase) -> Option<Nanos> {
        let exists = match self.kind {
            Kind::Pbs => phase != Phase::Pending || (run.attempt == 1 && run.element.is_none()),
            // LSF writes the last run only.
            Kind::Lsf => {
                phase == Phase::Ended && run.outcome != crate::jobs::job::Outcome::Requeued
            }
            // Sun's Grid Engine says nothing of jobs that never began.
            Kind::Gridengine => phase == Phase::Ended && (run.started.is_some() || !self.old),
            Kind::Slurm | Kind::Flux => false,
        };
        self.learned(run, phase).filter(|_| exists)
    }
}
