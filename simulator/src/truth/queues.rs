//! The truth about the queues of services, and the part of it that readings show.

use std::collections::{BTreeMap, BTreeSet};

use strum::VariantArray;

use crate::lustre::service::Service;
use crate::lustre::{TargetKind, Times};
use crate::time::{Nanos, Span};
use crate::world::queue::{Queue, Services};
use crate::world::{Cluster, Due, Plan, ServerIndex, Workload, all};

/// The sums of waits and requests, as the counters of a service show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waits {
    /// Their number.
    pub requests: u64,
    /// The microseconds of waiting.
    pub usecs: u64,
    /// The requests that waited when one arrived.
    pub depth: u64,
    /// The requests that were worked on when one arrived.
    pub active: u64,
}

/// The times at which each service of a server was read.
pub type Readings = BTreeMap<(ServerIndex, Service), BTreeSet<Due>>;

/// The amounts that came between a reading of a service and the one before, by the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueGrowth {
    /// The times of the two readings.
    pub span: Span,
    /// The start of the sums: the earlier reading, or the service's start if a reading shows it.
    pub began: Nanos,
    pub waits: Waits,
}

pub type ByService = BTreeMap<(ServerIndex, Service), Vec<QueueGrowth>>;

/// Returns the readings of services, given the readings of servers.
pub fn readings(cluster: &Cluster, of_servers: impl IntoIterator<Item = Due>) -> Readings {
    let plan = Plan::new(cluster);
    let mut readings = Readings::new();
    for due in of_servers {
        let services = Service::VARIANTS.iter();
        for service in services.filter(|it| plan.serves(due.server, it.kind(), due.time)) {
            let of_service = readings.entry((due.server, *service));
            of_service.or_default().insert(due);
        }
    }
    readings
}

/// Computes what the readings of services show of their queues.
pub fn of_servers(cluster: &Cluster, readings: &Readings) -> ByService {
    let workload = Workload::new(cluster);
    let grown = all(2 * cluster.servers.len(), |position| {
        let kind = [TargetKind::Mdt, TargetKind::Ost][position % 2];
        of_services(&workload, (position / 2, kind), readings)
    });
    grown.into_iter().flatten().collect()
}

/// Computes what the readings of a server's services for one kind of targets show.
fn of_services(
    workload: &Workload,
    here: (ServerIndex, TargetKind),
    readings: &Readings,
) -> ByService {
    let (cluster, plan) = (workload.cluster, Plan::new(workload.cluster));
    let here_read = readings.iter();
    let here_read = here_read.filter(|((server, service), _)| (*server, service.kind()) == here);
    let here_read: Vec<_> = here_read
        .map(|((_, service), dues)| (service, dues))
        .collect();
    let times: BTreeSet<&Due> = here_read.iter().flat_map(|(_, dues)| *dues).collect();
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return ByService::new();
    };
    let span = Span::new(first.time, last.time + 1 - first.time);
    let mut services = Services::of(workload, here, span);
    let mut known: BTreeMap<Service, QueueSnapshot> = BTreeMap::new();
    let mut grown = ByService::new();
    for due in times {
        services.advance(due.time);
        for (service, _) in here_read.iter().filter(|(_, dues)| dues.contains(due)) {
            let queue = services.queues.get(service);
            let shown = QueueSnapshot {
                label: due.label,
                // A server reports all times by its clock at that time.
                since: (cluster.layout.times() == Times::Wall)
                    .then(|| services.since + plan.clock_error(here.0, services.since)),
                waits: queue.map(Waits::of).unwrap_or_default(),
            };
            if let Some(before) = known.insert(**service, shown) {
                let of_service = grown.entry((here.0, **service)).or_default();
                of_service.push(shown.since_reading(&before));
            }
        }
    }
    grown
}

/// A reading of a service.
#[derive(Clone, Copy)]
struct QueueSnapshot {
    label: Nanos,
    /// The start of the service's counters, if texts show it.
    since: Option<Nanos>,
    waits: Waits,
}

impl QueueSnapshot {
    /// Returns what came since the reading before. A service that begins anew shows all that it has; without a start, values that fall
    /// show that.
    fn since_reading(&self, before: &Self) -> QueueGrowth {
        let span = Span::new(before.label, self.label - before.label);
        let goes_on = match self.since {
            Some(_) => self.since == before.since,
            None => {
                let mut both = before.waits.amounts().into_iter().zip(self.waits.amounts());
                both.all(|(was, now)| was <= now)
            }
        };
        let started = self.since.filter(|it| !goes_on && span.contains(*it));
        let known = if goes_on {
            before.waits
        } else {
            Default::default()
        };
        QueueGrowth {
            span,
            began: started.unwrap_or(span.from),
            waits: self.waits.less(&known),
        }
    }
}

impl Waits {
    pub(super) fn of(queue: &Queue) -> Self {
        let (waits, depths) = (&queue.waits, &queue.depths);
        Self::from([waits.samples, waits.sum, depths.sum, queue.active.sum])
    }

    /// Returns the amounts in the order of the fields.
    pub fn amounts(&self) -> [u64; 4] {
        [self.requests, self.usecs, self.depth, self.active]
    }

    pub(super) fn less(&self, other: &Self) -> Self {
        let (now, before) = (self.amounts(), other.amounts());
        Self::from(std::array::from_fn(|field| now[field] - before[field]))
    }
}

impl From<[u64; 4]> for Waits {
    fn from([requests, usecs, depth, active]: [u64; 4]) -> Self {
        Self {
            requests,
            usecs,
            depth,
            active,
        }
    }
}
