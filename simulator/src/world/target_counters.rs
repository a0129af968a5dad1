//! The counters of a target itself: all requests, including those without an identifier and those of metadata servers.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use crate::lustre::operation::plain;
use crate::lustre::{Calls, Counters, Op, TargetKind};
use crate::random::Seed;
use crate::time::{MINUTE, Nanos, SECOND, Span};
use crate::world::queue::{Arrivals, arrive};
use crate::world::{Change, Cluster, Plan, ServerIndex, TargetIndex, TargetState, Workload};

/// The bytes and the microseconds of the largest request that is small. Small requests may come without an identifier.
const SMALL: (u32, u32) = (65_536, 10_000);

/// Work that the server of a metadata target does on an object target.
struct OwnWork {
    time: Nanos,
    mdt: TargetIndex,
    calls: Calls,
}

/// The counters that a target has of one of its clients, a metadata server, since that connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    pub since: Nanos,
    pub counters: Counters,
}

/// The counters that a target has of itself, as time goes by.
pub struct TargetCounters<'a> {
    plan: Plan<'a>,
    target: TargetIndex,
    /// The time at which all of this was last cleared before the span.
    from: Nanos,
    /// The time since which the target counts.
    pub since: Nanos,
    pub all: Counters,
    /// The share of the counters that is due to requests of clients without an identifier.
    pub unidentified: Counters,
    /// The requests to the target since the span began, for the queues of services.
    pub arrivals: Vec<Arrivals>,
    exports: BTreeMap<ServerIndex, Export>,
    starts: Peekable<IntoIter<Nanos>>,
    own: Peekable<IntoIter<OwnWork>>,
    seed: Seed,
}

impl<'a> TargetCounters<'a> {
    fn new(cluster: &'a Cluster, target: TargetIndex, span: Span) -> Self {
        let plan = Plan::new(cluster);
        let own = match cluster.targets[target].kind {
            TargetKind::Mdt => Vec::new(),
            TargetKind::Ost => own_work(cluster, target, span),
        };
        Self {
            plan,
            target,
            from: span.from,
            since: span.from,
            all: Counters::default(),
            unidentified: Counters::default(),
            arrivals: Vec::new(),
            exports: BTreeMap::new(),
            starts: plan.starts(target, span).into_iter().peekable(),
            own: own.into_iter().peekable(),
            seed: cluster.seed.of("unidentified", &[target as i64]),
        }
    }

    /// Counts a change of the target's entries, and requests without an identifier in proportion.
    pub fn change(&mut self, change: &Change) {
        let Change::Calls(epoch, calls) = change else {
            return;
        };
        self.settle(epoch.last);
        self.count(epoch.last, calls);
        let copies = self.unidentified_copies(epoch.last, calls);
        if copies > 0 {
            let count = calls.count.saturating_mul(copies);
            let more = Calls { count, ..**calls };
            self.count(epoch.last, &more);
            self.unidentified.add(&more);
        }
    }

    fn count(&mut self, time: Nanos, calls: &Calls) {
        let kind = self.plan.cluster.targets[self.target].kind;
        self.all.add(calls);
        arrive(&mut self.arrivals, kind, time, calls);
    }

    /// Returns the number of requests without an identifier for each one with an identifier.
    fn unidentified_copies(&self, time: Nanos, calls: &Calls) -> u32 {
        let share = self.plan.cluster.unidentified;
        let moves_bytes = calls.request.iter().any(|op| op.is_bytes());
        let is_small = calls.usecs <= SMALL.1 && !(moves_bytes && calls.bytes > SMALL.0);
        // Incidents on a busy file system are as large as the requests with an identifier make them.
        let is_busy = self.plan.cluster.busy.is_some();
        if share <= 0.0 || !is_small || is_busy {
            return 0;
        }
        let copies = share / (1.0 - share);
        let numbers = [time, i64::from(calls.usecs), i64::from(calls.count)];
        let is_one_more = self.seed.of("copy", &numbers).chance(copies.fract());
        copies as u32 + u32::from(is_one_more)
    }

