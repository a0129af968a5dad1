//! The ways in which jobs run, end or are lost.

use strum::{IntoStaticStr, VariantArray};

use crate::jobs::Scheduler;
use crate::random::{Random, weighted};

/// The way in which a job runs, ends or is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Scenario {
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

use Scenario::*;

/// The share of each scenario among submissions.
const SHARES: [(Scenario, f64); 8] = [
    (Plain, 0.89),
    (Array, 0.03),
    (Het, 0.01),
    (Requeued, 0.02),
    (Shell, 0.01),
    (Runaway, 0.005),
    (Cancelled, 0.02),
    (Long, 0.015),
];

impl Scenario {
    /// Draws the scenario of a submission. The first submissions of a day have one scenario each, so that every day has all.
    pub fn draw(scheduler: &Scheduler, ordinal: usize, random: &mut Random) -> Self {
        let turn = ordinal.checked_sub(2).and_then(|turn| SHARES.get(turn));
        let scenario = match turn {
            Some((scenario, _)) => *scenario,
            None => weighted(random, SHARES.into_iter()).unwrap_or(Plain),
        };
        let is_possible = !scheduler.lacks.contains(&scenario);
        if is_possible { scenario } else { Plain }
    }
}
