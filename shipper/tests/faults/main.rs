//! Injects faults into the way from lctl to the database, and counts readings that are lost or doubled.
//!
//! `scripts/faults.sh` starts this program. Servers read simulated time: each call of lctl advances the clock of its server by two minutes,
//! regardless of its duration. So nothing depends on the speed of the machine.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]
#![allow(clippy::panic, reason = "a step that fails is a test that fails")]
#![allow(missing_docs, reason = "a test is no library")]

mod database;
mod fault;
mod lctl;
mod ledger;
mod place;
mod proxy;
mod server;
mod table;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::{Args, Parser, Subcommand};
use fastrand::Rng;

use crate::database::Database;
use crate::fault::{Kind, Scene};
use crate::ledger::{Before, Ledger};
use crate::place::{SECOND, START, time_of, wait_for};
use crate::proxy::Proxy;
use crate::server::{STATEMENT, Server};
use crate::table::Table;

/// The name of the simulated cluster.
const CLUSTER: &str = "faults";

/// The sizes of the small file systems for a spool and for the database, in MB.
const SMALL: (u32, u32) = (16, 400);

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Inject faults
    Inject(Inject),
    /// Stand in for lctl
    Lctl {
        directory: PathBuf,
        simulator: String,
        #[arg(trailing_var_arg = true)]
        arguments: Vec<String>,
    },
}

#[derive(Args)]
struct Inject {
    /// Number of faults
    #[arg(long)]
    faults: usize,
    /// Seed of their order and of all that is random about them
    #[arg(long)]
    seed: u64,
    /// Directory for everything, which is empty or not there
    #[arg(long)]
    directory: PathBuf,
    /// jobstats-shipper
    #[arg(long)]
    shipper: String,
    /// jobstats-simulator
    #[arg(long)]
    simulator: String,
    /// Library made of clock.c
    #[arg(long)]
    clock: String,
    /// File for the table of faults and counts
    #[arg(long)]
    table: PathBuf,
    /// Inject only faults whose name contains this word
    #[arg(long, default_value = "")]
    only: String,
}

/// The programs that servers need.
pub struct Programs {
    /// This program.
    pub own: String,
    /// jobstats-shipper.
    pub shipper: String,
    /// jobstats-simulator.
    pub simulator: String,
    /// The library that makes clocks wrong.
    pub clock: String,
}

fn main() -> ExitCode {
    // cargo test starts this program like all others; scripts/faults.sh sets up its surroundings.
    let task = std::env::args().nth(1).unwrap_or_default();
    if !["inject", "lctl"].contains(&task.as_str()) {
        return ExitCode::SUCCESS;
    }
    match Options::parse().task {
        Task::Lctl {
            directory,
            simulator,
            arguments,
        } => lctl::play(&directory, &simulator, &arguments),
        Task::Inject(inject) => inject.run(),
    }
}

