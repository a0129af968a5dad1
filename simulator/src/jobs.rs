//! The jobs of a site: which there truly are, and under which identifiers their work appears in `job_stats`.
//!
//! Like the text of a server, everything follows from the seed and the time: a day of jobs is drawn alone, and the knowledge of
//! accounting at a time depends on that time only.

use crate::random::Seed;
use crate::time::{DAY, HOUR, MINUTE, Nanos, Span};

pub mod activity;
mod draw;
pub mod names;
pub mod people;
pub mod run;
pub mod scenario;
pub mod scheduler;

pub use activity::{Activity, Origin, Seen};
pub use people::{People, Person};
pub use run::{Outcome, Run, of_one_array};
pub use scenario::Scenario;
pub use scheduler::{JobRecord, JobsRow, Phase, Query, Scheduler};

/// The time from the submission of a job to its end is never longer.
pub const LONGEST_LIFE: Nanos = 3 * DAY;
/// The time for which a user may go on working in the shell of a finished job.
pub const LONGEST_SHELL: Nanos = 3 * DAY;
/// The days after which a scheduler begins to count from its first number again. A number comes back more than seven days
/// after its job ended.
pub const NUMBERS_LAST: i64 = 11;
/// The first number of a job.
pub const FIRST_NUMBER: u64 = 1_000_000;
/// The names of the clusters.
pub const CLUSTERS: [&str; 2] = ["alpha", "beta"];

/// A site: its clusters with one kind of scheduler, and the people who submit jobs.
#[derive(Debug, Clone)]
pub struct Site {
    pub scheduler: &'static Scheduler,
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
    /// The time between queries of accounting.
    pub every: Nanos,
    /// True if accounting has gaps and outages.
    pub disturbed: bool,
    pub people: People,
}

impl Site {
    /// Returns a site with one cluster, whose identifiers are `%u:%j:%H`.
    pub fn new(scheduler: &'static Scheduler, seed: u64, jobs: u64) -> Self {
        let seed = Seed(seed).of("scheduler", &[]);
        let jobs = jobs.max(1);
        Self {
            scheduler,
            seed,
            jobs,
            clusters: 1,
            nodes: (jobs / 50).clamp(16, 5_000),
            format: "%u:%j:%H".to_owned(),
            odd: 0.01,
            every: 5 * MINUTE,
            disturbed: true,
            people: People::new(seed.of("people", &[]), jobs),
        }
    }

    /// Returns the daily gap without queries of accounting.
    pub fn gap(&self, day: i64) -> Span {
        let minute = self.seed.of("gap", &[day]).below(15 * 60) as Nanos;
        Span::new(day * DAY + 4 * HOUR + minute * MINUTE, 3 * HOUR)
    }
}