    /// Moves on to a time. What the target did by itself up to and including that time has happened then.
    pub fn settle(&mut self, time: Nanos) {
        loop {
            let start = self.starts.peek().copied().unwrap_or(Nanos::MAX);
            let own = self.own.peek().map_or(Nanos::MAX, |own| own.time);
            if start.min(own) > time {
                return;
            }
            if start <= own {
                self.starts.next();
                self.since = start;
                self.all = Counters::default();
                self.unidentified = Counters::default();
                self.exports.clear();
            } else if let Some(own) = self.own.next() {
                let server = self.plan.owner(own.mdt, own.time);
                let since = self.connected(server, own.time);
                self.count(own.time, &own.calls);
                let export = self.exports.entry(server).or_insert(Export::new(since));
                if export.since != since {
                    *export = Export::new(since);
                }
                export.counters.add(&own.calls);
            }
        }
    }

    /// Returns the time since which a metadata server is connected to the target.
    fn connected(&self, server: ServerIndex, time: Nanos) -> Nanos {
        let span = Span::new(self.from, time + 1 - self.from);
        let starts = self.plan.service_starts(server, TargetKind::Mdt, span);
        self.since.max(starts.last().copied().unwrap_or(self.from))
    }

    /// Returns the counters that an object target has of each metadata server, at the time up to which it has moved on.
    pub fn exports(&self, time: Nanos) -> BTreeMap<ServerIndex, Export> {
        let cluster = self.plan.cluster;
        let servers = match cluster.targets[self.target].kind {
            TargetKind::Mdt => 0..0,
            TargetKind::Ost => 0..cluster.servers.len(),
        };
        let servers = servers.filter(|&server| self.plan.serves(server, TargetKind::Mdt, time));
        let export = |server| {
            let since = self.connected(server, time);
            let known = self
                .exports
                .get(&server)
                .filter(|export| export.since == since);
            (server, known.cloned().unwrap_or_else(|| Export::new(since)))
        };
        servers.map(export).collect()
    }
}

impl Export {
    fn new(since: Nanos) -> Self {
        Self {
            since,
            counters: Counters::default(),
        }
    }
}

/// Returns the requests of metadata servers to an object target in a span, in order of time: each polls the free space every five seconds,
/// precreates objects, and destroys objects of deleted files.
fn own_work(cluster: &Cluster, target: TargetIndex, span: Span) -> Vec<OwnWork> {
    let seed = cluster.seed.of("own work", &[target as i64]);
    let minutes = span.from.div_euclid(MINUTE)..=span.until.div_euclid(MINUTE);
    let mut all = Vec::new();
    for (mdt, _) in cluster.of_kind(TargetKind::Mdt) {
        for minute in minutes.clone() {
            let seed = seed.of("minute", &[mdt as i64, minute]);
            for (op, chance, count, usecs) in OWN_WORK {
                let seed = seed.of(op.name(), &[]);
                let time = minute * MINUTE + seed.below(60) as Nanos * SECOND + SECOND / 5;
                if seed.of("done", &[]).chance(chance) && span.contains(time) {
                    let usecs = usecs + seed.of("usecs", &[]).below(u64::from(usecs)) as u32;
                    let calls = Calls::new(plain(op), count, 0, usecs);
                    all.push(OwnWork { time, mdt, calls });
                }
            }
        }
    }
    all.sort_by_key(|own| own.time);
    all
}

/// The operations of metadata servers on an object target: the chance in each minute, the calls at once, and the least microseconds.
const OWN_WORK: [(Op, f64, u32, u32); 4] = [
    (Op::Statfs, 1.0, 12, 20),
    (Op::Create, 0.3, 1, 400),
    (Op::Destroy, 0.4, 3, 1_200),
    (Op::Setattr, 0.2, 2, 60),
];

/// A target and its entries, as time goes by.
pub struct Walk<'a> {
    pub state: TargetState<'a>,
    pub counters: TargetCounters<'a>,
}

impl<'a> Walk<'a> {
    /// Begins a walk through a span. Whatever the span is, counters begin at the last time at which they were all cleared.
    pub fn new(workload: &Workload<'a>, target: TargetIndex, span: Span) -> Self {
        let cluster = workload.cluster;
        let from = Plan::new(cluster).cleared(span.from);
        let span = Span { from, ..span };
        let mut state = TargetState::new(workload, target, span);
        state.advance(from - 1, |_| ());
        let counters = TargetCounters::new(cluster, target, span);
        Self { state, counters }
    }

    /// Walks on to a time. Everything up to and including that time has happened then.
    pub fn advance(&mut self, time: Nanos, mut changed: impl FnMut(&Change)) {
        let counters = &mut self.counters;
        self.state.advance(time, |change| {
            counters.change(&change);
            changed(&change);
        });
        counters.settle(time);
    }
}
