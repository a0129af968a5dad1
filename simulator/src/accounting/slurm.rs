//! The output of `sacct`.
//!
//! The current form is that of the command line in the documentation: epoch seconds, the unit separator between fields,
//! the job's name last, and jobs only that ran in the window. The old form is what `sacct -a -p` prints: bars between and
//! behind fields, local times without a zone, the steps of jobs, and everything that waits.

use std::io::{self, Write};

use crate::time::{self, Nanos};

use crate::accounting::calls::Call;
use crate::accounting::known::Phase;
use crate::accounting::text::{Shown, clock, seconds};
use crate::jobs::job::{Outcome, Run};
use crate::jobs::{CLUSTERS, Site, nodes};

const COLUMNS: [&str; 19] = [
    "JobIDRaw",
    "JobID",
    "Cluster",
    "Submit",
    "Start",
    "End",
    "UID",
    "User",
    "GID",
    "Group",
    "Account",
    "Partition",
    "QOS",
    "State",
    "ExitCode",
    "NNodes",
    "NCPUS",
    "JobName",
    "NodeList",
];
const OLD_COLUMNS: [&str; 18] = [
    "JobID",
    "JobIDRaw",
    "User",
    "UID",
    "Group",
    "Account",
    "JobName",
    "Partition",
    "QOS",
    "Submit",
    "Start",
    "End",
    "Elapsed",
    "State",
    "ExitCode",
    "NNodes",
    "NCPUS",
    "NodeList",
];

/// Writes the output of `sacct`.
pub fn write(site: &Site, call: Call, shown: &[Shown], out: &mut impl Write) -> io::Result<()> {
    if site.old {
        return old(site, call, shown, out);
    }
    writeln!(out, "{}", COLUMNS.join("\x1f"))?;
    for shown in shown {
        let run = shown.run;
        let owner = run.owner(site);
        let fields = [
            run.number.to_string(),
            run.label(site),
            CLUSTERS[run.cluster].to_owned(),
            seconds(run.submitted).to_string(),
            epoch(shown.start()),
            epoch(shown.end()),
            owner.uid.to_string(),
            owner.name.clone(),
            owner.gid.to_string(),
            owner.group.clone(),
            run.account_name(site).to_owned(),
            run.partition.to_owned(),
            QOS.to_owned(),
            state(site, shown),
            exit_code(shown),
            node_count(shown).to_string(),
            run.cpus.to_string(),
        ];
        write!(out, "{}\x1f", fields.join("\x1f"))?;
        out.write_all(&run.name.bytes())?;
        writeln!(out, "\x1f{}", node_list(shown))?;
    }
    Ok(())
}

/// The quality of service of all jobs.
pub const QOS: &str = "normal";

fn epoch(time: Option<Nanos>) -> String {
    time.map_or("Unknown".to_owned(), |time| seconds(time).to_string())
}

/// Returns the state of a run.
pub fn state(site: &Site, shown: &Shown) -> String {
    let word = match (shown.phase, shown.run.outcome) {
        (Phase::Pending, _) => "PENDING",
        (Phase::Running, _) => "RUNNING",
        (_, Outcome::Completed) => "COMPLETED",
        (_, Outcome::Failed(_)) => "FAILED",
        (_, Outcome::Timeout) => "TIMEOUT",
        (_, Outcome::NodeFail) => "NODE_FAIL",
        (_, Outcome::OutOfMemory) => "OUT_OF_MEMORY",
        (_, Outcome::Requeued) => "REQUEUED",
        (_, Outcome::Cancelled) => return format!("CANCELLED by {}", shown.run.owner(site).uid),
    };
    word.to_owned()
}

/// Returns the exit code and the signal.
pub fn exit_code(shown: &Shown) -> String {
    match (shown.phase, shown.run.outcome) {
        (Phase::Ended, Outcome::Failed(code)) => format!("{code}:0"),
        (Phase::Ended, Outcome::OutOfMemory) => "0:125".to_owned(),
        (Phase::Ended, Outcome::Cancelled) if shown.run.started.is_some() => "0:15".to_owned(),
        _ => "0:0".to_owned(),
    }
}