impl Inject {
    fn run(&self) -> ExitCode {
        let small = SmallDisks::mount(&self.directory);
        let database = Database::start_new(&self.directory.join("pg"), small.directory("database"));
        let proxy = Proxy::start(&database.socket());
        let mut servers = self.servers();
        let mut random = Rng::with_seed(self.seed);
        let (mut ledger, mut table) = (Ledger::default(), Table::default());
        for (number, (kind, name)) in self
            .kinds(&mut random, small.are_there())
            .into_iter()
            .enumerate()
        {
            let start = Instant::now();
            // A fault may have taken a busy machine many minutes, in which the clocks of other servers went on.
            servers.iter().for_each(|server| server.place.show_time());
            let before: Vec<_> = servers.iter().map(Before::new).collect();
            let chosen = random.usize(..servers.len());
            let scene = Scene {
                database: &database,
                proxy: &proxy,
                servers: &servers,
                server: &servers[chosen],
            };
            if number == 0 {
                // A shipper that has never read takes any clock for right.
                servers.iter().for_each(|server| {
                    server.once(&Database::url(proxy.port));
                });
            }
            scene.inject(kind, &mut random);
            settle(&database, &proxy, &servers, chosen);
            let counts = ledger.judge(&database, CLUSTER, &mut servers, &before, kind.has_kills());
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{:>4} {name}, {}: {counts:?} {seconds:.1} s",
                number + 1,
                servers[chosen].name
            );
            table.add(name, counts);
            assert!(
                counts.is_right(kind.may_drop()),
                "lost, doubled, or dropped"
            );
        }
        let verified = self.verify(&database, &ledger, &servers);
        table.write(&self.table, self.seed, small.are_there(), &verified);
        database.stop();
        ExitCode::SUCCESS
    }

    fn programs(&self) -> Programs {
        Programs {
            own: std::env::current_exe().unwrap().display().to_string(),
            shipper: self.shipper.clone(),
            simulator: self.simulator.clone(),
            clock: self.clock.clone(),
        }
    }

    fn servers(&self) -> Vec<Server> {
        [("small-mds1", 1), ("small-oss1", 2)]
            .map(|(name, targets)| {
                let directory = self.directory.join(name);
                Server::new(
                    name,
                    targets,
                    CLUSTER,
                    self.seed,
                    &directory,
                    &self.programs(),
                )
            })
            .into()
    }

    /// Chooses the faults: each kind as often as the others, in random order.
    fn kinds(&self, random: &mut Rng, has_small_disks: bool) -> Vec<(Kind, &'static str)> {
        let possible: Vec<_> = Kind::ALL
            .into_iter()
            .filter(|(kind, name)| {
                (has_small_disks || !kind.needs_small_disk()) && name.contains(&self.only)
            })
            .collect();
        let mut kinds = Vec::new();
        while kinds.len() < self.faults {
            let mut round = possible.clone();
            random.shuffle(&mut round);
            kinds.extend(round);
        }
        kinds.truncate(self.faults);
        kinds
    }

    /// Compares the store with the simulator's truth, to the last byte. Returns its last line.
    fn verify(&self, database: &Database, ledger: &Ledger, servers: &[Server]) -> String {
        let labels = self.directory.join("labels.csv");
        ledger.write_labels(&labels);
        let calls = servers.iter().map(|server| server.place.calls().len());
        let last = time_of(calls.max().unwrap_or(0) as u64);
        let hours = (last - START) / (3600 * SECOND) + 1;
        let verified = Command::new(&self.simulator)
            .args([
                "verify",
                "--observed",
                "--preset",
                "small",
                "--undisturbed",
                "--interval",
                "120s",
            ])
            .args([
                "--cluster",
                CLUSTER,
                "--seed",
                &self.seed.to_string(),
                "--hours",
                &hours.to_string(),
            ])
            .args([
                "--from",
                "2025-06-01T05:00:00Z",
                "--database-url",
                &database.direct_url(),
                "--labels",
            ])
            .arg(&labels)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&verified.stdout).into_owned();
        assert!(
            verified.status.success(),
            "{said}{}",
            String::from_utf8_lossy(&verified.stderr)
        );
        said.lines().last().unwrap_or_default().to_owned()
    }
}

/// Sends what waits after a fault, as the next calls of cron would. The chosen server is read once more in any case.
fn settle(database: &Database, proxy: &Proxy, servers: &[Server], chosen: usize) {
    database.start();
    let url = Database::url(proxy.port);
    for (index, server) in servers.iter().enumerate() {
        if index != chosen && server.waiting().is_empty() {
            continue;
        }
        server.place.show_time();
        let mut limit = STATEMENT;
        wait_for(&format!("delivery of {}", server.name), || {
            let start = Instant::now();
            let code = server.once_within(&url, limit);
            if start.elapsed() > limit {
                // The machine may be busy.
                limit *= 2;
            }
            matches!(code, Some(0 | 65)) && server.waiting().is_empty()
        });
    }
    servers.iter().for_each(Server::clean_up);
    proxy.calm();
}

/// File systems that can become full: for each server and for the database.
struct SmallDisks {
    mounted: Vec<PathBuf>,
}

impl SmallDisks {
    /// Makes all directories, and mounts small file systems on them if this user may.
    fn mount(directory: &Path) -> Self {
        let disks = [
            (directory.join("small-mds1/disk"), SMALL.0),
            (directory.join("small-oss1/disk"), SMALL.0),
            (directory.join("database"), SMALL.1),
        ];
        let mut mounted = Vec::new();
        for (disk, size) in disks {
            std::fs::create_dir_all(&disk).unwrap();
            if fault::mount_small(&disk, size) {
                mounted.push(disk);
            }
        }
        Self { mounted }
    }

    fn are_there(&self) -> bool {
        !self.mounted.is_empty()
    }

    /// Returns a directory, if it is small.
    fn directory(&self, name: &str) -> Option<PathBuf> {
        self.mounted
            .iter()
            .find(|path| path.ends_with(name))
            .cloned()
    }
}

impl Drop for SmallDisks {
    fn drop(&mut self) {
        self.mounted.iter().for_each(|disk| fault::unmount(disk));
    }
}
