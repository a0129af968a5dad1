//! The simulated cluster: its servers and targets, its poll interval and its size.

use clap::ValueEnum;

use crate::jobs::Site;
use crate::lustre::Kind;
use crate::lustre::layout::Layout;
use crate::random::Seed;
use crate::time::{MINUTE, Nanos, SECOND};
use crate::world::work::Work;

/// The position of a server in [`Cluster::servers`].
pub type ServerIndex = usize;
/// The position of a target in [`Cluster::targets`].
pub type TargetIndex = usize;

/// A target.
#[derive(Debug, Clone)]
pub struct Target {
    /// The name, such as `puhti-OST0001`.
    pub name: String,
    /// The kind of the target.
    pub kind: Kind,
    /// The number of the target among those of its kind.
    pub index: usize,
    /// The server that the target is on when nothing has failed.
    pub home: ServerIndex,
}

impl Target {
    /// Returns the full name of one of the target's parameters.
    pub fn parameter(&self, name: &str) -> String {
        format!("{}.{}.{name}", self.kind.device(), self.name)
    }
}

/// A server.
#[derive(Debug, Clone)]
pub struct Server {
    /// The host name.
    pub name: String,
    /// The server that takes over the targets when this server fails.
    pub partner: ServerIndex,
    /// The delay of the server's polls after each full interval.
    pub offset: Nanos,
    /// The boot time, at which the clock of layout 2.15.0 starts.
    pub booted: Nanos,
}

/// A cluster of a known shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// 4 MDTs on 2 servers, 24 OSTs on 8 servers, polled every 2 minutes
    Puhti,
    /// 2 MDTs on 2 servers, 8 OSTs on 4 servers, polled every 2 minutes
    Medium,
    /// 1 MDT and 2 OSTs on 2 servers, polled every 5 minutes
    Small,
}

struct Shape {
    filesystem: &'static str,
    metadata_servers: usize,
    mdts: usize,
    object_servers: usize,
    osts: usize,
    interval: Nanos,
    population: Population,
}

/// The size of the workload; presets give the size at scale 1.
#[derive(Debug, Clone, Copy)]
pub struct Population {
    /// The number of users with jobs.
    pub users: u64,
    /// The number of jobs started per day.
    pub jobs_per_day: u64,
    /// The number of compute nodes.
    pub nodes: u64,
    /// The number of programs that users run on login nodes.
    pub login_programs: u64,
}

impl Population {
    fn scaled(self, scale: f64) -> Self {
        let times = |n: u64| ((n as f64 * scale).round() as u64).max(1);
        Self {
            users: times(self.users),
            jobs_per_day: times(self.jobs_per_day),
            nodes: times(self.nodes),
            login_programs: times(self.login_programs),
        }
    }
}

impl Preset {
    fn shape(self) -> Shape {
        match self {
            Self::Puhti => Shape {
                filesystem: "puhti",
                metadata_servers: 2,
                mdts: 4,
                object_servers: 8,
                osts: 24,
                interval: 2 * MINUTE,
                population: Population {
                    users: 120,
                    jobs_per_day: 4_000,
                    nodes: 80,
                    login_programs: 240,
                },
            },
            Self::Medium => Shape {
                filesystem: "scratch",
                metadata_servers: 2,
                mdts: 2,
                object_servers: 4,
                osts: 8,
                interval: 2 * MINUTE,
                population: Population {
                    users: 20,
                    jobs_per_day: 200,
                    nodes: 8,
                    login_programs: 30,
                },
            },
            Self::Small => Shape {
                filesystem: "small",
                metadata_servers: 1,
                mdts: 1,
                object_servers: 1,
                osts: 2,
                interval: 5 * MINUTE,
                population: Population {
                    users: 12,
                    jobs_per_day: 400,
                    nodes: 12,
                    login_programs: 30,
                },
            },
        }
    }
}

/// A whole cluster. The text that its servers print at any time follows from this value alone.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The name of the cluster.
    pub name: String,
    /// The seed of all randomness.
    pub seed: Seed,
    /// The Lustre release on the servers.
    pub layout: Layout,
    /// The poll interval of each server.
    pub interval: Nanos,
    /// The time after which idle entries are removed.
    pub cleanup_interval: Nanos,
    /// The size of the workload.
    pub population: Population,
    /// The table of work that replaces the workload, if given.
    pub work: Option<Vec<Work>>,
    /// The schedulers whose jobs replace those of the workload, if given.
    pub schedulers: Option<Site>,
    /// True if disturbances are played.
    pub disturbed: bool,
    /// The servers, metadata servers first.
    pub servers: Vec<Server>,
    /// The targets, MDTs first, each kind by number.
    pub targets: Vec<Target>,
}

impl Cluster {
    /// Builds the cluster of a preset.
    pub fn new(preset: Preset, name: &str, seed: u64, layout: Layout, scale: f64) -> Self {
        let shape = preset.shape();
        let seed = Seed(seed).of("cluster", &[]);
        let metadata =
            (0..shape.metadata_servers).map(|n| format!("{}-mds{}", shape.filesystem, n + 1));
        let objects =
            (0..shape.object_servers).map(|n| format!("{}-oss{}", shape.filesystem, n + 1));
        let names: Vec<String> = metadata.chain(objects).collect();
        let servers = (0..names.len())
            .map(|index| server(seed, &names, index, shape.interval))
            .collect();
        let mdts = (0..shape.mdts).map(|index| Target {
            name: format!("{}-MDT{index:04x}", shape.filesystem),
            kind: Kind::Mdt,
            index,
            home: index * shape.metadata_servers / shape.mdts,
        });
        let osts = (0..shape.osts).map(|index| Target {
            name: format!("{}-OST{index:04x}", shape.filesystem),
            kind: Kind::Ost,
            index,
            home: shape.metadata_servers + index * shape.object_servers / shape.osts,
        });
        Self {
            name: name.to_owned(),
            seed,
            layout,
            interval: shape.interval,
            cleanup_interval: 10 * MINUTE,
            population: shape.population.scaled(scale),
            work: None,
            schedulers: None,
            disturbed: true,
            servers,
            targets: mdts.chain(osts).collect(),
        }
    }

    /// Changes the poll interval of every server.
    pub fn read_every(mut self, interval: Nanos) -> Self {
        self.interval = interval;
        for server in &mut self.servers {
            server.offset = offset(self.seed, &server.name, interval);
        }
        self
    }

    /// Returns the number of targets of one kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.targets
            .iter()
            .filter(|target| target.kind == kind)
            .count()
    }

    /// Returns the server of this name.
    pub fn server(&self, name: &str) -> Option<ServerIndex> {
        self.servers.iter().position(|server| server.name == name)
    }
}

/// Returns a server's poll offset. The offset follows from the server's name and lies in the second half of a second,
/// in which nothing happens, so that a text does not depend on milliseconds.
fn offset(seed: Seed, server: &str, interval: Nanos) -> Nanos {
    let own = seed.named("server", server.as_bytes());
    own.of("offset", &[]).below((interval / SECOND) as u64) as Nanos * SECOND + 600_000_000
}

/// Builds a server. Neighbouring servers take over from each other.
fn server(seed: Seed, names: &[String], index: ServerIndex, interval: Nanos) -> Server {
    let name = names[index].clone();
    let own = seed.named("server", name.as_bytes());
    Server {
        partner: (index ^ 1).min(names.len() - 1),
        offset: offset(seed, &name, interval),
        booted: 1_704_067_200 * SECOND + own.of("boot", &[]).below(86_400_000_000_000) as Nanos,
        name,
    }
}
