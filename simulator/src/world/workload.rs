//! The workload of a cluster: its users, their jobs and programs, the system, and the calls of each to a target, event
//! by event.

use std::collections::HashMap;

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use crate::jobs::{Doing, Site};
use crate::lustre::Kind;
use crate::lustre::counter::Calls;
use crate::lustre::identifier::{self, Id, MANGLINGS};
use crate::random::{Random, Seed, log_normal, weighted};
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND};
use crate::world::cluster::{Cluster, TargetIndex};
use crate::world::plan::Plan;
use crate::world::profile::{COPYING, DAEMON, INTERACTIVE, JOBS, KERNEL, PROBE, Profile};
use crate::world::work;

/// The length of the longest job.
const LONGEST_JOB: Nanos = 12 * HOUR;
/// The age of the oldest possible life. A job has an identifier of its own and ends, and any other identifier rests
/// once a day.
pub const LONGEST_LIFE: Nanos = 26 * HOUR;

/// Calls that an entry makes on a target at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// The time of the calls.
    pub time: Nanos,
    /// The entry, as a position in [`Traffic::ids`].
    pub entry: u32,
    /// The calls.
    pub calls: Calls,
}

/// The calls to one target in a span.
#[derive(Debug, Default)]
pub struct Traffic {
    /// The identifiers that occur.
    pub ids: Vec<Id>,
    /// The events in order of time.
    pub events: Vec<Event>,
    positions: HashMap<Id, u32>,
}

impl Traffic {
    /// Returns the position of an identifier, and adds the identifier if it is new.
    pub fn entry(&mut self, id: &Id) -> u32 {
        *self.positions.entry(id.clone()).or_insert_with(|| {
            self.ids.push(id.clone());
            self.ids.len() as u32 - 1
        })
    }
}

/// A program that uses a target under one identifier.
struct Session {
    id: Id,
    from: Nanos,
    until: Nanos,
    profile: &'static Profile,
    seed: Seed,
    /// True if only this session ever uses the identifier, and not for long.
    own_id: bool,
}

struct Job {
    number: String,
    uid: u32,
    user: Seed,
    from: Nanos,
    until: Nanos,
    first_node: u64,
    nodes: u64,
    profile: &'static Profile,
    seed: Seed,
}

struct User {
    uid: u32,
    seed: Seed,
    /// The weight of this user and all users before.
    weight: f64,
}

/// The users of a cluster, people and system.
pub struct Workload<'a> {
    cluster: &'a Cluster,
    plan: Plan<'a>,
    seed: Seed,
    users: Vec<User>,
}

impl<'a> Workload<'a> {
    /// Draws the users of a cluster.
    pub fn new(cluster: &'a Cluster) -> Self {
        let seed = cluster.seed.of("workload", &[]);
        let mut weight = 0.0;
        let users = (0..cluster.population.users)
            .map(|user| {
                let seed = seed.of("user", &[user as i64]);
                weight += log_normal(&mut seed.random(), 1.0, 1.6);
                User {
                    uid: 10_000_000 + seed.below(8_000_000) as u32,
                    weight,
                    seed,
                }
            })
            .collect();
        Self {
            cluster,
            plan: Plan::new(cluster),
            seed,
            users,
        }
    }

    /// Returns the calls to a target in a span.
    pub fn traffic(&self, target: TargetIndex, from: Nanos, until: Nanos) -> Traffic {
        let kind = self.cluster.targets[target].kind;
        let mut traffic = Traffic::default();
        let mut sessions = Vec::new();
        match (&self.cluster.work, &self.cluster.schedulers) {
            (Some(_), None) => (),
            _ => sessions = self.sessions(target, from, until),
        }
        for session in sessions {
            let entry = traffic.entry(&session.id);
            let quiet = (!session.own_id).then(|| self.rest(&session.id));
            session.play(kind, |time, calls| {
                let heard = (from..until).contains(&time)
                    && !quiet.is_some_and(|rest| rest.contains(time))
                    && self.cluster.layout.hears(kind, calls.call);
                if heard {
                    traffic.events.push(Event { time, entry, calls });
                }
            });
        }
        if let Some(work) = &self.cluster.work {
            work::add(work, self.cluster, target, from, until, &mut traffic);
        }
        traffic.events.sort_by_key(|event| event.time);
        traffic
    }

