//! Targets that stopped to work while their peers go on.

use super::episode::Episode;
use super::readings::{Reading, at};
use crate::base::instant::{HOUR, Micros};

/// The part of the hour before in which a target must have worked.
const WORKED: f64 = 0.9;
/// The number of peers that must work.
const PEERS: usize = 3;
/// The number of readings without any call.
const READINGS: usize = 2;

/// A target: the calls that it finished between two readings, in order of time, and a number that it has in common with its peers.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The number of the peers.
    pub peers: usize,
    /// The calls.
    pub readings: Vec<Reading<u64>>,
}

/// Finds stalled targets of a file system. The value of an episode is zero, its usual value the calls per second in the hour before.
pub fn episodes(targets: &[Target]) -> Vec<Episode> {
    let mut found = Vec::new();
    for (subject, target) in targets.iter().enumerate() {
        let readings = &target.readings;
        let does_nothing = |it: &Reading<u64>| it.value == 0;
        let mut end = 0;
        for run in readings.chunk_by(|one, other| does_nothing(one) == does_nothing(other)) {
            let (before, first, last) = (&readings[..end], &run[0], &run[run.len() - 1]);
            end += run.len();
            let mut enough = run.iter().skip(READINGS - 1);
            if does_nothing(first)
                && let Some(usual) = worked(before, first.span.0)
                && let Some(which) = enough.find(|it| peers_work(subject, it, targets))
            {
                found.push(Episode {
                    began: first.span.0,
                    until: last.span.1,
                    over: end < readings.len(),
                    usual,
                    ..Episode::seen_at(subject, which.span.1)
                });
            }
        }
    }
    found
}

/// Returns the calls per second in the hour before; `None` if the target did not work in most of it.
fn worked(before: &[Reading<u64>], time: Micros) -> Option<f64> {
    let hour = before.iter().filter(|it| it.span.0 >= time - HOUR);
    let busy: f64 = hour
        .clone()
        .filter(|it| it.value > 0)
        .map(Reading::seconds)
        .sum();
    let calls: u64 = hour.map(|it| it.value).sum();
    (busy >= WORKED * 3_600.0).then(|| calls as f64 / busy)
}

fn peers_work(subject: usize, reading: &Reading<u64>, targets: &[Target]) -> bool {
    let peers = targets.iter().enumerate();
    let peers = peers.filter(|(other, it)| *other != subject && it.peers == targets[subject].peers);
    let work =
        peers.filter(|(_, it)| at(&it.readings, reading.middle()).is_some_and(|it| it.value > 0));
    work.count() >= PEERS
}
