//! Grid Engine: the file accounting, with a line for each finished job. The form is Univa 8.6.2's, with 55 fields and milliseconds.

use std::io::{self, Write};

use crate::jobs::{JobsRow, Outcome, Phase, Query, Run, Scheduler, Site};
use crate::time::{Nanos, SECOND, shown};

/// The resolution of times.
const MILLISECOND: Nanos = SECOND / 1_000;

pub static GRID_ENGINE: Scheduler = Scheduler {
    name: "gridengine",
    about: "Univa Grid Engine: accounting",
    odd_names: &[
        (b"a:b", "delimiter"),
        (b"work:12:x", "delimiters"),
        (b"two words", "blank"),
        (b"caf\xe9", "not UTF-8"),
        (b"#comment", "comment sign"),
    ],
    grain: MILLISECOND,
    label: |_, run| run.element_or_number(|array, index| format!("{array}.{index}")),
    is_file: true,
    has_line: |_, phase| phase == Phase::Ended,
    write,
    row: |shown| {
        let row = JobsRow::new(shown);
        let run = shown.run;
        JobsRow {
            ended: row.ended.filter(|_| run.started.is_some()),
            group_name: Some(&run.owner(shown.site).group),
            partition: Some(format!("{}.q", run.partition)),
            // Only the first node is named, even of a job that never began.
            nodes: (run.nodes == 1).then_some(1),
            node_list: (run.nodes == 1).then(|| run.node(0)),
            exit_code: shown.end().map(|_| exit_status(run).to_string()),
            ..row
        }
    },
    ..Scheduler::DEFAULT
};

/// Writes the head of the file and the lines of jobs.
fn write(site: &Site, query: Query, runs: &[Run], out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "# Version: 8.6.2\n# \n# DO NOT MODIFY THIS FILE MANUALLY!\n# \n"
    )?;
    for shown in site.shown(query, runs) {
        let run = shown.run;
        line(site, run, 0, "NONE", out)?;
        if run.nodes > 1 && run.started.is_some() && run.seed.of("slaves", &[]).chance(0.3) {
            for rank in 1..run.nodes {
                let task = format!("{rank}.{}", run.node(rank));
                line(site, run, rank, &task, out)?;
            }
        }
    }
    Ok(())
}

/// Writes the line of a job, or of one of the tasks that a parallel job started on other nodes.
fn line(site: &Site, run: &Run, rank: u64, task: &str, out: &mut dyn Write) -> io::Result<()> {
    let owner = run.owner(site);
    let time = |time: Option<Nanos>| time.map_or(0, |time| shown(time).div_euclid(MILLISECOND));
    let ended = run.started.map(|_| run.ended);
    let length = run
        .started
        .map_or(0.0, |started| (run.ended - started) as f64 / 1e9);
    write!(
        out,
        "{}.q:{}:{}:{}:",
        run.partition,
        run.node(rank),
        owner.group,
        owner.name
    )?;
    out.write_all(&run.name.bytes())?;
    write!(
        out,
        ":{}:sge:0:{}:{}:{}:{}:{}:{length:.3}:{length:.3}:0.013:8236:0:0:0:0:1523:3:0:400:0:0:0:0:48:42",
        run.number,
        time(Some(run.submitted)),
        time(run.started),
        time(ended),
        failed(run),
        exit_status(run),
    )?;
    write!(
        out,
        ":{}:defaultdepartment:{}:{}:{}:{length:.3}:2.964792:0.000025:-l h_rt=180300:0.000000:{task}:143335424:0:0",
        run.account_name(site),
        if run.nodes > 1 { "mpi" } else { "NONE" },
        run.cpus,
        run.index(),
    )?;
    // The command may hold colons.
    let command = if run.number.is_multiple_of(50) {
        "qsub -o host:/tmp/out run.sh"
    } else {
        "qsub run.sh"
    };
    writeln!(
        out,
        ":NONE:NONE:0:0:login1:NONE:{command}:{length:.6}:76:NONE"
    )
}

/// Returns the reason why Grid Engine could not run the job to its end; 0 if it could.
fn failed(run: &Run) -> u32 {
    match run.outcome {
        _ if run.started.is_none() => 100,
        Outcome::Requeued => 25,
        Outcome::NodeFail => 22,
        Outcome::Timeout | Outcome::Cancelled | Outcome::OutOfMemory => 100,
        Outcome::Completed | Outcome::Failed(_) => 0,
    }
}

fn exit_status(run: &Run) -> u32 {
    match run.outcome {
        Outcome::Completed => 0,
        Outcome::Failed(code) => code.into(),
        Outcome::Requeued => 99,
        _ => 137,
    }
}
