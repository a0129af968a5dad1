//! The queues of services. Waits follow from arrivals, service times, and the number of threads: in an interval of ten seconds some
//! requests wait at random, by Erlang's formula C, and requests beyond the capacity are left for the next interval.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use crate::lustre::service::{Opcode, Service, opcode};
use crate::lustre::{Calls, Counter, Counters, Request, TargetKind};
use crate::time::{Nanos, SECOND, Span};
use crate::world::{Cluster, Plan, ServerIndex, TargetIndex, Walk, Workload};

/// The length of an interval.
pub const INTERVAL: Nanos = 10 * SECOND;
/// The length of an interval in seconds.
const LENGTH: f64 = (INTERVAL / SECOND) as f64;
/// The microseconds to hand a request to an idle thread.
const HANDED_OVER: f64 = 20.0;
/// The microseconds after which a request hangs, and for which it then occupies a thread. A service starts additional threads for those
/// that hang.
const HANGS: u32 = 1_000_000;
const LONGEST: u32 = 20_000;

/// The requests of one kind to a target in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrivals {
    /// The number of the interval, counted from 1970.
    interval: i64,
    request: Request,
    calls: u64,
    bytes: u64,
    /// The total microseconds for which the requests occupy threads.
    usecs: u64,
}

/// Returns the service that works most for targets of a kind.
pub fn main_service(kind: TargetKind) -> Service {
    match kind {
        TargetKind::Mdt => Service::Mdt,
        TargetKind::Ost => Service::OstIo,
    }
}

/// Returns the service that handles calls, their number, and the microseconds for which they occupy its threads.
pub fn occupies(kind: TargetKind, calls: &Calls) -> (Service, u64, u64) {
    let count = u64::from(calls.count);
    let each = if calls.usecs > HANGS {
        LONGEST
    } else {
        calls.usecs
    };
    let usecs = count * u64::from(each);
    (opcode(kind, calls.request).0, count, usecs)
}

/// Adds calls to arrivals that are in order of time.
pub fn arrive(arrivals: &mut Vec<Arrivals>, kind: TargetKind, time: Nanos, calls: &Calls) {
    let (interval, request) = (time.div_euclid(INTERVAL), calls.request);
    let (_, count, usecs) = occupies(kind, calls);
    let bytes = count * u64::from(calls.bytes);
    let same = arrivals.iter_mut().rev();
    let mut same = same.take_while(|other| other.interval == interval);
    match same.find(|other| other.request == request) {
        Some(other) => {
            other.calls += count;
            other.bytes += bytes;
            other.usecs += usecs;
        }
        None => arrivals.push(Arrivals {
            interval,
            request,
            calls: count,
            bytes,
            usecs,
        }),
    }
}

/// Returns the probability that a request finds all threads busy by Erlang's formula C, given the load: the mean number of busy
/// threads, which is less than the number of threads.
fn erlang_c(threads: u32, load: f64) -> f64 {
    let lost = (1..=threads).fold(1.0, |lost, thread| {
        load * lost / (f64::from(thread) + load * lost)
    });
    lost / (1.0 - load / f64::from(threads) * (1.0 - lost))
}

/// The queue of a service, and the counters that the service has of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Queue {
    pub threads: u32,
    /// The work that is left from the intervals before, in nanoseconds of a thread.
    backlog: u64,
    /// The microseconds of waiting per request.
    pub waits: Counter,
    /// The requests that wait when one arrives.
    pub depths: Counter,
    /// The requests that are worked on when one arrives.
    pub active: Counter,
    /// The requests that wait and that are worked on in the last interval.
    pub now: (u64, u64),
}

impl Queue {
    /// Begins an empty queue of a service.
    pub fn new(service: Service) -> Self {
        let threads = match service {
            Service::OstIo => 64,
            _ => 16,
        };
        Self {
            threads,
            ..Self::default()
        }
    }

    /// Returns the seconds of work that threads can do in an interval.
    pub fn capacity(&self) -> f64 {
        f64::from(self.threads) * LENGTH
    }

    /// Passes an interval in which so many calls arrive, with so many seconds of work for a thread.
    pub fn pass(&mut self, calls: u64, work: f64) {
        let threads = f64::from(self.threads);
        let (before, load) = (self.backlog as f64 / SECOND as f64, work / LENGTH);
        let beyond = before + work - threads * LENGTH;
        let after = beyond.max(0.0);
        self.backlog = (after * SECOND as f64) as u64;
        // The mean of a backlog that changes evenly until the interval, or the backlog, ends.
        let lasts = if beyond < 0.0 {
            before / (threads - load)
        } else {
            LENGTH
        };
        let backlog = (before + after) / 2.0 * lasts / LENGTH;
        let arrived = calls as f64;
        let wait = backlog / threads + self.chance(arrived, load);
        let depth = arrived * wait / LENGTH;
        let active = ((before + work) / LENGTH).min(threads);
        self.now = (depth.round() as u64, active.round() as u64);
        self.waits.add_mean(calls, HANDED_OVER + wait * 1e6);
        self.depths.add_mean(calls, depth);
        self.active.add_mean(calls, (1.0 + active).min(threads));
    }

