//! A file system that is busy enough for requests to wait: one of its users makes over a thousand requests a second, a few make hundreds,
//! and three hundred make fewer. They work by day and by night, and come and go; each night a backup reads everything, and each hour a
//! script looks at all files.

use rand::RngExt;

use crate::lustre::identifier::{Id, of_job, of_program};
use crate::lustre::operation::{OPEN_CREATE, Op, READ, Request, WRITE, plain};
use crate::lustre::{Calls, TargetKind};
use crate::random::{Random, Seed, log_normal};
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span};
use crate::world::incident::Incident;
use crate::world::queue::{INTERVAL, Queue, main_service, occupies};
use crate::world::workload::{Event, Traffic};
use crate::world::{Cluster, TargetIndex, Workload};

/// The number of people.
pub const PEOPLE: u64 = 319;
/// The number of accounts that they belong to.
const ACCOUNTS: u64 = 40;
/// The number of people who make hundreds of requests a second, in addition to the one who makes a thousand.
const HEAVY: usize = 8;
/// The part of the intervals of ten seconds in which a program makes its requests: one with few, and one with many, on many nodes.
const ACTIVE: [f64; 2] = [0.4, 0.9];
/// The part of the threads of a server that work where all who make most requests are at work at once.
const PEAK: f64 = 0.65;
/// The part of the intervals in which a server gets a burst of requests.
const BURSTS: f64 = 0.025;

/// The business of a file system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Busy {
    /// By how much requests to targets of each kind take longer than elsewhere.
    pressure: [f64; 2],
}

/// Somebody who works on the file system.
#[derive(Debug, Clone, Copy)]
pub struct Person {
    pub uid: u32,
    /// The number of the account.
    pub account: u64,
    /// The requests per second while at work.
    rate: f64,
    seed: Seed,
}

/// The requests of a program: the part of its requests that go to MDTs, and its requests with their microseconds and bytes.
struct Work {
    on_mdts: f64,
    mdt: &'static [(Request, f64)],
    ost: &'static [(Request, f64, u32)],
}

/// The kinds of programs: they move data, or many small files, or both.
static WORKS: [Work; 3] = [
    Work {
        on_mdts: 0.05,
        mdt: &[(plain(Op::Open), 150.0), (plain(Op::Close), 40.0)],
        ost: &[(WRITE, 1_000.0, 1 << 20), (READ, 900.0, 1 << 20)],
    },
    Work {
        on_mdts: 0.7,
        mdt: &[
            (OPEN_CREATE, 250.0),
            (plain(Op::Getattr), 60.0),
            (plain(Op::Unlink), 250.0),
            (plain(Op::Close), 40.0),
        ],
        ost: &[(READ, 400.0, 40_000), (WRITE, 500.0, 12_000)],
    },
    Work {
        on_mdts: 0.3,
        mdt: &[(plain(Op::Getattr), 60.0), (plain(Op::Setattr), 120.0)],
        ost: &[(READ, 700.0, 400_000), (WRITE, 800.0, 200_000)],
    },
];

/// A time in which a person's program works.
struct Campaign {
    span: Span,
    id: Id,
    work: &'static Work,
    rate: f64,
    /// The MDT, and the first OST and the number of OSTs.
    mdt: u64,
    osts: (u64, u64),
    /// True for people, who work less at night and on weekends.
    rhythm: bool,
    seed: Seed,
}

impl Default for Busy {
    fn default() -> Self {
        Self { pressure: [1.0; 2] }
    }
}

impl Busy {
    /// Finds out how long requests must take for servers to be almost busy when all who make most requests are at work.
    pub fn new(cluster: &Cluster) -> Self {
        let pressure = [TargetKind::Mdt, TargetKind::Ost].map(|kind| {
            let (part, usecs) = match kind {
                TargetKind::Mdt => (WORKS[1].on_mdts, 150.0),
                TargetKind::Ost => (0.6 * (1.0 - WORKS[0].on_mdts), 900.0),
            };
            let all = people(cluster).enumerate();
            let rates = all.map(|(rank, it)| {
                if rank <= HEAVY {
                    it.rate
                } else {
                    0.25 * it.rate
                }
            });
            let threads = f64::from(Queue::new(main_service(kind)).threads);
            PEAK * threads * 1e6 / (rates.sum::<f64>() * part * usecs)
        });
        Self { pressure }
    }

    /// Adds the calls to a target in a span.
    pub fn add(self, workload: &Workload, target: TargetIndex, span: Span, traffic: &mut Traffic) {
        let here = &workload.cluster.targets[target];
        let count = workload.cluster.count(here.kind) as u64;
        let people = people(workload.cluster).flat_map(|person| person.campaigns(span));
        let regular = span
            .days()
            .flat_map(|day| regular(workload.cluster.seed, day));
        for campaign in people.chain(regular) {
            let rate = campaign.rate_on(here.kind, here.index as u64, count);
            if let Some(both) = campaign.span.overlap(span)
                && rate > 0.0
            {
                let entry = traffic.entry(&campaign.id);
                campaign.play(
                    self,
                    (here.kind, target),
                    rate,
                    both,
                    workload,
                    |time, calls| {
                        traffic.events.push(Event { time, entry, calls });
                    },
                );
            }
        }
        self.bursts(workload, target, span, traffic);
    }

