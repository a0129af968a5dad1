//! The truth about the queues of services, and the part of it that readings show.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use crate::lustre::TargetKind;
use crate::lustre::service::Service;
use crate::time::{Nanos, Span};
use crate::truth::WORKERS;
use crate::world::queue::{self, Queue, Services};
use crate::world::{Cluster, Due, Plan, ServerIndex, Walk, Workload, each};

/// The sums of what requests met, as the counters of a service show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waits {
    pub requests: u64,
    /// The microseconds of waiting.
    pub usecs: u64,
    /// The requests that waited when one arrived.
    pub depth: u64,
    /// The requests that were worked on when one arrived.
    pub active: u64,
}

/// Computes what the readings of each server show of its services' queues, given the readings of targets: each is one of the server too.
pub fn of_servers(cluster: &Cluster, readings: &[Vec<Due>]) -> ByService {
    let mut times: BTreeMap<ServerIndex, BTreeSet<Nanos>> = BTreeMap::new();
    for due in readings.iter().flatten() {
        times.entry(due.server).or_default().insert(due.time);
    }
    let workload = Workload::new(cluster);
    let one = |_: &mut (), position: usize| {
        let (server, kind) = (
            position / 2,
            [TargetKind::Mdt, TargetKind::Ost][position % 2],
        );
        let times = times.get(&server).into_iter().flatten().copied();
        Ok::<_, Infallible>(of_services(&workload, server, kind, times))
    };
    match each(2 * cluster.servers.len(), WORKERS, || Ok(()), one) {
        Ok(waits) => waits.into_iter().flatten().collect(),
    }
}

type ByService = BTreeMap<(ServerIndex, Service), Waits>;

/// Computes what the readings of a server, in order of time, show of its services for one kind of targets.
fn of_services(
    workload: &Workload,
    server: ServerIndex,
    kind: TargetKind,
    times: impl Iterator<Item = Nanos>,
) -> ByService {
    let (cluster, plan) = (workload.cluster, Plan::new(workload.cluster));
    let times: Vec<_> = times
        .filter(|time| plan.serves(server, kind, *time))
        .collect();
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return ByService::new();
    };
    let span = Span::new(first, last + 1 - first);
    let arrivals = queue::targets(cluster, (server, kind), span).into_iter();
    let arrivals = arrivals.map(|target| {
        let mut walk = Walk::new(workload, target, span);
        walk.advance(last, |_| ());
        (target, walk.whole.arrivals)
    });
    let arrivals: Vec<_> = arrivals.collect();
    let arrivals = arrivals
        .iter()
        .map(|(target, arrivals)| (*target, &arrivals[..]));
    let mut services = Services::new(cluster, (server, kind), span, arrivals);
    let mut waits = ByService::new();
    let mut before: Option<(Nanos, BTreeMap<Service, Waits>)> = None;
    for time in times {
        services.advance(time);
        let queues = services.queues.iter();
        let now = queues.map(|(service, queue)| (*service, Waits::of(queue)));
        let now: BTreeMap<_, _> = now.filter(|(_, now)| now.requests > 0).collect();
        if let Some((since, before)) = &before {
            for (service, now) in &now {
                let known = before.get(service).filter(|_| *since == services.since);
                let known = known.copied().unwrap_or_default();
                waits.entry((server, *service)).or_default().add(now, known);
            }
        }
        before = Some((services.since, now));
    }
    waits
}

impl Waits {
    fn of(queue: &Queue) -> Self {
        Self {
            requests: queue.waits.samples,
            usecs: queue.waits.sum,
            depth: queue.depths.sum,
            active: queue.active.sum,
        }
    }

    /// Adds what came between two readings.
    fn add(&mut self, now: &Self, before: Self) {
        self.requests += now.requests - before.requests;
        self.usecs += now.usecs - before.usecs;
        self.depth += now.depth - before.depth;
        self.active += now.active - before.active;
    }
}
