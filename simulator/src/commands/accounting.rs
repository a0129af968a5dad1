//! The command that writes the texts of accounting and the truth about them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use crate::time::{self, Clock, DAY, MINUTE, Nanos, SECOND};
use crate::world::schedule::Span;

use crate::accounting::calls::Call;
use crate::jobs::{CLUSTERS, Kind, Run, Site};
use crate::truth::judge::Accounting;

/// The schedulers of a site, on the command line.
#[derive(Debug, Clone, Args)]
pub struct Schedulers {
    /// Jobs that are submitted to each cluster per day; the elements of an array count
    #[arg(long, env = "JOBSTATS_SIMULATOR_JOBS", default_value_t = 400, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub jobs: u64,
    /// Clusters, which count their jobs alike: 1 or 2
    #[arg(long, env = "JOBSTATS_SIMULATOR_CLUSTERS", default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub clusters: u8,
    /// Format of the identifiers in job_stats, as jobid_name has it
    #[arg(
        long,
        env = "JOBSTATS_SIMULATOR_JOBID_NAME",
        default_value = "%j:%u:%H",
        value_name = "FORMAT"
    )]
    pub jobid_name: String,
    /// Share of jobs with names that are hard to read; with 0, the names of users and programs are easy too
    #[arg(
        long,
        env = "JOBSTATS_SIMULATOR_ODD",
        default_value_t = 0.01,
        value_name = "SHARE"
    )]
    pub odd: f64,
}

impl Schedulers {
    /// Returns the site that the options describe.
    pub fn site(&self, kind: Kind, seed: u64) -> Site {
        let mut site = Site::new(kind, seed, self.jobs);
        site.clusters = usize::from(self.clusters);
        site.format.clone_from(&self.jobid_name);
        site.odd = self.odd;
        if self.odd == 0.0 {
            site.people.take_easy_names();
        }
        site
    }
}

/// The texts and the truth to write.
#[derive(Debug, Args)]
pub struct Options {
    /// Scheduler to play
    #[arg(long, value_enum)]
    scheduler: Kind,
    /// Play the texts of an old release: sacct without our options, Torque, LSF 7, Sun Grid Engine
    #[arg(long)]
    old: bool,
    /// Seed of all jobs
    #[arg(long, env = "JOBSTATS_SIMULATOR_SEED", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    schedulers: Schedulers,
    /// Time between calls, like 2h; each is about 15 minutes more
    #[arg(long, value_parser = every, default_value = "5m", value_name = "DURATION")]
    every: Nanos,
    /// Play no gap and no outage of accounting
    #[arg(long)]
    undisturbed: bool,
    /// Show the jobs of one user only, as Slurm does where PrivateData is set
    #[arg(long)]
    private_data: bool,
    /// Start of the span (RFC 3339)
    #[arg(long, value_parser = Clock::parse, default_value = "2025-06-01T00:00:00Z")]
    from: Clock,
    /// End of the span (RFC 3339) [default: as --days says]
    #[arg(long, value_parser = Clock::parse)]
    to: Option<Clock>,
    /// Length of the span in days
    #[arg(long, default_value_t = 1.0, conflicts_with = "to")]
    days: f64,
    /// Cluster whose text is printed [default: the first]
    #[arg(long, value_name = "NAME", conflicts_with = "directory")]
    cluster: Option<String>,
    /// Write the texts of all calls of the span to DIR/CLUSTER/TIME, the truth to DIR/truth.jsonl, and DIR/passwd and
    /// DIR/group, instead of printing the text of one call about the whole span
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Leave out the calls of every night about three days
    #[arg(long, requires = "directory")]
    no_nightly: bool,
    /// Write the truth to this file
    #[arg(long, value_name = "FILE", conflicts_with = "directory")]
    truth: Option<PathBuf>,
}

