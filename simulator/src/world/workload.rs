//! The workload of a cluster: its users, their jobs, and the calls to a target, event by event.

use std::collections::HashMap;

use rand::RngExt;

use crate::lustre::Calls;
use crate::lustre::identifier::{Id, job_first};
use crate::random::{Random, Seed, Weights, log_normal};
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span};
use crate::world::profile::Profile;
use crate::world::sessions::Sessions;
use crate::world::{Cluster, TargetIndex, given_work, incident, overload};

/// The length of the longest job.
const LONGEST_JOB: Nanos = 12 * HOUR;
/// The maximum age of an epoch. A job has a unique identifier and ends, and any other identifier rests once a day.
pub const LONGEST_EPOCH: Nanos = 26 * HOUR;

/// Calls that an entry makes on a target at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    pub time: Nanos,
    /// The entry, as a position in [`Traffic::ids`].
    pub entry: u32,
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

/// A job that no scheduler accounts for.
pub struct Job {
    pub number: String,
    pub uid: u32,
    pub user: Seed,
    pub span: Span,
    pub first_node: u64,
    pub nodes: u64,
    pub profile: &'static Profile,
    pub seed: Seed,
}

/// The users of a cluster, people and system.
pub struct Workload<'a> {
    pub cluster: &'a Cluster,
    pub seed: Seed,
    /// The seeds of the users, and their shares in all work.
    users: Vec<Seed>,
    weights: Weights,
}

impl<'a> Workload<'a> {
    /// Draws the users of a cluster.
    pub fn new(cluster: &'a Cluster) -> Self {
        let seed = cluster.seed.of("workload", &[]);
        let users: Vec<_> = (0..cluster.users)
            .map(|user| seed.of("user", &[user as i64]))
            .collect();
        let weight = |user: &Seed| log_normal(&mut user.random(), 1.0, 1.6);
        Self {
            cluster,
            seed,
            weights: Weights::new(users.iter().map(weight)),
            users,
        }
    }

    /// Returns the calls to a target in a span.
    pub fn traffic(&self, target: TargetIndex, span: Span) -> Traffic {
        let mut traffic = Traffic::default();
        match self.cluster.busy {
            Some(busy) => busy.add(self, target, span, &mut traffic),
            None => self.add_sessions(target, span, &mut traffic),
        }
        if let Some(work) = &self.cluster.work {
            given_work::add(work, self.cluster, target, span, &mut traffic);
        }
        if self.cluster.overload {
            overload::add(self, target, span, &mut traffic);
        }
        incident::apply(self, target, span, &mut traffic);
        traffic.events.sort_by_key(|event| event.time);
        traffic
    }

    /// Adds what users and jobs of the workload call.
    fn add_sessions(&self, target: TargetIndex, span: Span, traffic: &mut Traffic) {
        let kind = self.cluster.targets[target].kind;
        for session in Sessions::on(self, target, span) {
            let entry = traffic.entry(&session.id);
            let rest = (!session.own_id).then(|| self.rest(&session.id));
            session.play(kind, |time, calls| {
                let rests = rest.as_ref().is_some_and(|rests| rests(time));
                if span.contains(time) && !rests && self.cluster.layout.hears(kind, calls.request) {
                    traffic.events.push(Event { time, entry, calls });
                }
            });
        }
    }

    /// Draws a user by the seed; a few users do most of the work.
    fn user(&self, random: &mut Random) -> (u32, Seed) {
        let seed = self.users[self.weights.draw(random)];
        (uid(seed), seed)
    }

    /// Returns all users with their numbers, who have the jobs that no scheduler accounts for.
    pub fn users(&self) -> impl Iterator<Item = (u32, Seed)> {
        self.users.iter().map(|seed| (uid(*seed), *seed))
    }

    /// Draws a user of a login node: one with jobs.
    pub fn login_user(&self, random: &mut Random) -> (u32, Seed) {
        match &self.cluster.schedulers {
            Some(site) => {
                let person = site.people.get(site.people.draw(random));
                (person.uid, person.seed)
            }
            None => self.user(random),
        }
    }

    /// Draws a job of a day.
    pub fn job(&self, day: i64, number: u64) -> Option<Job> {
        let seed = self.seed.of("job", &[day, number as i64]);
        let mut random = seed.random();
        let (uid, user) = self.user(&mut random);
        let from = day * DAY + random.random_range(0..DAY / SECOND) * SECOND;
        let length = log_normal(&mut random, 40.0, 1.0) * MINUTE as f64;
        let nodes = if random.random_bool(0.75) {
            1
        } else {
            log_normal(&mut random, 3.0, 0.7).clamp(2.0, 16.0) as u64
        };
        let serial = (day - 18_262) * self.cluster.jobs_per_day as i64 + number as i64;
        let array = if random.random_bool(0.1) {
            format!("_{}", random.random_range(1..100))
        } else {
            String::new()
        };
        Some(Job {
            number: format!("{}{array}", 10_000_000 + serial.rem_euclid(80_000_000)),
            uid,
            user,
            span: Span::new(from, (length as Nanos).clamp(2 * MINUTE, LONGEST_JOB)),
            first_node: random.random_range(0..self.cluster.nodes),
            nodes,
            profile: Profile::of_job(&mut random)?,
            seed,
        })
    }

    /// Returns whether an identifier rests at a time: once a day, for so long that its entry expires.
    fn rest(&self, id: &[u8]) -> impl Fn(Nanos) -> bool {
        let from = self.seed.named("rest", &job_first(id)).below(DAY as u64) as Nanos;
        let length = 4 * self.cluster.cleanup_interval;
        move |time| (time - from).rem_euclid(DAY) < length
    }
}

/// Returns the number of a user.
fn uid(user: Seed) -> u32 {
    10_000_000 + user.below(8_000_000) as u32
}
