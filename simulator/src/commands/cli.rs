//! The command line.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use jiff::SignedDuration;
use jobstats_client::Options;
use thiserror::Error;

use crate::commands::{accounting, play, report};
use crate::jobs;
use crate::lustre::layout::Layout;
use crate::lustre::name_of;
use crate::store::database::Store;
use crate::store::{compare, feed, labels};
use crate::time::{self, Clock, HOUR, MINUTE, Nanos, SECOND};
use crate::truth;
use crate::truth::TargetTruth;
use crate::truth::tally::{self, Tally};
use crate::world::cluster::{Cluster, Preset, ServerIndex};
use crate::world::schedule::{self, Due, Span};
use crate::world::work;

/// Play the job_stats of a whole Lustre cluster from a seed, and compute the truth about them
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub struct Cli {
    /// Play everything so many days later than it is in the world, whose time counts for all that is drawn
    #[arg(
        long,
        global = true,
        env = "JOBSTATS_SIMULATOR_LATER",
        default_value_t = 0,
        value_name = "DAYS",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i64).range(-MOST_DAYS..=MOST_DAYS)
    )]
    later: i64,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the output of `lctl get_param` on a server; set up by its environment, the program can stand in for lctl
    #[command(name = "get_param")]
    GetParam {
        #[command(flatten)]
        stage: Stage,
        /// Names of parameters, with wildcards
        #[arg(required = true)]
        patterns: Vec<String>,
    },
    /// Write an executable DIR/lctl that plays a server
    LctlScript {
        #[command(flatten)]
        stage: Stage,
        /// Directory for the executable
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Print the job_stats and cleanup intervals of a server, as lctl prints them
    Print {
        #[command(flatten)]
        stage: Stage,
    },
    /// List servers and their targets
    Servers {
        #[command(flatten)]
        world: World,
    },
    /// List the polls of a span: server, true time, and time on the server's clock
    Schedule {
        #[command(flatten)]
        scene: Scene,
    },
    /// Load all readings of a span into the database
    Load {
        #[command(flatten)]
        scene: Scene,
        #[command(flatten)]
        options: feed::Options,
    },
    /// Print the true increments of a span and, by cause, the part of them that the texts do not show
    #[command(long_flag = "truth")]
    Truth {
        #[command(flatten)]
        scene: Scene,
        /// Copy into this table instead of printing CSV
        #[arg(long, value_name = "TABLE")]
        into: Option<String>,
        #[command(flatten)]
        database: Options,
    },
    /// Compare the contents of the database with the truth of the loaded span
    Verify {
        #[command(flatten)]
        scene: Scene,
        /// Judge the readings that the database holds, whoever shipped them, instead of those that were planned
        #[arg(long)]
        observed: bool,
        /// True times of readings whose label differs: CSV with the columns server, label, time (RFC 3339)
        #[arg(long, value_name = "FILE", requires = "observed")]
        labels: Option<PathBuf>,
        /// Append a row about the comparison to this table of cases (CSV)
        #[arg(long, value_name = "FILE")]
        case: Option<PathBuf>,
        #[command(flatten)]
        database: Options,
    },
    /// Write what the accounting of a scheduler says about the jobs of a span, and the truth about them
    Accounting(Box<accounting::Options>),
    /// Count the events of a span
    Describe {
        #[command(flatten)]
        scene: Scene,
    },
}

