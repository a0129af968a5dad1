//! Targets that moved to another server.

use super::episode::Episode;
use super::readings::Reading;

/// Finds the times at which targets moved: the number of a target's server in each reading, in order of time. An episode is over at once: it is
/// a fact and no state. Its value is the number of the server, usual is that of the server before.
pub fn episodes(targets: &[Vec<Reading<usize>>]) -> Vec<Episode> {
    let mut found = Vec::new();
    for (subject, readings) in targets.iter().enumerate() {
        for pair in readings.windows(2) {
            let [before, after] = pair else { continue };
            if before.value != after.value {
                found.push(Episode {
                    subject,
                    began: before.span.1,
                    until: after.span.1,
                    found: after.span.1,
                    confirmed: Some(after.span.1),
                    over: true,
                    rate: 1.0,
                    value: after.value as f64,
                    usual: before.value as f64,
                });
            }
        }
    }
    found
}
