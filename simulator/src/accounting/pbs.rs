//! PBS: the accounting files of OpenPBS, with a line for each event of a job.

use std::io::{self, Write};

use crate::accounting::knowledge::OUTAGE;
use crate::accounting::{clock, seconds};
use crate::jobs::{
    JobRecord, JobsRow, LONGEST_LIFE, Outcome, Phase, Query, Run, Scheduler, Site, of_one_array,
};
use crate::time::{self, HOUR, Nanos};

pub static PBS: Scheduler = Scheduler {
    name: "pbs",
    about: "OpenPBS: accounting files",
    odd_names: &[
        (b"my run", "blank"),
        (b"a=b", "equals sign"),
        (b"first x=1 last", "looks like a key"),
        (b"semi;colon", "delimiter"),
        (b"caf\xe9", "not UTF-8"),
        ("\u{fc}ber".as_bytes(), "not ASCII"),
    ],
    job: |_, run| run.element_or_number(|array, index| format!("{array}[{index}]")),
    variable: |site, run| format!("{}.{}", run.job(site), SERVERS[run.cluster]),
    is_file: true,
    has_line: |run, phase| phase != Phase::Pending || (run.attempt == 1 && run.element.is_none()),
    write,
    row,
    ..Scheduler::DEFAULT
};

/// The names of servers; the second is so long that identifiers are cut.
const SERVERS: [&str; 2] = ["pbs1", "headnode.beta.example.org"];

/// Returns the row of the table `jobs`. Lines about a deleted job have no user.
fn row<'a>(shown: &JobRecord<'a>) -> JobsRow<'a> {
    let (site, run) = (shown.site, shown.run);
    let began = run.started.is_some();
    let row = JobsRow::new(shown);
    let row = JobsRow {
        // There is no line about the end of a job that never began.
        ended: row.ended.filter(|_| began),
        group_name: Some(&run.owner(site).group),
        // PBS has no states: the manual has these names for the types of lines.
        state: Some(match shown.phase {
            Phase::Pending => "queued".to_owned(),
            Phase::Running => "started".to_owned(),
            Phase::Ended if !began => "deleted".to_owned(),
            Phase::Ended if runs_again(run) => "rerun".to_owned(),
            Phase::Ended => "ended".to_owned(),
        }),
        node_list: shown.start().map(|_| run.each_node(",", |node| node)),
        exit_code: shown
            .end()
            .and(run.started)
            .map(|_| exit_status(run).to_string()),
        parent: run.parent().map(|parent| format!("{parent}[]")),
        ..row
    };
    if shown.start().is_some() || shown.has_submission {
        return row;
    }
    JobsRow {
        submitted: None,
        started: None,
        ended: None,
        user_name: None,
        group_name: None,
        account: None,
        partition: None,
        job_name: None,
        nodes: None,
        cpus: None,
        ..row
    }
}

struct Line {
    written: Nanos,
    /// The time that the line shows.
    time: Nanos,
    number: u64,
    text: Vec<u8>,
}

impl Line {
    fn new(written: Nanos, time: Nanos, number: u64, kind: char, id: &str, text: &[u8]) -> Self {
        let clock = time::timestamp(time).strftime("%m/%d/%Y %H:%M:%S");
        let head = format!("{clock};{kind};{id};");
        Self {
            written,
            time,
            number,
            text: [head.as_bytes(), text, b"\n"].concat(),
        }
    }
}

fn write(site: &Site, query: Query, runs: &[Run], out: &mut dyn Write) -> io::Result<()> {
    let is_near = |run: &&Run| run.submitted <= query.time && query.since <= run.ended + OUTAGE;
    let of_runs = runs
        .iter()
        .filter(is_near)
        .flat_map(|run| lines_of_run(site, run));
    let arrays = runs.chunk_by(of_one_array);
    let of_arrays = arrays.flat_map(|elements| lines_of_array(site, elements));
    let hours = query.since.div_euclid(HOUR) + 1..=query.time.div_euclid(HOUR);
    let licences = hours.map(|hour| {
        let text = b"floating license hour:0 day:0 month:0 max:0";
        Line::new(hour * HOUR, hour * HOUR, 0, 'L', "license", text)
    });
    let mut lines: Vec<Line> = of_runs.chain(of_arrays).chain(licences).collect();
    lines.retain(|line| query.contains(line.written));
    lines.sort_by_key(|line| (line.written, line.time, line.number));
    lines.iter().try_for_each(|line| out.write_all(&line.text))
}

