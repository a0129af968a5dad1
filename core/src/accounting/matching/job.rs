//! Jobs as entries can belong to them: the runs and array elements that a scheduler shows under one number.

use serde::{Deserialize, Serialize};

use crate::accounting::matching::{APART, LOST};
use crate::accounting::node_list::{contains, short};
use crate::base::instant::Micros;

/// The largest number of jobs of a scheduler that have one number. A number has one or two; older ones are forgotten.
const JOBS_MAX: usize = 30;

/// The largest number of lists of nodes of a job. The nodes of a job that has more are not known.
const LISTS_MAX: usize = 30;

/// A run of a job that has begun, as accounting has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Run {
    /// The scheduler.
    pub scheduler: String,
    /// The job as users type it.
    pub label: String,
    /// The time of submission.
    pub submitted: Option<Micros>,
    /// The start.
    pub started: Micros,
    /// The end; `None` if unknown.
    pub ended: Option<Micros>,
    /// The time of the latest text that names the run.
    pub updated: Micros,
    /// The state in the words of the scheduler.
    pub state: Option<String>,
    /// The nodes, as the scheduler printed them.
    pub node_list: Option<String>,
    /// The other values.
    #[serde(flatten)]
    pub values: Values,
}

/// The values of a run that a job has if all its runs agree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Values {
    /// The user.
    #[serde(flatten)]
    pub owner: Owner,
    /// The number of the group.
    pub gid: Option<i64>,
    /// The name of the group.
    pub group_name: Option<String>,
    /// The account or project.
    pub account: Option<String>,
    /// The partition or queue.
    pub partition: Option<String>,
    /// The quality of service.
    pub qos: Option<String>,
    /// The name of the job.
    pub job_name: Option<String>,
    /// The array that the run is an element of, or else the number of the job.
    pub job_group: Option<String>,
    /// The number of nodes.
    pub nodes: Option<i64>,
    /// The number of processors.
    pub cpus: Option<i64>,
}

impl Values {
    /// The columns of values that runs, jobs and their summaries have in common, with their types.
    pub const COLUMNS: [(&'static str, &'static str); 8] = [
        ("uid", "bigint"),
        ("user_name", "text"),
        ("gid", "bigint"),
        ("group_name", "text"),
        ("account", "text"),
        ("partition", "text"),
        ("qos", "text"),
        ("job_name", "text"),
    ];

    /// Forgets the values in which a further run does not agree.
    fn agree(&mut self, other: &Self) {
        agree(&mut self.gid, &other.gid);
        agree(&mut self.group_name, &other.group_name);
        agree(&mut self.account, &other.account);
        agree(&mut self.partition, &other.partition);
        agree(&mut self.qos, &other.qos);
        agree(&mut self.job_name, &other.job_name);
        agree(&mut self.job_group, &other.job_group);
        agree(&mut self.nodes, &other.nodes);
        agree(&mut self.cpus, &other.cpus);
    }
}

fn agree<T: PartialEq>(value: &mut Option<T>, other: &Option<T>) {
    if value != other {
        *value = None;
    }
}

/// The user of a job, of whom some schedulers print only the number and others only the name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Owner {
    /// The number.
    pub uid: Option<i64>,
    /// The name.
    pub user_name: Option<String>,
}

impl Owner {
    /// Returns whether the user is known at all.
    pub fn is_known(&self) -> bool {
        self.uid.is_some() || self.user_name.is_some()
    }

    /// Returns whether both are certainly the same user.
    pub fn is(&self, other: &Self) -> bool {
        self.compare(other) == Some(true)
    }

    /// Returns whether both can be the same user.
    pub fn can_be(&self, other: &Self) -> bool {
        self.compare(other) != Some(false)
    }

    /// Compares the numbers, or else the names; `None` if the two have neither in common.
    fn compare(&self, other: &Self) -> Option<bool> {
        let same = |(one, other)| one == other;
        let by_number = self.uid.zip(other.uid).map(same);
        by_number.or_else(|| Some(self.user_name.as_ref()? == other.user_name.as_ref()?))
    }

    /// Adds the values that another text has of the same user.
    fn learn(&mut self, other: &Self) {
        self.uid = self.uid.or(other.uid);
        if self.user_name.is_none() {
            self.user_name.clone_from(&other.user_name);
        }
    }
}

