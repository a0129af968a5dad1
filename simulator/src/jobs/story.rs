//! The stories of jobs: the ways in which jobs run, end or are lost.

use crate::random::Random;
use crate::random::weighted;

use crate::jobs::Kind;

/// The story of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Story {
    /// The job runs once.
    Plain,
    /// The job is an element of an array.
    Array,
    /// The job is a component of a heterogeneous job, whose whole work appears under the leader's number.
    Het,
    /// The job is requeued and runs again within five minutes.
    Requeued,
    /// The job is an interactive shell; its owner goes on working in it after the job is over.
    Shell,
    /// The job is lost: no end is ever written.
    Runaway,
    /// The job is cancelled before it begins.
    Cancelled,
    /// The job is short and falls into the gap of accounting as a whole.
    Gap,
    /// The job runs for more than a day.
    Long,
}

use Story::*;

/// The stories and their shares.
const SHARES: [(Story, f64); 8] = [
    (Plain, 0.89),
    (Array, 0.03),
    (Het, 0.01),
    (Requeued, 0.02),
    (Shell, 0.01),
    (Runaway, 0.005),
    (Cancelled, 0.02),
    (Long, 0.015),
];

impl Story {
    /// Draws the story of a submission. The first submissions of a day have one story each, so that every day has all.
    pub fn draw(kind: Kind, ordinal: u64, random: &mut Random) -> Self {
        let story = match ordinal.checked_sub(2) {
            Some(turn) if turn < SHARES.len() as u64 => SHARES[turn as usize].0,
            _ => weighted(random, SHARES.into_iter()).unwrap_or(Plain),
        };
        if story.exists_in(kind) { story } else { Plain }
    }

    /// Returns true if jobs of this scheduler can have the story.
    pub fn exists_in(self, kind: Kind) -> bool {
        match self {
            Het => kind == Kind::Slurm,
            Array | Requeued => kind != Kind::Flux,
            _ => true,
        }
    }

    /// Returns the name of the story.
    pub fn name(self) -> &'static str {
        match self {
            Plain => "plain",
            Array => "array",
            Het => "het",
            Requeued => "requeued",
            Shell => "shell",
            Runaway => "runaway",
            Cancelled => "cancelled",
            Gap => "gap",
            Long => "long",
        }
    }
}
