//! The disturbances of a cluster and their times. Every day has each disturbance once, at times of day that only the seed decides, so that
//! any 24 hours have all of them. The disturbances do not overlap, so that their effects can be distinguished.

use crate::lustre::TargetKind;
use crate::random::Seed;
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span};
use crate::world::incident::{Incident, Kind};
use crate::world::{Cluster, ServerIndex, TargetIndex};

/// The time that a target takes to print all its entries.
pub const DUMP: Nanos = 2 * SECOND;
/// The time from the removal of an entry during a dump to its return.
pub const RETURN: Nanos = 250_000_000;

// Times of day, counted from the dawn of the plan.
const GAP: Span = times_of_day(2 * HOUR, 3 * HOUR);
const FAILOVER: Span = times_of_day(5 * HOUR, 5 * HOUR + 90 * MINUTE);
const CLOCK_STEP: Span = times_of_day(9 * HOUR, 10 * HOUR + 20 * MINUTE);
/// The time at which someone clears the counters that all targets and services have of themselves.
const CLEAR_OWN: Nanos = 4 * HOUR + 30 * MINUTE;
const UNHEALTHY: Span = times_of_day(10 * HOUR + 30 * MINUTE, 11 * HOUR);
const CLEAR: Nanos = 12 * HOUR;
const READ_ERROR: Nanos = 15 * HOUR;
const OVERLOAD: Span = times_of_day(17 * HOUR, 17 * HOUR + 30 * MINUTE);
const REMOVALS: [Nanos; 3] = [18 * HOUR, 19 * HOUR + 30 * MINUTE, 21 * HOUR];
/// The times of day when entries may expire in the middle of a dump, well away from all other disturbances.
const CALM: [Span; 5] = [
    times_of_day(0, 80 * MINUTE),
    times_of_day(3 * HOUR + 40 * MINUTE, 4 * HOUR + 20 * MINUTE),
    times_of_day(7 * HOUR + 10 * MINUTE, 8 * HOUR + 20 * MINUTE),
    times_of_day(13 * HOUR, 14 * HOUR + 20 * MINUTE),
    times_of_day(22 * HOUR + 30 * MINUTE, 24 * HOUR),
];

const fn times_of_day(from: Nanos, until: Nanos) -> Span {
    Span { from, until }
}

/// The planned disturbances of a cluster.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    pub cluster: &'a Cluster,
    seed: Seed,
    /// The time of day at which the plan's days begin.
    dawn: Nanos,
}

impl<'a> Plan<'a> {
    /// Returns the plan of a cluster.
    pub fn new(cluster: &'a Cluster) -> Self {
        let seed = cluster.seed.of("plan", &[]);
        Self {
            cluster,
            seed,
            dawn: seed.of("dawn", &[]).below(24 * 60) as Nanos * MINUTE,
        }
    }

    fn day(&self, time: Nanos) -> i64 {
        (time - self.dawn).div_euclid(DAY)
    }

    fn time_of_day(&self, time: Nanos) -> Nanos {
        (time - self.dawn).rem_euclid(DAY)
    }

    fn start(&self, day: i64) -> Nanos {
        day * DAY + self.dawn
    }

    /// Draws a number of seconds.
    fn seconds(&self, label: &str, numbers: &[i64], below: u64) -> Nanos {
        self.seed.of(label, numbers).below(below) as Nanos * SECOND
    }

    /// Returns the server that a disturbance hits on a day.
    fn victim(&self, disturbance: &str, day: i64) -> ServerIndex {
        let servers = self.cluster.servers.len() as u64;
        self.seed.of(disturbance, &[day]).below(servers) as ServerIndex
    }

    fn meets(&self, disturbance: &str, server: ServerIndex, time: Nanos, span: Span) -> bool {
        self.cluster.disturbed
            && span.contains(self.time_of_day(time))
            && self.victim(disturbance, self.day(time)) == server
    }

    /// Returns true if the server is not polled.
    pub fn is_unread(&self, server: ServerIndex, time: Nanos) -> bool {
        let mut gaps = self.incidents(server, &[Kind::Gap, Kind::Upgrade]);
        self.meets("gap", server, time, GAP) || gaps.any(|it| it.span().contains(time))
    }

    /// Returns true if the server is down and its targets are on its partner.
    pub fn is_down(&self, server: ServerIndex, time: Nanos) -> bool {
        self.cluster.servers[server].partner != server
            && (self.meets("failover", server, time, FAILOVER)
                || self
                    .incidents(server, &[Kind::Failover])
                    .any(|it| it.span().contains(time)))
    }

