//! Slurm: the output of `sacct`.
//!
//! The form is from the command line in the documentation: epoch seconds, the unit separator between fields, the job's name near the end,
//! and only jobs that ran in the window.

use std::io::{self, Write};

use crate::accounting::seconds;
use crate::jobs::{CLUSTERS, JobRecord, JobsRow, Outcome, Phase, Query, Run, Scheduler, Site};
use crate::time::Nanos;

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
        gid: Some(shown.run.owner(shown.site).gid),
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

/// The columns.
const COLUMNS: &str = "JobIDRaw,JobID,Cluster,Submit,Start,End,UID,User,GID,Group,Account,Partition,QOS,State,ExitCode,\
                       NNodes,NCPUS,JobName,NodeList";

/// The unit separator, which is between columns.
const SEPARATOR: &str = "\x1f";

/// The quality of service of all jobs.
const QOS: &str = "normal";

fn write(site: &Site, query: Query, runs: &[Run], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.replace(',', SEPARATOR))?;
    for shown in site.shown(query, runs) {
        let (run, owner) = (shown.run, shown.run.owner(site));
        let time =
            |time: Option<Nanos>| time.map_or("Unknown".to_owned(), |it| seconds(it).to_string());
        let before_name = [
            run.number.to_string(),
            run.label(site),
            CLUSTERS[run.cluster].to_owned(),
            time(Some(run.submitted)),
            time(shown.start()),
            time(shown.end()),
            owner.uid.to_string(),
            owner.name.clone(),
            owner.gid.to_string(),
            owner.group.clone(),
            run.account_name(site).to_owned(),
            run.partition.to_owned(),
            QOS.to_owned(),
            state(&shown),
            exit_code(&shown),
            node_count(&shown).to_string(),
            run.cpus.to_string(),
        ];
        write!(out, "{}{SEPARATOR}", before_name.join(SEPARATOR))?;
        out.write_all(&run.name.bytes())?;
        writeln!(out, "{SEPARATOR}{}", node_list(&shown))?;
    }
    Ok(())
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
