//! Incidents: times with a known cause at which requests are queued or targets fail. A plan is drawn by the seed, or read from a file.

mod course;
mod draw;
mod play;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::time::{Clock, Nanos, Span, timestamp};
use crate::world::Cluster;
use crate::world::queue::INTERVAL;

use course::prepare;
pub use draw::draw;
pub use play::apply;

/// The kind of an incident.
#[rustfmt::skip]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// One user sends so many requests to a metadata server that all are queued.
    Storm,
    /// Many small jobs of one account do.
    Jobs,
    /// Users write more to an OST than its server can take.
    OverloadedOst,
    /// One user reads a file that is on one OST, from many nodes.
    UnstripedFile,
    /// An OST takes longer for each request: it rebuilds.
    SlowOst,
    /// All OSTs of a server take longer.
    SlowServer,
    /// A target does not answer.
    Stalled,
    /// An OST fills up.
    FullOst,
    /// The targets of a server go to its partner.
    Failover,
    /// Everybody does more.
    GeneralRise,
    /// A server is not read. This and the following kinds are harmless, and should raise no alert.
    Gap,
    /// A server is upgraded: it is neither read nor used, and its counters are reset.
    Upgrade,
    /// All users are idle.
    Maintenance,
}

impl Kind {
    /// Returns whether it is harmless and should raise no alert.
    pub fn is_harmless(self) -> bool {
        matches!(self, Self::Gap | Self::Upgrade | Self::Maintenance)
    }
}

/// An incident.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Its kind.
    pub kind: Kind,
    /// Its start.
    #[serde(serialize_with = "write_instant", deserialize_with = "read_instant")]
    pub from: Nanos,
    /// Its end.
    #[serde(serialize_with = "write_instant", deserialize_with = "read_instant")]
    pub until: Nanos,
    /// The targets that are hit; empty where all are.
    #[serde(default)]
    pub targets: Vec<String>,
    /// The users who cause it; may be empty.
    #[serde(default)]
    pub users: Vec<u32>,
    /// Their account, if they have one in common.
    #[serde(default)]
    pub account: Option<String>,
    /// The seconds that requests wait for a thread of the server.
    #[serde(default)]
    pub wait: f64,
    /// The amount that makes them wait so long, in each interval of ten seconds: the calls that the users make, how many times as long each request
    /// takes, or how many times as much everybody does.
    #[serde(skip)]
    pub course: Vec<f64>,
}

fn write_instant<S: serde::Serializer>(time: &Nanos, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&timestamp(*time))
}

fn read_instant<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
    let parsed = Clock::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)?;
    Ok(parsed.world())
}

impl Incident {
    /// Returns the time in which it happens.
    pub fn span(&self) -> Span {
        Span {
            from: self.from,
            until: self.until,
        }
    }

    /// Returns whether users make it.
    fn has_users(&self) -> bool {
        matches!(
            self.kind,
            Kind::Storm | Kind::Jobs | Kind::OverloadedOst | Kind::UnstripedFile
        )
    }

    /// Returns whether a target is hit, by name or as one of all.
    fn is_on(&self, name: &str) -> bool {
        self.targets.is_empty() || self.hits(name)
    }

    /// Returns whether a target is hit.
    fn hits(&self, name: &str) -> bool {
        self.targets.iter().any(|it| it == name)
    }

    /// Returns what the course has for a time; `None` outside of the incident.
    fn amount(&self, time: Nanos) -> Option<f64> {
        let at = time.div_euclid(INTERVAL) - self.from.div_euclid(INTERVAL);
        let within = self.span().contains(time);
        usize::try_from(at)
            .ok()
            .and_then(|at| self.course.get(at))
            .copied()
            .filter(|_| within)
    }

    /// Returns by how much everybody does more at a time.
    pub fn general(all: &[Self], time: Nanos) -> f64 {
        let rises = all
            .iter()
            .filter(|it| matches!(it.kind, Kind::GeneralRise | Kind::Maintenance));
        rises.filter_map(|it| it.amount(time)).product()
    }

    /// Returns the incidents of some kinds that hit a target.
    pub fn of_kinds<'a>(
        all: &'a [Self],
        target: &'a str,
        kinds: &'a [Kind],
    ) -> impl Iterator<Item = &'a Self> {
        all.iter()
            .filter(move |it| kinds.contains(&it.kind) && it.hits(target))
    }
}

/// Reads a plan of incidents: a JSON array.
///
/// # Errors
/// If the file cannot be read, is no such array, or names a target that the cluster does not have.
pub fn read(path: &Path, cluster: &Cluster) -> Result<Vec<Incident>, Failure> {
    let text = std::fs::read(path).map_err(|error| Failure::file(path, error))?;
    let all: Vec<Incident> =
        serde_json::from_slice(&text).map_err(|error| Failure::file(path, error))?;
    for (index, incident) in all.iter().enumerate() {
        let problem =
            |problem: String| Failure::file(path, format!("incident {}: {problem}", index + 1));
        let known = |name: &&String| !cluster.targets.iter().any(|target| target.name == **name);
        if let Some(name) = incident.targets.iter().find(known) {
            return Err(problem(format!("unknown target {name}")));
        }
        if incident.from >= incident.until {
            return Err(problem("it ends before it begins".to_owned()));
        }
        if incident.has_users() && (incident.users.is_empty() || incident.targets.is_empty()) {
            return Err(problem("it needs users and targets".to_owned()));
        }
    }
    Ok(prepare(cluster, all))
}