    /// Adds the bursts of a server to a target: each of a random size, up to the capacity of the threads.
    fn bursts(self, workload: &Workload, target: TargetIndex, span: Span, traffic: &mut Traffic) {
        let cluster = workload.cluster;
        let here = &cluster.targets[target];
        let peers = cluster.of_server(here.home).count() as f64;
        let (request, usecs, bytes) = match here.kind {
            TargetKind::Mdt => (plain(Op::Setattr), 120.0, 0),
            TargetKind::Ost => (WRITE, 1_000.0, 1 << 20),
        };
        let usecs = self.usecs(here.kind, usecs);
        let threads = f64::from(Queue::new(main_service(here.kind)).threads);
        let most = threads * 1e6 / usecs * (INTERVAL / SECOND) as f64 / peers;
        let size = 0.1 + 0.4 * cluster.seed.of("burst size", &[]).unit();
        let entry = traffic.entry(&of_program(b"kworker/1:2", 0));
        for slot in span.from.div_euclid(INTERVAL)..=span.until.div_euclid(INTERVAL) {
            let seed = cluster.seed.of("burst", &[here.home as i64, slot]);
            let time = slot * INTERVAL + SECOND / 5;
            if seed.chance(BURSTS) && span.contains(time) {
                let count = most * size * -(1.0 - seed.of("size", &[]).unit()).ln();
                let calls = Calls::new(request, count as u32, bytes, usecs as u32);
                traffic.events.push(Event { time, entry, calls });
            }
        }
    }

    /// Returns the microseconds of a request that takes so many elsewhere.
    pub fn usecs(self, kind: TargetKind, elsewhere: f64) -> f64 {
        elsewhere * self.pressure[kind as usize]
    }
}

/// The seconds of work that the main service of a server has in each interval.
pub struct Load {
    first: i64,
    pub intervals: Vec<f64>,
}

impl Load {
    /// Begins with no load.
    pub fn new(span: Span) -> Self {
        let [first, last] = [span.from, span.until].map(|time| time.div_euclid(INTERVAL));
        Self {
            first,
            intervals: vec![0.0; (last - first + 1) as usize],
        }
    }

    /// Adds the calls of events.
    pub fn add(&mut self, kind: TargetKind, events: &[Event]) {
        let service = main_service(kind);
        for event in events {
            let (of, _, usecs) = occupies(kind, &event.calls);
            if of == service {
                let at = (event.time.div_euclid(INTERVAL) - self.first) as usize;
                self.intervals[at] += usecs as f64 / 1e6;
            }
        }
    }
}

/// Returns the people of a cluster, those with most requests first.
pub fn people(cluster: &Cluster) -> impl Iterator<Item = Person> {
    let seed = cluster.seed.of("people", &[]);
    (0..PEOPLE).map(move |rank| {
        let seed = seed.of("person", &[rank as i64]);
        let part = seed.of("rate", &[]).unit();
        let rate = match rank {
            0 => 1_000.0 * 2_f64.powf(part),
            rank if rank <= HEAVY as u64 => 100.0 * 10_f64.powf(part),
            _ => 0.3 * 300_f64.powf(part),
        };
        Person {
            uid: 20_001 + rank as u32,
            account: seed.of("account", &[]).below(ACCOUNTS),
            rate,
            seed,
        }
    })
}

/// Returns the name of an account.
pub fn account_name(account: u64) -> String {
    format!("project_{:07}", 2_001_000 + account)
}

impl Person {
    /// Returns the campaigns of the person that have a part in a span.
    fn campaigns(self, span: Span) -> impl Iterator<Item = Campaign> {
        let minutes = 180 + self.seed.of("period", &[]).below(360) as Nanos;
        let period = minutes * MINUTE;
        let numbers = span.from.div_euclid(period) - 1..=span.until.div_euclid(period);
        let at_work = if self.rate >= 100.0 { 0.5 } else { 0.25 };
        numbers.filter_map(move |number| {
            let seed = self.seed.of("campaign", &[number]);
            let late = (seed.of("late", &[]).unit() * 0.4 * period as f64) as Nanos;
            let length = ((0.3 + 0.6 * seed.of("length", &[]).unit()) * period as f64) as Nanos;
            let span_of = Span::new(number * period + late, length);
            let is_on = seed.of("on", &[]).chance(at_work) && span_of.overlap(span).is_some();
            is_on.then(|| self.campaign(span_of, number, seed))
        })
    }

