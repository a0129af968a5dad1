//! The cluster that is played: servers, targets, how often they are read, how large it is.

use clap::ValueEnum;

use crate::layout::Layout;
use crate::random::Seed;
use crate::time::{MINUTE, Nanos, SECOND};
use crate::work::Work;

/// What a target stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Metadata.
    Mdt,
    /// Objects.
    Ost,
}

impl Kind {
    /// The device type in the names of Lustre parameters.
    pub fn device(self) -> &'static str {
        match self {
            Self::Mdt => "mdt",
            Self::Ost => "obdfilter",
        }
    }
}

/// Position of a server in [`Cluster::servers`].
pub type ServerIndex = usize;
/// Position of a target in [`Cluster::targets`].
pub type TargetIndex = usize;

/// A target.
#[derive(Debug, Clone)]
pub struct Target {
    /// Such as `puhti-OST0001`.
    pub name: String,
    /// What it stores.
    pub kind: Kind,
    /// Its number among those of its kind.
    pub index: usize,
    /// The server that it is on when nothing has failed.
    pub home: ServerIndex,
}

impl Target {
    /// The name of one of its parameters.
    pub fn parameter(&self, name: &str) -> String {
        format!("{}.{}.{name}", self.kind.device(), self.name)
    }
}

/// A server.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its host name.
    pub name: String,
    /// The server that takes over its targets when it fails.
    pub partner: ServerIndex,
    /// When it is read, after each full interval.
    pub offset: Nanos,
    /// When it booted, for the layout whose clock starts there.
    pub booted: Nanos,
}

/// A cluster of a known shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// 4 MDTs on 2 servers, 24 OSTs on 8 servers, read every 2 minutes
    Puhti,
    /// 1 MDT and 2 OSTs on 2 servers, read every 5 minutes
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

/// How much goes on, at scale 1.
#[derive(Debug, Clone, Copy)]
pub struct Population {
    /// Users with jobs.
    pub users: u64,
    /// Jobs started a day.
    pub jobs_per_day: u64,
    /// Compute nodes.
    pub nodes: u64,
    /// Programs that users run on login nodes.
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

/// A whole cluster. What it prints at any time follows from it alone.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// All randomness comes from here.
    pub seed: Seed,
    /// The Lustre release on its servers.
    pub layout: Layout,
    /// How often each server is read.
    pub interval: Nanos,
    /// How long entries may be idle.
    pub cleanup_interval: Nanos,
    /// How much goes on.
    pub population: Population,
    /// What is done instead, where that is given.
    pub work: Option<Vec<Work>>,
    /// Whether anything goes wrong.
    pub disturbed: bool,
    /// Servers, metadata servers first.
    pub servers: Vec<Server>,
    /// Targets, MDTs first, each kind by number.
    pub targets: Vec<Target>,
}

impl Cluster {
    /// The cluster of a preset.
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
            disturbed: true,
            servers,
            targets: mdts.chain(osts).collect(),
        }
    }

    /// The same cluster, each server read so often.
    pub fn read_every(mut self, interval: Nanos) -> Self {
        self.interval = interval;
        for server in &mut self.servers {
            server.offset = offset(self.seed, &server.name, interval);
        }
        self
    }

    /// The targets of one kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.targets
            .iter()
            .filter(|target| target.kind == kind)
            .count()
    }

    /// The server of this name.
    pub fn server(&self, name: &str) -> Option<ServerIndex> {
        self.servers.iter().position(|server| server.name == name)
    }
}

/// Servers are read at offsets that follow from their names, in the middle of a second: nothing happens then, so that a text
/// does not depend on milliseconds.
fn offset(seed: Seed, server: &str, interval: Nanos) -> Nanos {
    let own = seed.named("server", server.as_bytes());
    own.of("offset", &[]).below((interval / SECOND) as u64) as Nanos * SECOND + 600_000_000
}

/// Neighbours take over from each other.
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