#[derive(Debug, Args)]
pub struct World {
    /// Cluster to play
    #[arg(
        long,
        value_enum,
        env = "JOBSTATS_SIMULATOR_PRESET",
        default_value = "small"
    )]
    pub preset: Preset,
    /// Name of the cluster [default: name of the preset]
    #[arg(long, env = "JOBSTATS_SIMULATOR_CLUSTER")]
    cluster: Option<String>,
    /// Seed of everything that is played
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
    /// Number of users, jobs and nodes, relative to the preset
    #[arg(long, env = "JOBSTATS_SIMULATOR_SCALE", default_value_t = 1.0)]
    pub scale: f64,
    /// Time between polls, like 2m [default: as in the preset]
    #[arg(long, env = "JOBSTATS_SIMULATOR_INTERVAL", value_parser = interval)]
    interval: Option<Nanos>,
    /// Table of work to play instead of the preset's users, or beside the jobs of a scheduler: CSV with the columns job, uid,
    /// node, target, operation, calls, bytes (of all calls), usecs (of each call), from, until (times of the world)
    #[arg(long, env = "JOBSTATS_SIMULATOR_WORK", value_name = "FILE")]
    pub work: Option<PathBuf>,
    /// Play the jobs of a scheduler instead of the preset's, as the command accounting prints them
    #[arg(long, value_enum, env = "JOBSTATS_SIMULATOR_SCHEDULER")]
    pub scheduler: Option<jobs::Kind>,
    #[command(flatten)]
    pub schedulers: accounting::Schedulers,
    /// Play no disturbances
    #[arg(long, env = "JOBSTATS_SIMULATOR_UNDISTURBED")]
    pub undisturbed: bool,
}

/// Parses a poll interval of 5 s to 10 minutes. Lustre removes entries that are idle for longer than the cleanup
/// interval, so polls at longer intervals would miss what these entries did.
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
    /// Builds the cluster that the options describe.
    pub fn cluster(&self) -> Result<Cluster, Error> {
        let preset = name_of(&self.preset);
        let name = self.cluster.as_deref().unwrap_or(&preset);
        let mut cluster = Cluster::new(self.preset, name, self.seed, self.layout, self.scale);
        if let Some(interval) = self.interval {
            cluster = cluster.read_every(interval);
        }
        cluster.work = self.work.as_deref().map(work::read).transpose()?;
        cluster.schedulers = self
            .scheduler
            .map(|kind| self.schedulers.site(kind, self.seed));
        cluster.disturbed = !self.undisturbed;
        Ok(cluster)
    }
}

/// A server at a time.
#[derive(Debug, Args)]
pub struct Stage {
    #[command(flatten)]
    pub world: World,
    /// Server to play
    #[arg(long, env = "JOBSTATS_SIMULATOR_SERVER")]
    pub server: String,
    /// Time to play: RFC 3339, or "now"
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

/// A cluster in a span of time.
#[derive(Debug, Args)]
struct Scene {
    #[command(flatten)]
    world: World,
    /// Start of the span (RFC 3339) [default: for load, so long before now that the span ends now; else
    /// 2025-06-01T00:00:00Z]
    #[arg(long, value_parser = Clock::parse)]
    from: Option<Clock>,
    /// Length of the span in hours
    #[arg(long, default_value_t = 24.0)]
    hours: f64,
}

/// The start of a span that need not be near the present.
const FROM: Clock = Clock(1_748_736_000 * SECOND);

impl Scene {
    fn span(&self) -> Span {
        self.span_from(self.from.unwrap_or(FROM).world())
    }

    /// Returns the span to load. Without a start it ends with this minute, because the database rejects old texts.
    fn recent_span(&self) -> Result<Span, Error> {
        let from = match self.from {
            Some(from) => from.world(),
            None => time::now().map_err(Error::Clock)? / MINUTE * MINUTE - self.length(),
        };
        Ok(self.span_from(from))
    }

    fn span_from(&self, from: Nanos) -> Span {
        Span {
            from,
            until: from + self.length(),
        }
    }

