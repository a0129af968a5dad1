//! The texts of target counters, and of an object target's counters for metadata servers.

use std::collections::BTreeSet;

use crate::lustre::{Counters, TargetKind};
use crate::printing::stats::Stats;
use crate::time::{Nanos, SECOND};
use crate::world::{Cluster, Plan, ServerIndex, TargetCounters, TargetIndex};

/// The time between two pings of a client, which object servers count up to 2.5.
const PING: Nanos = 25 * SECOND;

/// Returns the text of a target's own counters.
pub fn own(
    cluster: &Cluster,
    target: TargetIndex,
    target_counters: &TargetCounters,
    time: Nanos,
) -> String {
    let clients = cluster.nodes + cluster.servers.len() as u64;
    text(
        cluster,
        target,
        (target_counters.since, time),
        &target_counters.all,
        clients,
    )
}

/// Returns the text of an object target's counters for a metadata server.
pub fn of_export(
    cluster: &Cluster,
    target: TargetIndex,
    target_counters: &TargetCounters,
    mds: ServerIndex,
    time: Nanos,
) -> String {
    let export = target_counters.exports(time).remove(&mds);
    let export =
        export.map(|export| text(cluster, target, (export.since, time), &export.counters, 1));
    export.unwrap_or_default()
}

fn text(
    cluster: &Cluster,
    target: TargetIndex,
    (since, time): (Nanos, Nanos),
    counters: &Counters,
    clients: u64,
) -> String {
    let server = Plan::new(cluster).owner(target, time);
    let pings = clients * ((time - since) / PING).unsigned_abs();
    let kind = cluster.targets[target].kind;
    Stats::new(cluster, server, since, time)
        .operations(counters, kind, pings)
        .text
}

/// Returns the text with the names of the targets for which a metadata server is connected, one per line.
pub fn uuids(cluster: &Cluster, mds: ServerIndex, time: Nanos) -> String {
    let plan = Plan::new(cluster);
    let served = cluster.of_kind(TargetKind::Mdt);
    let served = served.filter(|(target, _)| plan.owner(*target, time) == mds);
    let lines = served.map(|(_, target)| format!("{}-mdtlov_UUID\n", target.name));
    lines.collect()
}

/// Returns the servers that have metadata targets, some of them only after a failover. A target keeps the directory of a server that has
/// gone, in which no name is left.
pub fn metadata_servers(cluster: &Cluster) -> BTreeSet<ServerIndex> {
    let homes = cluster
        .of_kind(TargetKind::Mdt)
        .map(|(_, target)| target.home);
    homes
        .flat_map(|home| [home, cluster.servers[home].partner])
        .collect()
}
