//! When whom is read, in a span.

use crate::cluster::{Cluster, ServerIndex, TargetIndex};
use crate::plan::Plan;
use crate::time::Nanos;

/// A span of time, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its beginning.
    pub from: Nanos,
    /// Its end.
    pub until: Nanos,
}

/// The readings of a target in a span, in order of time: of whichever server it is on, unless nobody reads that.
pub fn readings(cluster: &Cluster, target: TargetIndex, span: Span) -> Vec<(Nanos, ServerIndex)> {
    let plan = Plan::new(cluster);
    let home = cluster.targets[target].home;
    let mut servers = vec![home, cluster.servers[home].partner];
    servers.dedup();
    let mut readings: Vec<_> = servers
        .into_iter()
        .flat_map(|server| {
            let first = plan.next_reading(server, span.from);
            let times = (0..).map(move |n| first + n * cluster.interval);
            times
                .take_while(move |time| *time < span.until)
                .map(move |time| (time, server))
        })
        .filter(|&(time, server)| {
            plan.owner(target, time) == server && !plan.is_unread(server, time)
        })
        .collect();
    readings.sort();
    readings
}

/// The time that a server's clock shows.
pub fn label(cluster: &Cluster, server: ServerIndex, time: Nanos) -> Nanos {
    time + Plan::new(cluster).clock_error(server, time)
}
