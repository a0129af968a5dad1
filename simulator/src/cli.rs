//! The command line.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use jiff::SignedDuration;
use thiserror::Error;

use crate::cluster::{Cluster, Preset, ServerIndex};
use crate::layout::Layout;
use crate::schedule::{self, Due, Span};
use crate::tally::Tally;
use crate::time::{self, HOUR, MINUTE, Nanos, SECOND};
use crate::truth::TargetTruth;
use crate::{compare, database, feed, play, report, truth, work};

/// Plays the job_stats of a whole Lustre cluster from a seed, and knows what is true
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Prints what `lctl get_param` prints on a server; set up by its environment, the program can stand in for lctl
    #[command(name = "get_param")]
    GetParam {
        #[command(flatten)]
        stage: Stage,
        /// Names of parameters, with wildcards
        #[arg(required = true)]
        patterns: Vec<String>,
    },
    /// Writes an executable DIR/lctl that plays a server
    LctlScript {
        #[command(flatten)]
        stage: Stage,
        /// Where to write it
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Prints what the lctl of a server prints for job_stats and cleanup intervals
    Print {
        #[command(flatten)]
        stage: Stage,
    },
    /// Lists servers and their targets
    Servers {
        #[command(flatten)]
        world: World,
    },
    /// Lists the readings of a span: the server, when it is read, and what its clock shows then
    Schedule {
        #[command(flatten)]
        scene: Scene,
    },
    /// Loads all readings of a span into the database
    Load {
        #[command(flatten)]
        scene: Scene,
        #[command(flatten)]
        options: feed::Options,
    },
    /// Prints the true increments of a span, and what of them nobody can know from the texts, by cause
    #[command(long_flag = "truth")]
    Truth {
        #[command(flatten)]
        scene: Scene,
        /// Copy into this table instead of printing CSV
        #[arg(long, value_name = "TABLE", requires = "database_url")]
        into: Option<String>,
        /// The database of that table
        #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
        database_url: Option<String>,
    },
    /// Compares what the database holds with the truth of the span that was loaded
    Verify {
        #[command(flatten)]
        scene: Scene,
        /// postgresql://… or "host=… dbname=…"
        #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
        database_url: String,
        /// Take the readings that the database holds for those that were delivered, whoever shipped them
        #[arg(long)]
        observed: bool,
        /// Add a row about it to this table of cases: CSV
        #[arg(long, value_name = "FILE")]
        case: Option<PathBuf>,
    },
    /// Counts what happens in a span
    Describe {
        #[command(flatten)]
        scene: Scene,
    },
}

#[derive(Debug, Args)]
pub struct World {
    /// Which cluster
    #[arg(
        long,
        value_enum,
        env = "JOBSTATS_SIMULATOR_PRESET",
        default_value = "small"
    )]
    pub preset: Preset,
    /// What it is called; the preset's name unless given
    #[arg(long, env = "JOBSTATS_SIMULATOR_CLUSTER")]
    cluster: Option<String>,
    /// Everything follows from it
    #[arg(long, env = "JOBSTATS_SIMULATOR_SEED", default_value_t = 1)]
    pub seed: u64,
    /// Lustre release
    #[arg(
        long,
        value_enum,
        env = "JOBSTATS_SIMULATOR_LAYOUT",
        default_value = "2.16"
    )]
    pub layout: Layout,
    /// How many users, jobs and nodes there are, compared with the preset
    #[arg(long, env = "JOBSTATS_SIMULATOR_SCALE", default_value_t = 1.0)]
    pub scale: f64,
    /// How often servers are read, like 2m; as the preset has it unless given
    #[arg(long, env = "JOBSTATS_SIMULATOR_INTERVAL", value_parser = interval)]
    interval: Option<Nanos>,
    /// A table of all that is done, instead of what the preset's users do: CSV with the columns job, uid, node, target,
    /// operation, calls, bytes (of all calls), usecs (of each), from, until
    #[arg(long, env = "JOBSTATS_SIMULATOR_WORK", value_name = "FILE")]
    pub work: Option<PathBuf>,
    /// Nothing goes wrong
    #[arg(long, env = "JOBSTATS_SIMULATOR_UNDISTURBED")]
    pub undisturbed: bool,
}

