//! The command line.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use thiserror::Error;

use crate::cluster::{Cluster, Preset, ServerIndex};
use crate::layout::Layout;
use crate::schedule::Span;
use crate::time::{HOUR, MINUTE, Nanos, SECOND};
use crate::{feed, lctl, tally, time, verify};

/// Plays the job_stats of a whole Lustre cluster from a seed, and knows what is true.
#[derive(Debug, Parser)]
#[command(version, about, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What `lctl get_param` prints on a server; configured by the environment, so that the program can stand in for lctl
    #[command(name = "get_param")]
    GetParam {
        #[command(flatten)]
        world: World,
        #[command(flatten)]
        place: Place,
        /// Names of parameters, with wildcards
        #[arg(required = true)]
        patterns: Vec<String>,
    },
    /// Writes an executable DIR/lctl that plays a server
    LctlScript {
        #[command(flatten)]
        world: World,
        #[command(flatten)]
        place: Place,
        /// Where to write it
        directory: PathBuf,
    },
    /// Prints what a server's lctl prints for job_stats and cleanup intervals
    Print {
        #[command(flatten)]
        world: World,
        #[command(flatten)]
        place: Place,
    },
    /// Lists servers and their targets
    Servers {
        #[command(flatten)]
        world: World,
    },
    /// Loads all readings of a span into the database
    Load {
        #[command(flatten)]
        world: World,
        #[command(flatten)]
        period: Period,
        #[command(flatten)]
        database: Database,
        /// View or table that takes the rows
        #[arg(long, default_value = "jobstats.feed")]
        table: String,
        /// Connections to use at once
        #[arg(long, default_value_t = 2)]
        connections: usize,
    },
    /// Prints the true increments of a span, and what of them nobody can know from the texts, by cause
    #[command(long_flag = "truth")]
    Truth {
        #[command(flatten)]
        world: World,
        #[command(flatten)]
        period: Period,
        /// Copy into this table instead of printing CSV
        #[arg(long, requires = "database_url")]
        into: Option<String>,
        /// The database of that table
        #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
        database_url: Option<String>,
    },
    /// Compares what the database holds with the truth of the span that was loaded
    Verify {
        #[command(flatten)]
        world: World,
        #[command(flatten)]
        period: Period,
        #[command(flatten)]
        database: Database,
    },
    /// Counts what happens in a span
    Describe {
        #[command(flatten)]
        world: World,
        #[command(flatten)]
        period: Period,
    },
}

#[derive(Debug, Args)]
struct World {
    /// Which cluster
    #[arg(
        long,
        value_enum,
        env = "JOBSTATS_SIMULATOR_PRESET",
        default_value = "small"
    )]
    preset: Preset,
    /// What it is called; the preset's name unless given
    #[arg(long, env = "JOBSTATS_SIMULATOR_CLUSTER")]
    cluster: Option<String>,
    /// Everything follows from it
    #[arg(long, env = "JOBSTATS_SIMULATOR_SEED", default_value_t = 1)]
    seed: u64,
    /// Lustre release
    #[arg(
        long,
        value_enum,
        env = "JOBSTATS_SIMULATOR_LAYOUT",
        default_value = "2.16"
    )]
    layout: Layout,
    /// How many users, jobs and nodes there are, compared with the preset
    #[arg(long, env = "JOBSTATS_SIMULATOR_SCALE", default_value_t = 1.0)]
    scale: f64,
}

#[derive(Debug, Args)]
struct Place {
    /// Which server
    #[arg(long, env = "JOBSTATS_SIMULATOR_SERVER")]
    server: String,
    /// When: RFC 3339, or "now"
    #[arg(long, env = "JOBSTATS_SIMULATOR_TIME", default_value = "now")]
    time: String,
}

#[derive(Debug, Args)]
struct Period {
    /// Where the span begins: RFC 3339
    #[arg(long, value_parser = time::parse, default_value = "2026-01-01T00:00:00Z")]
    from: Nanos,
    /// How long it is
    #[arg(long, default_value_t = 24.0)]
    hours: f64,
}

#[derive(Debug, Args)]
struct Database {
    /// postgresql://… or "host=… dbname=…"
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: String,
}