/// A job: the runs and array elements of one user that a scheduler shows under one number, less than seven days apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Job {
    /// The scheduler.
    pub scheduler: String,
    /// The job as users type it; `None` if its runs have different labels.
    pub label: Option<String>,
    /// The number of runs.
    pub runs: i64,
    /// The time of the first submission.
    pub submitted: Option<Micros>,
    /// The start of the first run.
    pub started: Micros,
    /// The end of the last run; `None` if one is still running.
    pub ended: Option<Micros>,
    /// The start of the last run.
    pub last_started: Micros,
    /// The state of the last run.
    pub state: Option<String>,
    /// The values in which all runs agree.
    #[serde(flatten)]
    pub values: Values,
    /// The times at which it ran, in order and apart from each other. The last one has no end if it is still running.
    #[serde(skip)]
    pub ran: Vec<(Micros, Option<Micros>)>,
    /// The time up to which it is known to have run.
    #[serde(skip)]
    known: Micros,
    /// The lists of the nodes of its runs; `None` if they are not known, or too many.
    #[serde(skip)]
    node_lists: Option<Vec<String>>,
}

impl Job {
    fn new(run: Run, newest: Micros) -> Self {
        let ended = end(&run, newest);
        Self {
            known: ended.unwrap_or(run.updated).max(run.started),
            ran: vec![(run.started, ended)],
            scheduler: run.scheduler,
            label: Some(run.label),
            runs: 1,
            submitted: run.submitted,
            started: run.started,
            ended,
            last_started: run.started,
            state: run.state,
            values: run.values,
            node_lists: run.node_list.map(|list| vec![list]),
        }
    }

    /// Returns whether a run was on a node; `None` if that is unknown.
    pub fn ran_on(&self, node: &str) -> Option<bool> {
        let mut lists = self.node_lists.as_ref()?.iter();
        lists.try_fold(false, |found, list| {
            Some(found || contains(list, short(node))?)
        })
    }

    /// Returns whether a run that begins later than all others is one of this job.
    fn has(&self, run: &Run) -> bool {
        self.scheduler == run.scheduler
            && self.values.owner.can_be(&run.values.owner)
            && run.started.saturating_sub(self.known) < APART
    }

    /// Adds a run that begins later than all others.
    fn add(&mut self, run: Run, newest: Micros) {
        let ended = end(&run, newest);
        self.known = self.known.max(ended.unwrap_or(run.updated));
        agree(&mut self.label, &Some(run.label));
        self.runs += 1;
        self.submitted = self.submitted.into_iter().chain(run.submitted).min();
        self.ended = self.ended.zip(ended).map(|(one, other)| one.max(other));
        self.last_started = run.started;
        self.state = run.state;
        let lists = self.node_lists.take().zip(run.node_list);
        let lists = lists.map(|(mut lists, list)| {
            if !lists.contains(&list) {
                lists.push(list);
            }
            lists
        });
        self.node_lists = lists.filter(|lists| lists.len() <= LISTS_MAX);
        self.values.owner.learn(&run.values.owner);
        self.values.agree(&run.values);
        match self.ran.last_mut() {
            Some((_, until)) if until.is_none_or(|until| run.started <= until) => {
                *until = until.zip(ended).map(|(one, other)| one.max(other));
            }
            _ => self.ran.push((run.started, ended)),
        }
    }
}

/// Returns the end of a run; `None` if it is still running. `newest` is the time of the newest text.
pub fn end(run: &Run, newest: Micros) -> Option<Micros> {
    let is_lost = newest.saturating_sub(run.updated) > LOST;
    let ended = run.ended.or(is_lost.then_some(run.updated));
    ended.map(|ended| ended.max(run.started))
}

/// Adds a run to the jobs of its number. Runs come in the order of their starts. `newest` is the time of the newest text of the
/// accounting of its scheduler.
pub fn add(run: Run, jobs: &mut Vec<Job>, newest: Micros) {
    if let Some(job) = jobs.iter_mut().rev().find(|job| job.has(&run)) {
        job.add(run, newest);
        return;
    }
    let is_of_scheduler = |job: &Job| job.scheduler == run.scheduler;
    if jobs.iter().filter(|job| is_of_scheduler(job)).count() >= JOBS_MAX {
        jobs.iter()
            .position(is_of_scheduler)
            .map(|oldest| jobs.remove(oldest));
    }
    jobs.push(Job::new(run, newest));
}
