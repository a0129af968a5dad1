//! Grid Engine's file accounting: a line for each job that is over. The current form is that of Univa 8.6.2 with 55 fields
//! and milliseconds, the old one that of Sun with 45 fields and seconds.

use std::io::{self, Write};

use crate::time::{Nanos, SECOND, shown};

use crate::accounting::text::{Shown, seconds};
use crate::jobs::Site;
use crate::jobs::job::{Outcome, Run};

/// Writes the head of the file and the lines of jobs.
pub fn write(site: &Site, shown: &[Shown], out: &mut impl Write) -> io::Result<()> {
    let version = if site.old { "6.2u5" } else { "8.6.2" };
    write!(
        out,
        "# Version: {version}\n# \n# DO NOT MODIFY THIS FILE MANUALLY!\n# \n"
    )?;
    for shown in shown {
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
fn line(site: &Site, run: &Run, rank: u64, task: &str, out: &mut impl Write) -> io::Result<()> {
    let owner = run.owner(site);
    let time = |time: Option<Nanos>| match time {
        None => 0,
        Some(time) if site.old => seconds(time),
        Some(time) => shown(time).div_euclid(SECOND / 1_000),
    };
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
        run.element.map_or(0, |element| element.index),
    )?;
    if site.old {
        return writeln!(out);
    }
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

/// Returns the exit status.
pub fn exit_status(run: &Run) -> u32 {
    match run.outcome {
        Outcome::Completed => 0,
        Outcome::Failed(code) => code.into(),
        Outcome::Requeued => 99,
        _ => 137,
    }
}