fn lines_of_run(site: &Site, run: &Run) -> impl Iterator<Item = Line> {
    let id = (PBS.variable)(site, run);
    let line = |phase, time, kind, text: Vec<u8>| {
        let written = site.written(run, phase)?;
        Some(Line::new(written, time, run.number, kind, &id, &text))
    };
    let queued = attributes(site, run, &resources(run));
    let deleted = || format!("requestor={}@login1", run.owner(site).name).into_bytes();
    let [began, ended] = match run.started {
        None => [None, None],
        Some(started) => {
            let began = began(run, started);
            let ended = began.clone() + &ended(run, started);
            let kind = if runs_again(run) { 'R' } else { 'E' };
            [
                line(Phase::Running, started, 'S', attributes(site, run, &began)),
                line(Phase::Ended, run.ended, kind, attributes(site, run, &ended)),
            ]
        }
    };
    let deleted = (run.outcome == Outcome::Cancelled).then(deleted);
    let deleted = deleted.and_then(|text| line(Phase::Ended, run.ended, 'D', text));
    let queued = line(Phase::Pending, run.submitted, 'Q', queued);
    [queued, began, deleted, ended].into_iter().flatten()
}

/// Returns the lines about an array as a whole.
fn lines_of_array(site: &Site, elements: &[Run]) -> Vec<Line> {
    let last = elements.iter().max_by_key(|run| run.ended);
    let Some((last, element)) = last.and_then(|last| Some((last, last.element?))) else {
        return Vec::new();
    };
    let id = format!("{}[].{}", element.array, SERVERS[last.cluster]);
    let line = |run: &Run, time, kind, text: String| {
        let text = attributes(site, run, &text);
        let written = site.learns(last.cluster, time);
        Line::new(written, time, last.number, kind, &id, &text)
    };
    let (first, indices) = (&elements[0], format!(" array_indices=1-{}", element.size));
    let end = format!(" end={} Exit_status=0", seconds(last.ended));
    vec![
        line(first, first.submitted, 'Q', indices),
        line(last, last.ended, 'E', end),
    ]
}

/// Returns true if a run ends because the job runs again.
fn runs_again(run: &Run) -> bool {
    run.outcome == Outcome::Requeued
}

/// Returns the attributes that a job has since its submission, and more behind them.
fn attributes(site: &Site, run: &Run, more: &str) -> Vec<u8> {
    let owner = run.owner(site);
    let user = format!(
        "user={} group={} account=\"{}\" project=_pbs_project_default jobname=",
        owner.name,
        owner.group,
        run.account_name(site)
    );
    let time = seconds(run.submitted);
    let queue = format!(
        " queue={} ctime={time} qtime={time} etime={time}{more}",
        run.partition
    );
    [user.into_bytes(), run.name.bytes(), queue.into_bytes()].concat()
}

fn resources(run: &Run) -> String {
    format!(
        " Resource_List.ncpus={} Resource_List.nodect={} Resource_List.place=free Resource_List.walltime={}",
        run.cpus,
        run.nodes,
        clock(LONGEST_LIFE)
    )
}

fn began(run: &Run, started: Nanos) -> String {
    let cpus = run.cpus / run.nodes;
    let hosts = run.each_node("+", |node| format!("{node}/0*{cpus}"));
    let chunks = run.each_node("+", |node| format!("({node}:ncpus={cpus})"));
    let start = seconds(started);
    format!(" start={start} exec_host={hosts} exec_vnode={chunks}") + &resources(run)
}

fn ended(run: &Run, started: Nanos) -> String {
    let length = clock(run.ended - started);
    format!(
        " session={} end={} Exit_status={} resources_used.cput={length} resources_used.mem={}kb resources_used.walltime={length} \
         run_count={}",
        1_000 + run.seed.below(30_000),
        seconds(run.ended),
        exit_status(run),
        run.seed.of("memory", &[]).below(4_000_000),
        run.attempt,
    )
}

/// Returns the exit status; 256 and more is a signal.
fn exit_status(run: &Run) -> i32 {
    match run.outcome {
        Outcome::Completed => 0,
        Outcome::Failed(code) => code.into(),
        Outcome::Timeout | Outcome::Cancelled => 271,
        Outcome::NodeFail | Outcome::Requeued => -11,
        Outcome::OutOfMemory => 265,
    }
}
