//! Slurm: the output of `sacct`.
//!
//! The current form is from the command line in the documentation: epoch seconds, the unit separator between fields, the job's name last,
//! and only jobs that ran in the window. The old form is from `sacct -a -p`: bars between and behind fields, local times without a zone,
//! job steps, and all pending jobs.

use std::io::{self, Write};

use crate::accounting::{clock, seconds};
use crate::jobs::{
    CLUSTERS, JobRecord, JobsRow, Outcome, Phase, Query, Run, Scheduler, Site, of_one_array,
};
use crate::time::{self, Nanos};

pub static SLURM: Scheduler = Scheduler {
    name: "slurm",
    about: "Slurm: `sacct`",
    odd_names: &[
        (b"a|b|c", "bars"),
        (b"two\nlines", "newline"),
        (b"unit\x1fseparator", "delimiter"),
        (b"caf\xe9", "not UTF-8"),
        ("\u{6570}\u{5024}".as_bytes(), "not ASCII"),
        (b"two words", "blank"),
    ],
    lacks: &[],
    numbers_elements: true,
    resubmits: true,
    label: |_, run| match (run.element, run.component) {
        (Some(element), _) => format!("{}_{}", element.array, element.index),
        (_, Some(component)) => format!("{}+{component}", run.leader()),
        _ => run.number.to_string(),
    },
    write,
    row: |shown| JobsRow {
        uid: Some(shown.run.owner(shown.site).uid),
        gid: (!shown.site.old).then_some(shown.run.owner(shown.site).gid),
        group_name: Some(&shown.run.owner(shown.site).group),
        qos: Some(QOS),
        state: Some(state(shown)),
        nodes: Some(node_count(shown)),
        node_list: shown.start().map(|_| node_list(shown)),
        exit_code: Some(exit_code(shown).to_owned()),
        ..JobsRow::new(shown)
    },
    ..Scheduler::DEFAULT
};

/// The columns of the current and of the old form.
const COLUMNS: &str = "JobIDRaw,JobID,Cluster,Submit,Start,End,UID,User,GID,Group,Account,Partition,QOS,State,ExitCode,\
                       NNodes,NCPUS,JobName,NodeList";
const OLD_COLUMNS: &str = "JobID,JobIDRaw,User,UID,Group,Account,JobName,Partition,QOS,Submit,Start,End,Elapsed,State,\
                           ExitCode,NNodes,NCPUS,NodeList";

/// The quality of service of all jobs.
const QOS: &str = "normal";
/// The steps of each job that began, each with its name.
const STEPS: [(&str, &str); 3] = [("batch", "batch"), ("extern", "extern"), ("0", "orted")];

fn write(site: &Site, query: Query, runs: &[Run], out: &mut dyn Write) -> io::Result<()> {
    let (columns, separator, end) = match site.old {
        true => (OLD_COLUMNS, "|", "|"),
        false => (COLUMNS, "\x1f", ""),
    };
    let columns: Vec<&str> = columns.split(',').collect();
    writeln!(out, "{}{end}", columns.join(separator))?;
    let shown = site.shown(query, runs);
    let rows = match site.old {
        true => shown
            .chunk_by(|one, other| of_one_array(one.run, other.run))
            .flat_map(|jobs| old_rows(query, jobs))
            .collect(),
        false => shown
            .iter()
            .map(|shown| Row::new(query, shown))
            .collect::<Vec<_>>(),
    };
    for row in rows {
        let values = columns.iter().map(|column| row.value(column));
        out.write_all(&values.collect::<Vec<_>>().join(separator.as_bytes()))?;
        writeln!(out, "{end}")?;
    }
    Ok(())
}

/// Returns the rows of a job with its steps; for an array one row stands for all pending elements.
fn old_rows<'a>(query: Query, jobs: &'a [JobRecord<'a>]) -> Vec<Row<'a>> {
    let (waiting, others): (Vec<&JobRecord>, Vec<&JobRecord>) = jobs
        .iter()
        .partition(|shown| shown.phase == Phase::Pending && shown.run.element.is_some());
    let mut rows = Vec::new();
    if let Some(first) = waiting.first() {
        let array = first.run.parent().unwrap_or(first.run.number);
        let indices = waiting.iter().map(|shown| shown.run.index()).collect();
        rows.push(Row {
            id: format!("{array}_[{}%2]", ranges(indices)),
            number: array.to_string(),
            ..Row::new(query, first)
        });
    }
    for shown in others {
        let row = Row::new(query, shown);
        let steps = STEPS.iter().filter(|_| shown.start().is_some());
        let steps: Vec<_> = steps.map(|(step, name)| row.step(step, name)).collect();
        rows.push(row);
        rows.extend(steps);
    }
    rows
}

/// Returns array indices in Slurm's notation, for example `1-3,7`.
fn ranges(mut indices: Vec<u64>) -> String {
    indices.sort_unstable();
    let adjacent = indices.chunk_by(|a, b| a + 1 == *b);
    let ranges: Vec<_> = adjacent
        .map(|range| match range {
            [first, .., last] => format!("{first}-{last}"),
            [only] => only.to_string(),
            [] => String::new(),
        })
        .collect();
    ranges.join(",")
}

/// A row about a job or about one of its steps.
struct Row<'a> {
    query: Query,
    shown: &'a JobRecord<'a>,
    id: String,
    number: String,
    /// The name of the step.
    step: Option<&'static str>,
}