    /// Returns the name of one target of a server, which represents all: incidents of a server affect each of them. `None` without
    /// incidents, because this runs for each call.
    fn first_target(&self, server: ServerIndex) -> Option<&'a str> {
        if self.cluster.incidents.is_empty() {
            return None;
        }
        let first = self.cluster.of_server(server).next();
        first.map(|(_, target)| target.name.as_str())
    }

    /// Returns the incidents of some kinds that hit a server.
    fn incidents(
        &self,
        server: ServerIndex,
        kinds: &'static [Kind],
    ) -> impl Iterator<Item = &'a Incident> + use<'a> {
        let incidents = &self.cluster.incidents;
        let first = self.first_target(server).into_iter();
        first.flat_map(move |name| Incident::of_kinds(incidents, name, kinds))
    }

    /// Returns the times in a span at which upgrades reset the counters of a server.
    pub fn upgrades(
        &self,
        server: ServerIndex,
        span: Span,
    ) -> impl Iterator<Item = Nanos> + use<'a> {
        let ends = self.incidents(server, &[Kind::Upgrade]).map(|it| it.until);
        ends.filter(move |time| span.contains(*time))
    }

    /// Returns the server that a target is on.
    pub fn owner(&self, target: TargetIndex, time: Nanos) -> ServerIndex {
        let home = self.cluster.targets[target].home;
        let partner = self.cluster.servers[home].partner;
        let is_down = self.is_down(home, time);
        if is_down { partner } else { home }
    }

    /// Returns the lead of the server's clock, negative if the clock is behind.
    pub fn clock_error(&self, server: ServerIndex, time: Nanos) -> Nanos {
        if !self.meets("clock", server, time, CLOCK_STEP) {
            return 0;
        }
        // The step is less than an interval, so that readings stay in order.
        let step = self.cluster.interval * 3 / 8;
        let is_ahead = self.seed.of("clock sign", &[self.day(time)]).chance(0.5);
        if is_ahead { step } else { -step }
    }

    /// Returns the days of a span, or no day for an undisturbed cluster.
    fn days(&self, span: Span) -> impl Iterator<Item = i64> {
        (self.day(span.from)..=self.day(span.until)).filter(|_| self.cluster.disturbed)
    }

    /// Returns the upheavals of a target in a span, in order of time.
    pub fn upheavals(&self, target: TargetIndex, span: Span) -> Vec<(Nanos, Upheaval)> {
        let home = self.cluster.targets[target].home;
        let mut all = Vec::new();
        for day in self.days(span) {
            let start = self.start(day);
            if self.victim("clear", day) == home {
                let late = self.seconds("clear time", &[day], 1200);
                all.push((start + CLEAR + late, Upheaval::Clear));
            }
            let removals = self.removals(target, day);
            all.extend(removals.map(|time| (time, Upheaval::Removal)));
        }
        let restarts = self.restarts(target, span);
        all.extend(restarts.map(|time| (time, Upheaval::Restart)));
        all.extend(self.scans(target, span).map(|time| (time, Upheaval::Scan)));
        all.retain(|(time, _)| span.contains(*time));
        all.sort_by_key(|(time, _)| *time);
        all
    }

    /// Returns the failures of a server on the days of a span.
    fn failovers(&self, server: ServerIndex, span: Span) -> impl Iterator<Item = Span> {
        let starts = self.days(span).map(|day| self.start(day));
        let failovers = starts.map(|start| FAILOVER.shifted(start));
        let planned = self.incidents(server, &[Kind::Failover]);
        let planned = planned.map(Incident::span);
        let planned = planned.filter(move |it| it.overlap(span).is_some());
        let failovers = failovers.filter(move |failover| self.is_down(server, failover.from));
        failovers.chain(planned)
    }

    /// Returns the times at which a target is mounted anew on the days of a span.
    fn restarts(&self, target: TargetIndex, span: Span) -> impl Iterator<Item = Nanos> {
        let home = self.cluster.targets[target].home;
        let failovers = self.failovers(home, span);
        let moves = failovers.flat_map(|failover| [failover.from, failover.until]);
        moves.chain(self.upgrades(home, span))
    }

    /// Returns the last time at which the counters that targets and services have of themselves were cleared: every day, or
    /// every Saturday in an undisturbed world. So no text follows from more than a week of work.
    pub fn cleared(&self, time: Nanos) -> Nanos {
        const SATURDAY: i64 = 2;
        let every = if self.cluster.disturbed { 1 } else { 7 };
        let day = self.day(time - CLEAR_OWN);
        self.start(day - (day - SATURDAY).rem_euclid(every)) + CLEAR_OWN
    }

    /// Returns the last time at which a target was mounted, if that was within two days before.
    pub fn mounted(&self, target: TargetIndex, time: Nanos) -> Option<Nanos> {
        let restarts = self.restarts(target, Span::new(time - 2 * DAY, 2 * DAY));
        restarts.filter(|restart| *restart <= time).max()
    }

    /// Returns the target of a server that is not healthy, if there is one.
    pub fn unhealthy(&self, server: ServerIndex, time: Nanos) -> Option<TargetIndex> {
        let (target, _) = self.cluster.of_server(server).next()?;
        let is_met = self.meets("health", server, time, UNHEALTHY);
        is_met.then_some(target)
    }

    fn with_clears(&self, others: impl Iterator<Item = Nanos>, span: Span) -> Vec<Nanos> {
        let days = self.day(span.from)..=self.day(span.until);
        let clears = days.map(|day| self.start(day) + CLEAR_OWN);
        let clears = clears.filter(|time| self.cleared(*time) == *time);
        let mut starts: Vec<_> = clears.chain(others).collect();
        starts.retain(|time| span.contains(*time));
        starts.sort_unstable();
        starts
    }

    /// Returns the times in a span at which a target begins to count anew what itself does.
    pub fn starts(&self, target: TargetIndex, span: Span) -> Vec<Nanos> {
        self.with_clears(self.restarts(target, span), span)
    }

    /// Returns the times in a span at which a server resets its counters for targets of one kind.
    pub fn service_starts(&self, server: ServerIndex, kind: TargetKind, span: Span) -> Vec<Nanos> {
        let mut here = self.cluster.of_server(server);
        if here.any(|(_, target)| target.kind == kind) {
            let returns = self.failovers(server, span).map(|failover| failover.until);
            self.with_clears(returns.chain(self.upgrades(server, span)), span)
        } else {
            let partner = self.cluster.servers[server].partner;
            let failovers = self.failovers(partner, span).map(|failover| failover.from);
            self.with_clears(failovers, span)
        }
    }

    /// Returns true if a target is on a server at any time of a span.
    pub fn comes_to(&self, target: TargetIndex, server: ServerIndex, span: Span) -> bool {
        let home = self.cluster.targets[target].home;
        let is_partner = self.cluster.servers[home].partner == server;
        home == server || (is_partner && self.failovers(home, span).next().is_some())
    }

    /// Returns the overloads of a target on the days of a span. Each day has one, of the first target of a metadata server.
    pub fn overloads(&self, target: TargetIndex, span: Span) -> impl Iterator<Item = Span> {
        let mut firsts: Vec<_> = self.cluster.of_kind(TargetKind::Mdt).collect();
        firsts.dedup_by_key(|(_, target)| target.home);
        let days = self.day(span.from)..=self.day(span.until);
        let days = days.filter(move |day| {
            let drawn = self.seed.of("overload", &[*day]).below(firsts.len() as u64);
            firsts[drawn as usize].0 == target
        });
        days.map(|day| OVERLOAD.shifted(self.start(day)))
    }

    /// Returns true if a server has a target of a kind.
    pub fn serves(&self, server: ServerIndex, kind: TargetKind, time: Nanos) -> bool {
        let mut targets = self.cluster.of_kind(kind);
        targets.any(|(target, _)| self.owner(target, time) == server)
    }

    /// Returns the times of a day at which someone removes a single entry of the target, which returns at once. Each
    /// time falls into a dump of the target.
    fn removals(&self, target: TargetIndex, day: i64) -> impl Iterator<Item = Nanos> {
        let server = self.cluster.targets[target].home;
        REMOVALS.iter().enumerate().map(move |(index, time)| {
            let numbers = [day, target as i64, index as i64];
            let late = self.seconds("removal", &numbers, 2400);
            during_dump(self.next_reading(server, self.start(day) + time + late))
        })
    }

    /// Returns the time of a single removal during this dump, if there is one.
    pub fn removal_during(&self, target: TargetIndex, dump: Nanos) -> Option<Nanos> {
        let days = self.days(Span::new(dump, 0));
        let mut removals = days.flat_map(|day| self.removals(target, day));
        removals.find(|time| Span::new(dump, DUMP).contains(*time))
    }

    /// Returns the times at which the target looks for entries that were idle too long: twice per cleanup interval, and
    /// now and then during a dump.
    fn scans(&self, target: TargetIndex, span: Span) -> impl Iterator<Item = Nanos> {
        let period = self.cluster.cleanup_interval / 2;
        let phase = self.seconds("scan phase", &[target as i64], (period / SECOND) as u64);
        let slot = |time: Nanos| (time - phase).div_euclid(period);
        let slots = slot(span.from) - 1..=slot(span.until);
        slots.map(move |slot| self.scan(target, slot, slot * period + phase))
    }

    fn scan(&self, target: TargetIndex, slot: i64, time: Nanos) -> Nanos {
        let seed = self.seed.of("scan", &[target as i64, slot]);
        if slot % 4 == 0 && self.is_calm(time) && seed.of("met", &[]).chance(0.4) {
            return during_dump(self.next_reading(self.cluster.targets[target].home, time));
        }
        time + seed.below(20) as Nanos * SECOND
    }

    /// Returns the time of a scan for idle entries during this dump, if there is one.
    pub fn scan_during(&self, target: TargetIndex, dump: Nanos) -> Option<Nanos> {
        // No record may be skipped outside the calm times, because other disturbances there could make the record count
        // twice.
        if !self.is_calm(dump) || !self.is_calm(dump - self.cluster.interval) {
            return None;
        }
        let since = dump - self.cluster.interval - self.cluster.cleanup_interval;
        let dump = Span::new(dump, DUMP);
        let scanned = Span {
            from: since,
            ..dump
        };
        let mut scans = self.scans(target, scanned);
        scans.find(|time| dump.contains(*time))
    }

    fn is_calm(&self, time: Nanos) -> bool {
        let of_day = self.time_of_day(time);
        self.cluster.disturbed && CALM.iter().any(|span| span.contains(of_day))
    }

    /// Returns true if reading the target fails.
    pub fn fails(&self, target: TargetIndex, time: Nanos) -> bool {
        let late = self.seconds("read error", &[self.day(time), target as i64], 4800);
        let error = Span::new(READ_ERROR + late, self.cluster.interval);
        self.cluster.disturbed && error.contains(self.time_of_day(time))
    }

    /// Returns true if another reader takes the header away or leaves a second one behind.
    pub fn loses_header(&self, target: TargetIndex, time: Nanos) -> bool {
        self.cluster.disturbed && self.seed.of("header", &[target as i64, time]).chance(0.01)
    }

    /// Returns the first poll of a server at this time or later.
    pub fn next_reading(&self, server: ServerIndex, time: Nanos) -> Nanos {
        let offset = self.cluster.servers[server].offset;
        let interval = self.cluster.interval;
        -(-(time - offset)).div_euclid(interval) * interval + offset
    }

    /// Returns the spans of a day in which the target's object server gets many mangled identifiers.
    pub fn mangling(&self, target: TargetIndex, day: i64) -> impl Iterator<Item = Span> {
        let home = self.cluster.targets[target].home as i64;
        (0..3).map(move |index| {
            let minute = self.seed.of("mangling", &[day, home, index]).below(1440);
            Span::new(day * DAY + minute as Nanos * MINUTE, 20 * MINUTE)
        })
    }

    /// Counts how many times each disturbance of servers begins in a span: gaps, failovers, clock steps, clears.
    pub fn server_disturbances(&self, span: Span) -> [u64; 4] {
        let count = |time: Nanos| {
            let times = self.days(span).map(|day| self.start(day) + time);
            times.filter(|time| span.contains(*time)).count() as u64
        };
        [
            count(GAP.from),
            count(FAILOVER.from),
            count(CLOCK_STEP.from) + count(CLOCK_STEP.until),
            count(CLEAR),
        ]
    }
}

/// An event that changes the entries of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upheaval {
    /// The target is mounted anew, and all entries are gone.
    Restart,
    /// Someone writes `clear`.
    Clear,
    /// Someone removes one entry that is in use.
    Removal,
    /// The target removes entries that were idle too long.
    Scan,
}

/// Returns the time of an event that falls into the dump of a reading.
fn during_dump(reading: Nanos) -> Nanos {
    reading.div_euclid(SECOND) * SECOND + SECOND
}
