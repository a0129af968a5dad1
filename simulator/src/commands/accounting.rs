//! The command that writes the texts of accounting and the truth about them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::accounting::scheduler_parser;
use crate::commands::whole_seconds;
use crate::failure::Failure;
use crate::jobs::{CLUSTERS, Query, Scheduler, Site};
use crate::time::{Clock, DAY, MINUTE, Nanos, Span, rfc3339};
use crate::truth::Attribution;

/// The schedulers of a site, on the command line.
#[derive(Debug, Clone, Args)]
pub struct Schedulers {
    /// Jobs submitted to each cluster per day, counting each array element
    #[arg(long, default_value_t = 400, value_name = "N")]
    #[arg(env = "JOBSTATS_SIMULATOR_JOBS")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub jobs: u64,
    /// Number of clusters, which use the same job numbers: 1 or 2
    #[arg(long, default_value_t = 1, value_name = "N")]
    #[arg(env = "JOBSTATS_SIMULATOR_CLUSTERS")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=2))]
    pub clusters: u8,
    /// Format of the identifiers in job_stats, as in jobid_name
    #[arg(long, default_value = "%u:%j:%H", value_name = "FORMAT")]
    #[arg(env = "JOBSTATS_SIMULATOR_JOBID_NAME")]
    pub jobid_name: String,
    /// Share of jobs with names that are hard to parse; with 0, names of users and programs are simple too
    #[arg(long, default_value_t = 0.01, value_name = "SHARE")]
    #[arg(env = "JOBSTATS_SIMULATOR_ODD")]
    pub odd: f64,
}

impl Schedulers {
    /// Returns the site that the options describe.
    pub fn site(&self, scheduler: &'static Scheduler, seed: u64) -> Site {
        let mut site = Site::new(scheduler, seed, self.jobs);
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
    /// Scheduler to simulate
    #[arg(long, value_parser = scheduler_parser())]
    scheduler: &'static Scheduler,
    /// Seed of all jobs
    #[arg(long, env = "JOBSTATS_SIMULATOR_SEED", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    schedulers: Schedulers,
    /// Time between calls, such as 2h; each covers 15 minutes more
    #[arg(long, value_parser = every, default_value = "5m", value_name = "DURATION")]
    every: Nanos,
    /// Simulate no gaps or outages of accounting
    #[arg(long)]
    undisturbed: bool,
    /// Start of the span (RFC 3339)
    #[arg(long, value_parser = Clock::parse, default_value = "2025-06-01T00:00:00Z")]
    from: Clock,
    /// End of the span (RFC 3339) [default: from --days]
    #[arg(long, value_parser = Clock::parse)]
    to: Option<Clock>,
    /// Length of the span in days
    #[arg(long, default_value_t = 1.0, conflicts_with = "to")]
    days: f64,
    /// Write the output of all calls to DIR/CLUSTER/TIME, the truth to DIR/truth.jsonl, and DIR/passwd and DIR/group,
    /// instead of printing one call of the first cluster that covers the whole span
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Omit the nightly calls that cover three days
    #[arg(long, requires = "directory")]
    no_nightly: bool,
}

/// Parses a time between calls of a minute to a day.
fn every(text: &str) -> Result<Nanos, String> {
    whole_seconds(text, MINUTE..=DAY, "a minute to a day")
}

impl Options {
    fn span(&self) -> Result<Span, Failure> {
        let from = self.from.world();
        let length = (self.days * DAY as f64) as Nanos;
        let until = self.to.map_or(from + length, Clock::world);
        if until <= from {
            return Err("the span is empty: --to must be after --from"
                .to_owned()
                .into());
        }
        Ok(Span { from, until })
    }
}

/// Prints the text of one call, or writes the texts of all calls and the truth about them.
pub fn run(options: &Options) -> Result<(), Failure> {
    let site = Site {
        every: options.every,
        disturbed: !options.undisturbed,
        ..options.schedulers.site(options.scheduler, options.seed)
    };
    let span = options.span()?;
    let runs = site.runs(span);
    if let Some(directory) = &options.directory {
        let queries = site.queries(span, !options.no_nightly);
        for (cluster, name) in CLUSTERS.iter().enumerate().take(site.clusters) {
            let directory = directory.join(name);
            std::fs::create_dir_all(&directory)
                .map_err(|error| Failure::file(&directory, error))?;
            for query in &queries {
                let path = directory.join(rfc3339(query.time));
                write_file(&path, |out| site.write(cluster, *query, &runs, out))?;
            }
        }
        let (users, groups) = (site.people.passwd(), site.people.group());
        for (name, text) in [("passwd", users), ("group", groups)] {
            write_file(&directory.join(name), |out| out.write_all(text.as_bytes()))?;
        }
        let attribution = Attribution::new(&site, &runs, &queries, span);
        return write_file(&directory.join("truth.jsonl"), |out| attribution.write(out));
    }
    let query = Query {
        time: span.until,
        since: span.from,
    };
    let mut out = BufWriter::new(io::stdout().lock());
    site.write(0, query, &runs, &mut out)?;
    Ok(out.flush()?)
}

fn write_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Failure> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    });
    written.map_err(|error| Failure::file(path, error))
}
