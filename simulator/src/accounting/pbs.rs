//! The accounting files of OpenPBS, and in their old form those of Torque: a line for each thing that happens to a job.

use std::io::{self, Write};

use crate::time::{self, HOUR, Nanos, SECOND};

use crate::accounting::calls::Call;
use crate::accounting::known::Phase;
use crate::accounting::text::{clock, seconds};
use crate::jobs::job::{Outcome, Run};
use crate::jobs::{LONGEST_LIFE, Site, nodes};

/// A line of the file.
struct Line<'a> {
    /// The time at which the line is written, and the time that it shows.
    written: Nanos,
    time: Nanos,
    number: u64,
    what: What<'a>,
}

enum What<'a> {
    Queued(&'a Run),
    Started(&'a Run),
    Deleted(&'a Run),
    Ended(&'a Run),
    /// An array as a whole is queued or over.
    ArrayQueued(&'a Run),
    ArrayEnded(&'a Run),
    Licences,
}

/// Writes the lines that the files get in the window of a call.
pub fn write(site: &Site, call: Call, runs: &[Run], out: &mut impl Write) -> io::Result<()> {
    let mut lines = Vec::new();
    for run in runs {
        lines_of_run(site, run, &mut lines);
    }
    lines_of_arrays(site, runs, &mut lines);
    let hours = call.since.div_euclid(HOUR) + 1..=call.time.div_euclid(HOUR);
    lines.extend(hours.map(|hour| Line {
        written: hour * HOUR,
        time: hour * HOUR,
        number: 0,
        what: What::Licences,
    }));
    lines.retain(|line| call.contains(line.written));
    lines.sort_by_key(|line| (line.written, line.time, line.number));
    for line in lines {
        line.write(site, out)?;
    }
    Ok(())
}

fn lines_of_run<'a>(site: &Site, run: &'a Run, lines: &mut Vec<Line<'a>>) {
    let mut add = |phase, time, what| {
        if let Some(written) = site.written(run, phase) {
            lines.push(Line {
                written,
                time,
                number: run.number,
                what,
            });
        }
    };
    add(Phase::Pending, run.submitted, What::Queued(run));
    if let Some(started) = run.started {
        add(Phase::Running, started, What::Started(run));
    }
    if run.outcome == Outcome::Cancelled {
        add(Phase::Ended, run.ended, What::Deleted(run));
    }
    if run.started.is_some() {
        add(Phase::Ended, run.ended, What::Ended(run));
    }
}

fn lines_of_arrays<'a>(site: &Site, runs: &'a [Run], lines: &mut Vec<Line<'a>>) {
    let arrays = runs.chunk_by(|a, b| a.element.is_some() && a.parent() == b.parent());
    for elements in arrays.filter(|elements| elements[0].element.is_some()) {
        let Some(last) = elements.iter().max_by_key(|run| run.ended) else {
            continue;
        };
        let ends = [
            (elements[0].submitted, What::ArrayQueued(&elements[0])),
            (last.ended, What::ArrayEnded(last)),
        ];
        lines.extend(ends.map(|(time, what)| Line {
            written: site.learns(last.cluster, time),
            time,
            number: last.number,
            what,
        }));
    }
}

impl Line<'_> {
    fn write(&self, site: &Site, out: &mut impl Write) -> io::Result<()> {
        let time = time::timestamp(self.time)
            .strftime("%m/%d/%Y %H:%M:%S")
            .to_string();
        let mut head = |letter, id: &str| write!(out, "{time};{letter};{id};");
        match self.what {
            What::Licences => {
                head('L', "license")?;
                writeln!(out, "floating license hour:0 day:0 month:0 max:0")
            }
            What::Queued(run) => {
                head('Q', &run.pbs_id(site))?;
                if site.old {
                    return writeln!(out, "queue={}", run.partition);
                }
                submission(site, run, out)?;
                resources(run, out)?;
                writeln!(out)
            }
            What::ArrayQueued(run) => {
                head('Q', &run.pbs_array_id())?;
                submission(site, run, out)?;
                let size = run.element.map_or(1, |element| element.size);
                writeln!(out, " array_indices=1-{size}")
            }
            What::Started(run) => {
                head('S', &run.pbs_id(site))?;
                began(site, run, out)?;
                writeln!(out)
            }
            What::Deleted(run) => {
                head('D', &run.pbs_id(site))?;
                let key = if site.old { "" } else { "requestor=" };
                writeln!(out, "{key}{}@login1", run.owner(site).name)
            }
            What::Ended(run) => {
                // OpenPBS says that a job runs again; Torque says that it ended.
                let again = run.outcome == Outcome::Requeued && !site.old;
                head(if again { 'R' } else { 'E' }, &run.pbs_id(site))?;
                began(site, run, out)?;
                ended(site, run, out)
            }
            What::ArrayEnded(run) => {
                head('E', &run.pbs_array_id())?;
                submission(site, run, out)?;
                writeln!(out, " end={} Exit_status=0", seconds(run.ended))
            }
        }
    }
}

fn submission(site: &Site, run: &Run, out: &mut impl Write) -> io::Result<()> {
    let owner = run.owner(site);
    let account = run.account_name(site);
    if site.old {
        write!(
            out,
            "user={} group={} account={account}",
            owner.name, owner.group
        )?;
    } else {
        write!(
            out,
            "user={} group={} account=\"{account}\" project=_pbs_project_default",
            owner.name, owner.group
        )?;
    }
    write!(out, " jobname=")?;
    out.write_all(&run.name.bytes())?;
    let submitted = seconds(run.submitted);
    write!(
        out,
        " queue={} ctime={submitted} qtime={submitted} etime={submitted}",
        run.partition
    )
}

fn resources(run: &Run, out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        " Resource_List.ncpus={} Resource_List.nodect={} Resource_List.place=free Resource_List.walltime={}",
        run.cpus,
        run.nodes,
        clock(LONGEST_LIFE)
    )
}

fn began(site: &Site, run: &Run, out: &mut impl Write) -> io::Result<()> {
    submission(site, run, out)?;
    let hosts = exec_host(site, run);
    write!(out, " start={}", seconds(run.started.unwrap_or_default()))?;
    if site.old {
        write!(
            out,
            " owner={}@login1 exec_host={hosts}",
            run.owner(site).name
        )?;
    } else {
        let cpus = run.cpus / run.nodes;
        let chunk = |node| format!("({node}:ncpus={cpus})");
        let chunks = nodes::each(run.cluster, run.first_node, run.nodes, "+", chunk);
        write!(out, " exec_host={hosts} exec_vnode={chunks}")?;
    }
    resources(run, out)
}

/// Returns the nodes of a run with the processors on each, as the release writes them.
fn exec_host(site: &Site, run: &Run) -> String {
    let cpus = run.cpus / run.nodes;
    let slots = match (site.old, cpus) {
        (true, 1) => "0".to_owned(),
        (true, _) => format!("0-{}", cpus - 1),
        (false, _) => format!("0*{cpus}"),
    };
    let host = |node| format!("{node}/{slots}");
    nodes::each(run.cluster, run.first_node, run.nodes, "+", host)
}

fn ended(site: &Site, run: &Run, out: &mut impl Write) -> io::Result<()> {
    let length = run.ended - run.started.unwrap_or(run.ended);
    // Torque prints processor time as a clock or in seconds, depending on the release.
    let cput = if site.old && run.number.is_multiple_of(2) {
        length.div_euclid(SECOND).to_string()
    } else {
        clock(length)
    };
    write!(
        out,
        " session={} end={} Exit_status={} resources_used.cput={cput} resources_used.mem={}kb resources_used.walltime={}",
        1_000 + run.seed.below(30_000),
        seconds(run.ended),
        exit_status(run),
        run.seed.of("memory", &[]).below(4_000_000),
        clock(length),
    )?;
    if !site.old {
        write!(out, " run_count={}", run.attempt)?;
    }
    writeln!(out)
}

/// Returns the exit status; 256 and more is a signal.
pub fn exit_status(run: &Run) -> i32 {
    match run.outcome {
        Outcome::Completed => 0,
        Outcome::Failed(code) => code.into(),
        Outcome::Timeout | Outcome::Cancelled => 271,
        Outcome::NodeFail | Outcome::Requeued => -11,
        Outcome::OutOfMemory => 265,
    }
}
