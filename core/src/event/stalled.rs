//! Targets that stopped to work while their peers go on.

use super::episode::Episode;
use super::readings::{Reading, at};
use crate::instant::{HOUR, Micros};

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

/// Finds the targets of a file system that do nothing. The value of an episode is zero, what is usual the calls per second in the hour
/// before.
pub fn episodes(targets: &[Target]) -> Vec<Episode> {
    let mut found = Vec::new();
    for (subject, target) in targets.iter().enumerate() {
        let mut rest = &target.readings[..];
        let mut before: &[Reading<u64>] = &[];
        while let Some(first) = rest.first() {
            let same = |it: &&Reading<u64>| (it.value == 0) == (first.value == 0);
            let length = rest.iter().take_while(same).count();
            let (run, others) = rest.split_at(length);
            if first.value == 0
                && let Some(usual) = worked(before, first.span.0)
                && let Some(which) = run
                    .iter()
                    .skip(READINGS - 1)
                    .find(|it| peers_work(subject, it, targets))
            {
                let until = run.last().map_or(which.span.1, |it| it.span.1);
                found.push(Episode {
                    began: first.span.0,
                    until,
                    over: !others.is_empty(),
                    usual,
                    ..Episode::seen_at(subject, which.span.1)
                });
            }
            before = &target.readings[..target.readings.len() - others.len()];
            rest = others;
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
