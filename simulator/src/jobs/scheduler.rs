//! The interface of a scheduler. Schedulers differ in the fields of [`Scheduler`] alone, so that each is one file in `accounting/`.

use std::io::{self, Write};

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::jobs::names::OddName;
use crate::jobs::{CLUSTERS, Run, Scenario, Site};
use crate::lustre::identifier::text;
use crate::time::{Nanos, SECOND, rfc3339};

/// A job scheduler: the names of its jobs, and the texts of its accounting.
#[derive(Debug)]
pub struct Scheduler {
    /// The name on the command line and in the table `jobs`.
    pub name: &'static str,
    /// The description on the command line.
    pub about: &'static str,
    /// The names of jobs that are hard to read in its texts.
    pub odd_names: &'static [OddName],
    /// The scenarios that its jobs cannot have.
    pub lacks: &'static [Scenario],
    /// True if each element of an array has a number, and not only the array.
    pub numbers_elements: bool,
    /// True if a requeue counts as a submission.
    pub resubmits: bool,
    /// The resolution of times in the texts.
    pub grain: Nanos,
    /// Returns the job as a reader of `job_stats` names it.
    pub job: fn(&Site, &Run) -> String,
    /// Returns the job as users type it.
    pub label: fn(&Site, &Run) -> String,
    /// Returns the content of the environment variable from which clients take `%j`.
    pub variable: fn(&Site, &Run) -> String,
    /// True if accounting is a file that grows, and false if it is the output of a command about a window.
    pub is_file: bool,
    /// True if the command lists all jobs, and not only jobs that ran.
    pub lists_all: bool,
    /// Returns true if the file gets a line when a run comes to a phase.
    pub has_line: fn(&Run, Phase) -> bool,
    /// Writes the text of a query about runs of one cluster, which are sorted by submission.
    pub write: fn(&Site, Query, &[Run], &mut dyn Write) -> io::Result<()>,
    /// Returns the row of the table `jobs` that the texts of a run give.
    pub row: for<'a> fn(&JobRecord<'a>) -> JobsRow<'a>,
}

impl Scheduler {
    /// A scheduler with a command that lists jobs that ran, by their numbers.
    pub const DEFAULT: Self = Self {
        name: "",
        about: "",
        odd_names: &[],
        lacks: &[Scenario::Het],
        numbers_elements: false,
        resubmits: false,
        grain: SECOND,
        job: |_, run| run.leader().to_string(),
        label: |site, run| run.job(site),
        variable: |site, run| run.job(site),
        is_file: false,
        lists_all: false,
        has_line: |_, _| false,
        write: |_, _, _, _| Ok(()),
        row: |shown| JobsRow::new(shown),
    };
}

/// The stage at which accounting has last seen a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Phase {
    Pending,
    Running,
    /// The run is over, or the job was cancelled before it began.
    Ended,
}

/// A query of accounting about the time from `since` to `time`; or, of a file that grows, about the lines written in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Query {
    /// The time of the query, which is the end of its window.
    pub time: Nanos,
    pub since: Nanos,
}

impl Query {
    /// Returns true if the window has the time. The end belongs to it, the start does not, so that no two queries of a file
    /// give the same line.
    pub fn contains(&self, time: Nanos) -> bool {
        self.since < time && time <= self.time
    }
}

/// A run in a text.
#[derive(Clone, Copy)]
pub struct JobRecord<'a> {
    pub site: &'a Site,
    pub run: &'a Run,
    /// The stage at which the text shows the run.
    pub phase: Phase,
    /// True if the texts have the line about the submission of the job, in a file that has such lines.
    pub has_submission: bool,
}

impl JobRecord<'_> {
    /// Returns the start if the text knows of it.
    pub fn start(&self) -> Option<Nanos> {
        self.run.started.filter(|_| self.phase >= Phase::Running)
    }

    /// Returns the end if the text knows of it.
    pub fn end(&self) -> Option<Nanos> {
        (self.phase == Phase::Ended).then_some(self.run.ended)
    }
}

/// A row of the table `jobs`. Fields that the texts lack are `None`.
#[derive(Debug, Default, Serialize)]
pub struct JobsRow<'a> {
    pub scheduler: &'static str,
    pub job: String,
    pub label: String,
    pub submitted: Option<String>,
    pub started: Option<String>,
    pub ended: Option<String>,
    pub uid: Option<u32>,
    pub user_name: Option<&'a str>,
    pub gid: Option<u32>,
    pub group_name: Option<&'a str>,
    pub account: Option<&'a str>,
    pub partition: Option<String>,
    pub qos: Option<&'static str>,
    pub job_name: Option<String>,
    pub state: Option<String>,
    pub nodes: Option<u64>,
    pub node_list: Option<String>,
    pub cpus: Option<u64>,
    pub exit_code: Option<String>,
    pub parent: Option<String>,
    pub source: &'static str,
}

impl<'a> JobsRow<'a> {
    /// Returns the fields that most schedulers' texts have in the same form.
    pub fn new(shown: &JobRecord<'a>) -> Self {
        let (site, run) = (shown.site, shown.run);
        Self {
            scheduler: CLUSTERS[run.cluster],
            job: run.job(site),
            label: run.label(site),
            submitted: Some(rfc3339(run.submitted)),
            started: shown.start().map(rfc3339),
            ended: shown.end().map(rfc3339),
            user_name: Some(&run.owner(site).name),
            account: Some(run.account_name(site)),
            partition: Some(run.partition.to_owned()),
            job_name: Some(text(&run.name.bytes())),
            nodes: Some(run.nodes),
            cpus: Some(run.cpus),
            parent: run.parent().map(|parent| parent.to_string()),
            source: site.scheduler.name,
            ..Self::default()
        }
    }
}