    fn sessions(&self, target: TargetIndex, from: Nanos, until: Nanos) -> Vec<Session> {
        let mut sessions = Vec::new();
        if let Some(site) = &self.cluster.schedulers {
            self.scheduled_sessions(site, target, from, until, &mut sessions);
        }
        let drawn = match self.cluster.schedulers {
            None => self.cluster.population.jobs_per_day,
            Some(_) => 0,
        };
        for day in (from - DAY).div_euclid(DAY)..=until.div_euclid(DAY) {
            for number in 0..drawn {
                if let Some(job) = self.job(day, number)
                    && job.from < until
                    && job.until > from
                {
                    self.job_sessions(&job, target, &mut sessions);
                }
            }
            self.login_sessions(day, target, &mut sessions);
            self.system_sessions(day, target, &mut sessions);
        }
        sessions
    }

    /// Draws a user; a few users do most of the work.
    fn user(&self, random: &mut Random) -> Option<&User> {
        let weight = random.random::<f64>() * self.users.last()?.weight;
        self.users
            .get(self.users.partition_point(|user| user.weight <= weight))
    }

    /// Draws a user of a login node: one with jobs.
    fn login_user(&self, random: &mut Random) -> Option<(u32, Seed)> {
        match &self.cluster.schedulers {
            Some(site) => {
                let person = site.user(random);
                Some((person.uid, person.seed))
            }
            None => self.user(random).map(|user| (user.uid, user.seed)),
        }
    }

    fn job(&self, day: i64, number: u64) -> Option<Job> {
        let seed = self.seed.of("job", &[day, number as i64]);
        let mut random = seed.random();
        let user = self.user(&mut random)?;
        let from = day * DAY + random.random_range(0..DAY / SECOND) * SECOND;
        let length = log_normal(&mut random, 40.0, 1.0) * MINUTE as f64;
        let nodes = if random.random_bool(0.75) {
            1
        } else {
            log_normal(&mut random, 3.0, 0.7).clamp(2.0, 16.0) as u64
        };
        let serial = (day - 18_262) * self.cluster.population.jobs_per_day as i64 + number as i64;
        let array = if random.random_bool(0.1) {
            format!("_{}", random.random_range(1..100))
        } else {
            String::new()
        };
        Some(Job {
            number: format!("{}{array}", 10_000_000 + serial.rem_euclid(80_000_000)),
            uid: user.uid,
            user: user.seed,
            from,
            until: from + (length as Nanos).clamp(2 * MINUTE, LONGEST_JOB),
            first_node: random.random_range(0..self.cluster.population.nodes),
            nodes,
            profile: weighted(
                &mut random,
                JOBS.iter().map(|profile| (profile, profile.weight)),
            )?,
            seed,
        })
    }

    fn job_sessions(&self, job: &Job, target: TargetIndex, sessions: &mut Vec<Session>) {
        for rank in 0..job.nodes {
            let seed = job.seed.of("rank", &[rank as i64, target as i64]);
            if !self.uses(job.user, job.seed, rank, target) {
                continue;
            }
            let node = node_name((job.first_node + rank) % self.cluster.population.nodes);
            sessions.push(Session {
                id: identifier::of_job(&job.number, job.uid, &node),
                from: job.from + seed.below(60) as Nanos * SECOND,
                until: job.until,
                profile: job.profile,
                seed,
                own_id: true,
            });
            if seed.of("without job", &[]).chance(0.25) {
                let (from, until) = part(job.from, job.until, seed.of("part", &[]));
                sessions.push(Session {
                    id: identifier::without_job(job.uid, &node),
                    from,
                    until,
                    profile: job.profile,
                    seed: seed.of("without job", &[]),
                    own_id: false,
                });
            }
            if self.cluster.targets[target].kind == Kind::Ost {
                self.mangled_sessions(job, &node, target, seed, sessions);
            }
        }
    }

    /// Adds the work of the jobs of schedulers.
    fn scheduled_sessions(
        &self,
        site: &Site,
        target: TargetIndex,
        from: Nanos,
        until: Nanos,
        sessions: &mut Vec<Session>,
    ) {
        for run in site.runs(from, until) {
            let user = run.owner(site).seed;
            let profile = weighted(
                &mut run.seed.of("profile", &[]).random(),
                JOBS.iter().map(|profile| (profile, profile.weight)),
            );
            for (rank, work) in site.work(&run).into_iter().enumerate() {
                let active = work.from < until && work.until > from;
                if !active || !self.uses(user, run.seed, rank as u64, target) {
                    continue;
                }
                sessions.push(Session {
                    profile: match work.doing {
                        Doing::Root => &PROBE,
                        Doing::Shell => &INTERACTIVE,
                        _ => profile.unwrap_or(&INTERACTIVE),
                    },
                    seed: work.seed.of("target", &[target as i64]),
                    id: work.id,
                    from: work.from,
                    until: work.until,
                    // Runs of one job may share an identifier, and some jobs take days.
                    own_id: false,
                });
            }
        }
    }

