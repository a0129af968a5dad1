//! A run of a job.

use crate::jobs::names::Name;
use crate::jobs::{CLUSTERS, Person, Scenario, Site};
use crate::random::Seed;
use crate::time::Nanos;

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The run ended as it should.
    Completed,
    /// The program failed with this exit code.
    Failed(u8),
    /// The run took longer than it may.
    Timeout,
    Cancelled,
    NodeFail,
    OutOfMemory,
    /// The job was put back into the queue.
    Requeued,
}

/// The place of a job in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    pub array: u64,
    /// The index of the element, counted from 1.
    pub index: u64,
    pub size: u64,
}

/// A run of a job. A job that never began is a run without a start.
#[derive(Debug, Clone)]
pub struct Run {
    pub cluster: usize,
    pub number: u64,
    /// The array that the job belongs to.
    pub element: Option<Element>,
    /// The component of a heterogeneous job; the leader is component 0.
    pub component: Option<u64>,
    /// The owner, as a position among the people of the site.
    pub person: usize,
    /// The account, as an index into the owner's accounts.
    pub account: usize,
    pub partition: &'static str,
    pub name: Name,
    pub submitted: Nanos,
    pub started: Option<Nanos>,
    /// The true end of the run, even without a record; for a job that never began, its cancellation.
    pub ended: Nanos,
    pub outcome: Outcome,
    pub first_node: u64,
    /// The number of nodes, which are adjacent.
    pub nodes: u64,
    pub cpus: u64,
    /// The number of the run, counted from 1.
    pub attempt: u32,
    pub scenario: Scenario,
    /// The seed of everything else that the run does.
    pub seed: Seed,
}

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
        (site.scheduler.job)(site, self)
    }

    /// Returns the job as users type it.
    pub fn label(&self, site: &Site) -> String {
        (site.scheduler.label)(site, self)
    }

    /// Returns the number of the job, or of the leader for a component of a heterogeneous job.
    pub fn leader(&self) -> u64 {
        self.number - self.component.unwrap_or(0)
    }

    /// Returns the array and the index of an element in a format, and the number of any other job.
    pub fn element_or_number(&self, format: impl Fn(u64, u64) -> String) -> String {
        match self.element {
            Some(element) => format(element.array, element.index),
            None => self.leader().to_string(),
        }
    }

    /// Returns the array or the leader of the job.
    pub fn parent(&self) -> Option<u64> {
        match (self.element, self.component) {
            (Some(element), _) => Some(element.array),
            (_, component) => component.map(|_| self.leader()),
        }
    }

    /// Returns the index in the array, or 0 for a job without one.
    pub fn index(&self) -> u64 {
        self.element.map_or(0, |element| element.index)
    }

    /// Returns the name of a node of the run.
    pub fn node(&self, rank: u64) -> String {
        format!("{}{:04}", letter(self.cluster), self.first_node + rank + 1)
    }

    /// Returns the name of the login node from which the job was submitted.
    pub fn login_node(&self) -> String {
        format!("{}-login1", letter(self.cluster))
    }

    /// Returns the nodes as a host list, for example `a[0001-0004]`.
    pub fn host_list(&self) -> String {
        let (first, last) = (self.first_node + 1, self.first_node + self.nodes);
        match self.nodes {
            0 | 1 => self.node(0),
            _ => format!("{}[{first:04}-{last:04}]", letter(self.cluster)),
        }
    }

    /// Formats each node and joins the results.
    pub fn each_node(&self, separator: &str, format: impl Fn(String) -> String) -> String {
        let nodes = (0..self.nodes.max(1)).map(|rank| format(self.node(rank)));
        nodes.collect::<Vec<_>>().join(separator)
    }
}

/// Returns the first letter of node names, which identifies the cluster.
fn letter(cluster: usize) -> char {
    CLUSTERS[cluster].chars().next().unwrap_or('n')
}

/// Returns true for runs of adjacent numbers that are elements of one array.
pub fn of_one_array(one: &Run, other: &Run) -> bool {
    one.element.is_some() && one.parent() == other.parent()
}
