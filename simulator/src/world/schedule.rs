//! The schedule of readings in a span of time.

use std::collections::BTreeSet;

use crate::time::Nanos;
use crate::world::cluster::{Cluster, ServerIndex, TargetIndex};
use crate::world::plan::Plan;

/// A span of time, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The start of the span.
    pub from: Nanos,
    /// The end of the span, which is not part of it.
    pub until: Nanos,
}

/// A planned reading of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    /// The true time of the reading.
    pub time: Nanos,
    /// The server that is read.
    pub server: ServerIndex,
    /// The time on the server's clock, which is sent with the text.
    pub label: Nanos,
}

/// Returns the readings of all servers that have a target, in order of time.
pub fn of_servers(cluster: &Cluster, span: Span) -> BTreeSet<Due> {
    let targets = 0..cluster.targets.len();
    targets
        .flat_map(|target| readings(cluster, target, span))
        .collect()
}

/// Returns the readings of a target in a span, in order of time. A reading is due on the server that the target is on,
/// unless nobody polls that server.
pub fn readings(cluster: &Cluster, target: TargetIndex, span: Span) -> Vec<Due> {
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
        .map(|(time, server)| Due {
            time,
            server,
            label: time + plan.clock_error(server, time),
        })
        .collect();
    readings.sort();
    readings
}