/// Returns the number of nodes; a job that never began has none.
pub fn node_count(shown: &Shown) -> u64 {
    if shown.phase == Phase::Ended && shown.run.started.is_none() {
        0
    } else {
        shown.run.nodes
    }
}

/// Returns the list of nodes.
pub fn node_list(shown: &Shown) -> String {
    match shown.start() {
        Some(_) => nodes::hostlist(shown.run.cluster, shown.run.first_node, shown.run.nodes),
        None => "None assigned".to_owned(),
    }
}

fn old(site: &Site, call: Call, shown: &[Shown], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}|", OLD_COLUMNS.join("|"))?;
    let of_one_array =
        |a: &Shown, b: &Shown| a.run.element.is_some() && a.run.parent() == b.run.parent();
    for jobs in shown.chunk_by(of_one_array) {
        let waits = |shown: &&Shown| shown.phase == Phase::Pending && shown.run.element.is_some();
        if let Some(first) = jobs.iter().find(waits) {
            let array = first.run.parent().unwrap_or(first.run.number);
            let indices = jobs
                .iter()
                .filter(waits)
                .map(|shown| index(shown.run))
                .collect();
            let label = format!("{array}_[{}%2]", ranges(indices));
            old_row(site, call, first, &label, array, out)?;
        }
        for shown in jobs.iter().filter(|shown| !waits(shown)) {
            old_row(
                site,
                call,
                shown,
                &shown.run.label(site),
                shown.run.number,
                out,
            )?;
            if shown.start().is_some() {
                steps(site, call, shown, out)?;
            }
        }
    }
    Ok(())
}

fn index(run: &Run) -> u64 {
    run.element.map_or(0, |element| element.index)
}

/// Returns indices as Slurm writes those of an array, for example `1-3,7`.
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

fn local(time: Option<Nanos>) -> String {
    time.map_or("Unknown".to_owned(), |time| {
        time::timestamp(time)
            .strftime("%Y-%m-%dT%H:%M:%S")
            .to_string()
    })
}

fn old_row(
    site: &Site,
    call: Call,
    shown: &Shown,
    label: &str,
    number: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    let run = shown.run;
    let owner = run.owner(site);
    let account = run.account_name(site);
    write!(
        out,
        "{label}|{number}|{}|{}|{}|{account}|",
        owner.name, owner.uid, owner.group
    )?;
    out.write_all(&run.name.bytes())?;
    writeln!(
        out,
        "|{}|{QOS}|{}|{}|{}|{}|{}|{}|{}|{}|{}|",
        run.partition,
        local(Some(run.submitted)),
        local(shown.start()),
        local(shown.end()),
        elapsed(call, shown),
        state(site, shown),
        exit_code(shown),
        node_count(shown),
        run.cpus,
        node_list(shown),
    )
}

fn elapsed(call: Call, shown: &Shown) -> String {
    let until = shown.end().unwrap_or(call.time);
    let length = shown.start().map_or(0, |start| until - start);
    match length / time::DAY {
        0 => clock(length),
        days => format!("{days}-{}", clock(length - days * time::DAY)),
    }
}

/// Writes the rows of the steps, which have no user, group, partition or quality of service.
fn steps(site: &Site, call: Call, shown: &Shown, out: &mut impl Write) -> io::Result<()> {
    let run = shown.run;
    for (step, name) in [("batch", "batch"), ("extern", "extern"), ("0", "orted")] {
        writeln!(
            out,
            "{}.{step}|{}.{step}||||{}|{name}|||{}|{}|{}|{}|{}|{}|{}|{}|{}|",
            run.label(site),
            run.number,
            run.account_name(site),
            local(shown.start()),
            local(shown.start()),
            local(shown.end()),
            elapsed(call, shown),
            if shown.phase == Phase::Ended {
                "COMPLETED"
            } else {
                "RUNNING"
            },
            exit_code(shown),
            run.nodes,
            run.cpus,
            node_list(shown),
        )?;
    }
    Ok(())
}