/// Entries that were idle for longer than the cleanup interval are gone: who reads less often misses what they did.
fn interval(text: &str) -> Result<Nanos, String> {
    let interval: SignedDuration = text
        .parse()
        .map_err(|error: jiff::Error| error.to_string())?;
    let seconds = interval.as_secs() * SECOND;
    match interval.subsec_nanos() {
        0 if (5 * SECOND..=10 * MINUTE).contains(&seconds) => Ok(seconds),
        _ => Err("is not a number of seconds from 5 s to 10 minutes".to_owned()),
    }
}

impl World {
    /// The cluster that it describes.
    pub fn cluster(&self) -> Result<Cluster, Error> {
        let preset = play::name_of(&self.preset);
        let name = self.cluster.as_deref().unwrap_or(&preset);
        let mut cluster = Cluster::new(self.preset, name, self.seed, self.layout, self.scale);
        if let Some(interval) = self.interval {
            cluster = cluster.read_every(interval);
        }
        cluster.work = self.work.as_deref().map(work::read).transpose()?;
        cluster.disturbed = !self.undisturbed;
        Ok(cluster)
    }
}

/// A server at a time.
#[derive(Debug, Args)]
pub struct Stage {
    #[command(flatten)]
    pub world: World,
    /// Which server
    #[arg(long, env = "JOBSTATS_SIMULATOR_SERVER")]
    pub server: String,
    /// When: RFC 3339, or "now"
    #[arg(long, env = "JOBSTATS_SIMULATOR_TIME", default_value = "now")]
    pub time: String,
}

impl Stage {
    fn server(&self, cluster: &Cluster) -> Result<ServerIndex, Error> {
        cluster.server(&self.server).ok_or_else(|| {
            let names: Vec<_> = cluster
                .servers
                .iter()
                .map(|server| server.name.as_str())
                .collect();
            Error::Server(self.server.clone(), names.join(", "))
        })
    }
}

/// A cluster in a span.
#[derive(Debug, Args)]
struct Scene {
    #[command(flatten)]
    world: World,
    /// Where the span begins: RFC 3339
    #[arg(long, value_parser = time::parse, default_value = "2025-06-01T00:00:00Z")]
    from: Nanos,
    /// How long it is
    #[arg(long, default_value_t = 24.0)]
    hours: f64,
}

impl Scene {
    fn span(&self) -> Span {
        Span {
            from: self.from,
            until: self.from + (self.hours * (HOUR / MINUTE) as f64).round() as Nanos * MINUTE,
        }
    }
}