    /// Adds sessions with mangled identifiers on object servers: a few all the time, many in bursts.
    fn mangled_sessions(
        &self,
        job: &Job,
        node: &str,
        target: TargetIndex,
        seed: Seed,
        sessions: &mut Vec<Session>,
    ) {
        let few = seed
            .of("mangled", &[])
            .chance(0.03)
            .then(|| part(job.from, job.until, seed));
        let days = job.from.div_euclid(DAY)..=job.until.div_euclid(DAY);
        let many = days
            .flat_map(|day| self.plan.mangling(target, day))
            .map(|(from, until)| (from.max(job.from), until.min(job.until)))
            .filter(|(from, until)| from < until && seed.of("burst", &[*from]).chance(0.4));
        for (index, (from, until)) in few.into_iter().chain(many).enumerate() {
            let seed = seed.of("mangled", &[index as i64]);
            let way = seed.of("way", &[]).below(MANGLINGS);
            sessions.push(Session {
                id: identifier::mangled(way, &job.number, job.uid, node, job.profile.program),
                from,
                until,
                profile: job.profile,
                seed,
                own_id: false,
            });
        }
    }

    /// Returns true if a rank of a job uses the target. A user's files are on one MDT; jobs stripe over some OSTs.
    fn uses(&self, user: Seed, job: Seed, rank: u64, target: TargetIndex) -> bool {
        let target = &self.cluster.targets[target];
        let count = self.cluster.count(target.kind);
        match target.kind {
            Kind::Mdt => self.home(user, count) == target.index,
            Kind::Ost => {
                let stripes = *[1, 1, 1, 2, 2, 3, 4, 4, 8, 24]
                    .get(job.of("stripes", &[]).below(10) as usize)
                    .unwrap_or(&1);
                let first = job.of("first stripe", &[rank as i64]).below(count as u64) as usize;
                (target.index + count - first) % count < stripes
            }
        }
    }

    /// Returns the MDT of a user's files; most files are on the first two MDTs.
    fn home(&self, user: Seed, mdts: usize) -> usize {
        let share = user.of("home", &[]).unit();
        let index = if share < 0.6 {
            0
        } else if share < 0.95 {
            1
        } else {
            2 + (share * 1e6) as usize % 2
        };
        index % mdts
    }

    fn login_sessions(&self, day: i64, target: TargetIndex, sessions: &mut Vec<Session>) {
        let kind = self.cluster.targets[target].kind;
        let index = self.cluster.targets[target].index as u64;
        let count = self.cluster.count(kind);
        let programs = match &self.cluster.schedulers {
            Some(site) if site.odd == 0.0 => &PROGRAMS[..EASY_PROGRAMS],
            _ => &PROGRAMS[..],
        };
        for number in 0..self.cluster.population.login_programs {
            let program = self.seed.of("program", &[number as i64]);
            let Some((uid, user)) = self.login_user(&mut program.random()) else {
                continue;
            };
            let used = match kind {
                Kind::Mdt => self.home(user, count) as u64 == index,
                Kind::Ost => (index + program.below(count as u64)) % (count as u64) < 3,
            };
            if !used {
                continue;
            }
            let (name, profile) =
                programs[program.of("name", &[]).below(programs.len() as u64) as usize];
            for turn in 0..2 {
                let seed = program.of("turn", &[day, turn, target as i64]);
                let from =
                    day * DAY + program.of("from", &[day, turn]).below(86_400) as Nanos * SECOND;
                sessions.push(Session {
                    id: identifier::of_program(name, uid),
                    from,
                    until: from + (5 + seed.below(55) as Nanos) * MINUTE,
                    profile,
                    seed,
                    own_id: false,
                });
            }
        }
    }