    fn campaign(self, span: Span, number: i64, seed: Seed) -> Campaign {
        let drawn = seed.of("stripes", &[]).below(6) as usize;
        let stripes = match self.rate {
            rate if rate >= 100.0 => [8, 16, 16, 48, 48, 48][drawn],
            _ => [1, 1, 2, 4, 4, 8][drawn],
        };
        let job = 30_000_000 + (number.rem_euclid(100_000)) * 319 + i64::from(self.uid - 20_001);
        Campaign {
            span,
            id: of_job(
                &job.to_string(),
                self.uid,
                &format!("c{:04}", seed.of("node", &[]).below(400)),
            ),
            work: &WORKS[seed.of("work", &[]).below(3) as usize],
            rate: self.rate,
            mdt: self.seed.of("home", &[]).below(2),
            osts: (seed.of("first", &[]).below(1 << 20), stripes),
            rhythm: true,
            seed,
        }
    }
}

/// Returns what happens every day: the backup of the night, and a script each hour.
fn regular(seed: Seed, day: i64) -> impl Iterator<Item = Campaign> {
    let backup = Campaign {
        span: Span::new(day * DAY + HOUR, 3 * HOUR),
        id: of_program(b"backup", 990),
        work: &WORKS[0],
        rate: 500.0,
        mdt: 0,
        osts: (0, 48),
        rhythm: false,
        seed: seed.of("backup", &[day]),
    };
    let hourly = (0..24).map(move |hour| Campaign {
        span: Span::new(day * DAY + hour * HOUR, 2 * MINUTE),
        id: of_program(b"find", 991),
        work: &WORKS[1],
        rate: 300.0,
        mdt: 1,
        osts: (7, 2),
        rhythm: false,
        seed: seed.of("hourly", &[day, hour]),
    });
    std::iter::once(backup).chain(hourly)
}

/// Returns how much people work at a time, relative to their busiest hours: less at night and on weekends, and slowly more.
fn rhythm(time: Nanos) -> f64 {
    let (day, of_day) = (
        time.div_euclid(DAY),
        time.rem_euclid(DAY) as f64 / DAY as f64,
    );
    // The epoch was a Thursday.
    let weekend = if (day + 3).rem_euclid(7) >= 5 {
        0.7
    } else {
        1.0
    };
    let by_day = 0.75 - 0.25 * (std::f64::consts::TAU * (of_day - 0.125)).cos();
    let growth = 1.0 + 0.0005 * day.rem_euclid(180) as f64;
    weekend * by_day * growth
}

impl Campaign {
    /// Returns the requests per second to each target of a kind, given their number.
    fn rate_on(&self, kind: TargetKind, index: u64, count: u64) -> f64 {
        match kind {
            TargetKind::Mdt if self.mdt % count == index => self.rate * self.work.on_mdts,
            TargetKind::Mdt => 0.0,
            TargetKind::Ost => {
                let stripes = self.osts.1.min(count);
                let is_striped = (index + count - self.osts.0 % count) % count < stripes;
                let each = self.rate * (1.0 - self.work.on_mdts) / stripes as f64;
                if is_striped { each } else { 0.0 }
            }
        }
    }

    /// Plays the calls to a target. All targets of a campaign are busy in the same intervals.
    fn play(
        &self,
        busy: Busy,
        (kind, target): (TargetKind, TargetIndex),
        rate: f64,
        span: Span,
        workload: &Workload,
        mut event: impl FnMut(Nanos, Calls),
    ) {
        let incidents = &workload.cluster.incidents;
        let active = ACTIVE[usize::from(self.rate >= 100.0)];
        let slots = span.from.div_euclid(INTERVAL)..=span.until.div_euclid(INTERVAL);
        for slot in slots {
            let time = slot * INTERVAL;
            let seed = self.seed.of("slot", &[slot]);
            if !span.contains(time) || !seed.chance(active) {
                continue;
            }
            let by_day = if self.rhythm { rhythm(time) } else { 1.0 };
            let general = Incident::general(incidents, time);
            let mean = rate * by_day * general * (INTERVAL / SECOND) as f64 / active;
            let mut random = seed.of("target", &[target as i64]).random();
            let count = log_normal(&mut random, mean, 0.3);
            let whole = count.floor() as u32 + u32::from(random.random_bool(count.fract()));
            if whole > 0 {
                let late = random.random_range(0..10) * SECOND + random.random_range(0..SECOND / 2);
                event(time + late, self.calls(busy, kind, whole, &mut random));
            }
        }
    }

    fn calls(&self, busy: Busy, kind: TargetKind, count: u32, random: &mut Random) -> Calls {
        let (request, usecs, bytes) = match kind {
            TargetKind::Mdt => {
                let (request, usecs) = self.work.mdt[random.random_range(0..self.work.mdt.len())];
                (request, usecs, 0)
            }
            TargetKind::Ost => self.work.ost[random.random_range(0..self.work.ost.len())],
        };
        let usecs = busy.usecs(kind, log_normal(random, usecs, 0.3));
        Calls::new(request, count, bytes, usecs.round() as u32)
    }
}
