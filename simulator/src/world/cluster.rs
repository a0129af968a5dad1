//! The simulated cluster: its servers and targets, its poll interval and its size.

use clap::ValueEnum;

use crate::jobs::Site;
use crate::lustre::{Layout, TargetKind};
use crate::random::Seed;
use crate::time::{MINUTE, Nanos, SECOND};
use crate::world::busy::{Busy, PEOPLE};
use crate::world::given_work::GivenWork;
use crate::world::incident::Incident;

/// The position of a server in [`Cluster::servers`].
pub type ServerIndex = usize;
/// The position of a target in [`Cluster::targets`].
pub type TargetIndex = usize;

/// A target of Lustre: an MDT or an OST.
#[derive(Debug, Clone)]
pub struct Target {
    /// The name, such as `puhti-OST0001`.
    pub name: String,
    pub kind: TargetKind,
    /// The index of the target among targets of its kind.
    pub index: usize,
    /// The server of the target in normal operation.
    pub home: ServerIndex,
}

/// A server.
#[derive(Debug, Clone)]
pub struct Server {
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
    /// 2 MDTs on 2 servers, 48 OSTs on 2 servers, polled every 2 minutes, so busy that requests are queued
    Busy,
}

/// The file system, the numbers of metadata servers and MDTs and of object servers and OSTs, the minutes between polls, and the
/// numbers of users, jobs per day, nodes and login programs.
type Shape = (&'static str, [(usize, usize); 2], Nanos, [u64; 4]);

impl Preset {
    fn shape(self) -> Shape {
        match self {
            Self::Puhti => ("puhti", [(2, 4), (8, 24)], 2, [120, 4_000, 80, 240]),
            Self::Medium => ("scratch", [(2, 2), (4, 8)], 2, [20, 200, 8, 30]),
            Self::Small => ("small", [(1, 1), (1, 2)], 5, [12, 400, 12, 30]),
            Self::Busy => ("work", [(2, 2), (2, 48)], 2, [PEOPLE, 1, 400, 1]),
        }
    }
}

/// A whole cluster. The text that its servers print at any time follows from this value alone.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// The source of all chance.
    pub seed: Seed,
    /// The release of Lustre.
    pub layout: Layout,
    /// The time between two polls of a server.
    pub interval: Nanos,
    /// The time after which idle entries are removed.
    pub cleanup_interval: Nanos,
    /// The number of users.
    pub users: u64,
    /// The number of jobs that begin in a day.
    pub jobs_per_day: u64,
    /// The number of nodes.
    pub nodes: u64,
    /// The number of programs that users run on login nodes.
    pub login_programs: u64,
    /// The table of work that replaces the workload, if given.
    pub work: Option<Vec<GivenWork>>,
    /// The schedulers whose jobs replace the workload's jobs, if given.
    pub schedulers: Option<Site>,
    /// The share of small requests that carry no identifier, from 0 to 0.9.
    pub unidentified: f64,
    /// True if a user overloads a metadata server every day.
    pub overload: bool,
    /// Describes the load of a busy file system, if its users replace the workload.
    pub busy: Option<Busy>,
    /// The incidents that are played.
    pub incidents: Vec<Incident>,
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
        let (filesystem, [metadata, objects], minutes, population) = preset.shape();
        let interval = minutes * MINUTE;
        let scaled = |number: u64| ((number as f64 * scale).round() as u64).max(1);
        let [users, jobs_per_day, nodes, login_programs] = population.map(scaled);
        let seed = Seed(seed).of("cluster", &[]);
        let (mut names, mut targets) = (Vec::new(), Vec::new());
        for (kind, server, target, (servers, count)) in [
            (TargetKind::Mdt, "mds", "MDT", metadata),
            (TargetKind::Ost, "oss", "OST", objects),
        ] {
            targets.extend((0..count).map(|index| Target {
                name: format!("{filesystem}-{target}{index:04x}"),
                kind,
                index,
                home: names.len() + index * servers / count,
            }));
            names.extend((1..=servers).map(|number| format!("{filesystem}-{server}{number}")));
        }
        let servers = (0..names.len())
            .map(|index| server(seed, &names, index, interval))
            .collect();
        let mut cluster = Self {
            name: name.to_owned(),
            seed,
            layout,
            interval,
            cleanup_interval: 10 * MINUTE,
            users,
            jobs_per_day,
            nodes,
            login_programs,
            work: None,
            schedulers: None,
            unidentified: 0.1,
            overload: false,
            busy: None,
            incidents: Vec::new(),
            disturbed: true,
            servers,
            targets,
        };
        if preset == Preset::Busy {
            cluster.busy = Some(Busy::new(&cluster));
        }
        cluster
    }

    /// Changes the poll interval of every server.
    pub fn read_every(mut self, interval: Nanos) -> Self {
        self.interval = interval;
        for server in &mut self.servers {
            server.offset = offset(self.seed, &server.name, interval);
        }
        self
    }

    /// Returns the targets of one kind.
    pub fn of_kind(&self, kind: TargetKind) -> impl Iterator<Item = (TargetIndex, &Target)> {
        let targets = self.targets.iter().enumerate();
        targets.filter(move |(_, target)| target.kind == kind)
    }

    /// Returns the targets that a server has in normal operation.
    pub fn of_server(&self, server: ServerIndex) -> impl Iterator<Item = (TargetIndex, &Target)> {
        let targets = self.targets.iter().enumerate();
        targets.filter(move |(_, target)| target.home == server)
    }

    /// Returns the number of targets of one kind.
    pub fn count(&self, kind: TargetKind) -> usize {
        self.of_kind(kind).count()
    }

    /// Returns the server of this name.
    pub fn server(&self, name: &str) -> Option<ServerIndex> {
        self.servers.iter().position(|server| server.name == name)
    }
}

/// Returns a server's poll offset. The offset follows from the server's name and is in the second half of a second, in which nothing
/// happens, so that a text does not depend on milliseconds.
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