    fn system_sessions(&self, day: i64, target: TargetIndex, sessions: &mut Vec<Session>) {
        let mut add = |id: Id, profile, from: Nanos, length: Nanos| {
            let seed = self
                .seed
                .named("system", &id)
                .of("target", &[day, target as i64]);
            sessions.push(Session {
                id,
                from,
                until: from + length,
                profile,
                seed,
                own_id: false,
            });
        };
        for (name, uid, profile) in DAEMONS {
            add(identifier::of_program(name, *uid), profile, day * DAY, DAY);
        }
        for node in 0..self.cluster.population.nodes {
            for (uid, turns) in [(0, 10), (982, 3)] {
                let seed = self.seed.of("node", &[day, node as i64, i64::from(uid)]);
                for turn in 0..turns {
                    let from = day * DAY + seed.of("turn", &[turn]).below(86_400) as Nanos * SECOND;
                    add(
                        identifier::without_job(uid, &node_name(node)),
                        &PROBE,
                        from,
                        5 * SECOND,
                    );
                }
            }
        }
    }

    /// Returns the daily rest of an identifier, which is long enough for its entry to expire.
    fn rest(&self, id: &[u8]) -> Rest {
        Rest {
            from: self.seed.named("rest", id).below(DAY as u64) as Nanos,
            length: 4 * self.cluster.cleanup_interval,
        }
    }
}

#[derive(Clone, Copy)]
struct Rest {
    from: Nanos,
    length: Nanos,
}

impl Rest {
    fn contains(&self, time: Nanos) -> bool {
        (time - self.from).rem_euclid(DAY) < self.length
    }
}

/// The programs on login nodes. The last ones have names that only a careful reader parses correctly.
#[rustfmt::skip]
static PROGRAMS: [(&[u8], &Profile); 16] = [
    (b"bash", &INTERACTIVE), (b"python3", &INTERACTIVE), (b"vim", &INTERACTIVE), (b"ls", &INTERACTIVE),
    (b"git", &INTERACTIVE), (b"find", &INTERACTIVE), (b"wget", &COPYING), (b"rsync", &COPYING), (b"scp", &COPYING),
    (b"sftp-server", &COPYING), (b"tar", &COPYING), (b"my prog", &INTERACTIVE), ("mod\u{e9}l".as_bytes(), &INTERACTIVE),
    // The kernel cuts names at 15 bytes, here inside a character.
    ("daten-pr\u{fc}fung\u{e4}\u{e4}".as_bytes(), &INTERACTIVE), (b"say\"hi\"", &INTERACTIVE), (b"a{b}:#c", &INTERACTIVE),
];

/// The number of the programs whose names are easy to read.
const EASY_PROGRAMS: usize = 11;

static DAEMONS: &[(&[u8], u32, &Profile)] = &[
    (b"node_exporter", 989, &DAEMON),
    (b"kworker/86:1", 0, &KERNEL),
    (b"ll_sa_123", 0, &KERNEL),
    (b"lfs", 0, &PROBE),
    (b"(sd-pam)", 988, &PROBE),
    (b"df", 0, &PROBE),
];

/// Returns the name of a node in racks of 48 nodes. A few nodes have names so long that identifiers are cut.
fn node_name(node: u64) -> String {
    if node % 20 == 11 {
        format!("largemem-r{:02}m{:02}", node / 48 + 1, node % 48 + 1)
    } else {
        format!("r{:02}c{:02}", node / 48 + 1, node % 48 + 1)
    }
}

/// Returns a random part of a span.
fn part(from: Nanos, until: Nanos, seed: Seed) -> (Nanos, Nanos) {
    let length = (until - from) as f64;
    let start = from + (length * 0.7 * seed.unit()) as Nanos;
    (
        start,
        start + (length * 0.3 * seed.of("length", &[]).unit()) as Nanos,
    )
}

impl Session {
    fn play(&self, kind: Kind, mut event: impl FnMut(Nanos, Calls)) {
        let mut random = self.seed.random();
        let rhythm = self.profile.rhythm;
        let span = |median: f64, random: &mut Random| {
            let times: f64 = Exp1.sample(random);
            (median * times * SECOND as f64) as Nanos
        };
        let mut time = self.from;
        while time < self.until {
            let end = time + span(rhythm.burst, &mut random);
            loop {
                if let Some(calls) = self.profile.calls(kind, &mut random) {
                    event(first_half_of_second(time, &mut random), calls);
                }
                time += SECOND + span(rhythm.gap, &mut random);
                if time >= end.min(self.until) {
                    break;
                }
            }
            time += span(rhythm.pause, &mut random);
        }
    }
}

/// Returns a random time in the first half of a second. Nothing happens in the second half, so that every reading there
/// gives identical text.
fn first_half_of_second(time: Nanos, random: &mut Random) -> Nanos {
    time.div_euclid(SECOND) * SECOND + random.random_range(0..SECOND / 2)
}
