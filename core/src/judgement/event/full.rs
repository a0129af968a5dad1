//! Targets whose space or inodes come to an end.

use super::episode::Episode;
use crate::base::instant::{DAY, HOUR, Micros};

/// The used part from which on a target is full.
pub const FULL: f64 = 0.95;
/// The used part below which it is not any more.
pub const ENDS: f64 = 0.93;
/// The used part from which on growth is followed.
const FOLLOWED: f64 = 0.8;
/// The least time over which growth is measured.
const LEAST: Micros = 6 * HOUR;

/// The used part of the space, or of the inodes, of a target at a time.
pub type Used = (Micros, f64);

/// Finds the targets that are full, or will be within a day if they go on as in the day before. The value of an episode is the largest used
/// share, and its usual value the share a day before it began.
pub fn episodes(targets: &[Vec<Used>]) -> Vec<Episode> {
    let mut found: Vec<Episode> = Vec::new();
    for (subject, used) in targets.iter().enumerate() {
        let mut open: Option<Episode> = None;
        for (index, &(time, part)) in used.iter().enumerate() {
            let (before, growth) = growth(&used[..=index]);
            let fills = part >= FOLLOWED && part + growth >= 1.0;
            match &mut open {
                Some(episode) if part < ENDS && !fills => {
                    episode.over = true;
                    episode.until = time;
                    found.extend(open.take());
                }
                Some(episode) => {
                    episode.until = time;
                    episode.value = episode.value.max(part);
                }
                None if part >= FULL || fills => {
                    open = Some(Episode {
                        over: false,
                        value: part,
                        usual: before,
                        ..Episode::seen_at(subject, time)
                    });
                }
                None => (),
            }
        }
        found.extend(open);
    }
    found
}

/// Returns the usage a day before the last value, or at the first value after that, and its growth in a day.
fn growth(used: &[Used]) -> (f64, f64) {
    let Some(&(time, part)) = used.last() else {
        return (0.0, 0.0);
    };
    let first = used.partition_point(|(then, _)| *then < time - DAY);
    let (then, before) = used[first.min(used.len() - 1)];
    if time - then < LEAST {
        return (before, 0.0);
    }
    (before, (part - before) * DAY as f64 / (time - then) as f64)
}
