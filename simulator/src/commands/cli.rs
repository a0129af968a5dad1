//! The command line.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use jobstats_client::Options;

use crate::commands::cluster_options::{Scene, Stage, World};
use crate::commands::{accounting, play, report};
use crate::failure::Failure;
use crate::store::database::{OF_COUNTERS, OF_ENTRIES, Store};
use crate::store::target_counters::ObservedCounters;
use crate::store::{compare, feed, labels, used};
use crate::time::{self, Span, rfc3339};
use crate::truth::{self, Tally, TargetTruth, tally};
use crate::world::{Cluster, incident, scrape_times};

/// Simulate the job_stats of a whole Lustre cluster from a seed, and compute the true I/O
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub struct Cli {
    /// Move all times this many days later; random draws still follow the simulated time
    #[arg(long, global = true, default_value_t = 0, value_name = "DAYS")]
    #[arg(env = "JOBSTATS_SIMULATOR_LATER", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(i64).range(-MOST_DAYS..=MOST_DAYS))]
    later: i64,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the output of `lctl get_param` on a server; configured by its environment, the program can replace lctl
    #[command(name = "get_param")]
    GetParam {
        #[command(flatten)]
        stage: Stage,
        /// Names of parameters, with wildcards
        #[arg(required = true)]
        patterns: Vec<String>,
    },
    /// Write an executable DIR/lctl that simulates a server
    LctlScript {
        #[command(flatten)]
        stage: Stage,
        /// Directory for the executable
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Print the lctl output that the shipper reads on a server
    Print {
        #[command(flatten)]
        stage: Box<Stage>,
        /// Print only job_stats and cleanup intervals
        #[arg(long)]
        job_stats_only: bool,
    },
    /// List servers and their targets
    Servers(Box<World>),
    /// List the polls of a span: server, true time, and time on the server's clock
    Schedule(Box<Scene>),
    /// Load all scrapes of a span into the database
    Load {
        #[command(flatten)]
        scene: Scene,
        #[command(flatten)]
        options: feed::Options,
    },
    /// Print the true increments of a span, and the share that scrapes miss, by cause
    #[command(long_flag = "truth")]
    Truth(Box<Scene>),
    /// Draw incidents for a span of the preset busy, and print them with their causes as JSON for --incident-plan
    #[command(long_flag = "incidents")]
    Incidents(Box<Scene>),
    /// Compare the contents of the database with the truth of the loaded span
    Verify(Box<VerifyOptions>),
    /// Write the accounting of a scheduler for the jobs of a span, and the truth about them
    Accounting(Box<accounting::Options>),
    /// Count the events of a span
    Describe(Box<Scene>),
}

#[derive(Debug, Args)]
struct VerifyOptions {
    #[command(flatten)]
    scene: Scene,
    /// Check the scrapes in the database, from any shipper, instead of the planned ones
    #[arg(long)]
    observed: bool,
    /// Expect only job_stats, as loaded by `load --job-stats-only`
    #[arg(long)]
    job_stats_only: bool,
    /// True times of scrapes labelled with another time: CSV with columns server, label, time (RFC 3339)
    #[arg(long, value_name = "FILE", requires = "observed")]
    labels: Option<PathBuf>,
    /// Append the result as a row to this table of cases (CSV)
    #[arg(long, value_name = "FILE")]
    case: Option<PathBuf>,
    #[command(flatten)]
    database: Options,
}

/// The largest shift of a world's days.
const MOST_DAYS: i64 = 36_500;

/// The parameters that the shipper reads before `job_stats`.
const ADDITIONAL: [&str; 16] = [
    "mdt.*.md_stats",
    "obdfilter.*.stats",
    "mds.MDS.*.stats",
    "ost.OSS.*.stats",
    "*.*.*.nrs_policies",
    "*.*.*.nrs_tbf_rule",
    "osd-*.*.*free",
    "osd-*.*.*total",
    "osd-*.*.kbytesavail",
    "health_check",
    "*.*.recovery_status",
    "mdd.*.changelog_users",
    "nodemap.*.*_stats",
    "osd-*.*.quota_slave.acct_*",
    "obdfilter.*.exports.*.stats",
    "obdfilter.*.exports.*.uuid",
];

/// The parameters of `job_stats` that the shipper reads.
const JOB_STATS: [&str; 4] = [
    "mdt.*.job_cleanup_interval",
    "obdfilter.*.job_cleanup_interval",
    "mdt.*.job_stats",
    "obdfilter.*.job_stats",
];

impl Cli {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode, Failure> {
        time::play_later(self.later);
        match self.command {
            Command::GetParam { stage, patterns } => return print(&stage, &patterns),
            Command::Print {
                stage,
                job_stats_only,
            } => {
                let additional = ADDITIONAL.iter().filter(|_| !job_stats_only);
                let patterns: Vec<_> = additional
                    .chain(&JOB_STATS)
                    .map(|it| it.to_string())
                    .collect();
                return print(&stage, &patterns);
            }
            Command::LctlScript { stage, directory } => {
                let cluster = stage.world.cluster()?;
                stage.server(&cluster)?;
                play::write_script(&stage, &cluster, &directory)?;
            }
            Command::Servers(world) => servers(&world.cluster()?)?,
            Command::Schedule(scene) => schedule(&scene)?,
            Command::Load { scene, options } => return load(&scene, &options),
            Command::Truth(scene) => write_truth(&scene)?,
            Command::Verify(options) => return verify(&options),
            Command::Accounting(options) => accounting::run(&options)?,
            Command::Describe(scene) => describe(&scene)?,
            Command::Incidents(scene) => incidents(&scene)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(stage: &Stage, patterns: &[String]) -> Result<ExitCode, Failure> {
    let cluster = stage.world.cluster()?;
    let server = stage.server(&cluster)?;
    let printed = play::get_param(&cluster, server, &stage.time, patterns)?;
    io::stdout().lock().write_all(&printed.stdout)?;
    io::stderr().lock().write_all(printed.stderr.as_bytes())?;
    Ok(ExitCode::from(printed.status))
}

fn servers(cluster: &Cluster) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    for target in &cluster.targets {
        let server = &cluster.servers[target.home].name;
        writeln!(out, "{server}\t{}", target.name)?;
    }
    Ok(())
}

fn schedule(scene: &Scene) -> Result<(), Failure> {
    let (cluster, span) = scene.setting()?;
    let mut out = io::stdout().lock();
    for due in scrape_times::of_servers(&cluster, span) {
        let server = &cluster.servers[due.server].name;
        writeln!(
            out,
            "{server}\t{}\t{}",
            rfc3339(due.time),
            rfc3339(due.label)
        )?;
    }
    Ok(())
}

fn load(scene: &Scene, options: &feed::Options) -> Result<ExitCode, Failure> {
    let (cluster, span) = (scene.world.cluster()?, scene.recent_span()?);
    let (tally, rejected) = feed::load(&cluster, span, options)?;
    let mut out = io::stderr().lock();
    let (from, until) = (rfc3339(span.from), rfc3339(span.until));
    writeln!(out, "loaded from {from} until {until}")?;
    show(&tally, &cluster, span, &mut out)?;
    if let Some(line) = rejected.line() {
        writeln!(out, "{line}")?;
    }
    Ok(ExitCode::from(u8::from(rejected.is_all())))
}

fn show(tally: &Tally, cluster: &Cluster, span: Span, out: &mut impl Write) -> io::Result<()> {
    let mut lines = tally.lines(cluster, span);
    lines.try_for_each(|line| writeln!(out, "{line}"))
}

/// Computes the truth for the planned polls.
fn planned_truths(cluster: &Cluster, span: Span) -> Vec<TargetTruth> {
    truth::of_targets(cluster, span, &scrape_times::of_targets(cluster, span))
}

fn write_truth(scene: &Scene) -> Result<(), Failure> {
    let (cluster, span) = scene.setting()?;
    report::write_truth(&cluster, &planned_truths(&cluster, span))
}

fn describe(scene: &Scene) -> Result<(), Failure> {
    let (cluster, span) = scene.setting()?;
    let truths = planned_truths(&cluster, span);
    let mut out = io::stdout().lock();
    report::show_causes(&truths, &mut out)?;
    writeln!(out)?;
    Ok(show(&tally::of_truths(&truths), &cluster, span, &mut out)?)
}

fn incidents(scene: &Scene) -> Result<(), Failure> {
    let (cluster, span) = scene.setting()?;
    let drawn = match &scene.world.incident_plan {
        Some(_) => cluster.incidents,
        None => incident::draw(&cluster, span),
    };
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &drawn).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

fn verify(options: &VerifyOptions) -> Result<ExitCode, Failure> {
    let (cluster, span) = options.scene.setting()?;
    let mut store = Store::open(&options.database, &cluster)?;
    let labels = options.labels.as_deref();
    let labels = labels.map(|path| labels::read(path, &cluster));
    let labels = labels.transpose()?.unwrap_or_default();
    let counter_readings = store.readings(OF_COUNTERS, span, &labels)?;
    let planned = scrape_times::of_targets(&cluster, span);
    let is_planned = !options.observed && !options.job_stats_only;
    let entries = if options.observed {
        let readings = store.readings(OF_ENTRIES, span, &labels)?;
        truth::of_targets(&cluster, span, &readings)
    } else {
        truth::of_targets(&cluster, span, &planned)
    };
    let (services, lists) = match is_planned {
        true => {
            let of_servers = scrape_times::of_servers(&cluster, span);
            let services = truth::queues::readings(&cluster, of_servers);
            (services, used::lists(&cluster, &planned))
        }
        false => (
            store.service_readings(span, &labels)?,
            store.lists(span, &labels)?,
        ),
    };
    let truth = compare::Truth {
        entries,
        counters: ObservedCounters {
            planned: match (options.observed, options.job_stats_only) {
                (_, true) => Some(0),
                (true, false) => None,
                (false, false) => Some(planned.iter().map(Vec::len).sum()),
            },
            truths: truth::target_counters::of_targets(&cluster, &counter_readings),
            readings: counter_readings,
        },
        queues: truth::queues::of_servers(&cluster, &services),
        lists,
    };
    let comparison = compare::compare(&mut store, &truth)?;
    let truths = truth.entries;
    let mut out = io::stdout().lock();
    report::show_causes(&truths, &mut out)?;
    comparison.show(&mut out)?;
    if let Some(path) = &options.case {
        let table = OpenOptions::new().create(true).append(true).open(path)?;
        report::write_case(&cluster, span, &truths, &comparison, table)?;
    }
    Ok(ExitCode::from(u8::from(!comparison.is_exact())))
}
