//! LSF: the file lsb.acct of release 10, with a line for each finished job.

use std::io::{self, Write};

use crate::accounting::seconds;
use crate::jobs::{JobsRow, Outcome, Phase, Query, Run, Scheduler, Site};
use crate::lustre::identifier::text;

pub static LSF: Scheduler = Scheduler {
    name: "lsf",
    about: "IBM Spectrum LSF: lsb.acct",
    odd_names: &[
        (b"say \"hi\"", "quotes"),
        (b"two\nlines", "newline"),
        (b"two words", "blank"),
        (b"caf\xe9", "not UTF-8"),
        (b"\"\" 1 2 3", "looks like fields"),
    ],
    label: |_, run| run.element_or_number(|array, index| format!("{array}[{index}]")),
    is_file: true,
    // There is a line for the last run only.
    has_line: |run, phase| phase == Phase::Ended && run.outcome != Outcome::Requeued,
    write,
    row: |shown| JobsRow {
        uid: Some(shown.run.owner(shown.site).uid),
        job_name: Some(text(&job_name(shown.run))),
        state: Some(match shown.run.outcome {
            Outcome::Completed => "DONE".to_owned(),
            _ => "EXIT".to_owned(),
        }),
        nodes: shown.run.started.map(|_| shown.run.nodes),
        node_list: shown.start().map(|_| shown.run.each_node(",", |node| node)),
        exit_code: shown.end().map(|_| exit_status(shown.run).to_string()),
        ..JobsRow::new(shown)
    },
    ..Scheduler::DEFAULT
};

/// Writes the lines of jobs, and now and then one of another type.
fn write(site: &Site, query: Query, runs: &[Run], out: &mut dyn Write) -> io::Result<()> {
    for (number, shown) in site.shown(query, runs).iter().enumerate() {
        out.write_all(&finished(site, shown.run))?;
        let time = seconds(shown.run.ended);
        match number % 100 {
            33 => writeln!(out, "\"EVENT_ADRSV_FINISH\" \"10.1\" {time} 1 2 3 4")?,
            66 => writeln!(
                out,
                "\"JOB_RESIZE\" \"10.1\" {time} {} 0 {time} 1 0 2 \"{}\" 0 \"\"",
                shown.run.number,
                shown.run.node(0)
            )?,
            _ => (),
        }
    }
    Ok(())
}

fn finished(site: &Site, run: &Run) -> Vec<u8> {
    let owner = run.owner(site);
    let started = run.started.map_or(0, seconds);
    let (submitted, ended) = (seconds(run.submitted), seconds(run.ended));
    let mut line = format!(
        "\"JOB_FINISH\" \"10.1\" {ended} {} {} 33816691 {} {submitted} 0 0 {started} \"{}\" \"{}\" \"type == any\" \"\" \
         \"\" \"login1\" \"work\" \"\" \"out.%J\" \"err.%J\" \"{submitted}.{}\" 0 {} {} 60.0 ",
        run.number,
        owner.uid,
        run.cpus,
        owner.name,
        run.partition,
        run.number,
        hosts(run),
        if run.outcome == Outcome::Completed { 64 } else { 32 },
    )
    .into_bytes();
    line.extend(quoted(&job_name(run)));
    line.extend(b" \"#!/bin/bash;#BSUB -n 1;echo \"\"hello\"\";./a.out\" ");
    line.extend(tail(site, run).bytes());
    line
}

/// Returns the rest of the line behind the command: the usage of resources, among others.
fn tail(site: &Site, run: &Run) -> String {
    let index = run.index();
    format!(
        "{}.5 8.25 5296 0 -1 0 0 26452 0 0 0 16 -1 0 0 0 242 171 -1 \"\" \"{}\" {} {} \"/bin/bash\" \"\" {index} 5296 \
         1495304 \"\" \"\" \"\" \"\" 0 \"\" {} \"\" -1 \"/{}\" \"\" \"default\" \"\" -1 \"\" \"\" 6160 \"\" {} \"\" \"\" 0 \
         0 -1 0 441780 \"select[ type == any] order[-ut] \" \"\" -1 \"\" -1 0 \"\" 0 0 \"\" 25 \"\" 0 \"\"\n",
        run.seed.below(10_000),
        run.account_name(site),
        exit_status(run),
        run.cpus,
        exit_info(run),
        run.owner(site).name,
        run.started.map_or(0, seconds),
    )
}

/// Returns the counts and names of the requested hosts and of the execution hosts.
fn hosts(run: &Run) -> String {
    if run.started.is_none() {
        return "0".to_owned();
    }
    let slots = run.cpus / run.nodes;
    let hosts = run.each_node(" ", |node| format!("\"{slots}*{node}\""));
    format!("{} {hosts}", run.nodes)
}

/// Returns the name of a job; for an array the indices follow it.
fn job_name(run: &Run) -> Vec<u8> {
    let mut name = run.name.bytes();
    if let Some(element) = run.element {
        name.extend(format!("[1-{}]", element.size).bytes());
    }
    name
}

/// Returns a text in quotes; those in it are doubled.
fn quoted(text: &[u8]) -> Vec<u8> {
    let parts: Vec<_> = text.split(|byte| *byte == b'"').collect();
    [b"\"", &parts.join(&b"\"\""[..])[..], b"\""].concat()
}

/// Returns the raw exit status, as wait returns it.
fn exit_status(run: &Run) -> u32 {
    match run.outcome {
        Outcome::Completed => 0,
        Outcome::Failed(code) => u32::from(code) << 8,
        Outcome::OutOfMemory => 9,
        Outcome::Timeout => 140 << 8,
        Outcome::Cancelled | Outcome::NodeFail | Outcome::Requeued => 130 << 8,
    }
}

/// Returns the reason why LSF ended the job; 0 if it did not.
fn exit_info(run: &Run) -> u32 {
    match run.outcome {
        Outcome::Timeout => 5,
        Outcome::OutOfMemory => 16,
        Outcome::Cancelled => 14,
        _ => 0,
    }
}
