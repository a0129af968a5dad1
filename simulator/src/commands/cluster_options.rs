//! The options that describe a cluster, a server in it and a span of time.

use std::path::PathBuf;

use clap::Args;

use crate::accounting::scheduler_parser;
use crate::commands::{accounting, whole_seconds};
use crate::failure::Failure;
use crate::jobs::Scheduler;
use crate::lustre::{Layout, name_of};
use crate::time::{self, Clock, HOUR, MINUTE, Nanos, SECOND, Span};
use crate::world::{Cluster, Preset, ServerIndex, given_work, incident};

#[derive(Debug, Args)]
pub struct World {
    /// Cluster to simulate
    #[arg(long, value_enum, default_value = "small")]
    #[arg(env = "JOBSTATS_SIMULATOR_PRESET")]
    pub preset: Preset,
    /// Name of the cluster [default: name of the preset]
    #[arg(long, env = "JOBSTATS_SIMULATOR_CLUSTER")]
    cluster: Option<String>,
    /// Seed of the simulation
    #[arg(long, env = "JOBSTATS_SIMULATOR_SEED", default_value_t = 1)]
    pub seed: u64,
    /// Lustre release
    #[arg(long, value_enum, default_value = "2.16")]
    #[arg(env = "JOBSTATS_SIMULATOR_LAYOUT")]
    pub layout: Layout,
    /// Number of users, jobs and nodes, relative to the preset
    #[arg(long, env = "JOBSTATS_SIMULATOR_SCALE", default_value_t = 1.0)]
    pub scale: f64,
    /// Time between polls, such as 2m [default: from the preset]
    #[arg(long, env = "JOBSTATS_SIMULATOR_INTERVAL", value_parser = interval)]
    interval: Option<Nanos>,
    /// Table of I/O to simulate instead of the preset's users, or in addition to the jobs of a scheduler: CSV with the
    /// columns job, uid, node, target, operation, calls, bytes (of all calls), usecs (of each call), from, until (times
    /// of the world)
    #[arg(long, env = "JOBSTATS_SIMULATOR_WORK", value_name = "FILE")]
    pub work: Option<PathBuf>,
    /// Simulate the jobs of a scheduler, as printed by the command accounting, instead of the preset's
    #[arg(long, value_parser = scheduler_parser(), env = "JOBSTATS_SIMULATOR_SCHEDULER")]
    pub scheduler: Option<&'static Scheduler>,
    #[command(flatten)]
    pub schedulers: accounting::Schedulers,
    /// Let a user overload a metadata server for half an hour of each day
    #[arg(long, env = "JOBSTATS_SIMULATOR_OVERLOAD")]
    pub overload: bool,
    /// Incidents to simulate: JSON from the command incidents. general_rise and maintenance need the preset busy
    #[arg(long, env = "JOBSTATS_SIMULATOR_INCIDENT_PLAN", value_name = "FILE")]
    pub incident_plan: Option<PathBuf>,
    /// Simulate no disturbances
    #[arg(long, env = "JOBSTATS_SIMULATOR_UNDISTURBED")]
    pub undisturbed: bool,
}

/// Parses a poll interval of 5 s to 10 minutes. Lustre removes entries that are idle for longer than the cleanup
/// interval, so polls at longer intervals would miss the work of these entries.
fn interval(text: &str) -> Result<Nanos, String> {
    whole_seconds(text, 5 * SECOND..=10 * MINUTE, "5 s to 10 minutes")
}

impl World {
    /// Builds the cluster that the options describe.
    pub fn cluster(&self) -> Result<Cluster, Failure> {
        let preset = name_of(&self.preset);
        let name = self.cluster.as_deref().unwrap_or(&preset);
        let mut cluster = Cluster::new(self.preset, name, self.seed, self.layout, self.scale);
        if let Some(interval) = self.interval {
            cluster = cluster.read_every(interval);
        }
        cluster.work = self.work.as_deref().map(given_work::read).transpose()?;
        cluster.schedulers = self
            .scheduler
            .map(|scheduler| self.schedulers.site(scheduler, self.seed));
        cluster.overload = self.overload;
        cluster.disturbed = !self.undisturbed;
        if let Some(file) = &self.incident_plan {
            cluster.incidents = incident::read(file, &cluster)?;
        }
        Ok(cluster)
    }
}

/// A server at a time.
#[derive(Debug, Args)]
pub struct Stage {
    #[command(flatten)]
    pub world: World,
    /// Server to simulate
    #[arg(long, env = "JOBSTATS_SIMULATOR_SERVER")]
    pub server: String,
    /// Time to simulate: RFC 3339, or "now"
    #[arg(long, env = "JOBSTATS_SIMULATOR_TIME", default_value = "now")]
    pub time: String,
}

impl Stage {
    pub fn server(&self, cluster: &Cluster) -> Result<ServerIndex, Failure> {
        let names = cluster.servers.iter().map(|server| server.name.as_str());
        let names = || names.collect::<Vec<_>>().join(", ");
        let unknown = || format!("unknown server {:?}; known: {}", self.server, names());
        Ok(cluster.server(&self.server).ok_or_else(unknown)?)
    }
}

/// A cluster in a span of time.
#[derive(Debug, Args)]
pub struct Scene {
    #[command(flatten)]
    pub world: World,
    /// Start of the span (RFC 3339) [default: for load, such that the span ends now; else 2025-06-01T00:00:00Z]
    #[arg(long, value_parser = Clock::parse)]
    from: Option<Clock>,
    /// Length of the span in hours
    #[arg(long, default_value_t = 24.0)]
    hours: f64,
}

/// The start of a span that need not be near the present.
const FROM: Clock = Clock(1_748_736_000 * SECOND);

impl Scene {
    /// Returns the cluster and the span.
    pub fn setting(&self) -> Result<(Cluster, Span), Failure> {
        let from = self.from.unwrap_or(FROM).world();
        Ok((self.world.cluster()?, Span::new(from, self.length())))
    }

    /// Returns the span to load. Without a start it ends with this minute, because the database rejects old texts.
    pub fn recent_span(&self) -> Result<Span, Failure> {
        let now = || time::now().map_err(|problem| format!("the clock: {problem}"));
        let from = match self.from {
            Some(from) => from.world(),
            None => now()? / MINUTE * MINUTE - self.length(),
        };
        Ok(Span::new(from, self.length()))
    }

    fn length(&self) -> Nanos {
        (self.hours * (HOUR / MINUTE) as f64).round() as Nanos * MINUTE
    }
}
