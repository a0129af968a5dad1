//! The course of an incident: the load in each interval that makes requests wait as long as planned.
//!
//! Clients have a limited number of requests in flight. So an overloaded server does not fall behind without bound: waits grow until its
//! clients get answers as slowly as they send requests.

use super::{Incident, Kind};
use crate::lustre::TargetKind;
use crate::world::busy::Load;
use crate::world::queue::{Queue, main_service};
use crate::world::{Cluster, ServerIndex, Workload};

/// The most times as much that everybody does, or as long that requests take.
const MOST: f64 = 12.0;

/// Works out the courses of incidents, given the cluster without any.
pub fn prepare(cluster: &Cluster, incidents: Vec<Incident>) -> Vec<Incident> {
    let quiet = Cluster {
        incidents: Vec::new(),
        ..cluster.clone()
    };
    let workload = Workload::new(&quiet);
    let all = incidents.into_iter();
    all.map(|incident| Incident {
        course: course(&workload, &incident).unwrap_or_default(),
        ..incident
    })
    .collect()
}

fn course(workload: &Workload, incident: &Incident) -> Option<Vec<f64>> {
    let kinds = match incident.kind {
        Kind::Stalled | Kind::FullOst | Kind::Failover | Kind::Gap | Kind::Upgrade => return None,
        Kind::Maintenance => return Some(vec![0.0; Load::new(incident.span()).intervals.len()]),
        Kind::Storm | Kind::Jobs => &[TargetKind::Mdt][..],
        Kind::GeneralRise => &[TargetKind::Mdt, TargetKind::Ost],
        _ => &[TargetKind::Ost],
    };
    let mut servers = Vec::new();
    for kind in kinds {
        let hit = workload
            .cluster
            .of_kind(*kind)
            .filter(|(_, it)| incident.is_on(&it.name));
        servers.extend(hit.map(|(_, target)| (*kind, target.home)));
    }
    servers.dedup();
    // Overloading the busiest server is enough.
    let all = servers
        .into_iter()
        .map(|(kind, home)| on_server(workload, incident, kind, home));
    all.reduce(|one, other| {
        one.into_iter()
            .zip(other)
            .map(|(one, other)| one.min(other))
            .collect()
    })
}

/// Works out the course by the load of one server.
fn on_server(
    workload: &Workload,
    incident: &Incident,
    kind: TargetKind,
    home: ServerIndex,
) -> Vec<f64> {
    let cluster = workload.cluster;
    // The work of targets that are hit, and of the others of the server.
    let [mut hit, mut other] = [Load::new(incident.span()), Load::new(incident.span())];
    for (target, it) in cluster.of_kind(kind).filter(|(_, it)| it.home == home) {
        let load = if incident.is_on(&it.name) {
            &mut hit
        } else {
            &mut other
        };
        load.add(kind, &workload.traffic(target, incident.span()).events);
    }
    let queue = Queue::new(main_service(kind));
    let (capacity, wanted) = (queue.capacity(), incident.wait * f64::from(queue.threads));
    let (_, _, usecs, _) = incident.request();
    let each = cluster.busy.unwrap_or_default().usecs(kind, usecs) / 1e6;
    let mut backlog = 0.0;
    let both = hit.intervals.iter().zip(&other.intervals);
    let of_interval = both.map(|(hit, other)| {
        let room = wanted + capacity - backlog - other;
        let (amount, work) = if incident.has_users() {
            let calls = ((room - hit) / each).max(0.0);
            (calls, hit + calls * each)
        } else {
            let factor = if *hit > 0.0 {
                (room / hit).clamp(1.0, MOST)
            } else {
                MOST
            };
            (factor, hit * factor)
        };
        backlog = (backlog + other + work - capacity).max(0.0);
        amount
    });
    of_interval.collect()
}
