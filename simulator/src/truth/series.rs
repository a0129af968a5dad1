//! The readings of a busy file system, week by week, without any text: waits of services, work of targets, and the load that each
//! user makes.

use std::collections::BTreeMap;

use crate::lustre::service::Service;
use crate::lustre::{Calls, TargetKind};
use crate::time::{DAY, MINUTE, Nanos, SECOND, Span};
use crate::truth::queues::Waits;
use crate::world::incident::{Incident, Kind};
use crate::world::queue::{INTERVAL, Queue, occupies};
use crate::world::workload::Event;
use crate::world::{Cluster, Plan, ServerIndex, TargetIndex, Workload};

/// The width of the time steps of users' loads.
pub const WIDTH: Nanos = 10 * MINUTE;

/// Calls, the microseconds that they took, and the bytes that they moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Their number.
    pub calls: u64,
    /// The microseconds of all.
    pub usecs: u64,
    /// The bytes of all.
    pub bytes: u64,
}

/// The growth between two readings of a target.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// The time between the two.
    pub span: Span,
    /// The server at the second one.
    pub server: ServerIndex,
    /// Reads.
    pub reads: Usage,
    /// Writes.
    pub writes: Usage,
    /// All calls, including those that metadata servers make themselves.
    pub all: Usage,
}

/// The readings of a span.
#[derive(Default)]
pub struct Series {
    /// The readings of each service.
    pub services: BTreeMap<(ServerIndex, Service), Vec<(Span, Waits)>>,
    /// The readings of each target.
    pub targets: Vec<Vec<Growth>>,
    /// The load of each target by the start of ten minutes and by user.
    pub loads: Vec<BTreeMap<(Nanos, u32), Usage>>,
    /// The used part of the space of each target every ten minutes.
    pub used: Vec<Vec<(Nanos, f64)>>,
}

/// A file system, as time goes by.
pub struct Player<'a> {
    workload: Workload<'a>,
    queues: BTreeMap<(ServerIndex, Service), Queue>,
}

/// The calls and the seconds of work that come to a service in each interval.
type ServiceLoads = BTreeMap<(ServerIndex, Service), Vec<(u64, f64)>>;

impl Usage {
    fn add(&mut self, calls: &Calls) {
        let count = u64::from(calls.count);
        self.calls += count;
        self.usecs += count * u64::from(calls.usecs);
        if calls.request.iter().any(|op| op.is_bytes()) {
            self.bytes += count * u64::from(calls.bytes);
        }
    }
}

impl<'a> Player<'a> {
    /// Begins with empty queues.
    pub fn new(cluster: &'a Cluster) -> Self {
        Self {
            workload: Workload::new(cluster),
            queues: BTreeMap::new(),
        }
    }

    /// Plays a span, which follows the one before.
    pub fn play(&mut self, span: Span) -> Series {
        let cluster = self.workload.cluster;
        let mut arrived = ServiceLoads::new();
        let mut series = Series::default();
        for (target, it) in cluster.targets.iter().enumerate() {
            let traffic = self.workload.traffic(target, span);
            let uids: Vec<u32> = traffic.ids.iter().map(|id| uid(id)).collect();
            self.arrive(target, span, &traffic.events, &mut arrived);
            let mut loads: BTreeMap<(Nanos, u32), Usage> = BTreeMap::new();
            for event in &traffic.events {
                let time = event.time.div_euclid(WIDTH) * WIDTH;
                let load = loads.entry((time, uids[event.entry as usize]));
                load.or_default().add(&event.calls);
            }
            series.loads.push(loads);
            let growth = self.readings(target, span, &traffic.events);
            series.targets.push(growth);
            let times = (span.from..span.until).step_by(WIDTH as usize);
            let used = times.map(|time| (time, used(cluster, &it.name, time)));
            series.used.push(used.collect());
        }
        for (key, intervals) in arrived {
            let waits = self.pass(key, span, &intervals);
            series.services.insert(key, waits);
        }
        series
    }

    /// Adds the calls to a target to what comes to the services of its server.
    fn arrive(
        &self,
        target: TargetIndex,
        span: Span,
        events: &[Event],
        arrived: &mut ServiceLoads,
    ) {
        let cluster = self.workload.cluster;
        let (plan, kind) = (Plan::new(cluster), cluster.targets[target].kind);
        let first = span.from.div_euclid(INTERVAL);
        let count = ((span.until - span.from) / INTERVAL) as usize;
        for event in events {
            let (service, calls, usecs) = occupies(kind, &event.calls);
            let key = (plan.owner(target, event.time), service);
            let intervals = arrived.entry(key).or_insert_with(|| vec![(0, 0.0); count]);
            let interval = &mut intervals[(event.time.div_euclid(INTERVAL) - first) as usize];
            interval.0 += calls;
            interval.1 += usecs as f64 / 1e6;
        }
    }