    fn length(&self) -> Nanos {
        (self.hours * (HOUR / MINUTE) as f64).round() as Nanos * MINUTE
    }
}

/// The largest number of days by which a world is played later or earlier.
const MOST_DAYS: i64 = 36_500;

/// An error that made a command fail.
#[derive(Debug, Error)]
pub enum Error {
    /// The server does not exist.
    #[error("no server {0:?}; there are {1}")]
    Server(String, String),
    /// The clock of the machine shows no time that can be played.
    #[error("the clock: {0}")]
    Clock(String),
    /// The table of work cannot be played.
    #[error(transparent)]
    Work(#[from] work::Error),
    /// The table of labels cannot be used.
    #[error(transparent)]
    Labels(#[from] labels::Error),
    /// lctl could not be played.
    #[error(transparent)]
    Play(#[from] play::Error),
    /// The span could not be loaded.
    #[error(transparent)]
    Feed(#[from] feed::Error),
    /// The database could not be read.
    #[error("database: {0}")]
    Database(#[from] jobstats_client::Error),
    /// The accounting could not be written.
    #[error(transparent)]
    Accounting(#[from] accounting::Error),
    /// The truth could not be written.
    #[error(transparent)]
    Report(#[from] report::Error),
    /// Output could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    /// Returns true if the reader of the output closed the pipe, which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        let error = match self {
            Self::Io(error)
            | Self::Report(report::Error::Io(error))
            | Self::Accounting(accounting::Error::Io(error)) => error.kind(),
            Self::Report(report::Error::Csv(error)) => match error.kind() {
                csv::ErrorKind::Io(error) => error.kind(),
                _ => return false,
            },
            _ => return false,
        };
        error == io::ErrorKind::BrokenPipe
    }
}

/// The parameters that the shipper reads.
const PARAMETERS: [&str; 4] = [
    "mdt.*.job_cleanup_interval",
    "obdfilter.*.job_cleanup_interval",
    "mdt.*.job_stats",
    "obdfilter.*.job_stats",
];

impl Cli {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode, Error> {
        time::play_later(self.later);
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
                load(&scene.world.cluster()?, scene.recent_span()?, &options)
            }
            Command::Truth {
                scene,
                into,
                database,
            } => {
                let cluster = scene.world.cluster()?;
                let truths = truths(&cluster, scene.span());
                match into {
                    Some(table) => report::copy_into(&table, &database, &cluster, &truths)?,
                    None => report::write_csv(&cluster, &truths, io::stdout().lock(), true)?,
                }
                Ok(ExitCode::SUCCESS)
            }
            Command::Verify {
                scene,
                observed,
                labels,
                case,
                database,
            } => {
                let observed = observed.then_some(labels.as_deref());
                verify(&scene, &database, observed, case.as_deref())
            }
            Command::Accounting(options) => {
                accounting::run(&options)?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Describe { scene } => {
                let (cluster, span) = (scene.world.cluster()?, scene.span());
                let truths = truths(&cluster, span);
                let mut out = io::stdout().lock();
                report::show_causes(&truths, &mut out)?;
                writeln!(out)?;
                show(&tally::of_all(&truths), &cluster, span, out)
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

fn load(cluster: &Cluster, span: Span, options: &feed::Options) -> Result<ExitCode, Error> {
    let (tally, rejected) = feed::load(cluster, span, options)?;
    let mut out = io::stderr().lock();
    let (from, until) = (time::timestamp(span.from), time::timestamp(span.until));
    writeln!(out, "loaded from {from} until {until}")?;
    show(&tally, cluster, span, &mut out)?;
    if let Some(line) = rejected.line() {
        writeln!(out, "{line}")?;
    }
    Ok(if rejected.is_all() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
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

/// Computes the truth for the planned polls.
fn truths(cluster: &Cluster, span: Span) -> Vec<TargetTruth> {
    let planned: Vec<Vec<Due>> = (0..cluster.targets.len())
        .map(|target| schedule::readings(cluster, target, span))
        .collect();
    truth::of_targets(cluster, span, &planned)
}

fn verify(
    scene: &Scene,
    database: &Options,
    observed: Option<Option<&Path>>,
    case: Option<&Path>,
) -> Result<ExitCode, Error> {
    let (cluster, span) = (scene.world.cluster()?, scene.span());
    let mut store = Store::open(database)?;
    let truths = match observed {
        Some(labels) => {
            let labels = labels
                .map(|path| labels::read(path, &cluster))
                .transpose()?;
            let readings = store.readings(&cluster, span, &labels.unwrap_or_default())?;
            truth::of_targets(&cluster, span, &readings)
        }
        None => truths(&cluster, span),
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
