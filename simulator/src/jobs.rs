//! Plays the job schedulers of a site: which jobs there truly are, what the schedulers' accounting says about them, and
//! under which identifiers the work of the jobs appears in `job_stats`.
//!
//! Like the text of a server, everything follows from the seed and the time: a day of jobs is drawn alone, and what
//! accounting knows at a time depends on that time only.

use clap::ValueEnum;

use crate::random::{Random, Seed};
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND};

mod draw;
pub mod flux;
pub mod job;
pub mod names;
pub mod nodes;
pub mod people;
pub mod story;
pub mod work;

pub use job::Run;
use people::{People, Person};
pub use work::Doing;

/// A scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Slurm: `sacct`
    Slurm,
    /// OpenPBS; in its old form Torque: accounting files
    Pbs,
    /// IBM Spectrum LSF: lsb.acct
    Lsf,
    /// Univa Grid Engine; in its old form Sun Grid Engine: accounting
    Gridengine,
    /// Flux: `flux jobs -a --json`
    Flux,
}

impl Kind {
    /// Returns true if accounting is a file that grows, and false if it is the output of a command about a window.
    pub fn is_file(self) -> bool {
        matches!(self, Self::Pbs | Self::Lsf | Self::Gridengine)
    }

    /// Returns the length of time that the texts of this scheduler can tell apart.
    pub fn grain(self, old: bool) -> Nanos {
        match self {
            Self::Gridengine if !old => SECOND / 1_000,
            Self::Flux => SECOND / 1_000_000,
            _ => SECOND,
        }
    }
}

/// The time from the submission of a job to its end is never longer.
pub const LONGEST_LIFE: Nanos = 3 * DAY;
/// The time for which somebody may go on working in the shell of a job that is over.
pub const LONGEST_SHELL: Nanos = 3 * DAY;
/// The days after which a scheduler begins to count from its first number again. A number comes back more than seven days
/// after its job ended.
pub const NUMBERS_LAST: i64 = 11;
/// The first number of a job.
pub const FIRST_NUMBER: u64 = 1_000_000;
/// The time between calls, as a rule.
pub const EVERY: Nanos = 5 * MINUTE;
/// The length of the daily gap in which nobody asks for accounting.
pub const GAP: Nanos = 3 * HOUR;
/// The length of the daily outage in which accounting learns nothing.
pub const OUTAGE: Nanos = 40 * MINUTE;

/// The schedulers of a site.
#[derive(Debug, Clone)]
pub struct Site {
    /// The kind of all its schedulers.
    pub kind: Kind,
    /// True for the texts of old releases.
    pub old: bool,
    /// The seed of all jobs.
    pub seed: Seed,
    /// The number of jobs submitted to each cluster per day; the elements of an array count.
    pub jobs: u64,
    /// The number of clusters, which count their jobs alike: 1 or 2.
    pub clusters: usize,
    /// The number of compute nodes of each cluster.
    pub nodes: u64,
    /// The format of the identifiers in `job_stats`, as `jobid_name` holds it.
    pub format: String,
    /// The share of jobs with names that are hard to read.
    pub odd: f64,
    /// The time between calls for accounting.
    pub every: Nanos,
    /// True if accounting has gaps and outages.
    pub disturbed: bool,
    /// True if accounting shows the jobs of the first user only.
    pub private: bool,
    pub people: People,
}

/// The names of the clusters.
pub const CLUSTERS: [&str; 2] = ["alpha", "beta"];

impl Site {
    /// Returns a site with one cluster, whose identifiers are `%j:%u:%H`.
    pub fn new(kind: Kind, seed: u64, jobs: u64) -> Self {
        let seed = Seed(seed).of("scheduler", &[]);
        let jobs = jobs.max(1);
        Self {
            kind,
            old: false,
            seed,
            jobs,
            clusters: 1,
            nodes: (jobs / 50).clamp(16, 5_000),
            format: "%j:%u:%H".to_owned(),
            odd: 0.01,
            every: EVERY,
            disturbed: true,
            private: false,
            people: People::new(seed.of("people", &[]), jobs),
        }
    }

    /// Draws a user.
    pub fn user(&self, random: &mut Random) -> &Person {
        self.people.get(self.people.draw(random))
    }

    /// Returns the span of a day in which nobody asks for accounting.
    pub fn gap(&self, day: i64) -> (Nanos, Nanos) {
        let minute = self.seed.of("gap", &[day]).below(15 * 60) as Nanos;
        let from = day * DAY + 4 * HOUR + minute * MINUTE;
        (from, from + GAP)
    }

    /// Returns the span of a day in which accounting learns nothing. Afterwards it learns everything at once.
    pub fn outage(&self, cluster: usize, day: i64) -> (Nanos, Nanos) {
        let seed = self.seed.of("outage", &[cluster as i64, day]);
        let from = day * DAY + 22 * HOUR + seed.below(60) as Nanos * MINUTE;
        (from, from + OUTAGE)
    }

    /// Returns the time at which accounting learns of something that happened.
    pub fn learns(&self, cluster: usize, happened: Nanos) -> Nanos {
        let (from, until) = self.outage(cluster, happened.div_euclid(DAY));
        if self.disturbed && (from..until).contains(&happened) {
            until
        } else {
            happened
        }
    }
}