    /// Lets intervals pass, and returns what each reading of the service shows.
    fn pass(
        &mut self,
        key: (ServerIndex, Service),
        span: Span,
        intervals: &[(u64, f64)],
    ) -> Vec<(Span, Waits)> {
        let cluster = self.workload.cluster;
        let queue = self.queues.entry(key).or_insert_with(|| Queue::new(key.1));
        let mut next = intervals.iter().enumerate().peekable();
        let mut before = (span.from, Waits::of(queue));
        let mut all = Vec::new();
        for time in reading_times(cluster, key.0, span) {
            while let Some((_, (calls, work))) =
                next.next_if(|(number, _)| span.from + (*number as Nanos + 1) * INTERVAL <= time)
            {
                queue.pass(*calls, *work);
            }
            let now = Waits::of(queue);
            let since = Span::new(before.0, time - before.0);
            if Plan::new(cluster).upgrades(key.0, since).next().is_none() {
                all.push((since, now.less(&before.1)));
            }
            before = (time, now);
        }
        next.for_each(|(_, (calls, work))| queue.pass(*calls, *work));
        all
    }

    /// Returns what each reading of a target shows.
    fn readings(&self, target: TargetIndex, span: Span, events: &[Event]) -> Vec<Growth> {
        let cluster = self.workload.cluster;
        let (plan, home) = (Plan::new(cluster), cluster.targets[target].home);
        let mut events = events.iter().peekable();
        let mut from = span.from;
        let mut all = Vec::new();
        for time in reading_times(cluster, home, span) {
            let mut grown = Growth {
                span: Span { from, until: time },
                server: plan.owner(target, time),
                reads: Usage::default(),
                writes: Usage::default(),
                all: Usage::default(),
            };
            while let Some(event) = events.next_if(|event| event.time <= time) {
                grown.all.add(&event.calls);
                match event.calls.request.last().map(|op| op.name()) {
                    Some("read") => grown.reads.add(&event.calls),
                    Some("write") => grown.writes.add(&event.calls),
                    _ => (),
                }
            }
            grown.all.calls += own_calls(cluster, target, from, time);
            if plan.upgrades(home, grown.span).next().is_none() {
                all.push(grown);
            }
            from = time;
        }
        all
    }
}

/// Returns the times at which a server is read.
fn reading_times(cluster: &Cluster, server: ServerIndex, span: Span) -> Vec<Nanos> {
    let plan = Plan::new(cluster);
    let first = plan.next_reading(server, span.from + SECOND);
    let times = (0..).map(|number| first + number * cluster.interval);
    let times = times.take_while(|time| *time < span.until);
    let read = times.filter(|time| !plan.is_unread(server, *time));
    read.collect()
}

/// Returns the calls of metadata servers to an OST between two times: each polls its free space every five seconds, and gets no answer from
/// a stalled one.
fn own_calls(cluster: &Cluster, target: TargetIndex, from: Nanos, until: Nanos) -> u64 {
    let it = &cluster.targets[target];
    let stalls = Incident::of_kinds(&cluster.incidents, &it.name, &[Kind::Stalled]);
    let stalled: Nanos = stalls
        .filter_map(|stall| stall.span().overlap(Span { from, until }))
        .map(|both| both.until - both.from)
        .sum();
    match it.kind {
        TargetKind::Mdt => 0,
        TargetKind::Ost => ((until - from - stalled) / (5 * SECOND)) as u64,
    }
}

/// Returns the user of an identifier.
fn uid(id: &[u8]) -> u32 {
    let text = String::from_utf8_lossy(id);
    let part = match text.split(':').nth(1) {
        Some(part) => part,
        None => text.rsplit('.').next().unwrap_or_default(),
    };
    part.parse().unwrap_or_default()
}

/// Returns the used part of the space of a target: it grows and is cleaned up, and an incident fills it.
fn used(cluster: &Cluster, name: &str, time: Nanos) -> f64 {
    let seed = cluster.seed.named("used", name.as_bytes());
    let period = (20 + seed.of("period", &[]).below(20)) as Nanos * DAY;
    let saw = (time + seed.below(period as u64) as Nanos).rem_euclid(period) as f64 / period as f64;
    let usual = 0.5 + 0.2 * seed.of("part", &[]).unit() + 0.15 * saw;
    let mut full = Incident::of_kinds(&cluster.incidents, name, &[Kind::FullOst]);
    if full.any(|it| it.span().contains(time)) {
        0.97
    } else {
        usual
    }
}
