//! What goes wrong, and when: every day has each disturbance once, at times of day that only the seed decides, so that any
//! 24 hours have all of them. They lie apart, so that the effects of each can be told from the others'.

use crate::cluster::{Cluster, ServerIndex, TargetIndex};
use crate::random::Seed;
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND};

/// How long a target takes to print all its entries.
pub const DUMP: Nanos = 2 * SECOND;
/// From the removal of an entry during a dump to its return.
pub const RETURN: Nanos = 250_000_000;

const GAP: (Nanos, Nanos) = (2 * HOUR, 3 * HOUR);
const FAILOVER: (Nanos, Nanos) = (5 * HOUR, 5 * HOUR + 90 * MINUTE);
const CLOCK_STEP: (Nanos, Nanos) = (9 * HOUR, 10 * HOUR + 20 * MINUTE);
const CLEAR: Nanos = 12 * HOUR;
const READ_ERROR: Nanos = 15 * HOUR;
const REMOVALS: [Nanos; 3] = [18 * HOUR, 19 * HOUR + 30 * MINUTE, 21 * HOUR];
/// Times of day when entries may expire in the middle of a dump, well away from everything else.
const CALM: [(Nanos, Nanos); 5] = [
    (0, 80 * MINUTE),
    (3 * HOUR + 40 * MINUTE, 4 * HOUR + 20 * MINUTE),
    (7 * HOUR + 10 * MINUTE, 8 * HOUR + 20 * MINUTE),
    (13 * HOUR, 14 * HOUR + 20 * MINUTE),
    (22 * HOUR + 30 * MINUTE, 24 * HOUR),
];

/// What is planned to disturb a cluster.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    cluster: &'a Cluster,
    seed: Seed,
    /// When the plan's days begin.
    dawn: Nanos,
}

impl<'a> Plan<'a> {
    /// The plan of a cluster.
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

    /// The server that a disturbance meets on a day.
    fn victim(&self, what: &str, day: i64) -> ServerIndex {
        self.seed
            .of(what, &[day])
            .below(self.cluster.servers.len() as u64) as ServerIndex
    }

    fn meets(&self, what: &str, server: ServerIndex, time: Nanos, span: (Nanos, Nanos)) -> bool {
        let of_day = self.time_of_day(time);
        self.cluster.disturbed
            && (span.0..span.1).contains(&of_day)
            && self.victim(what, self.day(time)) == server
    }

    /// Nobody reads the server.
    pub fn is_unread(&self, server: ServerIndex, time: Nanos) -> bool {
        self.meets("gap", server, time, GAP)
    }

    /// The server is down, its targets are on its partner.
    pub fn is_down(&self, server: ServerIndex, time: Nanos) -> bool {
        self.cluster.servers[server].partner != server
            && self.meets("failover", server, time, FAILOVER)
    }

    /// The server that a target is on.
    pub fn owner(&self, target: TargetIndex, time: Nanos) -> ServerIndex {
        let home = self.cluster.targets[target].home;
        if self.is_down(home, time) {
            self.cluster.servers[home].partner
        } else {
            home
        }
    }

    /// How far the server's clock is ahead.
    pub fn clock_error(&self, server: ServerIndex, time: Nanos) -> Nanos {
        if !self.meets("clock", server, time, CLOCK_STEP) {
            return 0;
        }
        // Less than an interval, so that readings stay in order.
        let step = self.cluster.interval * 3 / 8;
        if self.seed.of("clock sign", &[self.day(time)]).chance(0.5) {
            step
        } else {
            -step
        }
    }

    /// The days of a span on which anything goes wrong.
    fn days(&self, from: Nanos, until: Nanos) -> impl Iterator<Item = i64> {
        (self.day(from)..=self.day(until)).filter(|_| self.cluster.disturbed)
    }

    /// What happens to all entries of a target in a span, in order of time.
    pub fn upheavals(
        &self,
        target: TargetIndex,
        from: Nanos,
        until: Nanos,
    ) -> Vec<(Nanos, Upheaval)> {
        let mut all = Vec::new();
        for day in self.days(from, until) {
            let home = self.cluster.targets[target].home;
            if self.is_down(home, self.start(day) + FAILOVER.0) {
                all.push((self.start(day) + FAILOVER.0, Upheaval::Restart));
                all.push((self.start(day) + FAILOVER.1, Upheaval::Restart));
            }
            if self.victim("clear", day) == home {
                let late = self.seed.of("clear time", &[day]).below(1200) as Nanos * SECOND;
                all.push((self.start(day) + CLEAR + late, Upheaval::Clear));
            }
            all.extend(
                self.removals(target, day)
                    .map(|time| (time, Upheaval::Removal)),
            );
        }
        all.extend(
            self.scans(target, from, until)
                .map(|time| (time, Upheaval::Scan)),
        );
        all.retain(|(time, _)| (from..until).contains(time));
        all.sort_by_key(|(time, _)| *time);
        all
    }