/// Why a command failed.
#[derive(Debug, Error)]
pub enum Error {
    /// There is no such server.
    #[error("no server {0:?}; there are {1}")]
    Server(String, String),
    /// The table of work.
    #[error(transparent)]
    Work(#[from] work::Error),
    /// Playing lctl.
    #[error(transparent)]
    Play(#[from] play::Error),
    /// Loading.
    #[error(transparent)]
    Feed(#[from] feed::Error),
    /// Reading the database.
    #[error(transparent)]
    Database(#[from] database::Error),
    /// Writing the truth.
    #[error(transparent)]
    Report(#[from] report::Error),
    /// Writing output.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    /// Whoever read the output has seen enough.
    pub fn is_broken_pipe(&self) -> bool {
        let error = match self {
            Self::Io(error) | Self::Report(report::Error::Io(error)) => error.kind(),
            Self::Report(report::Error::Csv(error)) => match error.kind() {
                csv::ErrorKind::Io(error) => error.kind(),
                _ => return false,
            },
            _ => return false,
        };
        error == io::ErrorKind::BrokenPipe
    }
}

/// What the shipper asks for.
const PARAMETERS: [&str; 4] = [
    "mdt.*.job_cleanup_interval",
    "obdfilter.*.job_cleanup_interval",
    "mdt.*.job_stats",
    "obdfilter.*.job_stats",
];

impl Cli {
    /// Does what the command line says.
    pub fn run(self) -> Result<ExitCode, Error> {
        match self.command {
            Command::GetParam { stage, patterns } => print(&stage, &patterns),
            Command::Print { stage } => print(&stage, &PARAMETERS.map(str::to_owned)),
            Command::LctlScript { stage, directory } => {
                let cluster = stage.world.cluster()?;
                stage.server(&cluster)?;
                play::write_script(&stage, &cluster, &directory)?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Servers { world } => servers(&world.cluster()?),
            Command::Schedule { scene } => schedule(&scene.world.cluster()?, scene.span()),
            Command::Load { scene, options } => {
                let (cluster, span) = (scene.world.cluster()?, scene.span());
                let tally = feed::load(&cluster, span, &options)?;
                show(&tally, &cluster, span, io::stderr().lock())
            }
            Command::Truth {
                scene,
                into,
                database_url,
            } => {
                let cluster = scene.world.cluster()?;
                let truths = truths(&cluster, scene.span());
                match into.zip(database_url) {
                    Some((table, url)) => report::copy_into(&table, &url, &cluster, &truths)?,
                    None => report::write_csv(&cluster, &truths, io::stdout().lock(), true)?,
                }
                Ok(ExitCode::SUCCESS)
            }
            Command::Verify {
                scene,
                database_url,
                observed,
                case,
            } => verify(&scene, &database_url, observed, case.as_deref()),
            Command::Describe { scene } => {
                let (cluster, span) = (scene.world.cluster()?, scene.span());
                let truths = truths(&cluster, span);
                let mut out = io::stdout().lock();
                report::show_causes(&truths, &mut out)?;
                writeln!(out)?;
                show(&report::tally(&truths), &cluster, span, out)
            }
        }
    }
}

fn servers(cluster: &Cluster) -> Result<ExitCode, Error> {
    let mut out = io::stdout().lock();
    for target in &cluster.targets {
        let server = &cluster.servers[target.home].name;
        writeln!(out, "{server}\t{}", target.name)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn schedule(cluster: &Cluster, span: Span) -> Result<ExitCode, Error> {
    let mut out = io::stdout().lock();
    for due in schedule::of_servers(cluster, span) {
        let server = &cluster.servers[due.server].name;
        let (time, label) = (time::timestamp(due.time), time::timestamp(due.label));
        writeln!(out, "{server}\t{time}\t{label}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(stage: &Stage, patterns: &[String]) -> Result<ExitCode, Error> {
    let cluster = stage.world.cluster()?;
    let server = stage.server(&cluster)?;
    let printed = play::get_param(&cluster, server, &stage.time, patterns)?;
    io::stdout().lock().write_all(&printed.stdout)?;
    io::stderr().lock().write_all(printed.stderr.as_bytes())?;
    Ok(ExitCode::from(printed.status))
}

fn show(
    tally: &Tally,
    cluster: &Cluster,
    span: Span,
    mut out: impl Write,
) -> Result<ExitCode, Error> {
    for line in tally.lines(cluster, span) {
        writeln!(out, "{line}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Of the readings that were planned.
fn truths(cluster: &Cluster, span: Span) -> Vec<TargetTruth> {
    let planned: Vec<Vec<Due>> = (0..cluster.targets.len())
        .map(|target| schedule::readings(cluster, target, span))
        .collect();
    truth::of_targets(cluster, span, &planned)
}

fn verify(
    scene: &Scene,
    url: &str,
    observed: bool,
    case: Option<&Path>,
) -> Result<ExitCode, Error> {
    let (cluster, span) = (scene.world.cluster()?, scene.span());
    let mut store = database::Store::open(url)?;
    let truths = if observed {
        truth::of_targets(&cluster, span, &store.readings(&cluster, span)?)
    } else {
        truths(&cluster, span)
    };
    let comparison = compare::compare(&mut store, &cluster, &truths)?;
    let mut out = io::stdout().lock();
    report::show_causes(&truths, &mut out)?;
    comparison.show(&mut out)?;
    if let Some(path) = case {
        let table = OpenOptions::new().create(true).append(true).open(path)?;
        report::write_case(&cluster, span, &truths, &comparison, table)?;
    }
    Ok(if comparison.is_exact() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
