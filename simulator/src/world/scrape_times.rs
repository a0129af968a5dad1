//! The schedule of readings in a span of time.

use std::collections::BTreeSet;

use crate::time::{Nanos, Span};
use crate::world::{Cluster, Plan, ServerIndex, TargetIndex};

/// A planned reading of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    /// The true time of the reading.
    pub time: Nanos,
    pub server: ServerIndex,
    /// The time on the server's clock, which is sent with the text.
    pub label: Nanos,
}

/// Returns the readings of all servers that have a target, in order of time.
pub fn of_servers(cluster: &Cluster, span: Span) -> BTreeSet<Due> {
    of_targets(cluster, span).into_iter().flatten().collect()
}

/// Returns the readings of each target in a span.
pub fn of_targets(cluster: &Cluster, span: Span) -> Vec<Vec<Due>> {
    let targets = 0..cluster.targets.len();
    targets
        .map(|target| readings(cluster, target, span))
        .collect()
}

/// Returns the readings of a target in a span, in order of time. A reading is due on the current server of the target, unless that server
/// is not polled.
pub fn readings(cluster: &Cluster, target: TargetIndex, span: Span) -> Vec<Due> {
    let plan = Plan::new(cluster);
    let home = cluster.targets[target].home;
    let mut servers = vec![home, cluster.servers[home].partner];
    servers.dedup();
    let mut readings = Vec::new();
    for server in servers {
        let mut time = plan.next_reading(server, span.from);
        while time < span.until {
            if plan.owner(target, time) == server && !plan.is_unread(server, time) {
                let label = time + plan.clock_error(server, time);
                readings.push(Due {
                    time,
                    server,
                    label,
                });
            }
            time += cluster.interval;
        }
    }
    readings.sort();
    readings
}