/// Why a command failed.
#[derive(Debug, Error)]
pub enum Error {
    /// There is no such server.
    #[error("no server {0:?}; there are {1}")]
    Server(String, String),
    /// A time cannot be read.
    #[error("time: {0}")]
    Time(String),
    /// Playing lctl.
    #[error(transparent)]
    Lctl(#[from] lctl::Error),
    /// Loading.
    #[error(transparent)]
    Feed(#[from] feed::Error),
    /// Telling or comparing the truth.
    #[error(transparent)]
    Verify(#[from] verify::Error),
    /// Writing output.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl World {
    fn cluster(&self) -> Cluster {
        let preset = self.name();
        let name = self.cluster.as_deref().unwrap_or(&preset);
        Cluster::new(self.preset, name, self.seed, self.layout, self.scale)
    }

    fn name(&self) -> String {
        name_of(&self.preset)
    }
}

/// The name of a value on the command line.
fn name_of(value: &impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

impl Place {
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

impl Period {
    fn span(&self) -> Span {
        Span {
            from: self.from,
            until: self.from + (self.hours * HOUR as f64 / MINUTE as f64).round() as Nanos * MINUTE,
        }
    }
}

/// Targets that are worked on at once.
const WORKERS: usize = 2;

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
            Command::GetParam {
                world,
                place,
                patterns,
            } => play(&world, &place, &patterns),
            Command::Print { world, place } => play(&world, &place, &PARAMETERS.map(str::to_owned)),
            Command::LctlScript {
                world,
                place,
                directory,
            } => {
                place.server(&world.cluster())?;
                write_script(&world, &place, &directory)?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Servers { world } => {
                let cluster = world.cluster();
                let mut out = io::stdout().lock();
                for target in &cluster.targets {
                    writeln!(
                        out,
                        "{}\t{}",
                        cluster.servers[target.home].name, target.name
                    )?;
                }
                Ok(ExitCode::SUCCESS)
            }
            Command::Load {
                world,
                period,
                database,
                table,
                connections,
            } => {
                let cluster = world.cluster();
                let options = feed::Options {
                    url: database.database_url,
                    table,
                    connections,
                };
                let tally = feed::load(&cluster, period.span(), &options)?;
                show(&tally, &cluster, period.span(), io::stderr().lock())?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Truth {
                world,
                period,
                into,
                database_url,
            } => {
                let cluster = world.cluster();
                let truths = verify::truths(&cluster, period.span(), WORKERS);
                match into.zip(database_url) {
                    Some((table, url)) => verify::copy_into(&table, &url, &cluster, &truths)?,
                    None => verify::write_csv(&cluster, &truths, io::stdout().lock(), true)?,
                }
                Ok(ExitCode::SUCCESS)
            }
            Command::Verify {
                world,
                period,
                database,
            } => {
                let cluster = world.cluster();
                let truths = verify::truths(&cluster, period.span(), WORKERS);
                let comparison = verify::compare(&database.database_url, &cluster, &truths)?;
                let mut out = io::stdout().lock();
                verify::show_causes(&truths, &mut out)?;
                comparison.show(&mut out)?;
                Ok(if comparison.is_exact() {
                    ExitCode::SUCCESS
                } else {
                    ExitCode::FAILURE
                })
            }
            Command::Describe { world, period } => {
                let cluster = world.cluster();
                let truths = verify::truths(&cluster, period.span(), WORKERS);
                let mut out = io::stdout().lock();
                show(&verify::tally(&truths), &cluster, period.span(), &mut out)?;
                writeln!(out)?;
                verify::show_causes(&truths, &mut out)?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn show(
    tally: &tally::Tally,
    cluster: &Cluster,
    span: Span,
    mut out: impl Write,
) -> io::Result<()> {
    for line in tally.lines(cluster, span) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn play(world: &World, place: &Place, patterns: &[String]) -> Result<ExitCode, Error> {
    let cluster = world.cluster();
    let server = place.server(&cluster)?;
    let printed = if place.time == "now" {
        play_now(&cluster, server, patterns)?
    } else {
        let time = time::parse(&place.time).map_err(Error::Time)?;
        lctl::get_param(&cluster, server, time, patterns)?
    };
    io::stdout().lock().write_all(&printed.stdout)?;
    io::stderr().lock().write_all(printed.stderr.as_bytes())?;
    Ok(ExitCode::from(printed.status))
}

/// Nothing happens in the second half of a second. The text is that of the coming one, and is printed in it: so it is also the
/// text of the moment when its first byte arrives.
fn play_now(
    cluster: &Cluster,
    server: ServerIndex,
    patterns: &[String],
) -> Result<lctl::Printed, Error> {
    let mut work = SECOND / 20;
    loop {
        let start = time::now().map_err(Error::Time)?;
        let half = SECOND / 2;
        let quiet = (start + work + half).div_euclid(SECOND) * SECOND + half;
        let printed = lctl::get_param(cluster, server, quiet, patterns)?;
        let ready = time::now().map_err(Error::Time)?;
        if ready < quiet + SECOND / 5 {
            std::thread::sleep(Duration::from_nanos((quiet - ready).max(0).unsigned_abs()));
            return Ok(printed);
        }
        work = 2 * (ready - start);
    }
}

fn write_script(world: &World, place: &Place, directory: &Path) -> Result<(), Error> {
    let program = std::env::current_exe()?;
    let settings = [
        ("PRESET", world.name()),
        ("CLUSTER", world.cluster().name),
        ("SEED", world.seed.to_string()),
        ("LAYOUT", name_of(&world.layout)),
        ("SCALE", world.scale.to_string()),
        ("SERVER", place.server.clone()),
        ("TIME", place.time.clone()),
    ];
    let mut script = String::from("#!/bin/sh\n");
    for (name, value) in settings {
        script.push_str(&format!(
            "export JOBSTATS_SIMULATOR_{name}={}\n",
            quoted(&value)
        ));
    }
    script.push_str(&format!(
        "exec {} \"$@\"\n",
        quoted(&program.to_string_lossy())
    ));
    std::fs::create_dir_all(directory)?;
    let path = directory.join("lctl");
    std::fs::write(&path, script)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