/// Parses a time between calls of a minute to a day.
fn every(text: &str) -> Result<Nanos, String> {
    let every: SignedDuration = text
        .parse()
        .map_err(|error: jiff::Error| error.to_string())?;
    let nanos = every.as_secs().saturating_mul(SECOND);
    match every.subsec_nanos() {
        0 if (MINUTE..=DAY).contains(&nanos) => Ok(nanos),
        _ => Err("is not a number of seconds from a minute to a day".to_owned()),
    }
}

/// An error that prevents writing texts of accounting.
#[derive(Debug, Error)]
pub enum Error {
    /// The cluster does not exist.
    #[error("no cluster {0:?}; there are {1}")]
    Cluster(String, String),
    /// The span is empty.
    #[error("the span is empty: --to must be after --from")]
    Span,
    /// A file cannot be written.
    #[error("{0}: {1}")]
    File(String, io::Error),
    /// Output could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Options {
    fn site(&self) -> Site {
        let mut site = self.schedulers.site(self.scheduler, self.seed);
        site.old = self.old;
        site.every = self.every;
        site.disturbed = !self.undisturbed;
        site.private = self.private_data;
        site
    }

    fn span(&self) -> Result<Span, Error> {
        let from = self.from.world();
        let length = (self.days * DAY as f64) as Nanos;
        let until = self.to.map_or(from + length, Clock::world);
        if until <= from {
            return Err(Error::Span);
        }
        Ok(Span { from, until })
    }

    fn cluster(&self, site: &Site) -> Result<usize, Error> {
        let Some(name) = &self.cluster else {
            return Ok(0);
        };
        let clusters = &CLUSTERS[..site.clusters];
        clusters
            .iter()
            .position(|cluster| cluster == name)
            .ok_or_else(|| Error::Cluster(name.clone(), clusters.join(", ")))
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<(), Error> {
    let (site, span) = (options.site(), options.span()?);
    let runs = site.runs(span.from, span.until);
    if let Some(directory) = &options.directory {
        let calls = site.calls(span, !options.no_nightly);
        return write_calls(&site, &runs, &calls, span, directory);
    }
    let call = Call {
        time: span.until,
        since: span.from,
    };
    let mut out = BufWriter::new(io::stdout().lock());
    site.write(options.cluster(&site)?, call, &runs, &mut out)?;
    out.flush()?;
    match &options.truth {
        Some(path) => write_truth(&site, &runs, &[call], span, path),
        None => Ok(()),
    }
}

fn write_calls(
    site: &Site,
    runs: &[Run],
    calls: &[Call],
    span: Span,
    directory: &Path,
) -> Result<(), Error> {
    for (cluster, name) in CLUSTERS.iter().enumerate().take(site.clusters) {
        let directory = directory.join(name);
        named(&directory, std::fs::create_dir_all(&directory))?;
        for call in calls {
            let path = directory.join(file_name(call.time));
            let mut out = BufWriter::new(named(&path, File::create(&path))?);
            let written = site.write(cluster, *call, runs, &mut out);
            named(&path, written.and_then(|()| out.flush()))?;
        }
    }
    for (name, text) in [
        ("passwd", site.people.passwd()),
        ("group", site.people.group()),
    ] {
        let path = directory.join(name);
        named(&path, std::fs::write(&path, text))?;
    }
    write_truth(site, runs, calls, span, &directory.join("truth.jsonl"))
}

fn write_truth(
    site: &Site,
    runs: &[Run],
    calls: &[Call],
    span: Span,
    path: &Path,
) -> Result<(), Error> {
    let mut out = BufWriter::new(named(path, File::create(path))?);
    let written = Accounting::new(site, runs, calls, span).write(&mut out);
    named(path, written.and_then(|()| out.flush()))
}

fn named<T>(path: &Path, result: io::Result<T>) -> Result<T, Error> {
    result.map_err(|error| Error::File(path.display().to_string(), error))
}

fn file_name(time: Nanos) -> String {
    let time: Timestamp = time::timestamp(time);
    time.to_string()
}
