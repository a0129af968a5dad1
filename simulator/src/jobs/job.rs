//! A run of a job, and the names under which schedulers and `job_stats` know it.

use crate::random::Seed;
use crate::time::Nanos;

use crate::jobs::flux;
use crate::jobs::names::Name;
use crate::jobs::people::Person;
use crate::jobs::story::Story;
use crate::jobs::{Kind, Site, nodes};

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The run ended as it should.
    Completed,
    /// The program failed with this exit code.
    Failed(u8),
    /// The run took longer than it may.
    Timeout,
    /// The user cancelled the job.
    Cancelled,
    /// A node failed.
    NodeFail,
    /// The program needed too much memory.
    OutOfMemory,
    /// The job was put back into the queue.
    Requeued,
}

/// The place of a job in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// The number of the array.
    pub array: u64,
    /// The index of the element, counted from 1.
    pub index: u64,
    /// The number of elements.
    pub size: u64,
}

/// A run of a job. A job that never began is a run without a start.
#[derive(Debug, Clone)]
pub struct Run {
    /// The cluster.
    pub cluster: usize,
    /// The number of the job.
    pub number: u64,
    /// The array that the job belongs to.
    pub element: Option<Element>,
    /// The component of a heterogeneous job; the leader is component 0.
    pub component: Option<u64>,
    /// The owner.
    pub person: usize,
    /// The account, as a position among those of the owner.
    pub account: usize,
    /// The partition or queue.
    pub partition: &'static str,
    /// The name of the job.
    pub name: Name,
    /// The time of submission.
    pub submitted: Nanos,
    /// The start of the run.
    pub started: Option<Nanos>,
    /// The true end of the run, even if nobody writes it; the time at which a job was cancelled that never began.
    pub ended: Nanos,
    /// The outcome.
    pub outcome: Outcome,
    /// The first node.
    pub first_node: u64,
    /// The number of nodes, which are adjacent.
    pub nodes: u64,
    /// The number of processors.
    pub cpus: u64,
    /// The number of the run, counted from 1.
    pub attempt: u32,
    /// The story of the job.
    pub story: Story,
    /// The seed of what else the run does.
    pub seed: Seed,
}

/// The names of PBS servers; the second is so long that identifiers are cut.
const SERVERS: [&str; 2] = ["pbs1", "headnode.beta.example.org"];

impl Run {
    /// Returns the owner.
    pub fn owner<'a>(&self, site: &'a Site) -> &'a Person {
        site.people.get(self.person)
    }

    /// Returns the account that pays.
    pub fn account_name<'a>(&self, site: &'a Site) -> &'a str {
        &self.owner(site).accounts[self.account]
    }

    /// Returns the job as a reader of `job_stats` names it.
    pub fn job(&self, site: &Site) -> String {
        match (site.kind, self.element) {
            (Kind::Pbs, Some(element)) => format!("{}[{}]", element.array, element.index),
            (Kind::Flux, _) => flux::id(site, self.number).to_string(),
            // The components of a heterogeneous job know the number of their leader only.
            _ => (self.number - self.component.unwrap_or(0)).to_string(),
        }
    }

    /// Returns the job as users type it.
    pub fn label(&self, site: &Site) -> String {
        match (site.kind, self.element, self.component) {
            (Kind::Slurm, Some(element), _) => format!("{}_{}", element.array, element.index),
            (Kind::Slurm, _, Some(component)) => format!("{}+{component}", self.number - component),
            (Kind::Lsf, Some(element), _) => format!("{}[{}]", element.array, element.index),
            (Kind::Gridengine, Some(element), _) => format!("{}.{}", element.array, element.index),
            (Kind::Flux, ..) => flux::f58(flux::id(site, self.number)),
            _ => self.job(site),
        }
    }

    /// Returns the array or the leader of the job.
    pub fn parent(&self) -> Option<u64> {
        match (self.element, self.component) {
            (Some(element), _) => Some(element.array),
            (_, Some(component)) => Some(self.number - component),
            _ => None,
        }
    }

    /// Returns what the environment variable of the scheduler holds, from which clients take `%j`.
    pub fn variable(&self, site: &Site) -> String {
        match site.kind {
            Kind::Pbs => self.pbs_id(site),
            Kind::Flux => self.label(site),
            Kind::Slurm | Kind::Lsf | Kind::Gridengine => self.job(site),
        }
    }

    /// Returns the identifier of PBS, with the server.
    pub fn pbs_id(&self, site: &Site) -> String {
        format!("{}.{}", self.job(site), SERVERS[self.cluster])
    }

    /// Returns the identifier of the array as a whole, with the server.
    pub fn pbs_array_id(&self) -> String {
        let array = self.parent().unwrap_or(self.number);
        format!("{array}[].{}", SERVERS[self.cluster])
    }

    /// Returns the name of a node of the run.
    pub fn node(&self, rank: u64) -> String {
        nodes::compute(self.cluster, self.first_node + rank)
    }
}
