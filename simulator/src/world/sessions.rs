//! The sessions on a target: user, time, identifiers and programs.

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use crate::jobs::{Origin, Site};
use crate::lustre::identifier::{self, Id, MANGLINGS};
use crate::lustre::{Calls, TargetKind};
use crate::random::{Random, Seed};
use crate::time::{DAY, MINUTE, Nanos, SECOND, Span};
use crate::world::profile::{COPYING, DAEMON, INTERACTIVE, KERNEL, PROBE, Profile};
use crate::world::workload::Job;
use crate::world::{Cluster, Plan, Target, TargetIndex, Workload};

/// A program that uses a target under one identifier.
pub struct Session {
    pub id: Id,
    span: Span,
    profile: &'static Profile,
    seed: Seed,
    /// True if only this session ever uses the identifier, and not for long.
    pub own_id: bool,
}

/// Collects the sessions on a target.
pub struct Sessions<'a> {
    workload: &'a Workload<'a>,
    cluster: &'a Cluster,
    target: &'a Target,
    index: TargetIndex,
    /// The number of targets of the kind.
    count: usize,
    sessions: Vec<Session>,
}

impl<'a> Sessions<'a> {
    /// Returns the sessions on a target that may have a part in a span.
    pub fn on(workload: &'a Workload<'a>, index: TargetIndex, span: Span) -> Vec<Session> {
        let cluster = workload.cluster;
        let target = &cluster.targets[index];
        let mut all = Self {
            workload,
            cluster,
            target,
            index,
            count: cluster.count(target.kind),
            sessions: Vec::new(),
        };
        let jobs_per_day = match (&cluster.schedulers, &cluster.work) {
            (Some(site), _) => {
                all.add_scheduled(site, span);
                0
            }
            (None, Some(_)) => return all.sessions,
            (None, None) => cluster.jobs_per_day,
        };
        let from = span.from - DAY;
        for day in (Span { from, ..span }).days() {
            for number in 0..jobs_per_day {
                if let Some(job) = workload.job(day, number)
                    && job.span.overlap(span).is_some()
                {
                    all.add_job(&job);
                }
            }
            all.add_logins(day);
            all.add_system(day);
        }
        all.sessions
    }

    /// Adds a session whose identifier others may use too.
    fn add(&mut self, id: Id, span: Span, profile: &'static Profile, seed: Seed) {
        self.sessions.push(Session {
            id,
            span,
            profile,
            seed,
            own_id: false,
        });
    }

    fn add_job(&mut self, job: &Job) {
        let nodes = self.cluster.nodes;
        for rank in 0..job.nodes {
            let seed = job.seed.of("rank", &[rank as i64, self.index as i64]);
            if !self.is_used(job.user, job.seed, rank) {
                continue;
            }
            let node = node_name((job.first_node + rank) % nodes);
            let span = Span {
                from: job.span.from + seed.below(60) as Nanos * SECOND,
                ..job.span
            };
            self.sessions.push(Session {
                id: identifier::of_job(&job.number, job.uid, &node),
                span,
                profile: job.profile,
                seed,
                own_id: true,
            });
            let without_job = seed.of("without job", &[]);
            if without_job.chance(0.25) {
                let id = identifier::without_job(job.uid, &node);
                let span = part(job.span, seed.of("part", &[]));
                self.add(id, span, job.profile, without_job);
            }
            if self.target.kind == TargetKind::Ost {
                self.add_mangled(job, &node, seed);
            }
        }
    }

    /// Adds the activities of the jobs of schedulers.
    fn add_scheduled(&mut self, site: &Site, span: Span) {
        for run in site.runs(span) {
            let user = run.owner(site).seed;
            let profile = Profile::of_job(&mut run.seed.of("profile", &[]).random());
            for (rank, activity) in site.activities(&run).into_iter().enumerate() {
                let is_active = activity.span.overlap(span).is_some();
                if is_active && self.is_used(user, run.seed, rank as u64) {
                    let profile = match activity.origin {
                        Origin::Root => &PROBE,
                        Origin::Shell => &INTERACTIVE,
                        _ => profile.unwrap_or(&INTERACTIVE),
                    };
                    let seed = activity.seed.of("target", &[self.index as i64]);
                    // Runs of one job may share an identifier, and some jobs take days.
                    self.add(activity.id, activity.span, profile, seed);
                }
            }
        }
    }

    /// Adds sessions with mangled identifiers on object servers: a few all the time, many in bursts.
    fn add_mangled(&mut self, job: &Job, node: &str, seed: Seed) {
        let is_one_of_few = seed.of("mangled", &[]).chance(0.03);
        let few = is_one_of_few.then(|| part(job.span, seed));
        let plan = Plan::new(self.cluster);
        let bursts = job
            .span
            .days()
            .flat_map(|day| plan.mangling(self.index, day));
        let bursts = bursts.filter_map(|burst| burst.overlap(job.span));
        let many = bursts.filter(|span| seed.of("burst", &[span.from]).chance(0.4));
        let spans: Vec<_> = few.into_iter().chain(many).collect();
        for (index, span) in spans.into_iter().enumerate() {
            let seed = seed.of("mangled", &[index as i64]);
            let way = seed.of("way", &[]).below(MANGLINGS);
            let id = identifier::mangled(way, &job.number, job.uid, node, job.profile.program);
            self.add(id, span, job.profile, seed);
        }
    }

