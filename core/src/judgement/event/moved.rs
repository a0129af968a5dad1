//! Targets that moved to another server, or were mounted again.

use super::episode::Episode;
use super::grouping::{TOGETHER, overlap};
use super::readings::Reading;
use crate::base::instant::{HOUR, Micros};

/// Finds the times at which targets moved: the number of a target's server in each reading, in order of time. An episode is over at once: it is
/// a fact and no state. Its value is the number of the server, its usual value the number of the server before.
pub fn episodes(targets: &[Vec<Reading<usize>>]) -> Vec<Episode> {
    let mut found = Vec::new();
    for (subject, readings) in targets.iter().enumerate() {
        for pair in readings.windows(2) {
            let [before, after] = pair else { continue };
            if before.value != after.value {
                found.push(Episode {
                    began: before.span.1,
                    value: after.value as f64,
                    usual: before.value as f64,
                    ..Episode::seen_at(subject, after.span.1)
                });
            }
        }
    }
    found
}

/// Finds the recoveries of targets that did not move then: the starts of the hours in which recovery ran, in order of time. Value and usual are
/// equal, since there is no other server.
pub fn recoveries(targets: &[Vec<Micros>], moves: &[Episode]) -> Vec<Episode> {
    let mut found: Vec<Episode> = Vec::new();
    for (subject, hours) in targets.iter().enumerate() {
        let alone = hours.iter().filter(|&&hour| {
            let around = (hour - TOGETHER, hour + HOUR + TOGETHER);
            let moved = |it: &&Episode| it.subject == subject;
            let mut moves = moves.iter().filter(moved);
            !moves.any(|it| overlap(it.span(), around))
        });
        for &hour in alone {
            match found.last_mut() {
                Some(before) if before.subject == subject && before.until + HOUR == hour => {
                    before.until = hour;
                }
                _ => found.push(Episode::seen_at(subject, hour)),
            }
        }
    }
    found
}