impl<'a> Row<'a> {
    fn new(query: Query, shown: &'a JobRecord<'a>) -> Self {
        Self {
            query,
            shown,
            id: shown.run.label(shown.site),
            number: shown.run.number.to_string(),
            step: None,
        }
    }

    fn step(&self, step: &str, name: &'static str) -> Self {
        Self {
            id: format!("{}.{step}", self.id),
            number: format!("{}.{step}", self.number),
            step: Some(name),
            ..*self
        }
    }

    fn value(&self, column: &str) -> Vec<u8> {
        let (shown, run) = (self.shown, self.shown.run);
        let owner = run.owner(shown.site);
        let text = match (column, self.step) {
            ("JobID", _) => self.id.clone(),
            ("JobIDRaw", _) => self.number.clone(),
            ("JobName", None) => return run.name.bytes(),
            ("JobName", Some(step)) => step.to_owned(),
            ("User" | "UID" | "Group" | "Partition" | "QOS", Some(_)) => String::new(),
            ("User", _) => owner.name.clone(),
            ("UID", _) => owner.uid.to_string(),
            ("Group", _) => owner.group.clone(),
            ("GID", _) => owner.gid.to_string(),
            ("Account", _) => run.account_name(shown.site).to_owned(),
            ("Partition", _) => run.partition.to_owned(),
            ("QOS", _) => QOS.to_owned(),
            ("Cluster", _) => CLUSTERS[run.cluster].to_owned(),
            ("Submit", None) => self.time(Some(run.submitted)),
            ("Submit" | "Start", _) => self.time(shown.start()),
            ("End", _) => self.time(shown.end()),
            ("Elapsed", _) => self.elapsed(),
            ("State", Some(_)) if shown.phase == Phase::Ended => "COMPLETED".to_owned(),
            ("State", _) => state(shown),
            ("ExitCode", _) => exit_code(shown),
            ("NNodes", _) => node_count(shown).to_string(),
            ("NCPUS", _) => run.cpus.to_string(),
            _ => node_list(shown),
        };
        text.into_bytes()
    }

    fn time(&self, time: Option<Nanos>) -> String {
        let local = |time| time::timestamp(time).strftime("%Y-%m-%dT%H:%M:%S");
        match time {
            None => "Unknown".to_owned(),
            Some(time) if self.shown.site.old => local(time).to_string(),
            Some(time) => seconds(time).to_string(),
        }
    }

    fn elapsed(&self) -> String {
        let until = self.shown.end().unwrap_or(self.query.time);
        let length = self.shown.start().map_or(0, |start| until - start);
        match length / time::DAY {
            0 => clock(length),
            days => format!("{days}-{}", clock(length - days * time::DAY)),
        }
    }
}

fn state(shown: &JobRecord) -> String {
    let word = match (shown.phase, shown.run.outcome) {
        (Phase::Pending, _) => "PENDING",
        (Phase::Running, _) => "RUNNING",
        (_, Outcome::Completed) => "COMPLETED",
        (_, Outcome::Failed(_)) => "FAILED",
        (_, Outcome::Timeout) => "TIMEOUT",
        (_, Outcome::NodeFail) => "NODE_FAIL",
        (_, Outcome::OutOfMemory) => "OUT_OF_MEMORY",
        (_, Outcome::Requeued) => "REQUEUED",
        (_, Outcome::Cancelled) => {
            return format!("CANCELLED by {}", shown.run.owner(shown.site).uid);
        }
    };
    word.to_owned()
}

/// Returns the exit code and the signal.
fn exit_code(shown: &JobRecord) -> String {
    match (shown.phase, shown.run.outcome) {
        (Phase::Ended, Outcome::Failed(code)) => format!("{code}:0"),
        (Phase::Ended, Outcome::OutOfMemory) => "0:125".to_owned(),
        (Phase::Ended, Outcome::Cancelled) if shown.run.started.is_some() => "0:15".to_owned(),
        _ => "0:0".to_owned(),
    }
}

/// Returns the number of nodes; zero for a job that never began.
fn node_count(shown: &JobRecord) -> u64 {
    let never_began = shown.phase == Phase::Ended && shown.run.started.is_none();
    if never_began { 0 } else { shown.run.nodes }
}

fn node_list(shown: &JobRecord) -> String {
    match shown.start() {
        Some(_) => shown.run.host_list(),
        None => "None assigned".to_owned(),
    }
}