    /// Returns true if a rank of a job uses the target. A user's files are on one MDT; jobs stripe over some OSTs.
    fn is_used(&self, user: Seed, job: Seed, rank: u64) -> bool {
        let (index, count) = (self.target.index, self.count);
        match self.target.kind {
            TargetKind::Mdt => home(user, count) == index,
            TargetKind::Ost => {
                let drawn = job.of("stripes", &[]).below(10) as usize;
                let stripes = [1, 1, 1, 2, 2, 3, 4, 4, 8, 24][drawn];
                let first = job.of("first stripe", &[rank as i64]).below(count as u64) as usize;
                (index + count - first) % count < stripes
            }
        }
    }

    fn add_logins(&mut self, day: i64) {
        let (index, count) = (self.target.index, self.count);
        let programs = match &self.cluster.schedulers {
            Some(site) if site.odd == 0.0 => &PROGRAMS[..EASY_PROGRAMS],
            _ => &PROGRAMS[..],
        };
        for number in 0..self.cluster.login_programs {
            let program = self.workload.seed.of("program", &[number as i64]);
            let (uid, user) = self.workload.login_user(&mut program.random());
            let is_used = match self.target.kind {
                TargetKind::Mdt => home(user, count) == index,
                TargetKind::Ost => (index + program.below(count as u64) as usize) % count < 3,
            };
            if !is_used {
                continue;
            }
            let drawn = program.of("name", &[]).below(programs.len() as u64) as usize;
            let (name, profile) = programs[drawn];
            for turn in 0..2 {
                let seed = program.of("turn", &[day, turn, self.index as i64]);
                let second = program.of("from", &[day, turn]).below(86_400) as Nanos;
                let minutes = 5 + seed.below(55) as Nanos;
                let span = Span::new(day * DAY + second * SECOND, minutes * MINUTE);
                self.add(identifier::of_program(name, uid), span, profile, seed);
            }
        }
    }

    /// Adds daemons, and the processes of system users on all nodes.
    fn add_system(&mut self, day: i64) {
        let seed = self.workload.seed;
        let numbers = [day, self.index as i64];
        let system = |id: &Id| seed.named("system", id).of("target", &numbers);
        for (name, uid, profile) in DAEMONS {
            let id = identifier::of_program(name, *uid);
            let seed = system(&id);
            self.add(id, Span::day(day), profile, seed);
        }
        for node in 0..self.cluster.nodes {
            for (uid, turns) in [(0, 10), (982, 3)] {
                let on_node = seed.of("node", &[day, node as i64, i64::from(uid)]);
                for turn in 0..turns {
                    let second = on_node.of("turn", &[turn]).below(86_400) as Nanos;
                    let span = Span::new(day * DAY + second * SECOND, 5 * SECOND);
                    let id = identifier::without_job(uid, &node_name(node));
                    let seed = system(&id);
                    self.add(id, span, &PROBE, seed);
                }
            }
        }
    }
}

/// Returns the MDT of a user's files; most files are on the first two MDTs.
fn home(user: Seed, mdts: usize) -> usize {
    let index = match user.of("home", &[]).unit() {
        share if share < 0.6 => 0,
        share if share < 0.95 => 1,
        share => 2 + (share * 1e6) as usize % 2,
    };
    index % mdts
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
fn part(span: Span, seed: Seed) -> Span {
    let length = (span.until - span.from) as f64;
    let start = span.from + (length * 0.7 * seed.unit()) as Nanos;
    Span::new(
        start,
        (length * 0.3 * seed.of("length", &[]).unit()) as Nanos,
    )
}

impl Session {
    /// Plays the calls of the session.
    pub fn play(&self, kind: TargetKind, mut event: impl FnMut(Nanos, Calls)) {
        let mut random = self.seed.random();
        let [burst, pause, gap] = self.profile.rhythm;
        let span = |median: f64, random: &mut Random| {
            let times: f64 = Exp1.sample(random);
            (median * times * SECOND as f64) as Nanos
        };
        let mut time = self.span.from;
        while time < self.span.until {
            let end = time + span(burst, &mut random);
            loop {
                if let Some(calls) = self.profile.calls(kind, &mut random) {
                    event(first_half_of_second(time, &mut random), calls);
                }
                time += SECOND + span(gap, &mut random);
                if time >= end.min(self.span.until) {
                    break;
                }
            }
            time += span(pause, &mut random);
        }
    }
}

/// Returns a random time in the first half of a second. Nothing happens in the second half, so every reading there gives identical text.
fn first_half_of_second(time: Nanos, random: &mut Random) -> Nanos {
    time.div_euclid(SECOND) * SECOND + random.random_range(0..SECOND / 2)
}