    /// When someone removes a single entry of the target, which returns at once: just while the target is read.
    fn removals(&self, target: TargetIndex, day: i64) -> impl Iterator<Item = Nanos> {
        let server = self.cluster.targets[target].home;
        REMOVALS.iter().enumerate().map(move |(index, time)| {
            let late = self
                .seed
                .of("removal", &[day, target as i64, index as i64])
                .below(2400);
            let reading =
                self.next_reading(server, self.start(day) + time + late as Nanos * SECOND);
            whole_second(reading) + SECOND
        })
    }

    /// The removal of a single entry that a dump meets.
    pub fn removal_during(&self, target: TargetIndex, dump: Nanos) -> Option<Nanos> {
        self.days(dump, dump)
            .flat_map(|day| self.removals(target, day))
            .find(|time| (dump..dump + DUMP).contains(time))
    }

    /// When the target looks for entries that were idle too long: twice in a cleanup interval, now and then during a dump.
    fn scans(&self, target: TargetIndex, from: Nanos, until: Nanos) -> impl Iterator<Item = Nanos> {
        let period = self.cluster.cleanup_interval / 2;
        let phase = self
            .seed
            .of("scan phase", &[target as i64])
            .below((period / SECOND) as u64) as Nanos
            * SECOND;
        let slots = (from - phase).div_euclid(period) - 1..=(until - phase).div_euclid(period);
        slots.map(move |slot| self.scan(target, slot, slot * period + phase))
    }

    fn scan(&self, target: TargetIndex, slot: i64, time: Nanos) -> Nanos {
        let seed = self.seed.of("scan", &[target as i64, slot]);
        if slot % 4 == 0 && self.is_calm(time) && seed.of("met", &[]).chance(0.4) {
            let reading = self.next_reading(self.cluster.targets[target].home, time);
            return whole_second(reading) + SECOND;
        }
        time + seed.below(20) as Nanos * SECOND
    }

    /// The scan for idle entries that a dump meets.
    pub fn scan_during(&self, target: TargetIndex, dump: Nanos) -> Option<Nanos> {
        // Outside the calm times a record must not be skipped: what else happens there could make it count twice.
        if !self.is_calm(dump) || !self.is_calm(dump - self.cluster.interval) {
            return None;
        }
        let since = dump - self.cluster.interval - self.cluster.cleanup_interval;
        self.scans(target, since, dump + DUMP)
            .find(|time| (dump..dump + DUMP).contains(time))
    }

    fn is_calm(&self, time: Nanos) -> bool {
        let of_day = self.time_of_day(time);
        self.cluster.disturbed
            && CALM
                .iter()
                .any(|(from, until)| (*from..*until).contains(&of_day))
    }

    /// Reading the target fails.
    pub fn fails(&self, target: TargetIndex, time: Nanos) -> bool {
        let day = self.day(time);
        let late = self
            .seed
            .of("read error", &[day, target as i64])
            .below(4800) as Nanos
            * SECOND;
        let from = READ_ERROR + late;
        self.cluster.disturbed
            && (from..from + self.cluster.interval).contains(&self.time_of_day(time))
    }

    /// Another reader takes the header away, or leaves one behind.
    pub fn loses_header(&self, target: TargetIndex, time: Nanos) -> bool {
        self.cluster.disturbed && self.seed.of("header", &[target as i64, time]).chance(0.01)
    }

    /// The first reading of a server at this time or later.
    pub fn next_reading(&self, server: ServerIndex, time: Nanos) -> Nanos {
        let offset = self.cluster.servers[server].offset;
        let interval = self.cluster.interval;
        -(-(time - offset)).div_euclid(interval) * interval + offset
    }

    /// The spans in which a target's object server makes many mangled identifiers, on a day.
    pub fn mangling(&self, target: TargetIndex, day: i64) -> impl Iterator<Item = (Nanos, Nanos)> {
        let home = self.cluster.targets[target].home as i64;
        (0..3).map(move |index| {
            let seed = self.seed.of("mangling", &[day, home, index]);
            let from = day * DAY + seed.below(1440) as Nanos * MINUTE;
            (from, from + 20 * MINUTE)
        })
    }

    /// How many times each disturbance of servers begins in a span: gaps, failovers, clock steps, clears.
    pub fn server_disturbances(&self, from: Nanos, until: Nanos) -> [(&'static str, u64); 4] {
        let count = |time: Nanos| {
            self.days(from, until)
                .filter(|day| (from..until).contains(&(self.start(*day) + time)))
                .count() as u64
        };
        [
            ("gaps (a server unread for an hour)", count(GAP.0)),
            ("failovers of a server's targets", count(FAILOVER.0)),
            ("clock steps", count(CLOCK_STEP.0) + count(CLOCK_STEP.1)),
            ("clears of a server's targets", count(CLEAR)),
        ]
    }
}

/// Something that happens to the entries of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upheaval {
    /// The target is mounted anew: all entries are gone.
    Restart,
    /// Someone writes `clear`.
    Clear,
    /// Someone removes one entry, which is in use.
    Removal,
    /// Entries that were idle too long go.
    Scan,
}

fn whole_second(time: Nanos) -> Nanos {
    time.div_euclid(SECOND) * SECOND
}