    /// Returns the mean random wait in seconds. In so short a time, the random surplus of arrivals is at most the square root of the
    /// expected number.
    fn chance(&self, arrived: f64, load: f64) -> f64 {
        if arrived == 0.0 {
            return 0.0;
        }
        let threads = f64::from(self.threads);
        let service_time = load * LENGTH / arrived;
        let most = arrived.sqrt() * service_time / threads;
        if load >= threads {
            return most;
        }
        let mean = erlang_c(self.threads, load) * service_time / (threads - load);
        mean.min(most)
    }
}

/// The services of a server for targets of one kind, as time goes by.
pub struct Services {
    /// The time since which the services count.
    pub since: Nanos,
    pub queues: BTreeMap<Service, Queue>,
    /// The microseconds that remote calls took.
    pub opcodes: BTreeMap<Opcode, Counter>,
    /// The operations that the calls do, on all targets.
    pub counters: Counters,
    pub kind: TargetKind,
    starts: Peekable<IntoIter<Nanos>>,
    arrivals: Peekable<IntoIter<Arrivals>>,
    /// The next interval to pass.
    interval: i64,
}

impl Services {
    /// Begins to follow the services of a server through a span, given the arrivals at each target that comes to the server. Whatever the
    /// span is, this begins at the last time at which all counters were cleared, and all arrivals since are needed.
    pub fn new<'b>(
        cluster: &Cluster,
        (server, kind): (ServerIndex, TargetKind),
        span: Span,
        arrivals: impl Iterator<Item = (TargetIndex, &'b [Arrivals])>,
    ) -> Self {
        let plan = Plan::new(cluster);
        let since = plan.cleared(span.from);
        let span = Span {
            from: since,
            ..span
        };
        let here = arrivals.flat_map(|(target, arrivals)| {
            let is_here = move |other: &&Arrivals| {
                let time = other.interval * INTERVAL;
                span.contains(time) && plan.owner(target, time) == server
            };
            arrivals.iter().filter(is_here).copied()
        });
        let mut here: Vec<_> = here.collect();
        here.sort_unstable();
        Self {
            since,
            queues: BTreeMap::new(),
            opcodes: BTreeMap::new(),
            counters: Counters::default(),
            kind,
            starts: plan
                .service_starts(server, kind, span)
                .into_iter()
                .peekable(),
            arrivals: here.into_iter().peekable(),
            interval: since.div_euclid(INTERVAL),
        }
    }

    /// Begins to follow the services of a server, with the arrivals of all calls in the span.
    pub fn of(workload: &Workload, here: (ServerIndex, TargetKind), span: Span) -> Self {
        let targets = targets(workload.cluster, here, span).into_iter();
        let arrivals = targets.map(|target| {
            let mut walk = Walk::new(workload, target, span);
            walk.advance(span.until - 1, |_| ());
            (target, walk.counters.arrivals)
        });
        let arrivals: Vec<_> = arrivals.collect();
        let arrivals = arrivals.iter().map(|(target, all)| (*target, &all[..]));
        Self::new(workload.cluster, here, span, arrivals)
    }

    /// Moves on to the last interval that is over at a time.
    pub fn advance(&mut self, time: Nanos) {
        while (self.interval + 1) * INTERVAL <= time {
            let interval = self.interval;
            if let Some(start) = self.starts.next_if(|start| *start <= interval * INTERVAL) {
                self.since = start;
                self.queues.clear();
                self.opcodes.clear();
                self.counters = Counters::default();
            }
            let mut sums: BTreeMap<Service, (u64, u64)> = BTreeMap::new();
            while let Some(arrived) = self.arrivals.next_if(|next| next.interval <= interval) {
                let opcode = opcode(self.kind, arrived.request);
                let (calls, usecs) = sums.entry(opcode.0).or_default();
                *calls += arrived.calls;
                *usecs += arrived.usecs;
                let mean = arrived.usecs as f64 / arrived.calls as f64;
                let counter = self.opcodes.entry(opcode).or_default();
                counter.add_mean(arrived.calls, mean);
                let amounts = [arrived.bytes, arrived.usecs];
                self.counters
                    .add_means(arrived.request, arrived.calls, amounts);
            }
            for service in Service::of(self.kind) {
                let (calls, usecs) = sums.remove(&service).unwrap_or_default();
                let queue = self.queues.entry(service);
                let queue = queue.or_insert_with(|| Queue::new(service));
                queue.pass(calls, usecs as f64 / 1e6);
            }
            self.interval += 1;
        }
    }
}

/// Returns the targets of a kind that come to a server in a span, or since all counters were cleared before.
pub fn targets(
    cluster: &Cluster,
    (server, kind): (ServerIndex, TargetKind),
    span: Span,
) -> Vec<TargetIndex> {
    let plan = Plan::new(cluster);
    let from = plan.cleared(span.from);
    let span = Span { from, ..span };
    let targets = cluster.of_kind(kind).map(|(target, _)| target);
    targets
        .filter(|target| plan.comes_to(*target, server, span))
        .collect()
}

#[cfg(test)]
mod tests;
